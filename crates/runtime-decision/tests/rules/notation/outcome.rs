//! Decides what outcome a line means.
//!
//! Knows the words of the script, and not which effect they are about.

use runtime_decision::{
    ApprovalAnswer, ArgumentFault, BudgetName, CONTEXT_AUDIT_FAILED, CallEdits, ChildEnd,
    ChildResult, ChildWork, Collected, Consultation, Edit, HookPoint, HookResult, HookVerdict,
    Outcome, RequestEdits, ResultEdits, RunError, RunStatus, Shortage, Spent, ToolEnd, ToolOutput,
};
use runtime_ports::{
    ApprovalDecision, ImageSource, ModelContent, ModelFinish, ModelMessage, ModelResponse,
    ModelRole, PortFailure, PortFailureKind, RequestMeter, ResourceSnapshot, TokenUsage,
    ToolDirective, ToolReply, TurnEnd, UsageTotal,
};

use super::words::{call, contents, object, quoted, text};

/// `"text" a(1)`, `cut …`, `filtered …`, `fails`, `halted`, `unsent`, `overlong`, `throttled`,
/// `unauditable`; `usage 3 4 cached 1 cost 9` reports them, and `tries 2` says how often the request
/// was sent.
pub(crate) fn reply(words: &[&str]) -> Result<ModelResponse, PortFailure> {
    let finish = match words.first() {
        Some(&"fails") => {
            let kind = PortFailureKind::Unavailable;
            let failure = PortFailure::in_flight_unknown(kind, "SERVER_ERROR", "it broke");
            return Err(failure.with_attempts(tries(words)));
        }
        Some(&"unsent") => {
            let kind = PortFailureKind::Invalid;
            return Err(PortFailure::not_sent(kind, "BAD_KEY", "no key"));
        }
        Some(&"overlong") => {
            let kind = PortFailureKind::ContextOverflow;
            return Err(PortFailure::rejected(kind, "TOO_LONG", "the prompt is too long"));
        }
        Some(&"throttled") => {
            let kind = PortFailureKind::RateLimited;
            return Err(PortFailure::rejected(kind, "SLOW_DOWN", "too many tokens a minute"));
        }
        Some(&"unauditable") => {
            let (kind, message) = (PortFailureKind::Unavailable, "the disk is full");
            return Err(PortFailure::not_sent(kind, CONTEXT_AUDIT_FAILED, message));
        }
        Some(&"halted") => {
            let kind = PortFailureKind::Canceled;
            return Err(PortFailure::in_flight_unknown(kind, "CANCELED", "stopped"));
        }
        Some(&"cut") => ModelFinish::Length,
        Some(&"filtered") => ModelFinish::ContentFilter,
        Some(&"odd") => ModelFinish::Other,
        _ => ModelFinish::Stop,
    };
    let output = contents(words);
    let reported = words.iter().position(|word| *word == "usage");
    let count = |offset: usize| words[reported? + offset].parse().ok();
    let usage =
        TokenUsage { input_tokens: count(1), output_tokens: count(2), ..TokenUsage::default() };
    let cost_nano_usd = after(words, "cost");
    let usage = TokenUsage { cached_input_tokens: after(words, "cached"), ..usage };
    Ok(ModelResponse { output, finish, usage, cost_nano_usd, attempts: tries(words) })
}

/// The number after a word, if it is there.
fn after(words: &[&str], word: &str) -> Option<u64> {
    let place = words.iter().position(|it| *it == word)?;
    Some(words[place + 1].parse().expect("a number"))
}

/// `tries 3`: the request was sent that often, and only the last answer reported anything.
fn tries(words: &[&str]) -> Vec<RequestMeter> {
    let end = |last: bool| if last { TurnEnd::Completed } else { TurnEnd::Failed };
    let tries = after(words, "tries").unwrap_or_default();
    (1..=tries).map(|place| RequestMeter::unreported(end(place == tries))).collect()
}

/// `good`, `/x must be odd`, or `must be odd` for the whole.
pub(crate) fn checked(words: &[&str]) -> Result<(), ArgumentFault> {
    let fault = |path: &str, reason: &[&str]| {
        Err(ArgumentFault { path: path.to_owned(), reason: reason.join(" ") })
    };
    match words {
        ["good"] => Ok(()),
        [path, reason @ ..] if path.starts_with('/') => fault(path, reason),
        reason => fault("", reason),
    }
}

/// `"instruction" … skill "name" "text"`, or how it failed.
pub(crate) fn resources(words: &[&str]) -> Result<ResourceSnapshot, PortFailure> {
    if let ["fails" | "halted"] = words {
        return Err(reply(words).expect_err("a failure"));
    }
    let mut parts = words.split(|word| *word == "skill");
    let said = |words: &[&str]| words.iter().filter_map(|word| quoted(word)).collect::<Vec<_>>();
    let instructions = said(parts.next().unwrap_or_default());
    let skills = parts.filter_map(|skill| said(skill).try_into().ok());
    let skills = skills.map(|[name, text]: [String; 2]| (name, text));
    Ok(ResourceSnapshot::new(instructions, skills.collect()))
}

