//! What answers come to.

use crate::rehearsal::{check, events};

#[test]
fn text_and_calls() {
    let text = r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}"#;
    check("text", &events(&[text]), r#"Stop: "hi""#);
    let fixture = include_bytes!("../../tests/fixtures/parallel-calls.sse");
    let expected = concat!(
        r#"ToolCalls: (**Checking flights**"#,
        "\n\nBoth can be looked up at once. | ",
        r#"{"on":"functionCall","thoughtSignature":"c2lnbmF0dXJlIEE="}) "#,
        r#"check_flight#fc-1{"flight":"AA100"} check_flight#fc-2{"flight":"BA200"} "#,
        "[in 114 out 109 reasoning 73]"
    );
    check("parallel calls", fixture, expected);
}
