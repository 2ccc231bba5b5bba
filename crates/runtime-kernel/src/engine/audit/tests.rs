//! Decides whether the parts of requests are told apart, and what became of each is true.

use std::sync::Arc;

use in_memory_fakes::FakeContextAudit;
use proptest::prelude::*;
use runtime_decision::RequestOrigin;
use runtime_ports::{
    ContextDerivationKind as Derived, ContextSegment, ContextSegmentKind as Kind,
    GenerationOptions, ModelMessage, ModelRequest, ModelRole, ModelToolDefinition,
    SegmentChange as Change, ToolSet, Transcript,
};
use serde_json::json;

use super::{
    CallAudit, Purpose, RunAudit,
    derivations::{assembled_by, compressed_by},
    segments::{Sent, sent},
};

/// `s…` is said by the system, everything else by the user.
fn said(text: &str) -> ModelMessage {
    let role = if text.starts_with('s') { ModelRole::System } else { ModelRole::User };
    ModelMessage::text(role, text)
}

fn of(texts: &str) -> Transcript {
    texts.split_whitespace().map(said).collect()
}

fn request(messages: &str) -> ModelRequest {
    ModelRequest {
        invocation_id: "run-1".into(),
        model: "model".into(),
        messages: of(messages),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::new(GenerationOptions::default()),
    }
}

fn origin(history: Transcript, context: Transcript) -> RequestOrigin {
    RequestOrigin { history, context, head: 0, covered: 0, resources: 0, resource_tokens: 0 }
}

fn call(origin: RequestOrigin) -> CallAudit {
    let session = Arc::new(FakeContextAudit::new());
    let run = Arc::new(RunAudit::new(session, std::time::Duration::from_secs(1), 0));
    CallAudit { run, origin, purpose: Purpose::Cycle }
}

/// A call whose context is the history.
fn plain(history: &str) -> CallAudit {
    let history = of(history);
    call(origin(history.clone(), history))
}

/// A call whose context begins with so many messages that stand for the oldest ones.
fn compacted(history: &str, context: &str, head: usize) -> CallAudit {
    call(RequestOrigin { head, covered: head, ..origin(of(history), of(context)) })
}

/// One request after the other: each is a history and what is sent. Gives the segments of the last.
fn segments(calls: &[(CallAudit, &str)]) -> Vec<(Kind, usize, Change)> {
    let mut last: Option<Sent> = None;
    let mut told = Vec::new();
    for (call, messages) in calls {
        let (remembered, segments) = sent(call, &request(messages), last.as_ref());
        told = segments;
        last = Some(remembered);
    }
    let short = |it: ContextSegment| (it.kind, it.items, it.change);
    told.into_iter().filter(|it| it.kind != Kind::Options).map(short).collect()
}

#[test]
fn the_first_request_is_new_throughout() {
    let told = segments(&[(plain("s a b"), "s a b")]);
    assert_eq!(told, [(Kind::Instructions, 1, Change::First), (Kind::New, 2, Change::First)]);
}

#[test]
fn what_follows_is_kept_history_and_what_is_new() {
    let told = segments(&[(plain("s a"), "s a"), (plain("s a b c"), "s a b c")]);
    let expected = [
        (Kind::Instructions, 1, Change::Unchanged),
        (Kind::History, 1, Change::Unchanged),
        (Kind::New, 2, Change::Appended),
    ];
    assert_eq!(told, expected);
}

#[test]
fn the_same_request_again_has_nothing_new() {
    let told = segments(&[(plain("s a"), "s a"), (plain("s a"), "s a")]);
    let expected =
        [(Kind::Instructions, 1, Change::Unchanged), (Kind::History, 1, Change::Unchanged)];
    assert_eq!(told, expected);
}