/// The same, or `unaudited …`: it answered, and the audit could not be completed.
pub(crate) fn model_outcome(words: &[&str]) -> Outcome {
    match words.split_first() {
        Some((&"unaudited", rest)) => Outcome::ModelRepliedUnaudited {
            response: Box::new(reply(rest).expect("an answer")),
            failure: PortFailure::committed(
                PortFailureKind::Unavailable,
                CONTEXT_AUDIT_FAILED,
                "the disk is full",
            ),
        },
        _ => Outcome::ModelReplied(reply(words)),
    }
}

/// What a tool came to.
pub(crate) fn tool_end(words: &[&str]) -> ToolEnd {
    match words.first() {
        Some(&"fails") => {
            let kind = PortFailureKind::Unavailable;
            let failure = PortFailure::in_flight_unknown(kind, "HOST_DOWN", "it does not answer");
            ToolEnd::Failed(failure)
        }
        Some(&"unsent") => {
            let kind = PortFailureKind::RateLimited;
            let failure = PortFailure::not_sent(kind, "BUSY", "too many calls");
            ToolEnd::Failed(failure.retryable())
        }
        Some(&"lost") => ToolEnd::TimedOut,
        Some(&"halted") => ToolEnd::Cancelled,
        Some(&"panics") => ToolEnd::Panicked,
        _ => ToolEnd::Replied(Box::new(ToolOutput { reply: tool_reply(words), artifact: None })),
    }
}

fn tool_reply(words: &[&str]) -> ToolReply {
    let state = object(words, "state").into_iter();
    let error = words.iter().position(|word| *word == "error");
    let image = ImageSource::Url { url: "https://example.org/a.png".to_owned() };
    ToolReply {
        content: text(words),
        error_code: error.map(|place| words[place + 1].to_owned()),
        directive: directive(words),
        metadata: object(words, "meta"),
        state_writes: state.map(|(key, value)| (key, Some(value))).collect(),
        image: words.contains(&"image").then_some(ModelContent::Image { source: image }),
    }
}

fn directive(words: &[&str]) -> ToolDirective {
    match words {
        _ if words.contains(&"finish") => ToolDirective::Finish,
        _ if words.contains(&"wait") => ToolDirective::WaitUser,
        _ => ToolDirective::Continue,
    }
}

/// What a hook says at a point.
pub(crate) fn verdict(point: HookPoint, words: &[&str]) -> HookVerdict {
    match words[0] {
        "fails" => HookVerdict::Failed("it broke".to_owned()),
        "halted" => HookVerdict::Interrupted,
        "misfits" if point == HookPoint::AfterLlm => HookVerdict::Messages(Vec::new()),
        "misfits" => HookVerdict::Response(Vec::new()),
        _ => edits(point, words),
    }
}

fn edits(point: HookPoint, words: &[&str]) -> HookVerdict {
    match point {
        HookPoint::BeforeMemoryCompact => HookVerdict::Messages(list(words, as_message)),
        HookPoint::BeforeLlm => {
            let hide_tools = match words {
                ["hides", tool] => vec![(*tool).to_owned()],
                _ => Vec::new(),
            };
            HookVerdict::Request(RequestEdits { messages: list(words, as_message), hide_tools })
        }
        HookPoint::AfterLlm => {
            HookVerdict::Response(list(words, |words| contents(words).remove(0)))
        }
        HookPoint::BeforeToolCall => {
            let patched = words.iter().find_map(|word| call(word));
            let result = words.contains(&"gives").then(|| given(words));
            HookVerdict::Call(Box::new(CallEdits { call: patched, result }))
        }
        HookPoint::AfterToolCall => {
            let result = words.contains(&"gives").then(|| given(words));
            HookVerdict::Result(Box::new(ResultEdits { result }))
        }
    }
}

fn as_message(words: &[&str]) -> ModelMessage {
    ModelMessage::text(ModelRole::User, text(words))
}

/// `inserts 0 "x"`, `replaces 0 "x"`, `drops 0`, or nothing.
fn list<T>(words: &[&str], item: impl Fn(&[&str]) -> T) -> Vec<Edit<T>> {
    let at = |words: &[&str]| words[1].parse().expect("a position");
    match words[0] {
        "inserts" => vec![Edit::Insert { at: at(words), item: item(&words[2..]) }],
        "replaces" => vec![Edit::Replace { at: at(words), item: item(&words[2..]) }],
        "drops" => vec![Edit::Drop { at: at(words) }],
        _ => Vec::new(),
    }
}

