//! Checks `run_command`.

use in_memory_fakes::{CommandStep, WorkspaceCall};
use runtime_ports::{CommandOutput, CommandRequest};

use super::*;

fn printing(stdout: String, stderr: String, truncated: bool) -> FakeWorkspace {
    let output = CommandOutput { exit_code: 3, stdout, stderr, truncated };
    FakeWorkspace::new([CommandStep::output(output)]).with_file("d/f", "")
}

#[tokio::test]
async fn a_command_that_fails_is_a_result() {
    let workspace = printing("out".to_owned(), "err".to_owned(), false);
    let arguments = json!({ "command": "make", "cwd": "d" });
    let ended = result(&workspace, "run_command", arguments).await;
    let expected = json!({ "exit_code": 3, "stdout": "out", "stderr": "err", "truncated": false });
    assert_eq!(ended, expected);
    let request = CommandRequest { command: "make".to_owned(), cwd: Some("d".to_owned()) };
    assert_eq!(workspace.calls(), [WorkspaceCall::Execute(request)]);
}

#[tokio::test]
async fn long_output_keeps_its_ends() {
    let long = |letter: &str| format!("begin{}end", letter.repeat(200_000));
    let workspace = printing(long("\u{1}"), long("b"), false);
    let ended = result(&workspace, "run_command", json!({ "command": "x" })).await;
    assert_eq!(ended["truncated"], true);
    for stream in ["stdout", "stderr"] {
        let text = ended[stream].as_str().unwrap();
        assert!(text.starts_with("begin") && text.ends_with("end"), "{stream}");
        assert!(text.contains(" bytes left out]"), "{stream}");
    }
}

#[tokio::test]
async fn what_the_workspace_cut_is_said() {
    let workspace = printing(String::new(), String::new(), true);
    let ended = result(&workspace, "run_command", json!({ "command": "x" })).await;
    assert_eq!(ended["truncated"], true);
}
