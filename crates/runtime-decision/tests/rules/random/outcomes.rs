//! Decides what comes of an effect in a random run.
//!
//! Rolling 0 throughout gives what lets a run go on to its end.

use runtime_decision::{
    ApprovalAnswer, ArgumentFault, BudgetName, CallEdits, ChildEnd, ChildResult, ChildWork,
    Collected, Consultation, Edit, Effect, Grant, HookCall, HookResult, HookSubject, HookVerdict,
    Outcome, RequestEdits, ResultEdits, RunStatus, Shortage, Spent, ToolEnd, ToolOutput, ToolWork,
};
use runtime_ports::{
    ApprovalDecision, Digest, ImageSource, ModelContent, ModelFinish, ModelMessage, ModelProfile,
    ModelResponse, ModelRole, PortFailure, PortFailureKind, ResourceSnapshot, TokenUsage,
    ToolDirective, ToolReply, UsageTotal,
};
use serde_json::{Map, Value, json};

use super::{Dice, scene::TOOLS};

/// What comes of an effect.
pub(crate) fn answer_of(effect: &Effect, dice: &mut Dice<'_>) -> Outcome {
    match effect {
        Effect::ResolveProfile { .. } => Outcome::ProfileResolved(profile(dice)),
        Effect::CollectCycleInputs(_) => Outcome::InputsCollected(collected(dice)),
        Effect::CollectInterruptions(_) => Outcome::InterruptionsCollected(collected(dice)),
        Effect::RunHook(call) => Outcome::HookReturned(verdict(call, dice)),
        Effect::CallModel(_) => match reply(dice) {
            Ok(response) if dice.once_in(40) => {
                let (response, failure) = (Box::new(response), failure(dice));
                Outcome::ModelRepliedUnaudited { response, failure }
            }
            reply => Outcome::ModelReplied(reply),
        },
        Effect::CheckArguments { .. } => Outcome::ArgumentsChecked(match dice.once_in(8) {
            true => Err(ArgumentFault { path: "/é".to_owned(), reason: "is odd".to_owned() }),
            false => Ok(()),
        }),
        Effect::ConsultApprovals(_) => Outcome::ApprovalConsulted(consultation(dice)),
        Effect::AwaitApproval(_) => Outcome::ApprovalAnswered(approval(dice)),
        Effect::InvokeTool(work) => Outcome::ToolReturned(tool_end(work, dice)),
        Effect::LoadResources => Outcome::ResourcesLoaded(resources(dice)),
        Effect::ConsultMemory(_) => Outcome::MemoryConsulted(collected(dice)),
        Effect::StoreArtifact { content } => Outcome::ArtifactStored(match dice.once_in(6) {
            true => Err(failure(dice)),
            false => Ok(Digest::of(content.as_bytes())),
        }),
        Effect::Summarize(_) => Outcome::Summarized(reply(dice)),
        // Where budgets matter, a tree of them answers.
        Effect::Reserve { wanted, .. } => {
            Outcome::Reserved(Ok(Grant { amounts: (**wanted).clone(), kept_short_by: None }))
        }
        Effect::CheckAnswer { .. } => Outcome::AnswerChecked(match dice.once_in(3) {
            true => Err(ArgumentFault { path: "/é".to_owned(), reason: "is odd".to_owned() }),
            false => Ok(()),
        }),
        Effect::RunChild(work) => Outcome::ChildEnded(child_end(work, dice)),
        Effect::SteerChild { .. } => Outcome::ChildSteered(match dice.once_in(4) {
            true => Err("it has ended".to_owned()),
            false => Ok(()),
        }),
        Effect::WaitChildren { .. } => Outcome::WaitOver,
    }
}

fn resources(dice: &mut Dice<'_>) -> Result<ResourceSnapshot, PortFailure> {
    if dice.once_in(12) {
        return Err(failure(dice));
    }
    let instructions = (0..dice.roll(3)).map(|number| format!("instruction {number} é"));
    let skills = (0..dice.roll(3)).map(|number| (format!("skill {number}"), "do it".to_owned()));
    Ok(ResourceSnapshot::new(instructions.collect(), skills.collect()))
}

