//! Checks that a command is started clean, listened to without bounds on what it says, and ended
//! with everything it started.

use std::{
    io::Write,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use in_memory_fakes::{FakeArtifacts, FaultPlan};
use runtime_ports::{ArtifactStore as _, CommandOutput, CommitDisposition, Digest};

use super::*;

/// What the contract of this crate allows between an interruption and the return.
const SOON: Duration = Duration::from_millis(500);

async fn run_within(
    workspace: &FolderWorkspace,
    operation: &OperationContext,
    command: &str,
) -> Result<CommandOutput, PortFailure> {
    let request = CommandRequest { command: command.into(), cwd: None };
    workspace.execute(operation, request).await
}

async fn run(workspace: &FolderWorkspace, command: &str) -> CommandOutput {
    run_within(workspace, &operation(), command).await.unwrap()
}

/// Trees of processes. Each writes `ready` when all its processes are there, and the ids of those
/// that must be ended into `pids`.
const TREES: [(&str, &str); 10] = [
    ("child that holds the output", "sleep 300 & echo $! > pids; touch ready; wait"),
    ("no child", "echo $$ > pids; touch ready; exec sleep 300"),
    ("new session", "setsid sleep 300 & echo $! > pids; touch ready; wait"),
    ("double fork", "(setsid sh -c 'echo $$ > pids; touch ready; sleep 300; true' &) ; sleep 300"),
    (
        "new session, no environment, parent alive",
        "sh -c 'env -i setsid sh -c \"echo \\$\\$ > pids; touch ready; exec sleep 300\"; true'",
    ),
    (
        "own group, no environment, no parent",
        "(env -i sh -c 'echo $$ > pids; touch ready; exec timeout 300 sleep 300' &) ; sleep 300",
    ),
    ("deaf", "trap '' TERM INT HUP; echo $$ > pids; touch ready; while :; do sleep 1; done"),
    ("deaf child", "(trap '' TERM HUP; sleep 300) & echo $! > pids; touch ready; wait"),
    ("stopped", "sleep 300 & echo $! > pids; kill -STOP $!; touch ready; wait"),
    (
        "many",
        "for i in 1 2 3 4 5 6 7 8 9 10; do setsid sleep 300 & echo $! >> pids; done; touch ready; \
         wait",
    ),
];

fn pids(temp: &TempDir) -> Vec<u32> {
    let text = fs::read_to_string(temp.path().join("pids")).unwrap();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, fields)| !fields.trim_start().starts_with(['Z', 'X']))
}

