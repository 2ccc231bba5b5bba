//! Tool calls that could be read in two ways, and calls that are told more than once (A1 to A14):
//! whatever comes of them, no call is wrong and none is made twice.

use super::{call, delta, finish, finished};
use crate::{
    profile::Api,
    rehearsal::{check, events},
};

/// What it is, the call fragments, and what they come to.
type Row = (&'static str, &'static [&'static str], &'static str);

fn table(rows: &[(&str, &[&str], &str)]) {
    for (name, fragments, expected) in rows {
        let frames: Vec<String> = fragments.iter().map(|fragment| call(fragment)).collect();
        finished(name, &frames, "tool_calls", expected);
    }
}

const CUT: &str = "Length: ";
const F: &str = r#"ToolCalls: f#a{"p":1}"#;
const F_AND_G: &str = r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#;

#[test]
fn a1_fragments_without_an_index() {
    table(&[
        (
            "ids in every fragment, woven",
            &[
                r#"{"id":"a","function":{"name":"f","arguments":""}}"#,
                r#"{"id":"b","function":{"name":"g","arguments":""}}"#,
                r#"{"id":"b","function":{"arguments":"{\"p\":2}"}}"#,
                r#"{"id":"a","function":{"arguments":"{\"p\":1}"}}"#,
            ],
            F_AND_G,
        ),
        (
            "heads first, then tails that say nothing of themselves",
            &[
                r#"{"id":"a","function":{"name":"f","arguments":""}}"#,
                r#"{"id":"b","function":{"name":"g","arguments":""}}"#,
                r#"{"function":{"arguments":"{\"p\":1}"}}"#,
                r#"{"function":{"arguments":"{\"p\":2}"}}"#,
            ],
            CUT,
        ),
        (
            "the same arguments again, without a name",
            &[
                r#"{"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
                r#"{"function":{"arguments":"{\"p\":1}"}}"#,
            ],
            F,
        ),
        (
            "other arguments, without a name",
            &[
                r#"{"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
                r#"{"function":{"arguments":"{\"p\":2}"}}"#,
            ],
            CUT,
        ),
        (
            "two in one frame",
            &[
                r#"{"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}},{"id":"b","function":{"name":"g","arguments":"{\"p\":2}"}}"#,
            ],
            F_AND_G,
        ),
        (
            "indices as texts and with fractions",
            &[
                r#"{"index":"0","id":"a","function":{"name":"f","arguments":""}}"#,
                r#"{"index":1.0,"id":"b","function":{"name":"g","arguments":""}}"#,
                r#"{"index":"1","function":{"arguments":"{\"p\":2}"}}"#,
                r#"{"index":0,"function":{"arguments":"{\"p\":1}"}}"#,
            ],
            F_AND_G,
        ),
        (
            "indices that are none",
            &[r#"{"index":-1,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#],
            F,
        ),
    ]);
}

const COLLIDING: &[Row] = &[
    (
        "heads at one index, tails at their own",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
            r#"{"index":0,"id":"b","function":{"name":"g","arguments":""}}"#,
            r#"{"index":0,"function":{"arguments":"{\"p\":1}"}}"#,
            r#"{"index":1,"function":{"arguments":"{\"p\":2}"}}"#,
        ],
        CUT,
    ),
    (
        "three calls, heads at 0, tails counted, one after the other",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
            r#"{"index":0,"function":{"arguments":"{\"p\":1}"}}"#,
            r#"{"index":0,"id":"b","function":{"name":"g","arguments":""}}"#,
            r#"{"index":1,"function":{"arguments":"{\"p\":"}}"#,
            r#"{"index":1,"function":{"arguments":"2}"}}"#,
            r#"{"index":0,"id":"c","function":{"name":"g","arguments":""}}"#,
            r#"{"index":2,"function":{"arguments":"{\"p\":3}"}}"#,
        ],
        r#"ToolCalls: f#a{"p":1} g#b{"p":2} g#c{"p":3}"#,
    ),
    (
        "a shifted tail that repeats the name of its head",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
            r#"{"index":1,"function":{"name":"f","arguments":"{\"p\":1}"}}"#,
        ],
        F,
    ),
    (
        "a call without arguments, and one whose arguments come before its name",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
            r#"{"index":1,"function":{"arguments":"{\"p\":2}"}}"#,
            r#"{"index":1,"function":{"name":"g"}}"#,
        ],
        CUT,
    ),
    (
        "whole, then one whose arguments come before its name",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
            r#"{"index":1,"function":{"arguments":"{\"p\":"}}"#,
            r#"{"index":1,"id":"b","function":{"name":"g","arguments":"2}"}}"#,
        ],
        F_AND_G,
    ),
    (
        "a tail at an unseen index when all are whole",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
            r#"{"index":1,"function":{"arguments":"{\"p\":2}"}}"#,
        ],
        CUT,
    ),
    (
        "white space at an unseen index",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
            r#"{"index":1,"function":{"arguments":" \n"}}"#,
        ],
        F,
    ),
    (
        "woven by index",
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}"#,
            r#"{"index":1,"function":{"arguments":"\"p\":2}"}}"#,
            r#"{"index":0,"function":{"arguments":":1}"}}"#,
        ],
        F_AND_G,
    ),
];

