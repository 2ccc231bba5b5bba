//! Decides whether the listing of receipts tells the truth, in columns.

use runtime_ports::{
    AgentProvider, Metering, ReceiptTotals, RequestMeter, TokenUsage, TurnEnd, UsageReceipt,
};
use uuid::Uuid;

use super::{json_lines, listing};

fn receipt(model: &str, provider: &str, metering: Metering) -> UsageReceipt {
    let request = RequestMeter {
        provider_request_id: None,
        metering,
        end: TurnEnd::Completed,
        cost_nano_usd: None,
    };
    UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: Uuid::from_u128(0xabcd_ef01 << 96),
        parent_operation_id: None,
        user_id: "ada".into(),
        requested_model: model.into(),
        provider: AgentProvider::new(provider),
        provider_model: model.into(),
        thread_id: None,
        started_at_ms: 1_700_000_000_000,
        ended_at_ms: 1_700_000_012_000,
        end: TurnEnd::Completed,
        requests: vec![request],
        is_lower_bound: metering == Metering::Unavailable,
        metering,
        cost_nano_usd: None,
        losses: Vec::new(),
    }
}

fn tokens(input: u64, output: u64) -> Metering {
    let (input_tokens, output_tokens) = (Some(input), Some(output));
    Metering::Tokens(TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() })
}

#[test]
fn turns_and_totals_stand_in_columns() {
    let mut second = receipt("m\u{1b}[2J", "host", tokens(1_200, 34));
    second.cost_nano_usd = Some(5_000_000);
    second.end = TurnEnd::TimedOut;
    let receipts = [receipt("offline", "offline", Metering::Unavailable), second];
    let text = listing(&receipts, &ReceiptTotals::sum(&receipts), 3);
    let expected = [
        "Turns (2 of 3), newest last",
        "started (UTC)     turn      end        took  requests  user  model            tokens in   tokens out         cost",
        "2023-11-14 22:13  abcdef01  completed  12 s         1  ada   offline        unavailable  unavailable  unavailable",
        "2023-11-14 22:13  abcdef01  timed out  12 s         1  ada   m\u{fffd}[2J at host         1200           34    $0.005000",
        "",
        "Totals per UTC day, user and model",
        "day         user  model          turns  requests    tokens in   tokens out         cost",
        "2023-11-14  ada   m\u{fffd}[2J at host      1         1         1200           34    $0.005000",
        "2023-11-14  ada   offline            1         1  unavailable  unavailable  unavailable",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn totals_alone_and_nothing_at_all_read_well() {
    let receipts = [receipt("offline", "offline", Metering::Unavailable)];
    let text = listing(&[], &ReceiptTotals::sum(&receipts), 1);
    assert!(text.starts_with("Totals per UTC day"), "{text}");
    assert_eq!(listing(&[], &[], 0), "no receipts here yet; agent run leaves them\n");
}

#[test]
fn json_lines_carry_version_and_kind() {
    let receipts = [receipt("m", "host", tokens(1, 2))];
    let text = json_lines(&receipts, &ReceiptTotals::sum(&receipts));
    let kinds = text.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["version"], 1);
        line["kind"].as_str().unwrap().to_owned()
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["receipt", "totals"]);
}
