//! Each server has a table, in the order of the report.

use super::*;

#[test]
fn a_server_has_a_table_of_its_checks() {
    let report = r#"[
        {"server": "two", "version": "1", "api": "chat", "check": "text", "result": "held", "millis": 5},
        {"server": "one", "version": "2", "api": "chat", "check": "tools", "result": "a|b", "millis": 7},
        {"server": "two", "version": "1", "api": "chat", "check": "errors", "result": "held", "millis": 9}
    ]"#;
    let page = told(&serde_json::from_str::<Vec<Line>>(report).unwrap());
    let tables = page.strip_prefix(HEAD).unwrap();
    let expected = "\n## one 2\n\n| API | check | result | ms |\n|---|---|---|---:|\n\
                    | chat | tools | a\\|b | 7 |\n\
                    \n## two 1\n\n| API | check | result | ms |\n|---|---|---|---:|\n\
                    | chat | text | held | 5 |\n| chat | errors | held | 9 |\n";
    assert_eq!(tables, expected);
}