#[test]
fn a2_a3_indices_that_collide_or_are_shifted() {
    table(COLLIDING);
}

#[test]
fn a4_heads_whose_ids_change_at_once() {
    table(&[
        (
            "another id with each fragment, and a head without arguments",
            &[
                r#"{"index":0,"id":"a1","function":{"name":"f","arguments":""}}"#,
                r#"{"index":0,"id":"a","function":{"arguments":"{\"p\""}}"#,
                r#"{"index":0,"id":"a3","function":{"arguments":":1}"}}"#,
            ],
            F,
        ),
        (
            "another id and the name with each fragment",
            &[
                r#"{"index":0,"id":"a1","function":{"name":"f","arguments":""}}"#,
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\""}}"#,
                r#"{"index":0,"id":"a3","function":{"name":"f","arguments":":1}"}}"#,
            ],
            F,
        ),
        (
            "two calls, another id with each fragment",
            &[
                r#"{"index":0,"id":"a1","function":{"name":"f"}}"#,
                r#"{"index":0,"id":"a","function":{"arguments":"{\"p\""}}"#,
                r#"{"index":0,"id":"a3","function":{"arguments":":1}"}}"#,
                r#"{"index":1,"id":"b1","function":{"name":"g"}}"#,
                r#"{"index":1,"id":"b","function":{"arguments":"{\"p\":2"}}"#,
                r#"{"index":1,"id":"b3","function":{"arguments":"}"}}"#,
            ],
            F_AND_G,
        ),
    ]);
}

