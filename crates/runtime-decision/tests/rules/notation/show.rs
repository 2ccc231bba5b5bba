//! Decides how effects, halts, events and results read.
//!
//! Knows what a reader needs, and leaves out the rest.

use runtime_decision::{
    Amounts, CallResult, Effect, Event, Halt, HookSubject, Machine, RunEvent, RunResult, RunStatus,
    Spent,
};
use runtime_ports::{ModelContent, ModelMessage, ModelRole, ToolDirective, UsageTotal};
use serde_json::Value;

/// What a run asks for; nothing for what the executor answers by itself.
pub(crate) fn effect(effect: &Effect, hooks: &[String], all_tools: usize) -> Option<String> {
    let shown = match effect {
        Effect::ResolveProfile { for_summaries: true, .. } => "summarizer".to_owned(),
        Effect::ResolveProfile { .. } => "profile".to_owned(),
        Effect::CheckArguments { .. } => return None,
        Effect::LoadResources => "resources".to_owned(),
        Effect::ConsultMemory(call) => format!("memory {} {:?}", call.provider, call.moment),
        Effect::StoreArtifact { content } => format!("artifact of {} bytes", content.len()),
        Effect::Summarize(request) => format!("summary of {} messages", request.messages.len()),
        Effect::Reserve { wanted, least } => match wanted == least {
            true => format!("reserve {}", amounts(wanted)),
            false => format!("reserve {}, at least {}", amounts(wanted), amounts(least)),
        },
        Effect::CheckAnswer { answer } => format!("verdict on {answer}"),
        Effect::RunChild(work) => {
            let before = match work.history.len() {
                0 => String::new(),
                count => format!(" after {count} messages"),
            };
            let stored = work.stored.as_ref().map(|stored| format!(" from {stored}"));
            let stored = stored.unwrap_or_default();
            let (task, run, agent) = (&work.task_id, &work.run_id, &work.agent);
            format!("child {task} {run} {agent} {:?}{before}{stored}", work.prompt)
        }
        Effect::SteerChild { task_id, prompt } => format!("steers {task_id} {prompt:?}"),
        Effect::WaitChildren { timeout } => format!("waits {} ms", timeout.as_millis()),
        Effect::CollectCycleInputs(_) => "inputs".to_owned(),
        Effect::CollectInterruptions(_) => "interruptions".to_owned(),
        Effect::RunHook(call) => {
            format!("hook {} {}", hooks[call.hook], subject(&call.subject))
        }
        Effect::CallModel(request) => {
            let hidden = match request.tools.iter().count() {
                count if count == all_tools => String::new(),
                _ => {
                    let names = request.tools.iter().map(|tool| &*tool.name);
                    format!(" with [{}]", names.collect::<Vec<_>>().join(" "))
                }
            };
            let most = request.max_output_tokens.map(|most| format!(" within {most}"));
            let most = most.unwrap_or_default();
            format!("model {} messages{hidden}{most}", request.messages.len())
        }
        Effect::ConsultApprovals(request) => format!("provider {}", request.preview),
        Effect::AwaitApproval(request) => {
            format!("human {} within {} ms", request.preview, request.timeout.as_millis())
        }
        Effect::InvokeTool(work) => {
            let call = &work.invocation;
            let state = match call.shared_state.is_empty() {
                true => String::new(),
                false => format!(" state {}", Value::Object((*call.shared_state).clone())),
            };
            let meta = match call.metadata.is_empty() {
                true => String::new(),
                false => format!(" meta {}", Value::Object((*call.metadata).clone())),
            };
            format!("{}({}){}{state}{meta}", work.tool, call.call_id, arguments(&call.arguments))
        }
    };
    Some(format!("-> {shown}"))
}

/// What is counted of it, `nothing` where nothing is.
pub(crate) fn amounts(amounts: &Amounts) -> String {
    let named = [
        ("calls", amounts.model_calls),
        ("tokens", amounts.tokens),
        ("uncached", amounts.uncached_input_tokens),
        ("cost", amounts.cost_nano_usd),
        ("tools", amounts.tool_calls),
        ("runs", amounts.sub_tasks),
    ];
    let there = named.into_iter().filter(|(_, amount)| *amount > 0);
    let mut shown: Vec<_> = there.map(|(name, amount)| format!("{name} {amount}")).collect();
    let by_name = amounts.tool_calls_by_name.iter();
    shown.extend(by_name.map(|(name, calls)| format!("{name} {calls}")));
    match shown.is_empty() {
        true => "nothing".to_owned(),
        false => shown.join(" "),
    }
}

/// What counts, and what of it is known.
pub(crate) fn spent(spent: &Spent) -> Vec<String> {
    let total = |name: &str, total: UsageTotal| {
        let mark = if total.complete { "" } else { " or more" };
        format!("{name} {}{mark}", total.at_least)
    };
    vec![
        format!("charged {}", amounts(&spent.charged)),
        total("tokens", spent.tokens),
        total("uncached", spent.uncached_input_tokens),
        total("cost", spent.cost_nano_usd),
    ]
}

