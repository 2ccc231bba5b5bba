//! That what an answer said goes back as its parts came, to its issuer alone.

use model_wire::{Reader, pieces::split};
use runtime_ports::{DiscardDeltas, ModelMessage, ModelRole};
use serde_json::{Value, json};

use super::decoder;
use crate::encode::{Written, piece};

/// The parts that the answer of `bytes` has in the next request of a session of `issuer`.
fn sent_back(bytes: &[u8], issuer: &str) -> Value {
    let mut reader = Reader::new(decoder(), 1 << 20);
    reader.feed(bytes, &DiscardDeltas).expect("no failure");
    let content = reader.finish(&DiscardDeltas).expect("an answer").output;
    let message = ModelMessage { role: ModelRole::Assistant, content };
    let bytes = piece(&message, &Written { issuer, signed_calls: true, call_ids: true });
    let list = [b"[", split(&bytes).0, b"]"].concat();
    serde_json::from_slice(&list).expect("a list of parts")
}

fn check(what: &str, bytes: &[u8], own: Value, foreign: Value) {
    assert_eq!(sent_back(bytes, "issuer"), own, "{what}");
    assert_eq!(sent_back(bytes, "another"), foreign, "{what}, of another");
}

#[test]
fn signatures_stand_on_the_parts_that_they_came_with() {
    let call = |id: &str, flight: &str| json!({"functionCall": {"id": id, "name": "check_flight", "args": {"flight": flight}}});
    let signed = |signature: &str| {
        let mut first = call("fc-1", "AA100");
        first["thoughtSignature"] = signature.into();
        json!([first, call("fc-2", "BA200")])
    };
    check(
        "parallel calls",
        include_bytes!("../../tests/fixtures/parallel-calls.sse"),
        signed("c2lnbmF0dXJlIEE="),
        signed("skip_thought_signature_validator"),
    );
    let text = json!({"text": "Alice lives in the green house."});
    let bare = json!({"text": "", "thoughtSignature": "c2lnbmF0dXJlIEI="});
    check(
        "a text whose signature comes last",
        include_bytes!("../../tests/fixtures/thoughts.sse"),
        json!([text, bare]),
        json!([text]),
    );
}

#[test]
fn parts_of_the_vendor_go_back_as_they_came() {
    let (before, after) =
        (json!({"text": "I will compute it."}), json!({"text": "The sum is 10."}));
    let code = json!({"executableCode": {"language": "PYTHON", "code": "print(sum([2, 3, 5]))\n"}});
    let result = json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "10\n"}});
    check(
        "code that the vendor ran",
        include_bytes!("../../tests/fixtures/code-execution.json"),
        json!([before, code, result, after]),
        json!([before, after]),
    );
}
