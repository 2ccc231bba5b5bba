//! Decides which parts a request has, and what became of each since the request before.
//!
//! Knows where parts end and what a prefix is called; refuses to know what they say. Invariant: the
//! segments of messages are the whole request, without a gap.

use runtime_ports::{
    ContextAuditStage, ContextSegment, ContextSegmentKind as Kind, Digest, ModelRequest, ModelRole,
    SegmentChange as Change, ToolSet, Transcript, estimate_text_tokens,
};

use super::{CallAudit, records::id_of};

/// What is remembered of a request that was sent, to compare the next one with.
pub(super) struct Sent {
    pub(super) snapshot_id: String,
    pub(super) reserved_tokens: u64,
    pub(super) tool_tokens: u64,
    messages: Transcript,
    /// How long the history was.
    history: usize,
    tools: ToolSet,
    options: Digest,
    marks: Vec<Mark>,
}

/// Where a part of the messages ends.
#[derive(Clone, Copy)]
struct Mark {
    kind: Kind,
    end: usize,
    digest: Digest,
    tokens: u64,
}

/// The request as it is remembered, and its segments.
pub(super) fn sent(
    call: &CallAudit,
    request: &ModelRequest,
    last: Option<&Sent>,
) -> (Sent, Vec<ContextSegment>) {
    let shared = last.map_or(0, |last| last.messages.shared_len(&request.messages));
    let history = call.origin.history.len();
    let fresh = history.saturating_sub(last.map_or(0, |last| last.history));
    let sent = Sent {
        snapshot_id: id_of(request, ContextAuditStage::Assembled),
        reserved_tokens: request.max_output_tokens.map_or(0, u64::from),
        tool_tokens: tool_tokens(&request.tools, last),
        messages: request.messages.clone(),
        history,
        tools: request.tools.clone(),
        options: options(request),
        marks: marks(&request.messages, &ends(call, request, fresh, shared, last), shared, last),
    };
    let segments = segments(&sent, shared, last);
    (sent, segments)
}

fn options(request: &ModelRequest) -> Digest {
    let reservation = request.max_output_tokens.map_or(u64::MAX, u64::from).to_be_bytes();
    Digest::of_parts(&[&reservation, Digest::of_json(&request.options).as_bytes()])
}

/// Measured once for a set.
fn tool_tokens(tools: &ToolSet, last: Option<&Sent>) -> u64 {
    match last {
        Some(last) if last.tools.is_same(tools) => last.tool_tokens,
        _ => tools.iter().fold(0, |sum, tool| {
            let written = serde_json::to_string(tool).unwrap_or_default();
            sum.saturating_add(estimate_text_tokens(&written))
        }),
    }
}

/// Where the parts end, each at or after the one before it.
fn ends(
    call: &CallAudit,
    request: &ModelRequest,
    fresh: usize,
    shared: usize,
    last: Option<&Sent>,
) -> [(Kind, usize); 5] {
    let len = request.messages.len();
    let systems = systems(&request.messages, shared, last);
    // Resources stand behind the agent's own system message, if it has one, and are said by the
    // system, too. The history begins with the former and has none of the latter.
    let first = call.origin.history.entries().next();
    let own = usize::from(first.is_some_and(|first| first.role() == ModelRole::System));
    let (instructions, resources) = match call.origin.resources {
        0 => (systems, systems),
        resources => (systems.min(own), len.min(systems.min(own) + resources)),
    };
    let compacted = call.origin.head.clamp(resources, len.max(resources));
    let new = len.saturating_sub(fresh).clamp(compacted, len.max(compacted));
    [
        (Kind::Instructions, instructions),
        (Kind::Resources, resources),
        (Kind::Compacted, compacted),
        (Kind::History, new),
        (Kind::New, len),
    ]
}

/// How many system messages lead, or how many of them were instructions. Looked for again only where
/// they may have changed.
fn systems(messages: &Transcript, shared: usize, last: Option<&Sent>) -> usize {
    match last.and_then(|last| last.marks.first()) {
        Some(mark) if mark.end < shared => mark.end,
        _ => messages.entries().take_while(|entry| entry.role() == ModelRole::System).count(),
    }
}

/// The digest and the tokens at each end. One that the request before had, too, is taken from it.
fn marks(
    messages: &Transcript,
    ends: &[(Kind, usize)],
    shared: usize,
    last: Option<&Sent>,
) -> Vec<Mark> {
    let known = |end: usize| {
        let marks = last.map_or(&[][..], |last| &last.marks[..]).iter();
        marks.copied().find(|mark| mark.end == end && end <= shared)
    };
    let mark = |&(kind, end): &(Kind, usize)| match known(end) {
        Some(mark) => Mark { kind, ..mark },
        None => {
            let prefix = messages.prefix(end);
            Mark { kind, end, digest: prefix.digest(), tokens: prefix.estimated_tokens() }
        }
    };
    ends.iter().map(mark).collect()
}

fn segments(sent: &Sent, shared: usize, last: Option<&Sent>) -> Vec<ContextSegment> {
    let mut segments = Vec::with_capacity(2 + sent.marks.len());
    let same = |is_same: bool| match (last, is_same) {
        (None, _) => Change::First,
        (Some(_), true) => Change::Unchanged,
        (Some(_), false) => Change::Rewritten { message: None },
    };
    if !sent.tools.is_empty() {
        segments.push(ContextSegment {
            kind: Kind::Tools,
            digest: sent.tools.digest(),
            items: sent.tools.len(),
            estimated_tokens: sent.tool_tokens,
            change: same(last.is_some_and(|last| last.tools.digest() == sent.tools.digest())),
        });
    }
    segments.push(ContextSegment {
        kind: Kind::Options,
        digest: sent.options,
        items: 1,
        estimated_tokens: 0,
        change: same(last.is_some_and(|last| last.options == sent.options)),
    });
    let (mut start, mut tokens) = (0, 0);
    for mark in sent.marks.iter().filter(|mark| mark.end > 0) {
        if mark.end > start {
            segments.push(ContextSegment {
                kind: mark.kind,
                digest: mark.digest,
                items: mark.end - start,
                estimated_tokens: mark.tokens.saturating_sub(tokens),
                change: change(start, mark.end, shared, last),
            });
        }
        (start, tokens) = (mark.end, mark.tokens);
    }
    segments
}

/// What became of the messages from `start` to `end`, when the first `shared` ones are those of the
/// request before.
fn change(start: usize, end: usize, shared: usize, last: Option<&Sent>) -> Change {
    match last {
        None => Change::First,
        Some(_) if end <= shared => Change::Unchanged,
        Some(last) if shared == last.messages.len() => Change::Appended,
        Some(_) if start > shared => Change::Displaced,
        Some(_) => Change::Rewritten { message: Some(shared) },
    }
}