#[test]
fn a4_ids_that_change_or_are_none() {
    table(&[
        (
            "another id with each fragment",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\""}}"#,
                r#"{"index":0,"id":"a2","function":{"arguments":":"}}"#,
                r#"{"index":0,"id":"a3","function":{"name":"f","arguments":"1}"}}"#,
            ],
            F,
        ),
        (
            "another id, and what could begin arguments",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":"}}"#,
                r#"{"index":0,"id":"b","function":{"arguments":"{\"q\":1}}"}}"#,
            ],
            CUT,
        ),
        (
            "a late id at whole arguments, with others",
            &[
                r#"{"index":0,"function":{"name":"f","arguments":"{\"p\":1}"}}"#,
                r#"{"index":0,"id":"b","function":{"arguments":"{\"p\":2}"}}"#,
            ],
            CUT,
        ),
        (
            "the word None",
            &[r#"{"index":0,"id":"None","function":{"name":"f","arguments":"{\"p\":1}"}}"#],
            r#"ToolCalls: f#<0>{"p":1}"#,
        ),
        (
            "no text",
            &[r#"{"index":0,"id":{"a":1},"function":{"name":"f","arguments":"{\"p\":1}"}}"#],
            r#"ToolCalls: f#<0>{"p":1}"#,
        ),
    ]);
    let huge = "x".repeat(100_000);
    let fragment =
        format!(r#"{{"index":0,"id":"{huge}","function":{{"name":"f","arguments":"{{}}"}}}}"#);
    finished("a huge id", &[call(&fragment)], "tool_calls", "ToolCalls: f#<0>{}");
    let long = "y".repeat(2_000);
    let fragment =
        format!(r#"{{"index":0,"id":"{long}","function":{{"name":"f","arguments":"{{}}"}}}}"#);
    let expected = format!("ToolCalls: f#{long}{{}}");
    finished("a long id", &[call(&fragment)], "tool_calls", &expected);
}

#[test]
fn a6_a7_arguments_in_every_shape() {
    let with = |arguments: &str| {
        format!(r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":{arguments}}}}}"#)
    };
    let calls = |name: &str, fragments: &[String], expected: &str| {
        let frames: Vec<String> = fragments.iter().map(|fragment| call(fragment)).collect();
        finished(name, &frames, "tool_calls", expected);
    };
    let text = r#""{\"p\":1}""#;
    calls("an object, then its text", &[with(r#"{"p":1}"#), with(text)], F);
    calls("an empty object, then a real one", &[with("{}"), with(r#"{"p":1}"#)], F);
    let rest = |arguments: &str| format!(r#"{{"index":0,"function":{{"arguments":{arguments}}}}}"#);
    let pieces = [with(r#""{}""#), rest(r#""{\"p\"""#), rest(r#"":1}""#)];
    calls("a placeholder, then pieces", &pieces, F);
    calls("null, then pieces", &[with("null"), rest(text)], F);
    calls("a null text, then pieces", &[with(r#""null""#), rest(text)], F);
    calls("a placeholder after the real ones", &[with(text), with(r#""{}""#)], CUT_OR_TEXT);
    calls("a number", &[with("5")], "ToolCalls: f#a5");
    calls("a list", &[with("[1]")], "ToolCalls: f#a[1]");
    let deep = format!("\"{}{}\"", "[".repeat(10_000), "]".repeat(10_000));
    let text = format!("ToolCalls: f#a{deep}");
    calls("ten thousand levels", &[with(&deep)], &text);
    calls(
        "half of a pair",
        &[with(r#""{\"p\":\"\\ud800\"}""#)],
        r#"ToolCalls: f#a"{\"p\":\"\\ud800\"}""#,
    );
    calls("a bracket too many", &[with(r#""{\"p\":1}}""#)], r#"ToolCalls: f#a"{\"p\":1}}""#);
    calls(
        "markup behind",
        &[with(r#""{\"p\":1}</tool_call>""#)],
        r#"ToolCalls: f#a"{\"p\":1}</tool_call>""#,
    );
}

/// Two different whole arguments of one id: neither is run, and the model is told.
const CUT_OR_TEXT: &str = r#"ToolCalls: f#a"{\"p\":1}{}""#;

#[test]
fn a8_a_call_that_is_told_again_is_made_once() {
    let whole = call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#);
    let last = |rest: &str| {
        format!(r#"{{"choices":[{{"index":0,{rest},"finish_reason":"tool_calls"}}]}}"#)
    };
    let ends = |name: &str, end: String, expected: &str| {
        let stream = [whole.clone(), end, "[DONE]".to_owned()];
        check(Api::Chat, name, &events(&stream), expected);
    };
    let again = |id: &str, arguments: &str| {
        format!(
            r#"{{"tool_calls":[{{"index":0,"id":"{id}","type":"function","function":{{"name":"f","arguments":{arguments}}}}}]}}"#
        )
    };
    let text = r#""{\"p\": 1}""#;
    let delta = |id: &str| format!(r#""delta":{}"#, again(id, text));
    let message = |id: &str| format!(r#""message":{}"#, again(id, text));
    ends("in the frame that finishes", last(&delta("a")), F);
    ends("there, under another id", last(&delta("z")), F);
    ends("there, as an object", last(&format!(r#""delta":{}"#, again("z", r#"{"p":1}"#))), F);
    ends(
        "there, with other arguments",
        last(&format!(r#""delta":{}"#, again("z", r#""{\"p\":2}""#))),
        r#"ToolCalls: f#a{"p":1} f#z{"p":2}"#,
    );
    ends("as a message behind the deltas", last(&message("a")), F);
    ends("as a message under another id", last(&message("z")), F);
    ends(
        "as a message beside an empty delta",
        last(&format!(r#""delta":{{}},{}"#, message("z"))),
        F,
    );
    let other = format!(r#""message":{}"#, again("a", r#""{\"p\":2}""#));
    ends("as a message that says something else", last(&other), CUT);
    let more = r#""message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}},{"id":"b","function":{"name":"g","arguments":"{\"p\":2}"}}]}"#;
    ends("as a message with one more", last(more), F_AND_G);
    let same = r#"{"index":0,"id":"z","function":{"name":"f","arguments":"{\"p\":1}"}}"#;
    let twice = r#"ToolCalls: f#a{"p":1} f#z{"p":1}"#;
    finished("two calls alike", &[whole.clone(), call(same)], "tool_calls", twice);
}

#[test]
fn a8_a_message_behind_deltas_repeats_nothing_and_completes() {
    let end = |message: &str| {
        format!(r#"{{"choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}]}}"#)
    };
    let hi = || delta(r#"{"role":"assistant","content":"hi"}"#);
    let stream = |name: &str, frames: &[String], expected: &str| {
        check(Api::Chat, name, &events(frames), expected);
    };
    let all = end(r#"{"role":"assistant","content":"hi"}"#);
    stream("the text again", &[hi(), all], r#"Stop: "hi""#);
    let begun = delta(r#"{"role":"assistant","content":""}"#);
    let all = end(r#"{"content":"hi"}"#);
    stream("the text for the first time", &[begun, all], r#"Stop: "hi""#);
    let cut = call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\""}}"#);
    let all = end(r#"{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}]}"#);
    stream("arguments that were cut", &[cut, all], F);
    let piece =
        |text: &str| format!(r#"{{"choices":[{{"index":0,"message":{{"content":"{text}"}}}}]}}"#);
    let pieces = [piece("h"), piece("i"), finish("stop")];
    stream("pieces that are called messages", &pieces, r#"Stop: "hi""#);
}

#[test]
fn a9_names_that_grow_or_differ() {
    table(&[
        (
            "pieces after an id",
            &[
                r#"{"index":0,"id":"a","function":{"name":"re"}}"#,
                r#"{"index":0,"function":{"name":"ad"}}"#,
                r#"{"index":0,"function":{"arguments":"{}"}}"#,
            ],
            "ToolCalls: read#a{}",
        ),
        (
            "the whole so far each time",
            &[
                r#"{"index":0,"id":"a","function":{"name":"re"}}"#,
                r#"{"index":0,"id":"a","function":{"name":"read"}}"#,
                r#"{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}"#,
            ],
            "ToolCalls: read#a{}",
        ),
        (
            "repeated with every piece, with id and index",
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\""}}"#,
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":":1"}}"#,
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}"#,
            ],
            F,
        ),
        (
            "another name amid the arguments",
            &[
                r#"{"index":0,"function":{"name":"f","arguments":"{\"p\":"}}"#,
                r#"{"index":0,"function":{"name":"g","arguments":"{\"p\":2}"}}"#,
            ],
            CUT,
        ),
        ("null", &[r#"{"index":0,"id":"a","function":{"name":null,"arguments":"{}"}}"#], CUT),
        ("empty", &[r#"{"index":0,"id":"a","function":{"name":"","arguments":"{}"}}"#], CUT),
    ]);
}

#[test]
fn a10_a14_calls_in_other_places() {
    let object =
        delta(r#"{"tool_calls":{"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}}"#);
    finished("no list", &[object], "tool_calls", F);
    let both = delta(
        r#"{"function_call":{"name":"f","arguments":"{\"p\":1}"},"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}]}"#,
    );
    finished("both fields", &[both], "tool_calls", F);
    let first = delta(r#"{"function_call":{"name":"f","arguments":"{\"p\":1}"}}"#);
    let then = call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#);
    finished("the old one first", &[first, then], "tool_calls", F);
    let nulls = delta(r#"{"tool_calls":null,"function_call":null,"content":"hi"}"#);
    finished("nulls", &[nulls], "stop", r#"Stop: "hi""#);
    let list = delta(r#"{"tool_calls":[null,7,"x",{}],"content":"hi"}"#);
    finished("no calls in the list", &[list], "stop", r#"Stop: "hi""#);
    let legacy_cut = delta(r#"{"function_call":{"name":"f","arguments":"{\"p\":"}}"#);
    finished("the old one, cut", &[legacy_cut], "function_call", CUT);
}

#[test]
fn a11_whatever_ends_them_cut_calls_do_not_run() {
    let whole = call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#);
    let end = |reasons: &[&str]| {
        let mut frames = vec![whole.clone()];
        frames.extend(reasons.iter().map(|reason| finish(reason)));
        events(&frames)
    };
    let ends = |reasons: &[&str], expected: &str| {
        check(Api::Chat, &format!("{reasons:?}"), &end(reasons), expected);
    };
    ends(&["length", "stop"], CUT);
    ends(&["stop", "length"], CUT);
    ends(&["tool_calls", "stop"], F);
    ends(&["stop", "tool_calls"], F);
    ends(&["content_filter", "stop"], "ContentFilter: ");
    ends(&["max-tokens"], CUT);
    let text = [delta(r#"{"content":"hi"}"#), finish("length"), finish("stop")];
    check(Api::Chat, "a gateway adds its own end", &events(&text), r#"Length: "hi""#);
    let late = [
        finish("tool_calls"),
        call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#),
        "[DONE]".to_owned(),
    ];
    check(Api::Chat, "calls after the finish", &events(&late), F);
}

#[test]
fn a12_markup_is_shown_and_never_run() {
    let markups = [
        "<tool_call>{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{}}</tool_call>",
        "<function=read>{}</function>",
        "<|python_tag|>f(1)",
        "[TOOL_CALLS][{}]",
        "<invoke name=\\\"f\\\"></invoke>",
    ];
    for markup in markups {
        let text = delta(&format!(r#"{{"content":"{markup}"}}"#));
        let shown = format!(r#"Stop: "{markup}""#);
        finished(markup, std::slice::from_ref(&text), "stop", &shown);
        let promised = format!(r#"Other: "{markup}""#);
        finished(markup, &[text], "tool_calls", &promised);
        let thought = delta(&format!(r#"{{"reasoning_content":"{markup}","content":"hi"}}"#));
        let kept = format!(
            r#"Stop: ({} | {{"reasoning_content":"{markup}"}}) "hi""#,
            markup.replace("\\\"", "\"")
        );
        finished(markup, &[thought], "stop", &kept);
    }
}

#[test]
fn a13_signatures_stay_with_their_calls() {
    let signed = |id: &str, sign: &str| {
        format!(
            r#"{{"id":"{id}","function":{{"name":"f","arguments":"{{}}"}},"extra_content":{sign}}}"#
        )
    };
    let sign = r#"{"google":{"thought_signature":"S+/=","x":[1,null]}}"#;
    let kept =
        r#"( | {"tool_call_extra_content":{"google":{"thought_signature":"S+/=","x":[1,null]}}})"#;
    let frames = [call(&signed("a", sign)), call(&signed("b", "null"))];
    let expected = format!("ToolCalls: {kept} f#a{{}} f#b{{}}");
    finished("the first of two", &frames, "tool_calls", &expected);
    let late = [
        call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#),
        call(&format!(r#"{{"index":0,"extra_content":{sign}}}"#)),
    ];
    finished("behind its call", &late, "tool_calls", &format!("ToolCalls: {kept} f#a{{}}"));
    let again = [
        call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#),
        call(&signed("a", sign)),
    ];
    finished("with the repetition", &again, "tool_calls", &format!("ToolCalls: {kept} f#a{{}}"));
}
