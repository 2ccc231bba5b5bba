//! Checks `read_file` and `write_file`.

use super::*;

async fn read(content: impl Into<Vec<u8>>, more: Value) -> Value {
    let workspace = FakeWorkspace::default().with_file("f", content);
    let mut arguments = json!({ "path": "f" });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    result(&workspace, "read_file", arguments).await
}

#[tokio::test]
async fn text_comes_with_its_measures() {
    let check = async |content: &str, lines: u64| {
        let expected = json!({
            "path": "f",
            "lines": lines,
            "bytes": content.len(),
            "from_line": 1,
            "to_line": lines,
            "truncated": false,
            "content": content,
        });
        assert_eq!(read(content, json!({})).await, expected);
    };
    check("", 0).await;
    check("one", 1).await;
    check("one\n", 1).await;
    check("one\ntwo", 2).await;
    check("one\r\n\r\nthree\r\n", 3).await;
    check("ä €\n\u{1b}[2J\n", 2).await;
}

#[tokio::test]
async fn a_range_of_lines_is_shown() {
    let check = async |range: Value, content: &str, to_line: u64, truncated: bool| {
        let shown = read("1\n2\n3\n4\n", range.clone()).await;
        let reality = (&shown["content"], &shown["to_line"], &shown["truncated"]);
        assert_eq!(reality, (&json!(content), &json!(to_line), &json!(truncated)), "{range}");
        assert_eq!(shown["lines"], 4);
    };
    check(json!({ "from_line": 2 }), "2\n3\n4\n", 4, false).await;
    check(json!({ "from_line": 2, "max_lines": 2 }), "2\n3\n", 3, true).await;
    check(json!({ "max_lines": 1 }), "1\n", 1, true).await;
    check(json!({ "from_line": 4, "max_lines": 9 }), "4\n", 4, false).await;
    check(json!({ "from_line": 5 }), "", 4, false).await;
    check(json!({ "from_line": 99 }), "", 98, false).await;
    check(json!({ "from_line": u32::MAX, "max_lines": u32::MAX }), "", 4_294_967_294, false).await;
}

#[tokio::test]
async fn a_binary_file_is_named_and_skipped() {
    let expected = json!({ "path": "f", "bytes": 4, "skipped": "binary file" });
    assert_eq!(read(b"a\0bc", json!({})).await, expected);
    let lossy = read(b"caf\xe9\n", json!({})).await;
    assert_eq!((&lossy["content"], &lossy["lossy"]), (&json!("caf\u{fffd}\n"), &json!(true)));
}

#[tokio::test]
async fn a_long_file_is_read_in_parts_without_a_gap() {
    let text: String = (0..20_000).map(|line| format!("line {line} \"quoted\"\t\u{1}\n")).collect();
    let (mut from, mut whole) = (1, String::new());
    loop {
        let part = read(text.clone(), json!({ "from_line": from })).await;
        whole.push_str(part["content"].as_str().unwrap());
        let to_line = part["to_line"].as_u64().unwrap();
        assert!(to_line >= from, "no progress at {from}");
        from = to_line + 1;
        if part["truncated"] == false {
            break;
        }
    }
    assert!(whole == text);
}

#[tokio::test]
async fn one_endless_line_is_cut_between_characters() {
    let shown = read("€".repeat(100_000), json!({})).await;
    assert_eq!((&shown["lines"], &shown["line_cut"]), (&json!(1), &json!(true)));
    assert_eq!(shown["truncated"], true);
    let content = shown["content"].as_str().unwrap();
    assert!(content.len() > OUTPUT_LIMIT_BYTES / 4 && content.chars().all(|c| c == '€'));
}

#[tokio::test]
async fn what_was_written_is_said_and_there() {
    let workspace = FakeWorkspace::default();
    let arguments = json!({ "path": "new/f.txt", "content": "ä\n" });
    let written = result(&workspace, "write_file", arguments).await;
    assert_eq!(written, json!({ "path": "new/f.txt", "bytes": 3 }));
    assert_eq!(workspace.files()["new/f.txt"], "ä\n".as_bytes());
}
