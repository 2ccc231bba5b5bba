//! Decides how receipts are listed and totalled for a person or a program.
//!
//! Knows the store; refuses to know how receipts come about.

use std::{io::Write, time::Duration};

use anyhow::Context;
use file_adapter::FileReceiptStore;
use runtime_ports::{
    Metering, OperationContext, ReceiptStore, ReceiptTotals, UsageReceipt, UtcDay,
};
use runtime_types::{ExecutionId, OperationId};
use uuid::Uuid;

use crate::{
    arguments::ReceiptsArguments,
    diagnosis::Diagnosis,
    exit::Exit,
    places::Places,
    safe_text::safe_line,
    totals::{cost_text, tokens_text},
};

const PAGE: usize = 1_000;

/// `agent receipts`.
pub(crate) async fn receipts(arguments: ReceiptsArguments) -> Exit {
    match print(&arguments).await {
        Ok(()) => Exit::Done,
        Err(error) => {
            let diagnosis = Diagnosis::configuration(&error);
            eprintln!("agent: {}", diagnosis.message);
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
    let lines = if arguments.json { json_lines(newest, &totals)? } else { table(newest, &totals) };
    let mut stdout = std::io::stdout().lock();
    // A reader that closed the pipe has seen enough.
    let _ = stdout.write_all(lines.as_bytes()).and_then(|()| stdout.flush());
    for damage in store.damage() {
        eprintln!("agent: line {} of receipts.jsonl was skipped: {}", damage.line, damage.reason);
    }
    Ok(())
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

fn json_lines(receipts: &[UsageReceipt], totals: &[ReceiptTotals]) -> anyhow::Result<String> {
    let mut lines = String::new();
    for receipt in receipts {
        let line = serde_json::json!({ "version": 1, "kind": "receipt", "receipt": receipt });
        lines.push_str(&format!("{line}\n"));
    }
    for total in totals {
        let line = serde_json::json!({ "version": 1, "kind": "totals", "totals": total });
        lines.push_str(&format!("{line}\n"));
    }
    Ok(lines)
}

fn table(receipts: &[UsageReceipt], totals: &[ReceiptTotals]) -> String {
    if totals.is_empty() {
        return "no receipts yet: run a task with agent run\n".to_owned();
    }
    let mut text = String::new();
    for receipt in receipts {
        text.push_str(&receipt_line(receipt));
    }
    text.push_str("\ntotals per UTC day, user and model\n");
    for total in totals {
        text.push_str(&totals_line(total));
    }
    text
}

fn receipt_line(receipt: &UsageReceipt) -> String {
    let day = UtcDay::from_unix_ms(receipt.started_at_ms);
    let seconds = receipt.ended_at_ms.saturating_sub(receipt.started_at_ms) as f64 / 1_000.0;
    let end = format!("{:?}", receipt.end).to_lowercase();
    let metering = match receipt.metering {
        Metering::Unavailable => "tokens unavailable".to_owned(),
        Metering::DurationSeconds(seconds) => format!("{seconds:.1} s metered"),
        Metering::Tokens(usage) => {
            let known =
                |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
            let bound = if receipt.is_lower_bound { "at least " } else { "" };
            let (input, output) = (known(usage.input_tokens), known(usage.output_tokens));
            format!("tokens {bound}{input} in, {output} out")
        }
    };
    let (id, model) = (receipt.operation_id, safe_line(&receipt.provider_model, 60));
    let (provider, requests) = (safe_line(receipt.provider.as_str(), 60), receipt.requests.len());
    format!(
        "{day} {id} {end:<11} {seconds:>7.1} s  {requests} requests  {model} at {provider}  {metering}\n"
    )
}

fn totals_line(total: &ReceiptTotals) -> String {
    let (user, model) = (safe_line(&total.user_id, 60), safe_line(&total.provider_model, 60));
    let (input, output) = (tokens_text(total.input_tokens), tokens_text(total.output_tokens));
    let (turns, requests, cost) = (total.turns, total.requests, cost_text(total.cost_nano_usd));
    let (day, provider) = (total.utc_day, safe_line(total.provider.as_str(), 60));
    format!(
        "{day} {user}  {model} at {provider}: {turns} turns, {requests} requests; tokens in {input}, out {output}; cost {cost}\n"
    )
}
