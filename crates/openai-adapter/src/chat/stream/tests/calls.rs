//! Tool calls in pieces: to which call a piece belongs, and when a call is whole (A1 to A14).

use super::{call, delta, finish, finished};
use crate::{
    profile::Api,
    rehearsal::{events, play},
};

/// A stream of call fragments that is finished as it should.
fn calls(name: &str, fragments: &[&str], expected: &str) {
    let frames: Vec<String> = fragments.iter().map(|fragment| call(fragment)).collect();
    finished(name, &frames, "tool_calls", expected);
}

#[test]
fn a1_a_call_without_index_goes_by_id_and_then_to_the_current_call() {
    let two = [
        r#"{"id":"a","function":{"name":"f","arguments":"{\"p\":"}}"#,
        r#"{"function":{"arguments":"1}"}}"#,
        r#"{"id":"b","function":{"name":"g","arguments":"{\"p\":"}}"#,
        r#"{"function":{"arguments":"2}"}}"#,
    ];
    calls("nearness", &two, r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#);
    let woven = [
        r#"{"id":"a","function":{"name":"f","arguments":"{\"p\":"}}"#,
        r#"{"id":"b","function":{"name":"g","arguments":"{\"p\":"}}"#,
        r#"{"id":"a","function":{"arguments":"1}"}}"#,
        r#"{"id":"b","function":{"arguments":"2}"}}"#,
    ];
    calls("ids", &woven, r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#);
    let pair = r#"{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"f"}}"#;
    calls("two in one frame", &[pair], "ToolCalls: f#a{} f#b{}");
}

#[test]
fn a2_a_new_id_at_the_same_index_is_a_new_call() {
    let two = [
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{\"p\":2}"}}"#,
    ];
    calls("whole", &two, r#"ToolCalls: f#a{"p":1} f#b{"p":2}"#);
    let pieces = [
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
        r#"{"index":0,"function":{"arguments":"{\"p\":1}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"g","arguments":""}}"#,
        r#"{"index":0,"function":{"arguments":"{\"p\":2}"}}"#,
    ];
    calls("in pieces", &pieces, r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#);
}

#[test]
fn a3_a_tail_at_an_unseen_index_belongs_to_the_call_that_lacks_one() {
    let shifted = [
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
        r#"{"index":1,"function":{"arguments":"{\"p\":"}}"#,
        r#"{"index":1,"function":{"arguments":"1}"}}"#,
    ];
    calls("shifted", &shifted, r#"ToolCalls: f#a{"p":1}"#);
}

#[test]
fn a4_a_missing_id_is_made_up_and_stays_the_same() {
    for id in ["", r#""id":"","#, r#""id":"null","#, r#""id":null,"#] {
        let first =
            format!(r#"{{"index":0,{id}"function":{{"name":"f","arguments":"{{\"p\":"}}}}"#);
        let second = format!(r#"{{"index":0,{id}"function":{{"arguments":"1}}"}}}}"#);
        calls("one", &[&first, &second], r#"ToolCalls: f#<0>{"p":1}"#);
    }
    calls("a number", &[r#"{"index":0,"id":7,"function":{"name":"f"}}"#], "ToolCalls: f#7{}");
    let late = [
        r#"{"index":0,"function":{"name":"f","arguments":""}}"#,
        r#"{"index":0,"id":"a","function":{"arguments":"{}"}}"#,
    ];
    calls("an id that comes late", &late, "ToolCalls: f#a{}");
    let twice = [
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#,
        r#"{"index":1,"id":"a","function":{"name":"g","arguments":"{\"p\":2}"}}"#,
    ];
    calls("one id for two calls", &twice, r#"ToolCalls: f#a{"p":1} g#<1>{"p":2}"#);
}

#[test]
fn calls_without_ids_are_two_when_both_are_whole() {
    let by_index = [
        r#"{"index":0,"function":{"name":"f","arguments":"{\"p\":1}"}}"#,
        r#"{"index":1,"function":{"name":"f","arguments":"{\"p\":1}"}}"#,
    ];
    let expected = r#"ToolCalls: f#<0>{"p":1} f#<1>{"p":1}"#;
    calls("by index", &by_index, expected);
    let same_index = [
        r#"{"index":0,"function":{"name":"f","arguments":"{\"p\":1}"}}"#,
        r#"{"index":0,"function":{"name":"g","arguments":"{\"p\":2}"}}"#,
    ];
    let expected = r#"ToolCalls: f#<0>{"p":1} g#<1>{"p":2}"#;
    calls("at one index", &same_index, expected);
    let nowhere = [
        r#"{"function":{"name":"f","arguments":"{\"p\":1}"}}"#,
        r#"{"function":{"name":"g","arguments":"{\"p\":2}"}}"#,
    ];
    calls("nowhere", &nowhere, expected);
    let pair = r#"{"function":{"name":"f"}},{"function":{"name":"g"}}"#;
    calls("in one frame", &[pair], "ToolCalls: f#<0>{} g#<1>{}");
}

#[test]
fn a5_arguments_before_the_name_wait_for_it() {
    let late = [
        r#"{"index":0,"id":"a","function":{"arguments":"{\"p\":1}"}}"#,
        r#"{"index":0,"function":{"name":"f"}}"#,
    ];
    calls("name last", &late, r#"ToolCalls: f#a{"p":1}"#);
    let nameless = [r#"{"index":0,"id":"a","function":{"arguments":"{\"p\":1}"}}"#];
    calls("no name at all", &nameless, "Length: ");
}

#[test]
fn a6_a7_arguments_may_be_an_object_nothing_or_a_placeholder() {
    let with = |arguments: &str| {
        format!(r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":{arguments}}}}}"#)
    };
    calls("an object", &[&with(r#"{"p":1}"#)], r#"ToolCalls: f#a{"p":1}"#);
    for nothing in [r#""""#, r#"" \n""#, "null", "{}", r#""{}""#, r#""null""#] {
        calls("nothing", &[&with(nothing)], "ToolCalls: f#a{}");
    }
    let real = r#"{"index":0,"function":{"name":"f","arguments":"{\"p\":1}"}}"#;
    calls("a placeholder first", &[&with(r#""{}""#), real], r#"ToolCalls: f#a{"p":1}"#);
    calls("no object", &[&with(r#""[1]""#)], "ToolCalls: f#a[1]");
    calls("a literal", &[&with(r#""\"x\"""#)], r#"ToolCalls: f#a"\"x\"""#);
    calls("no json", &[&with(r#""{p: 1}""#)], r#"ToolCalls: f#a"{p: 1}""#);
}

#[test]
fn a8_a_call_that_is_sent_again_is_one_call() {
    let whole = r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}"#;
    let spaced = r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\": 1}"}}"#;
    let elsewhere = r#"{"index":1,"id":"a","function":{"name":"f","arguments":"{\"p\": 1}"}}"#;
    let once = r#"ToolCalls: f#a{"p":1}"#;
    calls("the same bytes", &[whole, whole], once);
    calls("other spaces", &[whole, spaced], once);
    calls("another index", &[whole, elsewhere], once);
    let no_id = r#"{"index":0,"function":{"name":"f","arguments":"{\"p\":1}"}}"#;
    calls("without an id", &[no_id, no_id], r#"ToolCalls: f#<0>{"p":1}"#);
    let pieces = [
        r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}}"#,
        whole,
    ];
    calls("whole after its pieces", &pieces, once);
    let other = r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":2}"}}"#;
    let neither = r#"ToolCalls: f#a"{\"p\":1}{\"p\":2}""#;
    calls("the same id with other arguments", &[whole, other], neither);
}

#[test]
fn a9_names_are_set_or_put_together() {
    let repeated = [
        r#"{"index":0,"id":"a","function":{"name":"read","arguments":""}}"#,
        r#"{"index":0,"function":{"name":"read","arguments":"{\"p\":"}}"#,
        r#"{"index":0,"function":{"name":"read","arguments":"1}"}}"#,
        r#"{"index":0,"function":{"name":"read","arguments":""}}"#,
    ];
    calls("repeated", &repeated, r#"ToolCalls: read#a{"p":1}"#);
    let pieces = [
        r#"{"index":0,"function":{"name":"re"}}"#,
        r#"{"index":0,"function":{"name":"ad"}}"#,
        r#"{"index":0,"function":{"arguments":"{}"}}"#,
    ];
    calls("in pieces", &pieces, "ToolCalls: read#<0>{}");
}

#[test]
fn a10_a14_other_shapes_of_a_call() {
    let typed = r#"{"index":0,"id":"a","type":"tool","function":{"name":"f"}}"#;
    calls("another type", &[typed], "ToolCalls: f#a{}");
    let flat = r#"{"index":0,"id":"a","name":"f","arguments":"{\"p\":1}"}"#;
    calls("without the inner object", &[flat], r#"ToolCalls: f#a{"p":1}"#);
    let legacy = [
        delta(r#"{"function_call":{"name":"f","arguments":""}}"#),
        delta(r#"{"function_call":{"arguments":"{\"p\":1}"}}"#),
    ];
    finished("legacy", &legacy, "function_call", r#"ToolCalls: f#<0>{"p":1}"#);
}

#[test]
fn a11_calls_win_over_stop_and_cut_arguments_over_everything() {
    let whole = call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
    let cut = call(r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{\"p\":"}}"#);
    let both = [whole.clone(), cut];
    finished("stop", std::slice::from_ref(&whole), "stop", "ToolCalls: f#a{}");
    finished("a limit", std::slice::from_ref(&whole), "length", "Length: ");
    for reason in ["stop", "tool_calls", "length", "something"] {
        finished("cut", &both, reason, "Length: ");
    }
    finished("a filter", &both, "content_filter", "ContentFilter: ");
    finished("a filter, whole", std::slice::from_ref(&whole), "content_filter", "ContentFilter: ");
    finished("something, whole", &[whole], "something", "Other: ");
    finished("promised calls", &[delta(r#"{"content":"hi"}"#)], "tool_calls", r#"Other: "hi""#);
}

#[test]
fn a12_markup_of_calls_in_the_text_stays_text() {
    let markup = delta(r#"{"content":"<function=read>{}</function>"}"#);
    finished("markup", &[markup], "stop", r#"Stop: "<function=read>{}</function>""#);
}

#[test]
fn more_calls_than_anybody_can_mean_are_refused() {
    let many = |count: usize| {
        let fragment = |at: usize| format!(r#"{{"index":{at},"function":{{"name":"f"}}}}"#);
        call(&(0..count).map(fragment).collect::<Vec<_>>().join(","))
    };
    let refused = "failed Protocol TOO_MANY_CALLS unknown";
    finished("513", &[many(513)], "tool_calls", refused);
    let whole = play(Api::Chat, &events(&[many(512), finish("stop")]), usize::MAX);
    assert!(whole.outcome.starts_with("ToolCalls: f#"));
}
