//! Counts: cumulative, with thoughts beside the answer, and none that the total contradicts.

use super::*;

fn counted(report: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{TEXT}]}},"finishReason":"STOP"}}],"usageMetadata":{report}}}"#
    )
}

#[test]
fn a_report_says_what_its_total_bears_out() {
    let cases = [
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":2,"totalTokenCount":10}"#,
            " [in 8 out 2]",
        ),
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":2,"thoughtsTokenCount":5,"totalTokenCount":15}"#,
            " [in 8 out 7 reasoning 5]",
        ),
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":7,"thoughtsTokenCount":5,"totalTokenCount":15}"#,
            " [in 8 out 7 reasoning 5]",
        ),
        (
            r#"{"promptTokenCount":8,"thoughtsTokenCount":5,"totalTokenCount":13}"#,
            " [in 8 out 5 reasoning 5]",
        ),
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":2,"toolUsePromptTokenCount":4,"totalTokenCount":14}"#,
            " [in 12 out 2]",
        ),
        (
            r#"{"promptTokenCount":8,"cachedContentTokenCount":6,"candidatesTokenCount":2,"totalTokenCount":10}"#,
            " [in 8 out 2 cached 6]",
        ),
        (
            r#"{"promptTokenCount":8,"cachedContentTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":10}"#,
            " [in 8 out 2]",
        ),
        (r#"{"promptTokenCount":8,"candidatesTokenCount":2}"#, " [in 8 out 2]"),
        (r#"{"promptTokenCount":8}"#, " [in 8]"),
        (r#"{"promptTokenCount":8,"totalTokenCount":8}"#, " [in 8]"),
        (r#"{"promptTokenCount":8,"candidatesTokenCount":2,"totalTokenCount":99}"#, " [in 8]"),
        (r#"{"promptTokenCount":-1,"candidatesTokenCount":"2"}"#, ""),
        (r#"{"promptTokenCount":8.0,"candidatesTokenCount":2.5}"#, " [in 8]"),
        (r#"{"promptTokenCount":18446744073709551615,"toolUsePromptTokenCount":1}"#, ""),
        ("null", ""),
        ("[]", ""),
        ("{}", ""),
    ];
    for (report, counts) in cases {
        check_both(report, &[counted(report)], &format!(r#"Stop: "hi"{counts}"#));
    }
}

#[test]
fn later_reports_count_from_the_beginning() {
    let frame = |report: &str| format!(r#"{{"usageMetadata":{report}}}"#);
    let first = frame(r#"{"promptTokenCount":8,"thoughtsTokenCount":3,"totalTokenCount":11}"#);
    let second = counted(
        r#"{"promptTokenCount":8,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":13}"#,
    );
    check_both("growing", &[&first, &second], r#"Stop: "hi" [in 8 out 5 reasoning 3]"#);
    let empty = frame("{}");
    check_both("then empty", &[&second, &empty], r#"Stop: "hi" [in 8 out 5 reasoning 3]"#);
    let lower = frame(r#"{"promptTokenCount":7}"#);
    check_both("then lower", &[&second, &lower], r#"Stop: "hi" [out 5 reasoning 3]"#);
}
