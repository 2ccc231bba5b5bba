//! Counts: the last known ones, none that nobody measured.

use super::*;

fn counted(first: &str, last: &str) -> Vec<String> {
    let start = format!(r#"{{"type":"message_start","message":{{"id":"m","usage":{first}}}}}"#);
    let end = format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{last}}}"#
    );
    [one(&start), said(0, "hi"), one(&end), one(STOP)].concat()
}

#[test]
fn reports_add_up_to_what_was_measured() {
    let whole = r#"{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":50,"output_tokens":1}"#;
    let cases = [
        (whole, r#"{"output_tokens":7}"#, " [in 160 out 7 cached 100 written 50]"),
        (whole, "null", " [in 160 cached 100 written 50]"),
        (whole, r#"{"output_tokens":null}"#, " [in 160 cached 100 written 50]"),
        (whole, r#"{"output_tokens":"7"}"#, " [in 160 cached 100 written 50]"),
        (whole, r#"{"output_tokens":-7}"#, " [in 160 cached 100 written 50]"),
        (whole, r#"{"output_tokens":7.0}"#, " [in 160 out 7 cached 100 written 50]"),
        (whole, r#"{"output_tokens":7.5}"#, " [in 160 cached 100 written 50]"),
        (whole, r#"{"output_tokens":1e30}"#, " [in 160 cached 100 written 50]"),
        (
            whole,
            r#"{"output_tokens":7,"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":50}"#,
            " [in 160 out 7 cached 100 written 50]",
        ),
        (whole, r#"{"output_tokens":7,"input_tokens":9}"#, " [out 7 cached 100 written 50]"),
        ("null", r#"{"input_tokens":10,"output_tokens":7}"#, " [in 10 out 7]"),
        ("[]", r#"{"input_tokens":10,"output_tokens":7}"#, " [in 10 out 7]"),
        (
            r#"{"input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":30},"cache_read_input_tokens":0}"#,
            r#"{"output_tokens":7}"#,
            " [in 60 out 7 cached 0 written 50]",
        ),
        (
            r#"{"input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":20},"cache_read_input_tokens":0}"#,
            r#"{"output_tokens":7}"#,
            " [out 7 cached 0]",
        ),
        (
            r#"{"input_tokens":10}"#,
            r#"{"output_tokens":7,"server_tool_use":{"web_search_requests":3},"service_tier":"standard","iterations":[{"input_tokens":99}]}"#,
            " [in 10 out 7]",
        ),
        (
            r#"{"input_tokens":10}"#,
            r#"{"output_tokens":7,"output_tokens_details":{"thinking_tokens":5}}"#,
            " [in 10 out 7 reasoning 5]",
        ),
        (
            r#"{"input_tokens":10}"#,
            r#"{"output_tokens":7,"output_tokens_details":{"thinking_tokens":50}}"#,
            " [in 10 out 7]",
        ),
        (r#"{"prompt_tokens":10}"#, r#"{"completion_tokens":7}"#, ""),
        (
            r#"{"input_tokens":18446744073709551615,"cache_read_input_tokens":1,"cache_creation_input_tokens":0}"#,
            "{}",
            " [cached 1 written 0]",
        ),
    ];
    for (first, last, counts) in cases {
        check(&format!("{first} {last}"), &counted(first, last), &format!(r#"Stop: "hi"{counts}"#));
    }
}

#[test]
fn what_was_counted_before_the_answer_counts_nothing_of_it() {
    let start = r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":25,"output_tokens":8}}}"#;
    let cut = [one(start), said(0, "hi")].concat();
    check("broken off", &cut, &format!("{TRUNCATED} [in 25]"));
    let error =
        r#"{"type":"error","error":{"type":"overloaded_error"},"usage":{"output_tokens":4}}"#;
    let failed = "failed Protocol PROVIDER_OVERLOADED unknown [in 25 out 4]";
    check("an error that counts", &[one(start), said(0, "hi"), one(error)].concat(), failed);
    let document = r#"{"type":"message","content":"hi","stop_reason":"end_turn","usage":{"input_tokens":25,"output_tokens":8}}"#;
    bytes("a document", document.as_bytes(), r#"Stop: "hi" [in 25 out 8]"#);
}
