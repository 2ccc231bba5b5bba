//! Decides what a hook sees, and what it may change.
//!
//! Knows nothing about what hooks are for. Invariant: a hook gives edits, never a whole list, and
//! what it changes of a request shapes that one request, not the history.

use std::sync::Arc;

use runtime_ports::{
    ModelContent, ModelMessage, ModelResponse, ToolDirective, ToolSet, Transcript,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Call, CallResult};

/// Where a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookPoint {
    /// Before the context of a cycle is compacted. Its edits shape the request, not what is summed
    /// up: a summariser is given the messages as they stand in the context, without them.
    BeforeMemoryCompact,
    /// Before a model call.
    BeforeLlm,
    /// After a model call, before its answer enters the history.
    AfterLlm,
    /// Before a tool call is checked.
    BeforeToolCall,
    /// After a tool call, before its result is told.
    AfterToolCall,
}

/// What is known of a hook beside its code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookDeclaration {
    /// For messages about it.
    pub name: Arc<str>,
    /// Where it wants to run.
    pub points: Vec<HookPoint>,
    /// Whether it may run again when nobody knows whether it did; else the run fails.
    pub repeatable: bool,
}

/// One run of one hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookCall {
    /// Place of the hook in the definition, from 0.
    pub hook: usize,
    /// The cycle, from 1.
    pub cycle: u32,
    /// What the tools share.
    pub shared_state: Arc<Map<String, Value>>,
    /// What it may look at and change.
    pub subject: HookSubject,
}

/// What a hook may look at and change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "point", rename_all = "snake_case")]
pub enum HookSubject {
    /// The messages that would be sent. Edits of them shape the request and not what is summed up;
    /// what no model shall read is kept out of the history in the first place.
    BeforeMemoryCompact {
        /// Oldest first.
        messages: Transcript,
    },
    /// The request that would be sent.
    BeforeLlm {
        /// Oldest first.
        messages: Transcript,
        /// In the order in which they are advertised.
        tools: ToolSet,
    },
    /// The answer that came.
    AfterLlm {
        /// As the hooks before this one left it.
        response: Arc<ModelResponse>,
    },
    /// A call that would run.
    BeforeToolCall {
        /// As the hooks before this one left it.
        call: Call,
    },
    /// A call that has a result.
    AfterToolCall {
        /// As it ran.
        call: Call,
        /// As the hooks before this one left it.
        result: Arc<CallResult>,
    },
}

/// A change of a list. Positions count from 0 and refer to the list as the edits before left it;
/// one that lies behind the end stands for the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case")]
pub enum Edit<T> {
    /// Puts an item before position `at`.
    Insert {
        /// Position.
        at: usize,
        /// The item.
        item: T,
    },
    /// Puts an item in the place of another.
    Replace {
        /// Position.
        at: usize,
        /// The item.
        item: T,
    },
    /// Takes an item out.
    Drop {
        /// Position.
        at: usize,
    },
}

/// What a hook before a model call changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestEdits {
    /// Changes of the messages of this request.
    pub messages: Vec<Edit<ModelMessage>>,
    /// Tools that this request does not advertise.
    pub hide_tools: Vec<String>,
}

/// What a hook before a tool call changes. `None` leaves things as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallEdits {
    /// The call in the place of the one that the model made.
    pub call: Option<Call>,
    /// The result; the call then neither asks nor runs.
    pub result: Option<HookResult>,
}

/// A result that a hook gives in the place of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HookResult {
    /// Names the call; empty or `pending` stands for the call that the hook saw.
    pub tool_call_id: String,
    /// What the model is told.
    pub content: String,
    /// Code of the error, if it is one.
    pub error_code: Option<String>,
    /// What the run shall do next.
    pub directive: ToolDirective,
    /// Facts for the host.
    pub metadata: Map<String, Value>,
}

/// What a hook after a tool call changes. `None` leaves things as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResultEdits {
    /// The result in the place of the one that came.
    pub result: Option<HookResult>,
}

/// What became of a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "hook", content = "value", rename_all = "snake_case")]
pub enum HookVerdict {
    /// Edits of messages, from [`HookPoint::BeforeMemoryCompact`].
    Messages(Vec<Edit<ModelMessage>>),
    /// Edits of a request, from [`HookPoint::BeforeLlm`].
    Request(RequestEdits),
    /// Edits of an answer's content, from [`HookPoint::AfterLlm`].
    Response(Vec<Edit<ModelContent>>),
    /// Edits of a call, from [`HookPoint::BeforeToolCall`].
    Call(Box<CallEdits>),
    /// Edits of a result, from [`HookPoint::AfterToolCall`].
    Result(Box<ResultEdits>),
    /// It failed or panicked; the run fails.
    Failed(String),
    /// It was told to stop and came to no end.
    Interrupted,
}

/// Applies edits to a list.
pub(crate) fn apply<T: Clone>(list: &mut Vec<T>, edits: &[Edit<T>]) {
    for edit in edits {
        match edit {
            Edit::Insert { at, item } => list.insert((*at).min(list.len()), item.clone()),
            Edit::Replace { at, item } => match list.get_mut(*at) {
                Some(place) => *place = item.clone(),
                None => list.push(item.clone()),
            },
            Edit::Drop { at } if *at < list.len() => drop(list.remove(*at)),
            Edit::Drop { .. } => {}
        }
    }
}

/// Applies edits to a view of a transcript. Work is proportional to what follows the first edit;
/// an edit at the end costs what it adds.
pub(crate) fn edited(history: &Transcript, edits: &[Edit<ModelMessage>]) -> Transcript {
    let Some(first) = edits.iter().map(position).min() else { return history.clone() };
    let first = first.min(history.len());
    let mut view = history.prefix(first);
    let mut rest: Vec<_> = history.entries_from(first).map(Part::Old).collect();
    let moved: Vec<_> = edits.iter().map(|edit| shifted(edit, first)).collect();
    apply(&mut rest, &moved);
    for part in rest {
        match part {
            Part::Old(entry) => view.push_entry(Arc::clone(entry)),
            Part::New(message) => view.push(message.clone()),
        }
    }
    view
}

#[derive(Clone)]
enum Part<'a> {
    Old(&'a Arc<runtime_ports::TranscriptEntry>),
    New(&'a ModelMessage),
}

const fn position<T>(edit: &Edit<T>) -> usize {
    match edit {
        Edit::Insert { at, .. } | Edit::Replace { at, .. } | Edit::Drop { at } => *at,
    }
}

fn shifted<'a>(edit: &'a Edit<ModelMessage>, by: usize) -> Edit<Part<'a>> {
    let at = position(edit).saturating_sub(by);
    match edit {
        Edit::Insert { item, .. } => Edit::Insert { at, item: Part::New(item) },
        Edit::Replace { item, .. } => Edit::Replace { at, item: Part::New(item) },
        Edit::Drop { .. } => Edit::Drop { at },
    }
}