async fn ready(temp: &TempDir) {
    let begun = Instant::now();
    while !temp.path().join("ready").exists() {
        assert!(begun.elapsed() < Duration::from_secs(10), "the tree never stood");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn assert_all_ended(temp: &TempDir, tree: &str) {
    let pids = pids(temp);
    assert!(!pids.is_empty(), "{tree}");
    let left: Vec<_> = pids.into_iter().filter(|pid| is_alive(*pid)).collect();
    assert_eq!(left, Vec::<u32>::new(), "{tree}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_canceled_command_is_ended_with_its_tree() {
    for (tree, command) in TREES {
        let (temp, workspace) = folder(&[]);
        let operation = operation();
        let interruption = async {
            ready(&temp).await;
            operation.cancellation.cancel();
            Instant::now()
        };
        let (result, canceled) =
            tokio::join!(run_within(&workspace, &operation, command), interruption);
        let took = canceled.elapsed();
        let failure = result.unwrap_err();
        assert_eq!(failure.kind, PortFailureKind::Canceled, "{tree}: {failure}");
        assert_eq!(failure.commit, CommitDisposition::Unknown, "{tree}");
        assert!(took < SOON, "{tree}: {took:?}");
        assert_all_ended(&temp, tree);
    }
}

#[tokio::test]
async fn a_late_command_is_ended_with_its_tree() {
    let (temp, workspace) = folder(&[]);
    let (tree, command) = TREES[0];
    let operation = operation().within(Duration::from_millis(300));
    let begun = Instant::now();
    let failure = run_within(&workspace, &operation, command).await.unwrap_err();
    let took = begun.elapsed();
    assert_eq!(failure.kind, PortFailureKind::Timeout);
    assert_eq!(failure.commit, CommitDisposition::Unknown);
    assert!(took < Duration::from_millis(300) + SOON, "{took:?}");
    assert_all_ended(&temp, tree);
}

#[tokio::test]
async fn a_dropped_command_is_ended_with_its_tree() {
    for (tree, command) in TREES {
        let (temp, workspace) = folder(&[]);
        let operation = operation();
        tokio::select! {
            _ = run_within(&workspace, &operation, command) => panic!("{tree} ended by itself"),
            () = ready(&temp) => {}
        }
        let begun = Instant::now();
        while pids(&temp).into_iter().any(is_alive) {
            assert!(begun.elapsed() < Duration::from_secs(2), "{tree}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[test]
fn a_runtime_that_shuts_down_ends_the_tree() {
    for (tree, command) in TREES {
        let (temp, workspace) = folder(&[]);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.spawn({
            let workspace = workspace.clone();
            async move { run_within(&workspace, &operation(), command).await }
        });
        runtime.block_on(ready(&temp));
        runtime.shutdown_timeout(Duration::from_secs(2));
        assert_all_ended(&temp, tree);
    }
}

#[tokio::test]
async fn nothing_is_left_after_an_ordinary_end() {
    let check = async |command: &str| {
        let (temp, workspace) = folder(&[]);
        let begun = Instant::now();
        let output = run(&workspace, command).await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{command}");
        assert_eq!((output.exit_code, output.stdout.as_str()), (0, "said\n"), "{command}");
        assert_all_ended(&temp, command);
    };
    check("sleep 300 & echo $! > pids; echo said").await;
    check("setsid sleep 300 & echo $! > pids; echo said").await;
    check("(setsid sh -c 'sleep 300; true' & echo $! > pids); echo said").await;
    check("nohup sleep 300 >/dev/null 2>&1 & echo $! > pids; echo said").await;
}

#[tokio::test]
async fn exit_codes_and_signals_are_told() {
    let (_temp, workspace) = folder(&[]);
    for (command, code) in [
        ("true", 0),
        ("false", 1),
        ("exit 255", 255),
        ("no-such-program", 127),
        ("kill -KILL $$", 137),
        ("kill -SEGV $$", 139),
        ("kill -PIPE $$", 141),
        ("if", 2),
    ] {
        assert_eq!(run(&workspace, command).await.exit_code, code, "{command}");
    }
}

#[tokio::test]
async fn output_is_text_whatever_it_was() {
    let (_temp, workspace) = folder(&[]);
    let output = run(&workspace, r"printf 'a\377b\000c'; printf '\360\237' >&2").await;
    assert_eq!(output.stdout, "a\u{fffd}b\0c");
    assert_eq!(output.stderr, "\u{fffd}");
    assert!(!output.truncated);
}

#[tokio::test]
async fn long_output_keeps_both_ends_of_both_streams() {
    let (_temp, workspace) = folder(&[]);
    let workspace =
        workspace.with_limits(FolderLimits { output_bytes: 20, ..FolderLimits::default() });
    let output = run(&workspace, "seq 1 20000; seq 5 30000 >&2").await;
    assert_eq!(output.stdout, "1\n2\n3\n4\n5\n\n[108874 bytes left out]\n999\n20000\n");
    assert!(output.stderr.starts_with("5\n6\n7\n8\n9\n") && output.stderr.ends_with("30000\n"));
    assert!(output.truncated);
}

#[tokio::test]
async fn a_command_has_no_input_and_no_terminal() {
    let (_temp, workspace) = folder(&[]);
    assert_eq!(run(&workspace, "cat; echo end").await.stdout, "end\n");
    let output = run(&workspace, "(: < /dev/tty) 2>/dev/null; test $? -ne 0 && echo none").await;
    assert_eq!(output.stdout, "none\n");
}

#[tokio::test]
async fn only_the_three_streams_are_inherited() {
    let (_temp, workspace) = folder(&[]);
    // One that closes by itself, and one as a careless parent would hand it down.
    let ours = fs::File::open("/dev/null").unwrap();
    let handed_down = fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&handed_down, rustix::io::FdFlags::empty()).unwrap();
    let output = run(&workspace, "ls /proc/$$/fd; exec readlink /proc/$$/fd/*").await;
    drop((ours, handed_down));
    // Some shells keep a copy of their script's input above 9; it is none of ours.
    let handles: Vec<_> =
        output.stdout.lines().filter(|line| line.len() == 1).map(str::to_owned).collect();
    assert_eq!(handles, ["0", "1", "2"], "{}", output.stdout);
    assert_eq!(output.stdout.matches("/dev/null").count(), 1, "{}", output.stdout);
}

/// Run by the test below in a process of its own, whose environment is full of canaries.
#[tokio::test]
#[ignore = "prints what a command sees for the test that asks for it"]
async fn shows_environment_and_input() {
    let (_temp, workspace) = folder(&[]);
    println!("{}", run(&workspace, "env; cat").await.stdout);
}

#[test]
fn no_canary_reaches_a_command() {
    const CANARY: &str = "canary-5f1c";
    let name = "folder::tests::commands::shows_environment_and_input";
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--ignored", "--nocapture"]);
    let canaries = [
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "DATABASE_URL",
        "SSH_AUTH_SOCK",
        "KUBECONFIG",
        "MY_PWD",
        "LC_SECRET",
        "GIT_SSH_COMMAND",
        "BASH_ENV",
        "PROMPT_COMMAND",
    ];
    child.envs(canaries.map(|name| (name, CANARY))).env("TZ", "UTC");
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(CANARY.as_bytes()).unwrap();
    let shown = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(!shown.contains(CANARY), "{shown}");
    let names: Vec<_> = shown.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let allowed = ["PATH", "HOME", "TMPDIR", "TERM", "TZ", "LANG", "AGENT_RUNTIME_COMMAND"];
    // What the shell itself adds.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    for name in &names {
        let is_allowed = allowed.contains(name) || own.contains(name) || name.starts_with("LC_");
        assert!(is_allowed, "{name}");
    }
    assert!(names.contains(&"TZ") && names.contains(&"HOME"), "{names:?}");
}

#[tokio::test]
async fn nothing_runs_when_interrupted_before() {
    let (temp, workspace) = folder(&[]);
    let operation = operation();
    operation.cancellation.cancel();
    let failure = run_within(&workspace, &operation, "touch made").await.unwrap_err();
    assert_eq!(failure.commit, CommitDisposition::NotCommitted);
    assert!(!temp.path().join("made").exists());
}

#[tokio::test]
async fn bad_commands_are_refused() {
    let (_temp, workspace) = folder(&[]);
    for command in ["", " \n\t", "a\0b", &"x".repeat(100_001)] {
        let failure = run_within(&workspace, &operation(), command).await.unwrap_err();
        assert_eq!(failure.code, "BAD_COMMAND");
        assert_eq!(failure.commit, CommitDisposition::NotCommitted);
    }
    assert_eq!(run(&workspace, &format!(": {}", "x".repeat(99_000))).await.exit_code, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_side_by_side_do_not_end_each_other() {
    let (_temp, workspace) = folder(&[]);
    let all: Vec<_> = (0..12)
        .map(|number| {
            let workspace = workspace.clone();
            let command = format!("sleep 0.{number:02}; echo {number}");
            tokio::spawn(async move { run(&workspace, &command).await })
        })
        .collect();
    for (number, command) in all.into_iter().enumerate() {
        assert_eq!(command.await.unwrap().stdout, format!("{number}\n"));
    }
}

#[tokio::test]
async fn what_an_interrupted_command_said_can_be_found() {
    let (_temp, workspace) = folder(&[]);
    let artifacts = FakeArtifacts::new();
    let workspace = workspace.keeping_partial_output(std::sync::Arc::new(artifacts.clone()));
    let late = operation().within(Duration::from_millis(700));
    let failure = run_within(&workspace, &late, "echo half; echo odd >&2; sleep 300").await;
    let failure = failure.expect_err("it has no more time");
    assert_eq!(failure.kind, PortFailureKind::Timeout);
    assert_eq!(failure.commit, CommitDisposition::Unknown);
    let text = "stdout:\nhalf\n\nstderr:\nodd\n";
    let digest = Digest::of(text.as_bytes());
    assert!(failure.message.ends_with(&format!("artifact {digest}")), "{failure}");
    let kept = artifacts.read(&operation(), &digest, 0..u64::MAX).await.expect("it is kept");
    assert_eq!(String::from_utf8_lossy(&kept), text);

    // A command that said nothing leaves nothing, and one that ended has its output in its result.
    let late = operation().within(Duration::from_millis(200));
    let silent = run_within(&workspace, &late, "sleep 300").await.expect_err("no more time");
    assert!(!silent.message.contains("artifact"), "{silent}");
    assert_eq!(run(&workspace, "echo whole").await.stdout, "whole\n");
}

#[tokio::test]
async fn what_cannot_be_kept_of_an_interrupted_command_is_said() {
    let (_temp, workspace) = folder(&[]);
    let full = PortFailure::not_sent(PortFailureKind::Unavailable, "DISK_FULL", "no space is left");
    let artifacts =
        FakeArtifacts::new().with_faults(&FaultPlan::new().before("artifacts.put", 1, full));
    let workspace = workspace.keeping_partial_output(std::sync::Arc::new(artifacts));
    let late = operation().within(Duration::from_millis(500));
    let failure = run_within(&workspace, &late, "echo half; sleep 300").await;
    let failure = failure.expect_err("it has no more time");
    assert!(failure.message.ends_with("could not be kept (DISK_FULL)"), "{failure}");
}
