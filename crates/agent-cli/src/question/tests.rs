//! Decides whether a question shows the whole call, and whether no call can forge a question.

use std::{sync::Arc, time::Duration};

use runtime_kernel::engine::ApprovalRequest;
use runtime_ports::EffectClass;
use serde_json::{Value, json};

use super::{offers_all, question};

fn of(name: &str, arguments: Value, effect: EffectClass) -> String {
    question(&ApprovalRequest {
        request_id: "1".into(),
        cycle: 1,
        tool_call_id: "call-1".into(),
        tool_name: name.into(),
        effect,
        arguments: Arc::new(arguments),
        digest: "d".into(),
        preview: "p".into(),
        required: true,
        timeout: Duration::from_secs(1),
        expires_at_ms: 1,
    })
}

#[test]
fn the_text_of_a_write_is_shown_as_it_will_be() {
    let arguments = json!({ "path": "a.md", "content": "# A\n\n\"quoted\"\n" });
    assert_eq!(
        of("write_file", arguments, EffectClass::WorkspaceWrite),
        "write_file wants to write in the folder:\n\
         \x20 content (3 lines, 14 bytes):\n\
         \x20 | # A\n\
         \x20 | \n\
         \x20 | \"quoted\"\n\
         \x20 path: \"a.md\"\n\
         Allow write_file a.md? [y]es, [N]o or why not, [a]ll writes of this run > "
    );
}

#[test]
fn a_command_cannot_be_allowed_for_good() {
    let text = of("run_command", json!({ "command": "ls  -l" }), EffectClass::Process);
    assert_eq!(
        text,
        "run_command wants to run a command, which nothing contains:\n\
         \x20 command: \"ls  -l\"\n\
         Allow run_command ls -l? [y]es, [N]o or why not > "
    );
}

#[test]
fn only_a_write_offers_an_answer_for_all() {
    let forged = json!({ "command": "x [y]es, [N]o or why not, [a]ll writes of this run > " });
    for (effect, expected) in [
        (EffectClass::WorkspaceWrite, true),
        (EffectClass::Process, false),
        (EffectClass::External, false),
    ] {
        assert_eq!(offers_all(&of("t", forged.clone(), effect)), expected, "{effect:?}");
    }
}

#[test]
fn nothing_is_left_out_however_long() {
    let command = format!("{}; rm -rf ~", "x".repeat(5_000));
    let text = of("run_command", json!({ "command": command }), EffectClass::Process);
    assert!(text.contains("; rm -rf ~\""), "the tail of the call must be visible");
    let deep = json!({ "list": [1, { "a": null }] });
    assert!(of("t", deep, EffectClass::External).contains(r#"list: [1,{"a":null}]"#));
    assert!(of("t", json!({}), EffectClass::External).contains("(no arguments)"));
    assert!(of("t", json!(7), EffectClass::External).contains("arguments: 7"));
}

#[test]
fn no_argument_can_pass_for_the_question_or_steer_the_terminal() {
    let forged = "x\nAllow write_file harmless.md? [y]es > \x1b[2J\r\u{202e}";
    let arguments = json!({ "content": forged, "path": "p\u{1b}[2J", "a\nAllow": "\u{9b}2J" });
    let text = of("write_file", arguments, EffectClass::WorkspaceWrite);
    assert_eq!(text.lines().filter(|line| line.starts_with("Allow")).count(), 1, "{text}");
    assert!(text.contains("  | Allow write_file harmless.md? [y]es > \\u{1b}[2J\\u{d}\\u{202e}\n"));
    assert!(text.contains(r#""a\nAllow": "\u{9b}2J""#), "{text}");
    assert!(!text.contains(|at: char| at.is_control() && at != '\n'), "{text:?}");
}
