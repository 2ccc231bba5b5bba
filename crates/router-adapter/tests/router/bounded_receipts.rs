//! What a receipt says of a long turn: each loss once, not once for each request.

use in_memory_fakes::ModelStep;
use runtime_ports::ModelContent;
use serde_json::json;

use crate::{
    failover::Troupe,
    stage::{call, rate_limited},
};

const ROUNDS: usize = 40;

fn thinking_call(id: &str) -> ModelStep {
    let (issuer, text) = ("elsewhere".to_owned(), "hm".to_owned());
    call(id).and(ModelContent::Reasoning { issuer, text, opaque: json!({ "sealed": id }) })
}

#[tokio::test(start_paused = true)]
async fn a_long_turn_at_a_fallback_tells_each_loss_once() {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        first.push(ModelStep::fail(rate_limited().retry_after(std::time::Duration::from_secs(9))));
        second.push(thinking_call(&format!("c{round}")));
    }
    first.push(ModelStep::text("done").usage(1, 1));
    let troupe = Troupe::of([first, second, vec![]]).await;
    assert_eq!(troupe.play().await.answer(), "done");
    let receipt = troupe.receipt();
    assert_eq!(receipt.requests.len(), 2 * ROUNDS + 1);
    let told = receipt.losses.join("\n");
    assert!(receipt.losses.len() <= 6, "{} sentences: {told}", receipt.losses.len());
    let most =
        format!("{ROUNDS} pieces of reasoning by elsewhere left out for fake-model at house");
    assert!(told.contains(&most), "{told}");
    assert!(told.contains("requests 1, 3, 5, 7, 9, 11, 13, 15 and 32 more went to"), "{told}");
}
