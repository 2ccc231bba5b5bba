//! What a call is reserved at before it is sent: the price of the dearest who may serve it.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::FakeModel;
use router_adapter::{Catalogue, Router};
use runtime_ports::{OperationContext, Price};
use uuid::Uuid;

fn model(name: &str, price: &str, fallbacks: &str) -> String {
    format!(
        r#"
        [[models]]
        id = "{name}"
        provider = "{name}"
        provider_model = "fake-model"
        context_window_tokens = 1_000
        max_input_tokens = 1_000
        {price}
        fallbacks = [{fallbacks}]
        "#
    )
}

/// The price that the first is said to have, when the second and the third may serve in its place.
async fn check(prices: [&str; 3], sessions: &[&str], expected: Option<Price>) {
    let catalogue = [
        model("a", prices[0], r#""b""#),
        model("b", prices[1], r#""c""#),
        model("c", prices[2], ""),
    ];
    let builder = Router::builder().catalogue(Catalogue::parse(&catalogue.concat()).unwrap());
    let builder = sessions
        .iter()
        .fold(builder, |all, name| all.provider(*name, Arc::new(FakeModel::new([]))));
    let session = builder.start().await.unwrap().session("ada", None);
    let id = Uuid::new_v4();
    let operation = OperationContext::root(id.into(), id.into(), Duration::from_secs(9));
    let profile = session.profile(&operation, "a").await.unwrap();
    assert_eq!(profile.price, expected, "{prices:?} {sessions:?}");
}

const ALL: [&str; 3] = ["a", "b", "c"];

fn price(input: u64, cached_input: Option<u64>, cache_write: Option<u64>, output: u64) -> Price {
    Price { input, cached_input, cache_write, output }
}

#[tokio::test]
async fn the_price_of_a_call_is_that_of_the_dearest_who_may_serve_it() {
    let cheap = "price = { input = 2, output = 9 }";
    check([cheap, cheap, cheap], &ALL, Some(price(2, None, None, 9))).await;
    let dear = "price = { input = 5, cached_input = 1, output = 7 }";
    check([cheap, cheap, dear], &ALL, Some(price(5, Some(2), None, 9))).await;
    let writes = "price = { input = 3, cached_input = 1, cache_write = 4, output = 30 }";
    check([writes, cheap, dear], &ALL, Some(price(5, Some(2), Some(5), 30))).await;
}

/// Nobody can say what a call may cost then; a limit of the cost is refused on that ground.
#[tokio::test]
async fn a_fallback_without_a_price_leaves_the_price_of_a_call_unknown() {
    let priced = "price = { input = 2, output = 9 }";
    check([priced, "", priced], &ALL, None).await;
    check(["", priced, priced], &ALL, None).await;
    check([priced, "", priced], &["a", "c"], Some(price(2, None, None, 9))).await;
    check([priced, "", ""], &["a"], Some(price(2, None, None, 9))).await;
}
