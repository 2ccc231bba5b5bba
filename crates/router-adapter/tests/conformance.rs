//! The suite of intelligence and turn, run by a router with a catalogue over the scripted model.
//!
//! The harness is the provider's wire: it makes the script of a `FakeModel` of what a provider does.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, FakeReceiptStore, ModelStep};
use port_conformance::{
    Unstageable,
    model::{Answer, Piece, ProviderReply, Refusal},
    turn::{StagedTurns, TurnCapabilities, TurnHarness, TurnPlan, TurnWorld},
};
use router_adapter::{Catalogue, Router};
use runtime_ports::{
    Metering, ModelContent, PortFailure, PortFailureKind, RequestMeter, TurnEnd, UsageReceipt,
};
use serde_json::{Value, json};

const CATALOGUE: &str = r#"
    [[models]]
    id = "served-model"
    provider = "house"
    provider_model = "fake-model"
    aliases = ["served"]
    context_window_tokens = 128_000
    max_input_tokens = 120_000
"#;

struct RouterHarness;

mod turn {
    port_conformance::turn_conformance!(super::RouterHarness);
}

#[async_trait]
impl TurnHarness for RouterHarness {
    fn capabilities(&self) -> TurnCapabilities {
        TurnCapabilities::ALL
    }

    async fn stage(&self, plan: TurnPlan) -> Result<StagedTurns, Unstageable> {
        let model = FakeModel::new(plan.flattened().iter().map(step));
        model.unchecked();
        let receipts = FakeReceiptStore::new();
        let router = Router::builder()
            .catalogue(Catalogue::parse(CATALOGUE).expect("the catalogue is valid"))
            .provider("house", Arc::new(model.clone()))
            .receipts(Arc::new(receipts.clone()))
            .start()
            .await
            .expect("nothing is left open");
        Ok(StagedTurns {
            intelligence: Arc::new(router),
            model: "served-model".into(),
            alias: "served".into(),
            world: Arc::new(World { model, receipts }),
        })
    }
}

struct World {
    model: FakeModel,
    receipts: FakeReceiptStore,
}

#[async_trait]
impl TurnWorld for World {
    async fn receipts(&self) -> Vec<UsageReceipt> {
        self.receipts.settled()
    }

    fn reached(&self) -> bool {
        !self.model.requests().is_empty()
    }

    fn was_sent(&self, text: &str) -> bool {
        self.model
            .requests()
            .iter()
            .any(|request| json!(request.messages).to_string().contains(text))
    }
}

fn step(reply: &ProviderReply) -> ModelStep {
    match reply {
        ProviderReply::Answer(answer) => answering(answer),
        ProviderReply::StallBeforeAnswer => ModelStep::stall(),
        ProviderReply::StallMidAnswer(answer) => saying(answer).then_stall(),
        ProviderReply::CutMidAnswer(answer) => saying(answer).then_fail(cut()),
        ProviderReply::CutBeforeAnswer => ModelStep::fail(cut()),
        ProviderReply::Malformed => ModelStep::fail(PortFailure::in_flight_unknown(
            PortFailureKind::Protocol,
            "MALFORMED",
            "the answer is not the provider's protocol",
        )),
        ProviderReply::Refuse(refusal) => ModelStep::fail(refused(*refusal)),
    }
}

fn cut() -> PortFailure {
    let message = "the connection was closed before the answer was complete";
    PortFailure::in_flight_unknown(PortFailureKind::Protocol, "CUT", message)
}

fn refused(refusal: Refusal) -> PortFailure {
    let kind = match refusal {
        Refusal::Unauthorized | Refusal::Forbidden => PortFailureKind::Forbidden,
        Refusal::UnknownModel => PortFailureKind::NotFound,
        _ => PortFailureKind::Invalid,
    };
    PortFailure::rejected(kind, "REFUSED", "the provider refused")
}

fn saying(answer: &Answer) -> ModelStep {
    answer.pieces.iter().map(content).fold(ModelStep::empty(), ModelStep::and).in_pieces(5)
}

fn answering(answer: &Answer) -> ModelStep {
    let usage = answer.usage.unwrap_or_default();
    let attempt = RequestMeter {
        provider_request_id: answer.request_id.clone(),
        metering: answer.usage.map_or(Metering::Unavailable, Metering::Tokens),
        end: if answer.finish.is_complete() { TurnEnd::Completed } else { TurnEnd::Failed },
        cost_nano_usd: answer.cost_nano_usd,
    };
    saying(answer).token_usage(usage).finish(answer.finish).attempts(vec![attempt])
}

fn content(piece: &Piece) -> ModelContent {
    match piece {
        Piece::Text(fragments) => ModelContent::text(fragments.concat()),
        Piece::Reasoning { text, opaque } => ModelContent::Reasoning {
            issuer: "house".into(),
            text: text.clone(),
            opaque: opaque.clone(),
        },
        Piece::Call { id, name, arguments } => ModelContent::ToolUse {
            id: id.clone().unwrap_or_default(),
            name: name.clone(),
            arguments: serde_json::from_str(arguments)
                .unwrap_or_else(|_| Value::String(arguments.clone())),
        },
    }
}
