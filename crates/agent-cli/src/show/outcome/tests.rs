//! Decides whether results read well in one harmless line.

use serde_json::{Value, json};

use super::outcome_line;

fn check(tool: &str, result: Value, expected: &str) {
    assert_eq!(outcome_line(tool, true, &result.to_string()), expected);
}

#[test]
fn results_of_our_tools_are_summed_up() {
    check("list_files", json!({ "entries": [{}], "truncated": false }), "1 entry");
    check(
        "list_files",
        json!({ "entries": [{}, {}], "truncated": true }),
        "2 entries; there is more",
    );
    let file = json!({ "lines": 7, "bytes": 212, "from_line": 1, "to_line": 7, "content": "…" });
    check("read_file", file, "7 lines, 212 bytes");
    let part = json!({ "lines": 90, "bytes": 900, "from_line": 8, "to_line": 9, "content": "…" });
    check("read_file", part, "lines 8 to 9 of 90 lines, 900 bytes");
    let empty = json!({ "lines": 0, "bytes": 0, "from_line": 1, "to_line": 0, "content": "" });
    check("read_file", empty, "0 lines, 0 bytes");
    check(
        "read_file",
        json!({ "bytes": 165, "skipped": "binary file" }),
        "skipped: binary file, 165 bytes",
    );
    let kept = json!({ "offset": 5, "next_offset": 9, "content": "éé" });
    check("read_artifact", kept, "4 bytes from byte 5; there is more");
    let end = json!({ "offset": 0, "next_offset": null, "content": "a" });
    check("read_artifact", end, "1 byte from byte 0");
    let hits = json!({ "matches": ["a:1:x"], "skipped_count": 2, "truncated": false });
    check("search_files", hits, "1 match, 2 files skipped");
    check("write_file", json!({ "path": "a", "bytes": 1 }), "1 byte written");
    let ran =
        |stdout: &str, stderr: &str| json!({ "exit_code": 3, "stdout": stdout, "stderr": stderr });
    check("run_command", ran("\n  first\nsecond", "no"), "exit code 3: first");
    check("run_command", ran("", "sh: no\u{1b}[31m"), "exit code 3: sh: no\u{fffd}[31m");
    check("run_command", ran("", ""), "exit code 3, no output");
}

#[test]
fn what_is_not_known_is_shown_as_it_is() {
    assert_eq!(outcome_line("fly", true, "on the\nmoon"), "on the moon");
    assert_eq!(outcome_line("read_file", true, "no JSON"), "no JSON");
    assert_eq!(outcome_line("read_file", true, "{}"), "{}");
    assert_eq!(outcome_line("fly", true, &"x".repeat(500)).chars().count(), 201);
}

#[test]
fn a_failure_says_why() {
    let failed = json!({ "ok": false, "error": "no such file", "error_code": "NOT_FOUND", "tool_name": "t" });
    assert_eq!(outcome_line("t", false, &failed.to_string()), "no such file (NOT_FOUND)");
    assert_eq!(outcome_line("t", false, "broken"), "broken");
}
