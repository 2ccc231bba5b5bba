//! What answers come to, by what they say and by how they end.

use wire_rehearsal::play;

use crate::rehearsal::{check, decoder, events};

mod ends;

/// A frame of these parts, and what else its candidate says.
fn frame(parts: &str, rest: &str) -> String {
    format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}}{rest}}}]}}"#)
}

fn stop(parts: &str) -> String {
    frame(parts, r#","finishReason":"STOP""#)
}

fn call(fields: &str) -> String {
    format!(r#"{{"functionCall":{{{fields}}}}}"#)
}

fn answers(what: &str, frames: &[String], expected: &str) {
    check(what, &events(frames), expected);
}

#[test]
fn texts_are_joined_and_thoughts_stand_apart() {
    let hm = r#"{"text":"hm","thought":true}"#;
    answers("one text", &[frame(r#"{"text":"a"}"#, ""), stop(r#"{"text":"b"}"#)], r#"Stop: "ab""#);
    let mixed = [frame(hm, ""), frame(hm, ""), frame(r#"{"text":"a"}"#, ""), stop(hm)];
    answers("thoughts", &mixed, r#"Stop: (hmhm | null) "a" (hm | null)"#);
    answers("no thought", &[stop(r#"{"text":"a","thought":false}"#)], r#"Stop: "a""#);
    answers("nothing", &[stop("")], "Stop: ");
    answers("no content", &[r#"{"candidates":[{"finishReason":"STOP"}]}"#.to_owned()], "Stop: ");
    answers("empty text", &[stop(r#"{"text":""},{},null,7"#)], "Stop: ");
}

#[test]
fn a_signed_part_is_never_merged() {
    let signed = |text: &str| format!(r#"{{"text":"{text}","thoughtSignature":"s"}}"#);
    let kept = r#"( | {"on":"text","thoughtSignature":"s"})"#;
    let parts = format!(r#"{},{{"text":"b"}},{{"text":"c"}},{}"#, signed("a"), signed("d"));
    let expected = format!(r#"Stop: {kept} "a" "bc" {kept} "d""#);
    answers("texts", &[stop(&parts)], &expected);
    let thought = r#"{"text":"hm","thought":true}"#;
    let folded = r#"Stop: (hm | {"on":"text","thoughtSignature":"s"}) "a""#;
    answers("after a thought", &[frame(thought, ""), stop(&signed("a"))], folded);
    let own = r#"{"text":"hm","thought":true,"thoughtSignature":"s"}"#;
    let expected =
        r#"Stop: (hm | {"part":{"text":"hm","thought":true,"thoughtSignature":"s"}}) "a""#;
    answers("a thought's own", &[frame(own, ""), stop(r#"{"text":"a"}"#)], expected);
    let bare = r#"Stop: "a" ( | {"part":{"text":"","thoughtSignature":"s"}})"#;
    for empty in [signed(""), r#"{"thoughtSignature":"s"}"#.to_owned()] {
        answers("a bare signature", &[frame(r#"{"text":"a"}"#, ""), stop(&empty)], bare);
    }
}

#[test]
fn calls_are_told_apart_by_their_parts_and_joined_by_their_ids() {
    let f = call(r#""name":"f","args":{"p":1}"#);
    let played = play(decoder(), &events(&[stop(&format!("{f},{f}"))]), usize::MAX).outcome;
    let ids: Vec<&str> =
        played.match_indices("f#").map(|(at, _)| &played[at + 2..at + 11]).collect();
    assert!(played.starts_with("ToolCalls: ") && ids.len() == 2 && ids[0] != ids[1], "{played}");
    let a = call(r#""id":"a","name":"f","args":{"p":1}"#);
    answers("sent again", &[frame(&a, ""), stop(&a)], r#"ToolCalls: f#a{"p":1}"#);
    let other = call(r#""id":"a","name":"f","args":{"p":2}"#);
    let played = play(decoder(), &events(&[frame(&a, ""), stop(&other)]), usize::MAX).outcome;
    let both = played.starts_with(r#"ToolCalls: f#a{"p":1} f#"#) && played.ends_with(r#"{"p":2}"#);
    assert!(both && !played.contains(r#"f#a{"p":2}"#), "{played}");
}

#[test]
fn arguments_are_whole_or_the_answer_is_cut() {
    let args = |args: &str| [stop(&call(&format!(r#""id":"a","name":"f","args":{args}"#)))];
    answers("none", &[stop(&call(r#""id":"a","name":"f""#))], "ToolCalls: f#a{}");
    answers("null", &args("null"), "ToolCalls: f#a{}");
    answers("as text", &args(r#""{\"p\":1}""#), r#"ToolCalls: f#a{"p":1}"#);
    answers("no json", &args(r#""{p""#), r#"ToolCalls: f#a"{p""#);
    answers("cut", &args(r#""{\"p\":""#), "Length: ");
    answers("no name", &[stop(&call(r#""id":"a","args":{}"#))], "Length: ");
    answers("no call", &[stop(r#"{"functionCall":{}}"#)], "Length: ");
    answers("null is no part", &[stop(r#"{"functionCall":null,"text":"a"}"#)], r#"Stop: "a""#);
    let beside = format!(r#"{{"text":"a"}},{}"#, call(r#""name":"f","args":"{""#));
    answers("its text is kept", &[stop(&beside)], r#"Length: "a""#);
    let partial = r#""name":"f","partialArgs":[{"jsonPath":"$.p","numberValue":1}]"#;
    let failed = "failed Protocol PARTIAL_ARGUMENTS unknown";
    answers("in pieces", &[stop(&call(partial))], failed);
    answers("to be continued", &[stop(&call(r#""name":"f","willContinue":true"#))], failed);
}

#[test]
fn only_the_first_candidate_counts_and_no_part_vanishes() {
    let other = r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"b"}]},"finishReason":"OTHER"},{"index":0,"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#;
    answers("two candidates", &[other.to_owned()], r#"Stop: "a""#);
    let parts = r#"{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"newThing":{"x":1},"thoughtSignature":"s"}"#;
    let expected = concat!(
        r#"Stop: ( | {"part":{"inlineData":{"data":"AA==","mimeType":"image/png"}}}) "#,
        r#"( | {"part":{"newThing":{"x":1},"thoughtSignature":"s"}})"#,
    );
    answers("other parts", &[stop(parts)], expected);
}

#[test]
fn the_deltas_are_the_answer() {
    let frames = [
        frame(r#"{"text":"hm","thought":true}"#, ""),
        frame(r#"{"text":"a"}"#, ""),
        stop(&call(r#""id":"x","name":"f","args":{"p":1}"#)),
    ];
    let deltas = play(decoder(), &events(&frames), usize::MAX).deltas;
    assert_eq!(deltas, r#"r:hm t:a call0:f#x args0:{"p":1} "#);
}
