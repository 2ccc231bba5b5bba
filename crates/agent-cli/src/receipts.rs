//! Decides how receipts are listed and totalled for a person or a program.
//!
//! Knows the store; refuses to know how receipts come about.

use std::time::Duration;

use anyhow::Context;
use file_adapter::FileReceiptStore;
use runtime_ports::{OperationContext, ReceiptStore, ReceiptTotals, UsageReceipt, UtcDay};
use runtime_types::{ExecutionId, OperationId};
use serde_json::json;
use uuid::Uuid;

use crate::{
    amounts::{cost, cost_of, duration, tokens, tokens_of},
    arguments::ReceiptsArguments,
    diagnosis::Diagnosis,
    exit::Exit,
    places::Places,
    safe_text::{safe_json, safe_line},
    screen::{Screen, print_err},
    show::end_text,
    table::{
        Side::{Left, Right},
        Table,
    },
};

const JSON_VERSION: u16 = 1;
const PAGE: usize = 1_000;
const ID_SHOWN: usize = 8;
const NAME_SHOWN: usize = 60;

/// `agent receipts`.
pub(crate) async fn receipts(arguments: ReceiptsArguments) -> Exit {
    match print(&arguments).await {
        Ok(()) => Exit::Done,
        Err(error) => {
            let diagnosis = Diagnosis::configuration(&error);
            print_err(&format!("agent: {}\n", safe_line(&diagnosis.message, 600)));
            diagnosis.exit
        }
    }
}

async fn print(arguments: &ReceiptsArguments) -> anyhow::Result<()> {
    let folder = Places::find()?.receipts();
    let store = FileReceiptStore::open(&folder)
        .with_context(|| format!("the receipts in {} cannot be read", folder.display()))?;
    let receipts = all(&store, arguments.day).await?;
    let totals = ReceiptTotals::sum(&receipts);
    let newest = &receipts[receipts.len().saturating_sub(arguments.limit)..];
    let text = match arguments.json {
        true => json_lines(newest, &totals),
        false => listing(newest, &totals, receipts.len()),
    };
    let screen = Screen::of_process();
    screen.lines_out(text.as_bytes());
    for damage in store.damage() {
        let (line, reason) = (damage.line, safe_line(damage.reason, 200));
        screen.line(&format!("agent: line {line} of receipts.jsonl was skipped: {reason}"));
    }
    screen.loss().map_or(Ok(()), |error| Err(error).context("standard output"))
}

async fn all(store: &FileReceiptStore, day: Option<UtcDay>) -> anyhow::Result<Vec<UsageReceipt>> {
    let id = Uuid::new_v4();
    let (operation, run) = (OperationId::from(id), ExecutionId::from(id));
    let operation = OperationContext::root(operation, run, Duration::from_secs(60));
    let (mut receipts, mut after) = (Vec::new(), None);
    loop {
        let page = store.list(&operation, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.operation_id);
        receipts.extend(page);
    }
    let on_day = |receipt: &UsageReceipt| {
        day.is_none_or(|day| UtcDay::from_unix_ms(receipt.started_at_ms) == day)
    };
    receipts.retain(on_day);
    Ok(receipts)
}

fn json_lines(receipts: &[UsageReceipt], totals: &[ReceiptTotals]) -> String {
    let receipts = receipts.iter().map(|receipt| json!({ "kind": "receipt", "receipt": receipt }));
    let totals = totals.iter().map(|totals| json!({ "kind": "totals", "totals": totals }));
    let mut lines = String::new();
    for mut line in receipts.chain(totals) {
        line["version"] = json!(JSON_VERSION);
        lines.push_str(&format!("{}\n", safe_json(&line.to_string())));
    }
    lines
}

fn listing(receipts: &[UsageReceipt], totals: &[ReceiptTotals], all: usize) -> String {
    if totals.is_empty() {
        return "no receipts here yet; agent run leaves them\n".to_owned();
    }
    let mut text = String::new();
    if !receipts.is_empty() {
        let of = if receipts.len() < all { format!(" of {all}") } else { String::new() };
        text.push_str(&format!("Turns ({}{of}), newest last\n", receipts.len()));
        text.push_str(&turns(receipts));
        text.push('\n');
    }
    text.push_str("Totals per UTC day, user and model\n");
    text.push_str(&sums(totals));
    text
}

fn turns(receipts: &[UsageReceipt]) -> String {
    let mut table = Table::new([
        ("started (UTC)", Left),
        ("turn", Left),
        ("end", Left),
        ("took", Right),
        ("requests", Right),
        ("user", Left),
        ("model", Left),
        ("tokens in", Right),
        ("tokens out", Right),
        ("cost", Right),
    ]);
    for receipt in receipts {
        let id = receipt.operation_id.to_string();
        let (input, output) = tokens_of(receipt);
        table.push([
            started(receipt.started_at_ms),
            id.chars().take(ID_SHOWN).collect(),
            end_text(receipt.end).to_owned(),
            duration(receipt.ended_at_ms.saturating_sub(receipt.started_at_ms)),
            receipt.requests.len().to_string(),
            safe_line(&receipt.user_id, NAME_SHOWN),
            model(&receipt.provider_model, receipt.provider.as_str()),
            input,
            output,
            cost_of(receipt),
        ]);
    }
    table.into_text()
}

fn sums(totals: &[ReceiptTotals]) -> String {
    let mut table = Table::new([
        ("day", Left),
        ("user", Left),
        ("model", Left),
        ("turns", Right),
        ("requests", Right),
        ("tokens in", Right),
        ("tokens out", Right),
        ("cost", Right),
    ]);
    for total in totals {
        table.push([
            total.utc_day.to_string(),
            safe_line(&total.user_id, NAME_SHOWN),
            model(&total.provider_model, total.provider.as_str()),
            total.turns.to_string(),
            total.requests.to_string(),
            tokens(total.input_tokens),
            tokens(total.output_tokens),
            cost(total.cost_nano_usd),
        ]);
    }
    table.into_text()
}

/// `2026-03-01 17:05`.
fn started(unix_ms: u64) -> String {
    let minutes = unix_ms / 60_000 % (24 * 60);
    format!("{} {:02}:{:02}", UtcDay::from_unix_ms(unix_ms), minutes / 60, minutes % 60)
}

/// The model and who serves it; the embedded one serves itself.
fn model(model: &str, provider: &str) -> String {
    let name = safe_line(model, NAME_SHOWN);
    if model == provider { name } else { format!("{name} at {}", safe_line(provider, NAME_SHOWN)) }
}

#[cfg(test)]
mod tests;