fn given(words: &[&str]) -> HookResult {
    let id = words.iter().find_map(|word| word.strip_prefix("id="));
    let error = words.iter().position(|word| *word == "error");
    HookResult {
        tool_call_id: id.unwrap_or_default().to_owned(),
        content: text(words),
        error_code: error.map(|place| words[place + 1].to_owned()),
        directive: directive(words),
        metadata: object(words, "meta"),
    }
}

/// What the approval provider says.
pub(crate) fn consultation(words: &[&str]) -> Consultation {
    match words[0] {
        "passes" => Consultation::NotNeeded,
        "approves" => Consultation::Approved,
        "asks" => Consultation::NeedsApproval,
        "denies" => Consultation::Denied { reason: text(words) },
        "lapses" => Consultation::TimedOut { reason: text(words) },
        "fails" => Consultation::Failed { message: "it broke".to_owned() },
        "halted" => Consultation::Interrupted,
        other => panic!("no provider says {other}"),
    }
}

/// How the wait for a human ended.
pub(crate) fn answer(words: &[&str]) -> ApprovalAnswer {
    match words[0] {
        "lapses" => ApprovalAnswer::TimedOut,
        "shrugs" => ApprovalAnswer::Unresolved,
        "broken" => ApprovalAnswer::BrokerFailed { message: "no screen".to_owned() },
        _ => ApprovalAnswer::Decided { decision: decision(words) },
    }
}

/// `approves`, `forever` or `denies "why"`.
pub(crate) fn decision(words: &[&str]) -> ApprovalDecision {
    match words {
        _ if words.contains(&"denies") => ApprovalDecision::Denied { reason: text(words) },
        _ if words.contains(&"forever") => ApprovalDecision::ApprovedForRun,
        _ => ApprovalDecision::Approved,
    }
}

/// How a child ended: `"answer"`, `asks "what"`, `fails`, `limit "so far"`, `stopped`, `short tokens`
/// (a budget that it shares), `suspended`, `unstarted`, `panics`, `lost`; `used 5` tokens.
pub(crate) fn child_end(work: &ChildWork, words: &[&str]) -> ChildEnd {
    let used = words.iter().position(|word| *word == "used");
    let tokens = used.map_or(0, |place| words[place + 1].parse().expect("tokens"));
    let tokens = UsageTotal { at_least: tokens, complete: true };
    let spent = Spent { tokens, ..Spent::default() };
    let message = "it broke".into();
    let (status, exhausted) = match words[0] {
        "suspended" => {
            let stored = format!(r#"{{"stored":"{}"}}"#, work.run_id).into();
            let pending_approvals = words[1..].iter().filter(|word| word.starts_with("r-"));
            let pending_approvals = pending_approvals.map(|word| (*word).into()).collect();
            return ChildEnd::Suspended { stored, pending_approvals, used: Box::new(spent) };
        }
        "unstarted" => return ChildEnd::NotStarted { message },
        "panics" => return ChildEnd::BrokeDown { message },
        "lost" => return ChildEnd::Lost { message },
        "asks" => (RunStatus::WaitUser, None),
        "fails" => (RunStatus::Failed, None),
        "limit" => (RunStatus::MaxCycles, None),
        "stopped" => (RunStatus::Cancelled, None),
        "short" => (RunStatus::BudgetExhausted, Some(Box::new(shortage(words[1])))),
        _ => (RunStatus::Completed, None),
    };
    let said = words.iter().find_map(|word| quoted(word)).map(Into::into);
    let asks = status == RunStatus::WaitUser;
    let failed = !matches!(status, RunStatus::Completed | RunStatus::WaitUser);
    let error = RunError { code: "broke".into(), message, failure: None };
    let mut history = work.history.clone();
    history.push(ModelMessage::text(ModelRole::User, &*work.prompt));
    ChildEnd::Ended(Box::new(ChildResult {
        status,
        final_answer: said.clone().filter(|_| !asks),
        wait_reason: said.filter(|_| asks),
        error: failed.then_some(error),
        history,
        spent,
        exhausted,
    }))
}

/// A budget of the parent's.
fn shortage(budget: &str) -> Shortage {
    let budget = BudgetName::named(budget);
    Shortage { budget, limit: 9, used: 9, reserved: 0, needed: 0, levels_above: 0 }
}

/// What a provider of messages gave.
pub(crate) fn collected(words: &[&str]) -> Collected {
    match words[0] {
        "fail" => Collected::Failed("it broke".to_owned()),
        "halted" => Collected::Interrupted,
        "none" => Collected::Messages(Vec::new()),
        _ => {
            let texts = words.iter().map(|word| as_message(&[word]));
            Collected::Messages(texts.collect())
        }
    }
}