fn child_end(work: &ChildWork, dice: &mut Dice<'_>) -> ChildEnd {
    let at_least = 1 + dice.roll(9) as u64;
    // What the run below was charged for is not in the tree of budgets that some scenes have.
    let cost_nano_usd = UsageTotal { at_least, complete: true };
    let spent = Spent { cost_nano_usd, ..Spent::default() };
    let status = match dice.roll(16) {
        9 => return ChildEnd::NotStarted { message: "no room".into() },
        10 => return ChildEnd::Lost { message: "it is gone".into() },
        11 => return ChildEnd::BrokeDown { message: "it broke down".into() },
        12 | 13 => {
            let stored = format!(r#"{{"é": "{}"}}"#, work.run_id).into();
            let pending_approvals = vec![format!("{}-9", work.run_id).into()];
            return ChildEnd::Suspended { stored, pending_approvals, used: Box::new(spent) };
        }
        5 => RunStatus::Failed,
        6 => RunStatus::WaitUser,
        7 => RunStatus::MaxCycles,
        8 => RunStatus::Cancelled,
        14 => RunStatus::BudgetExhausted,
        _ => RunStatus::Completed,
    };
    let mut history = work.history.clone();
    history.push(ModelMessage::text(ModelRole::User, &*work.prompt));
    let is_short = status == RunStatus::BudgetExhausted && dice.once_in(2);
    ChildEnd::Ended(Box::new(ChildResult {
        status,
        final_answer: Some(format!("answer of {}!", work.run_id).into()),
        wait_reason: None,
        error: None,
        history,
        spent,
        exhausted: is_short.then(|| Box::new(shortage())),
    }))
}

fn shortage() -> Shortage {
    let budget = BudgetName::Tokens;
    Shortage { budget, limit: 9, used: 9, reserved: 0, needed: 0, levels_above: 0 }
}

fn failure(dice: &mut Dice<'_>) -> PortFailure {
    match dice.roll(3) {
        0 => PortFailure::not_sent(PortFailureKind::Invalid, "BAD", "bad"),
        1 => PortFailure::in_flight_unknown(PortFailureKind::Canceled, "CANCELED", "stopped"),
        _ => PortFailure::in_flight_unknown(PortFailureKind::Protocol, "LOST", "lost"),
    }
}

fn profile(dice: &mut Dice<'_>) -> Result<ModelProfile, PortFailure> {
    if dice.once_in(12) {
        return Err(failure(dice));
    }
    let window = [1_000, 0, 30_000, 400, 3_000, 100_000, 200][dice.roll(7)];
    Ok(ModelProfile {
        context_window_tokens: window,
        max_input_tokens: window,
        max_output_tokens: None,
        images: true,
        price: None,
    })
}

fn collected(dice: &mut Dice<'_>) -> Collected {
    match dice.roll(10) {
        8 => Collected::Failed("broke".to_owned()),
        9 => Collected::Interrupted,
        6 => Collected::Messages(vec![
            ModelMessage::text(ModelRole::User, "news"),
            ModelMessage { role: ModelRole::Assistant, content: vec![tool_use("0", "p")] },
        ]),
        7 => Collected::Messages(vec![ModelMessage::text(ModelRole::User, "  ")]),
        _ => Collected::Messages(Vec::new()),
    }
}

fn tool_use(id: &str, name: &str) -> ModelContent {
    ModelContent::ToolUse { id: id.to_owned(), name: name.to_owned(), arguments: json!({}) }
}

fn verdict(call: &HookCall, dice: &mut Dice<'_>) -> HookVerdict {
    let odd = dice.roll(24);
    match (odd, &call.subject) {
        (23, _) => HookVerdict::Failed("broke".to_owned()),
        (22, _) => HookVerdict::Interrupted,
        (21, HookSubject::AfterLlm { .. }) => HookVerdict::Messages(Vec::new()),
        (_, HookSubject::BeforeMemoryCompact { .. }) => HookVerdict::Messages(inserted(dice)),
        (_, HookSubject::BeforeLlm { .. }) => {
            let hide_tools = (0..dice.roll(2)).map(|_| "p".to_owned()).collect();
            HookVerdict::Request(RequestEdits { messages: inserted(dice), hide_tools })
        }
        (_, HookSubject::AfterLlm { .. }) => HookVerdict::Response(match dice.roll(4) {
            3 => vec![Edit::Drop { at: 0 }],
            2 => vec![Edit::Insert { at: 0, item: tool_use("hooked", "p") }],
            _ => Vec::new(),
        }),
        (_, HookSubject::BeforeToolCall { call }) => {
            let mut edits = CallEdits::default();
            match dice.roll(5) {
                4 => edits.result = Some(given(dice)),
                3 => edits.call = Some(runtime_decision::Call { name: "s".into(), ..call.clone() }),
                _ => {}
            }
            HookVerdict::Call(Box::new(edits))
        }
        (_, HookSubject::AfterToolCall { .. }) => {
            let result = dice.once_in(4).then(|| given(dice));
            HookVerdict::Result(Box::new(ResultEdits { result }))
        }
    }
}

fn inserted(dice: &mut Dice<'_>) -> Vec<Edit<ModelMessage>> {
    let item = ModelMessage::text(ModelRole::User, "memory");
    (0..dice.roll(2)).map(|_| Edit::Insert { at: usize::MAX, item: item.clone() }).collect()
}

fn given(dice: &mut Dice<'_>) -> HookResult {
    let error_code = dice.once_in(2).then(|| "hooked".to_owned());
    HookResult {
        tool_call_id: ["", "pending"][dice.roll(2)].to_owned(),
        content: "given é".to_owned(),
        error_code,
        directive: directive(dice),
        metadata: Map::new(),
    }
}

fn directive(dice: &mut Dice<'_>) -> ToolDirective {
    match dice.roll(10) {
        8 => ToolDirective::WaitUser,
        9 => ToolDirective::Finish,
        _ => ToolDirective::Continue,
    }
}

fn usage(dice: &mut Dice<'_>) -> TokenUsage {
    let mut count = || [Some(3), Some(0), None, Some(u64::MAX)][dice.roll(4)];
    TokenUsage { input_tokens: count(), output_tokens: count(), ..TokenUsage::default() }
}

fn reply(dice: &mut Dice<'_>) -> Result<ModelResponse, PortFailure> {
    let odd = dice.roll(16);
    if odd == 15 {
        return Err(failure(dice));
    }
    if odd == 11 {
        let kind = PortFailureKind::ContextOverflow;
        return Err(PortFailure::rejected(kind, "LONG", "too long"));
    }
    let finish = match odd {
        14 => ModelFinish::Length,
        13 => ModelFinish::Other,
        _ => ModelFinish::Stop,
    };
    let mut output: Vec<_> = (0..dice.roll(5)).map(|place| called(place, dice)).collect();
    if output.is_empty() && odd != 12 || dice.once_in(2) {
        output.insert(0, ModelContent::text(["done", " ", "{\"n\":1}"][dice.roll(3)]));
    }
    let usage = usage(dice);
    Ok(ModelResponse { output, finish, usage, cost_nano_usd: None, attempts: Vec::new() })
}

fn called(place: usize, dice: &mut Dice<'_>) -> ModelContent {
    let id = match dice.roll(8) {
        7 => String::new(),
        6 => "twice".to_owned(),
        _ => format!("c{place}"),
    };
    if dice.once_in(3) {
        return delegating(id, dice);
    }
    let arguments = match dice.roll(8) {
        7 => Value::String("{".to_owned()),
        6 => json!([1]),
        _ => json!({"é": place}),
    };
    ModelContent::ToolUse { id, name: TOOLS[dice.roll(TOOLS.len())].to_owned(), arguments }
}

/// A call that delegates, mostly one that makes sense.
fn delegating(id: String, dice: &mut Dice<'_>) -> ModelContent {
    let mut task = || format!("task-{}", 1 + dice.roll(4));
    let (first, second) = (task(), task());
    let background = dice.once_in(2);
    let agent = ["reader", "writer"][dice.roll(2)];
    let order = json!({"agent_name": agent, "task_description": "é"});
    let (name, arguments) = match dice.roll(9) {
        0..3 => {
            let mut arguments = order;
            arguments["background"] = background.into();
            ("create_sub_task", arguments)
        }
        3 => {
            let unknown = json!({"agent_name": "nobody", "task_description": "x"});
            let arguments = json!({"tasks": [order, unknown], "background": background});
            ("create_sub_task_batch", arguments)
        }
        4 => ("sub_task_status", json!({})),
        5 => ("wait_sub_tasks", json!({"timeout_seconds": dice.roll(3)})),
        6 => ("wait_sub_tasks", json!({"task_ids": [first, second], "timeout_seconds": 9})),
        7 => ("steer_sub_task", json!({"task_id": first, "message": "é"})),
        _ => ("continue_sub_task", json!({"task_id": first, "message": "more"})),
    };
    ModelContent::ToolUse { id, name: name.to_owned(), arguments }
}

fn consultation(dice: &mut Dice<'_>) -> Consultation {
    match dice.roll(12) {
        0..4 => Consultation::NotNeeded,
        4 | 5 => Consultation::Approved,
        6 => Consultation::Denied { reason: "no".to_owned() },
        7 => Consultation::TimedOut { reason: String::new() },
        8 => Consultation::Failed { message: "broke".to_owned() },
        9 => Consultation::Interrupted,
        _ => Consultation::NeedsApproval,
    }
}

fn approval(dice: &mut Dice<'_>) -> ApprovalAnswer {
    match dice.roll(8) {
        5 => ApprovalAnswer::TimedOut,
        6 => ApprovalAnswer::Unresolved,
        7 => ApprovalAnswer::BrokerFailed { message: "no screen".to_owned() },
        _ => ApprovalAnswer::Decided { decision: decision(dice) },
    }
}

/// What somebody decides.
pub(crate) fn decision(dice: &mut Dice<'_>) -> ApprovalDecision {
    match dice.roll(4) {
        2 => ApprovalDecision::ApprovedForRun,
        3 => ApprovalDecision::Denied { reason: "no".to_owned() },
        _ => ApprovalDecision::Approved,
    }
}

fn tool_end(work: &ToolWork, dice: &mut Dice<'_>) -> ToolEnd {
    match dice.roll(16) {
        12 => ToolEnd::TimedOut,
        13 => ToolEnd::Cancelled,
        14 => ToolEnd::Panicked,
        15 => ToolEnd::Failed(failure(dice)),
        _ => {
            ToolEnd::Replied(Box::new(ToolOutput { reply: tool_reply(work, dice), artifact: None }))
        }
    }
}

fn tool_reply(work: &ToolWork, dice: &mut Dice<'_>) -> ToolReply {
    let image = ImageSource::Url { url: "https://example.org/a.png".to_owned() };
    let is_alone = matches!(&*work.tool, "s" | "ask_user" | "task_finish");
    let directive = match dice.roll(8) {
        7 if is_alone => ToolDirective::WaitUser,
        6 if is_alone => ToolDirective::Finish,
        _ => ToolDirective::Continue,
    };
    let writes =
        (0..dice.roll(2)).map(|_| ("k".to_owned(), Some(json!(&*work.invocation.call_id))));
    ToolReply {
        content: format!(
            "{} {}",
            work.invocation.call_id,
            "é".repeat([1, 1, 600, 6_000][dice.roll(4)])
        ),
        error_code: dice.once_in(6).then(|| "tool_says_no".to_owned()),
        directive,
        metadata: Map::new(),
        state_writes: writes.collect(),
        image: dice.once_in(6).then_some(ModelContent::Image { source: image }),
    }
}