fn subject(subject: &HookSubject) -> String {
    match subject {
        HookSubject::BeforeMemoryCompact { messages } => {
            format!("before compaction of {} messages", messages.len())
        }
        HookSubject::BeforeLlm { messages, tools } => {
            format!("before {} messages and {} tools", messages.len(), tools.iter().count())
        }
        HookSubject::AfterLlm { response } => {
            format!("after{}", contents(&response.output, false))
        }
        HookSubject::BeforeToolCall { call } => {
            format!("before {}({}){}", call.name, call.id, arguments(&call.arguments))
        }
        HookSubject::AfterToolCall { call, result } => {
            format!("after {}({}) {}", call.name, call.id, outcome(result))
        }
    }
}

/// Arguments as they are written in a script.
fn arguments(value: &Value) -> String {
    match value {
        Value::Object(object) if object.is_empty() => String::new(),
        Value::Object(_) => value.to_string(),
        value => format!("={value}"),
    }
}

fn outcome(result: &CallResult) -> String {
    told(result.error_code.as_deref(), &result.content, result.directive)
}

fn told(error_code: Option<&str>, content: &str, directive: ToolDirective) -> String {
    let said = error_code.map_or_else(|| said(content), |code| format!("!{code}"));
    match directive {
        ToolDirective::Continue => said,
        ToolDirective::Finish => format!("{said} finish"),
        ToolDirective::WaitUser => format!("{said} wait"),
    }
}

pub(crate) fn halt(id: u64, halt: Halt) -> String {
    let word = match halt {
        Halt::Interrupt => "interrupt",
        Halt::Settle => "settle",
        Halt::Withdraw => "withdraw",
    };
    format!("-x {id} {word}")
}

pub(crate) fn event(told: &RunEvent) -> String {
    let name = told.event.name();
    match rest(&told.event) {
        rest if rest.is_empty() => name.to_owned(),
        rest => format!("{name} {rest}"),
    }
}

fn rest(event: &Event) -> String {
    match event {
        Event::ResourcesLoaded { instructions, skills, .. } => format!("{instructions}+{skills}"),
        Event::CycleStarted { message_count, .. } => format!("after {message_count} messages"),
        Event::CycleInjectedMessages { reason, message_count } => {
            format!("{reason} {message_count}")
        }
        Event::SessionSteerDequeued { prompt, .. } => format!("{prompt:?}"),
        Event::CycleLlmResponse { assistant_message, tool_calls, .. } => {
            let calls = tool_calls.iter();
            let calls =
                calls.map(|it| format!(" {}({}){}", it.name, it.id, arguments(&it.arguments)));
            let text = folded(&format!("{assistant_message:?}"));
            format!("{text}{}", calls.collect::<String>())
        }
        Event::ToolCallPlanned { tool_name, tool_arguments, tool_call_id }
        | Event::ToolCallStarted { tool_name, tool_arguments, tool_call_id } => {
            format!("{tool_name}({tool_call_id}){}", arguments(tool_arguments))
        }
        Event::ApprovalRequested { request_id, preview, .. } => format!("{request_id} {preview}"),
        Event::ApprovalResolved { request_id, approved, error_code, .. } => {
            let code = error_code.as_deref().unwrap_or("approved");
            assert_eq!(*approved, error_code.is_none());
            format!("{request_id} {code}")
        }
        Event::ToolResult { tool_call_id, tool_name, error_code, content, directive, .. } => {
            let said = self::told(error_code.as_deref(), content, *directive);
            format!("{tool_name}({tool_call_id}) {said}")
        }
        Event::SessionSteerInterrupt { after_tool_call_id, prompt, .. } => {
            format!("after {after_tool_call_id} {prompt:?}")
        }
        Event::RunSteered { after_tool_call_id, prompt_count, steering_count, .. } => {
            format!("after {after_tool_call_id} prompts {prompt_count} steering {steering_count}")
        }
        Event::RunSuspended { pending_approvals } => pending_approvals.join(" "),
        Event::MemoryCompactStarted { message_count, prompt_tokens, budget_tokens } => {
            let most = budget_tokens.map_or_else(String::new, |most| format!(" of {most}"));
            format!("{message_count} messages {prompt_tokens} tokens{most}")
        }
        Event::MemoryCompactCompleted {
            messages_before,
            messages_after,
            prompt_tokens,
            levels,
        } => {
            let levels = levels.join(" ");
            format!(
                "{messages_before} to {messages_after} messages {prompt_tokens} tokens by {levels}"
            )
        }
        Event::SubRunStarted { sub_run_id, task_id_hint, sub_agent_name, background, .. } => {
            let how = if *background { " in the background" } else { "" };
            format!("{task_id_hint} {sub_run_id} {sub_agent_name}{how}")
        }
        Event::SubRunCompleted { sub_run_id, status, final_output, .. } => {
            let status = status.map_or_else(|| "None".to_owned(), |status| format!("{status:?}"));
            format!("{sub_run_id} {status} {final_output:?}")
        }
        event => end(event),
    }
}

