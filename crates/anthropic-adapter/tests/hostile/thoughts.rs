//! Reasoning: it goes back to the letter, or not at all.

use super::*;

const BEGUN: &str = r#"{"type":"thinking","thinking":"","signature":""}"#;

fn thought(index: u32, text: &str) -> String {
    delta(index, &format!(r#"{{"type":"thinking_delta","thinking":"{text}"}}"#))
}

fn signed(index: u32, signature: &str) -> String {
    delta(index, &format!(r#"{{"type":"signature_delta","signature":"{signature}"}}"#))
}

fn kept(text: &str, signature: &str) -> String {
    format!(r#"({text} | {{"signature":"{signature}","thinking":"{text}","type":"thinking"}})"#)
}

#[test]
fn a_signature_is_whole_however_it_came() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("whole", &["EqQB/+="], "EqQB/+="),
        ("in pieces", &["Eq", "QB", "/+="], "EqQB/+="),
        ("letter by letter", &["E", "q", "Q", "B"], "EqQB"),
        ("twice", &["EqQB/+=", "EqQB/+="], "EqQB/+="),
        ("longer each time", &["Eq", "EqQB", "EqQB/+="], "EqQB/+="),
        ("after an empty one", &["", "EqQB/+="], "EqQB/+="),
        ("before an empty one", &["EqQB/+=", ""], "EqQB/+="),
    ];
    for (name, pieces, signature) in cases {
        let mut frames = vec![begin(0, BEGUN), thought(0, "h"), thought(0, "m")];
        frames.extend(pieces.iter().map(|piece| signed(0, piece)));
        frames.push(end(0));
        check(name, &message(&[frames], END_TURN), &format!("Stop: {}", kept("hm", signature)));
    }
}

#[test]
fn every_form_of_reasoning_keeps_what_its_issuer_needs() {
    let redacted = r#"( | {"data":"EmwK","type":"redacted_thinking"})"#;
    let data = r#"{"type":"redacted_thinking","data":"EmwK"}"#;
    let f = || vec![call(1, "a", "f"), piece(1, "{}"), end(1)];
    let cases: &[(&str, Vec<Vec<String>>, String)] = &[
        ("a signature alone", vec![vec![begin(0, BEGUN), signed(0, "s"), end(0)], f()], format!("ToolCalls: {} f#a{{}}", kept("", "s"))),
        ("a signature alone, its end lost", vec![vec![begin(0, BEGUN), signed(0, "s")], f()], format!("ToolCalls: {} f#a{{}}", kept("", "s"))),
        ("all in the beginning", vec![vec![begin(0, r#"{"type":"thinking","thinking":"hm","signature":"s"}"#), end(0)], f()], format!("ToolCalls: {} f#a{{}}", kept("hm", "s"))),
        ("redacted", vec![vec![begin(0, data), end(0)], f()], format!("ToolCalls: {redacted} f#a{{}}")),
        ("redacted, its end lost", vec![vec![begin(0, data)], f()], format!("ToolCalls: {redacted} f#a{{}}")),
        ("unsigned", vec![vec![begin(0, BEGUN), thought(0, "hm"), end(0)], f()], "ToolCalls: (hm | null) f#a{}".to_owned()),
        ("after the call", vec![f(), vec![begin(2, BEGUN), thought(2, "hm"), signed(2, "s"), end(2)]], format!("ToolCalls: f#a{{}} {}", kept("hm", "s"))),
        ("with a field that nobody knows", vec![vec![begin(0, r#"{"type":"thinking","thinking":"","signature":"","bound":"x"}"#), thought(0, "hm"), signed(0, "s"), end(0)], f()], r#"ToolCalls: (hm | {"bound":"x","signature":"s","thinking":"hm","type":"thinking"}) f#a{}"#.to_owned()),
        ("begun as a text", vec![vec![begin(0, r#"{"type":"text","text":""}"#), thought(0, "hm"), end(0)], f()], "ToolCalls: (hm | null) f#a{}".to_owned()),
    ];
    for (name, frames, expected) in cases {
        check(name, &message(frames, TOOL_USE), expected);
    }
}

#[test]
fn reasoning_of_a_message_that_was_cut_is_shown_and_signed_alone_goes_back() {
    let cut = vec![begin(0, BEGUN), thought(0, "hm")];
    check("cut", &message(&[cut.clone()], MAX_TOKENS), "Length: (hm | null)");
    check("broken off", &[one(START), cut].concat(), TRUNCATED);
    let two = [
        vec![begin(0, BEGUN), thought(0, "one"), signed(0, "s"), end(0)],
        said(1, "hi"),
        vec![begin(2, BEGUN), thought(2, "two"), signed(2, "t"), end(2)],
        said(3, "ho"),
    ];
    let expected = format!(r#"Stop: {} "hi" {} "ho""#, kept("one", "s"), kept("two", "t"));
    check("between texts", &message(&two, END_TURN), &expected);
}
