//! Decides in what words a conversation tells of itself.
//!
//! Knows what is known. Refuses to change anything.

use std::fmt::Write as _;

use runtime_decision::BudgetLimits;
use runtime_ports::{ModelContent, ModelMessage, ModelRole, UsageTotal};
use tokio::sync::mpsc;

use super::{
    slash::{self, Read, Slash},
    talk::Talk,
};
use crate::{
    amounts::{cost as money, counted, tokens},
    bench::offered_tools,
    composition::{Receipts, Served},
    diagnosis::Diagnosis,
    panel::Wish,
    safe_text::safe_line,
    show::Show,
    totals::RunTotals,
};

/// How many messages are shown again.
const MESSAGES_SHOWN: usize = 20;
const LINE_SHOWN: usize = 66;

/// What is said first.
pub(super) fn opening(talk: &Talk, is_typed: bool) -> String {
    let mut text = match talk.messages.len() {
        0 => String::new(),
        count => {
            let count = counted(count as u64, "message", "messages");
            format!("the conversation goes on after {count}\n{}\n", history(&talk.messages))
        }
    };
    if is_typed {
        text.push_str("write a message; /help lists commands and keys");
    }
    text.trim_end().to_owned()
}

/// Takes what is a command, and does it if it can be done while a run is at work.
pub(super) fn at_work(
    line: &str,
    receipts: &Receipts,
    wishes: &mpsc::Sender<Wish>,
    show: &dyn Show,
) -> bool {
    match slash::read(line) {
        Read::Message(_) => return false,
        Read::Unknown(text) => show.note(&unknown(&text)),
        Read::Command(Slash::Help) => show.note(&slash::help()),
        Read::Command(Slash::Tools) => show.note(&tools()),
        Read::Command(Slash::Cost) => {
            show.note(&format!("this answer:\n{}", cost(&receipts.sum().0)))
        }
        Read::Command(Slash::Exit) => {
            // As many wait already.
            let _ = wishes.try_send(Wish::Quit);
        }
        Read::Command(_) => {
            show.note("agent: not while it works; wait for the answer, or stop it with Ctrl-C");
        }
    }
    true
}

/// What becomes of a wish to sum up.
pub(super) const fn compaction(is_due: bool) -> &'static str {
    match is_due {
        true => "the conversation is summed up before the next message is answered",
        false => "nothing was said yet that could be summed up",
    }
}

/// What was used, on lines.
pub(super) fn cost(totals: &RunTotals) -> String {
    format!(
        "requests       {}\ninput tokens   {}\noutput tokens  {}\ncost           {}",
        totals.requests,
        tokens(totals.input_tokens),
        tokens(totals.output_tokens),
        money(totals.cost_nano_usd),
    )
}

/// What may still be used, on further lines; nothing where nothing is limited.
pub(super) fn budget(left: &BudgetLimits) -> String {
    let tokens = left.tokens.map(|tokens| format!("\nbudget left    {tokens} tokens"));
    let exactly = |at_least| UsageTotal { at_least, complete: true };
    let cost = left.cost_nano_usd.map(|nano| format!("\nbudget left    {}", money(exactly(nano))));
    tokens.unwrap_or_default() + &cost.unwrap_or_default()
}

/// The last messages, a line each.
pub(super) fn history(messages: &[ModelMessage]) -> String {
    let lines: Vec<String> = messages.iter().filter_map(line).collect();
    if lines.is_empty() {
        return "nothing was said yet".to_owned();
    }
    let skipped = lines.len().saturating_sub(MESSAGES_SHOWN);
    let mut text = String::new();
    if skipped > 0 {
        let _ = writeln!(text, "  ({} before)", counted(skipped as u64, "message", "messages"));
    }
    text + &lines[skipped..].join("\n")
}

fn line(message: &ModelMessage) -> Option<String> {
    let who = match message.role {
        ModelRole::User => "you    ",
        ModelRole::Assistant => "agent  ",
        _ => return None,
    };
    let texts = message.content.iter().filter_map(|content| match content {
        ModelContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join(" ");
    (!text.trim().is_empty()).then(|| format!("  {who}{}", safe_line(&text, LINE_SHOWN)))
}

/// What the agent can use, a line each.
pub(super) fn tools() -> String {
    let tools = offered_tools();
    let lines = tools.iter().map(|tool| {
        let definition = &tool.descriptor().definition;
        let first = definition.description.split(". ").next().unwrap_or_default();
        format!("  {:<14}  {}", definition.name, safe_line(first, LINE_SHOWN - 8))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// How the conversation is taken up again.
pub(super) fn session(talk: &Talk) -> String {
    format!("{}\ntake it up again with: agent chat --session {}", talk.session_id, talk.session_id)
}

/// Which model answers.
pub(super) fn model(served: &Served) -> String {
    format!("{} at {}", safe_line(&served.model, 100), safe_line(&served.provider, 100))
}

/// Why something could not be done.
pub(super) fn failure(diagnosis: &Diagnosis) -> String {
    let hint = diagnosis.hint.as_deref().map(|hint| format!("\n       {hint}"));
    format!("agent: {}{}", diagnosis.message, hint.unwrap_or_default())
}

/// A command that is none.
pub(super) fn unknown(text: &str) -> String {
    format!("agent: no such command: {}; /help lists them", safe_line(text, LINE_SHOWN))
}