/// What the last event of a run says beside its name.
fn end(event: &Event) -> String {
    match event {
        Event::RunCompleted { final_answer } => format!("{final_answer:?}"),
        Event::RunWaitUser { wait_reason } => format!("{wait_reason:?}"),
        Event::RunMaxCycles { final_answer, .. } => format!("{final_answer:?}"),
        Event::RunFailed { error_code, .. } => error_code.to_string(),
        Event::BudgetExhausted { budget, limit: 0, used: 0, .. } => budget.to_string(),
        Event::BudgetExhausted { budget, limit, used, .. } => format!("{budget} {used} of {limit}"),
        _ => String::new(),
    }
}

/// One message in a line.
pub(crate) fn message(message: &ModelMessage, raw: bool) -> String {
    let role = match message.role {
        ModelRole::System => "system",
        ModelRole::User => "user",
        ModelRole::Assistant => "assistant",
        ModelRole::Tool => "tool",
    };
    format!("{role}{}", contents(&message.content, raw))
}

fn contents(contents: &[ModelContent], raw: bool) -> String {
    contents.iter().map(|item| format!(" {}", content(item, raw))).collect()
}

/// A text in quotes; a long run of one letter by its tokens, and of a message that stands for what
/// was covered what it holds.
fn said(text: &str) -> String {
    let covered = text.strip_prefix("[The context ran full. ");
    let covered = covered.and_then(|rest| rest.split_once(" earlier messages"));
    if let Some((count, rest)) = covered {
        let (_, rest) = rest.split_once("]\n\n").expect("the rest of the message");
        return format!("covers {count}: {}", folded(&format!("{rest:?}")));
    }
    folded(&format!("{text:?}"))
}

fn folded(text: &str) -> String {
    let (mut folded, mut rest) = (String::new(), text);
    while let Some(place) = rest.find("xxxxxxxxxxxxxxxx") {
        let run = rest[place..].bytes().take_while(|byte| *byte == b'x').count();
        folded.push_str(&rest[..place]);
        folded.push_str(&format!("long({})", run / 4));
        rest = &rest[place + run..];
    }
    folded + rest
}

fn content(item: &ModelContent, raw: bool) -> String {
    match item {
        ModelContent::Text { text } => match text.split_once(SCHEMA_IS_TOLD) {
            Some((before, _)) => format!("{before:?}…"),
            None => said(text),
        },
        ModelContent::ToolUse { id, name, arguments: given } => {
            format!("{name}({id}){}", arguments(given))
        }
        ModelContent::ToolResult { tool_use_id, content, failed, .. } => {
            let parsed = serde_json::from_str::<Value>(content).unwrap_or_default();
            let code = parsed["error_code"].as_str().filter(|_| *failed && !raw);
            let said = code.map_or_else(|| said(content), |code| format!("!{code}"));
            format!("result({tool_use_id}) {said}")
        }
        ModelContent::Image { .. } => "image".to_owned(),
        ModelContent::Reasoning { text, .. } => format!("reasoning {text:?}"),
    }
}

/// What a model is told of the schema of its answer begins so, and is left out.
pub(crate) const SCHEMA_IS_TOLD: &str = "A program reads your final answer.";

/// Widest line, unless a single item is wider.
const WIDTH: usize = 88;

/// Items one after the other, in as many lines as they need.
pub(crate) fn wrapped(mark: &str, items: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.chars().count() + item.chars().count() < WIDTH => {
                line.push_str(" | ");
                line.push_str(item);
            }
            Some(_) => lines.push(format!("| {item}")),
            None => lines.push(format!("{mark}{item}")),
        }
    }
    lines
}

/// What is left of a run, or where it stands.
pub(crate) fn ending(machine: &Machine) -> Vec<String> {
    let Some(result) = machine.result() else { return vec![format!("= {}", machine.phase())] };
    let mut lines = vec![status(&result)];
    let history: Vec<_> = result.history.messages().map(|it| message(it, false)).collect();
    lines.extend(wrapped("= ", &history));
    let returned = result.returned_steering.iter();
    lines.extend(returned.map(|said| format!("= returned {:?}", &*said.prompt)));
    if !result.shared_state.is_empty() {
        lines.push(format!("= state {}", Value::Object((*result.shared_state).clone())));
    }
    lines
}

fn status(result: &RunResult) -> String {
    let code = result.error.as_ref().map_or("", |error| &*error.code);
    let answer = result.final_answer.as_deref().unwrap_or_default();
    match result.status {
        RunStatus::Completed => match &result.answer {
            Some(meant) => format!("= completed {answer:?}, which is {meant}"),
            None => format!("= completed {answer:?}"),
        },
        RunStatus::WaitUser => {
            format!("= waits for {:?}", result.wait_reason.as_deref().unwrap_or_default())
        }
        RunStatus::MaxCycles => format!("= max_cycles {answer:?}"),
        RunStatus::Cancelled => "= cancelled".to_owned(),
        RunStatus::Failed => format!("= failed {code}"),
        RunStatus::BudgetExhausted => format!("= budget_exhausted {code}"),
    }
}