#[test]
fn a_message_that_a_hook_puts_into_the_middle_displaces_what_follows() {
    let told = segments(&[(plain("s a b c"), "s a b c"), (plain("s a b c d"), "s a x b c d")]);
    let expected = [
        (Kind::Instructions, 1, Change::Unchanged),
        (Kind::History, 4, Change::Rewritten { message: Some(2) }),
        (Kind::New, 1, Change::Displaced),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_message_that_a_hook_puts_to_the_end_each_time_is_where_the_prefix_breaks() {
    let told = segments(&[(plain("s a"), "s a now"), (plain("s a b"), "s a b now")]);
    let expected = [
        (Kind::Instructions, 1, Change::Unchanged),
        (Kind::History, 2, Change::Rewritten { message: Some(2) }),
        (Kind::New, 1, Change::Displaced),
    ];
    assert_eq!(told, expected);
}

#[test]
fn other_instructions_displace_everything() {
    let told = segments(&[(plain("s a"), "s a"), (plain("s a b"), "s2 a b")]);
    let expected = [
        (Kind::Instructions, 1, Change::Rewritten { message: Some(0) }),
        (Kind::History, 1, Change::Displaced),
        (Kind::New, 1, Change::Displaced),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_compaction_is_told_and_the_next_request_goes_on_from_it() {
    let calls = || {
        vec![
            (plain("s a b c d"), "s a b c d"),
            (compacted("s a b c d e", "s sum d e", 2), "s sum d e"),
        ]
    };
    let expected = [
        (Kind::Instructions, 2, Change::Rewritten { message: Some(1) }),
        (Kind::History, 1, Change::Displaced),
        (Kind::New, 1, Change::Displaced),
    ];
    // What the engine says as the system is an instruction, too.
    assert_eq!(segments(&calls()), expected);
    let mut calls = vec![
        (plain("s a b c d"), "s a b c d"),
        (compacted("s a b c d e", "s a um d e", 3), "s a um d e"),
    ];
    let expected = [
        (Kind::Instructions, 1, Change::Unchanged),
        (Kind::Compacted, 2, Change::Rewritten { message: Some(2) }),
        (Kind::History, 1, Change::Displaced),
        (Kind::New, 1, Change::Displaced),
    ];
    assert_eq!(segments(&calls), expected);
    calls.push((compacted("s a b c d e f", "s a um d e f", 3), "s a um d e f"));
    let expected = [
        (Kind::Instructions, 1, Change::Unchanged),
        (Kind::Compacted, 2, Change::Unchanged),
        (Kind::History, 2, Change::Unchanged),
        (Kind::New, 1, Change::Appended),
    ];
    assert_eq!(segments(&calls), expected);
}

#[test]
fn what_resources_add_is_no_compaction() {
    let (history, context) = (of("s a b"), of("s s-skill a b"));
    let resource_tokens = context.estimated_tokens() - history.estimated_tokens();
    let origin = RequestOrigin { resources: 1, resource_tokens, ..origin(history, context) };
    assert!(!origin.is_compacted());
    let shorter = RequestOrigin { context: of("s s-skill b"), ..origin };
    assert!(shorter.is_compacted());
}

#[test]
fn resources_stand_between_instructions_and_what_was_compacted() {
    let with = |history: &str, context: &str| {
        let mut call = compacted(history, context, 3);
        call.origin.resources = 1;
        call
    };
    let told = segments(&[
        (with("s a b c", "s s-skill um c"), "s s-skill um c"),
        (with("s a b c d", "s s-other um c d"), "s s-other um c d"),
    ]);
    let expected = [
        (Kind::Instructions, 1, Change::Unchanged),
        (Kind::Resources, 1, Change::Rewritten { message: Some(1) }),
        (Kind::Compacted, 1, Change::Displaced),
        (Kind::History, 1, Change::Displaced),
        (Kind::New, 1, Change::Displaced),
    ];
    assert_eq!(told, expected);
}

#[test]
fn resources_without_instructions_are_resources() {
    let with = |history: &str, context: &str| {
        let mut call = call(origin(of(history), of(context)));
        (call.origin.resources, call.origin.head) = (1, 1);
        call
    };
    let told = segments(&[
        (with("a", "s-skill a"), "s-skill a"),
        (with("a b", "s-skill a b"), "s-skill a b"),
    ]);
    let expected = [
        (Kind::Resources, 1, Change::Unchanged),
        (Kind::History, 1, Change::Unchanged),
        (Kind::New, 1, Change::Appended),
    ];
    assert_eq!(told, expected);
}

#[test]
fn tools_and_options_are_told_apart_from_messages() {
    let tool = |name: &str| ModelToolDefinition {
        name: name.into(),
        description: String::new(),
        input_schema: json!({ "type": "object" }),
    };
    let with = |tools: &[&str], max_output_tokens| ModelRequest {
        tools: tools.iter().map(|name| tool(name)).collect(),
        max_output_tokens,
        ..request("s a")
    };
    let same = with(&["x", "y"], None);
    for (next, tools, options) in [
        (same.clone(), Change::Unchanged, Change::Unchanged),
        (with(&["x", "y"], None), Change::Unchanged, Change::Unchanged),
        (with(&["x"], None), Change::Rewritten { message: None }, Change::Unchanged),
        (with(&["x", "y"], Some(9)), Change::Unchanged, Change::Rewritten { message: None }),
    ] {
        let first = sent(&plain("s a"), &same, None).0;
        let told = sent(&plain("s a"), &next, Some(&first)).1;
        let changes: Vec<_> = told.iter().map(|it| (it.kind, it.change)).collect();
        let expected = [
            (Kind::Tools, tools),
            (Kind::Options, options),
            (Kind::Instructions, Change::Unchanged),
            (Kind::History, Change::Unchanged),
        ];
        assert_eq!(changes, expected);
        assert_eq!(told[0].digest, next.tools.digest());
        assert!(told[0].estimated_tokens > 0);
    }
}

#[test]
fn steps_have_their_names() {
    for (base, sent, expected) in [
        ("a b c", "a b c", Derived::Assemble),
        ("a b c", "a b c d", Derived::Assemble),
        ("a b c", "a x c", Derived::Assemble),
        ("a b c", "a b", Derived::Trim),
        ("a b c", "c", Derived::Trim),
        ("a b c", "a c b", Derived::Reorder),
        ("a b c", "b b c", Derived::Assemble),
    ] {
        assert_eq!(assembled_by(&of(base), &of(sent)), expected, "{base} to {sent}");
    }
    for (history, context, expected) in
        [("a b c d", "a sum d", Derived::Compress), ("a b c d", "a d", Derived::Trim)]
    {
        let origin = origin(of(history), of(context));
        assert!(origin.is_compacted());
        assert_eq!(compressed_by(&origin), expected, "{origin:?}");
    }
}

proptest! {
    /// The segments are the whole request; each digest is that of its prefix; and what is said to
    /// be unchanged was there before.
    #[test]
    fn segments_are_true_of_any_two_requests(
        first in prop::collection::vec(0_u8..3, 0..80),
        second in prop::collection::vec(0_u8..3, 0..80),
        shared in 0_usize..80,
        head in 0_usize..8,
    ) {
        let second: Vec<u8> =
            first.iter().take(shared).copied().chain(second.into_iter().skip(shared)).collect();
        let texts = |numbers: &[u8]| {
            numbers.iter().map(|number| ["s", "a", "b"][usize::from(*number)]).collect::<Vec<_>>()
        };
        let (first, second) = (texts(&first).join(" "), texts(&second).join(" "));
        let before = sent(&plain(&first), &request(&first), None).0;
        let told = sent(&compacted(&second, &second, head), &request(&second), Some(&before)).1;
        let (old, new) = (of(&first), of(&second));
        let (mut end, mut tokens) = (0, 0);
        for segment in told.iter().filter(|segment| segment.kind != Kind::Options) {
            let start = end;
            end += segment.items;
            tokens += segment.estimated_tokens;
            prop_assert_eq!(segment.digest, new.prefix(end).digest());
            prop_assert_eq!(tokens, new.prefix(end).estimated_tokens());
            let is_there = old.len() >= end && old.prefix(end) == new.prefix(end);
            prop_assert_eq!(segment.change == Change::Unchanged, is_there);
            if let Change::Rewritten { message: Some(place) } = segment.change {
                prop_assert!((start..end).contains(&place));
                prop_assert_eq!(old.prefix(place), new.prefix(place));
                prop_assert_ne!(old.prefix(place + 1), new.prefix(place + 1));
            }
        }
        prop_assert_eq!(end, new.len());
    }
}
