//! Arguments are what the server wrote: a number that no value holds, and a name with two values,
//! make a call that says so, and never another one.

use gemini_adapter::decoder;
use wire_rehearsal::{check, events};

#[test]
fn arguments_that_a_value_cannot_hold_are_handed_on_as_they_came() {
    let rows = [
        (r#"{"id":18446744073709551615}"#, r#"{"id":18446744073709551615}"#),
        (r#"{"id":18446744073709551616}"#, r#""{\"id\":18446744073709551616}""#),
        (r#"{"x": 1e400}"#, r#""{\"x\": 1e400}""#),
        (r#"{"p":1,"p":2}"#, r#""{\"p\":1,\"p\":2}""#),
        (r#"{"p":1,"p":1}"#, r#"{"p":1}"#),
        ("{ }", "{}"),
    ];
    for (args, expected) in rows {
        let part = format!(r#"{{"functionCall":{{"id":"a","name":"f","args":{args}}}}}"#);
        let frame = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{part}]}},"finishReason":"STOP"}}]}}"#
        );
        let expected = format!("ToolCalls: f#a{expected}");
        check(|| decoder("issuer", "seed"), args, &events(&[&frame]), &expected);
        check(|| decoder("issuer", "seed"), args, frame.as_bytes(), &expected);
    }
}
