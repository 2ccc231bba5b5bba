//! Decides whether calls read well in one harmless line.

use serde_json::json;

use super::arguments_line;

#[test]
fn calls_read_like_a_note_of_what_is_done() {
    for (tool, arguments, expected) in [
        ("list_files", json!({ "path": "", "recursive": true }), ". recursive"),
        ("list_files", json!({}), "."),
        ("list_files", json!({ "path": "docs", "recursive": false }), "docs"),
        ("read_file", json!({ "path": "a.md", "from_line": 7 }), "a.md from_line 7"),
        ("search_files", json!({ "query": "two words" }), "\"two words\""),
        ("search_files", json!({ "query": "milk", "path": "docs" }), "\"milk\" in docs"),
        ("write_file", json!({ "path": "a.md", "content": "a\nb\n" }), "a.md (4 bytes)"),
        ("write_file", json!({ "path": "a.md", "content": "hi" }), "a.md content \"hi\""),
        ("run_command", json!({ "command": "cargo test", "cwd": "web" }), "cargo test in web"),
        ("run_command", json!({ "command": "a\nb" }), "a b"),
        ("fly", json!({ "to": "moon" }), r#"{"to":"moon"}"#),
        ("read_artifact", json!({ "digest": "ab12", "offset": 9 }), "ab12 offset 9"),
        ("read_file", json!(7), "7"),
        ("read_file", json!({ "path": 7 }), "."),
        ("read_file", json!({ "path": "a\u{1b}[2J" }), "a\u{fffd}[2J"),
    ] {
        assert_eq!(arguments_line(tool, &arguments), expected, "{tool} {arguments}");
    }
}

#[test]
fn a_long_call_is_cut() {
    let line = arguments_line("run_command", &json!({ "command": "é".repeat(500) }));
    assert_eq!(line.chars().count(), 161);
}
