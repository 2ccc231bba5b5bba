//! Decides what a real model behind a llama.cpp server, and a proxy before it, are asked for.

use crate::{
    address,
    conversations::{self, Knows, Subject},
    forced,
    results::{About, Results},
    speech::{Endpoint, Speech},
};

/// The checks, where such servers run.
pub(crate) async fn check(results: &Results) {
    if let Some(base) = address("LLAMA") {
        let about = |api| About { server: "llama.cpp", version: "xllamacpp 2026.10.11549", api };
        each(&base, "none", about, results).await;
    }
    if let Some(base) = address("LITELLM") {
        let about = |api| About { server: "litellm", version: "1.108.7", api };
        let key = address("LITELLM_KEY").unwrap_or_default();
        each(&base, &key, about, results).await;
    }
}

async fn each(base: &str, key: &str, about: impl Fn(String) -> About, results: &Results) {
    for speech in Speech::ALL {
        let endpoint = Endpoint::new(speech, format!("{base}/v1"), "small");
        let endpoint = Endpoint { key: key.to_owned(), ..endpoint };
        let knows = Knows::A_SMALL_MODEL;
        let subject = Subject { base: base.to_owned(), endpoint, knows };
        let about = about(speech.name());
        conversations::check(&subject, &about, results).await;
        forced::check(&subject, &about, results).await;
    }
}
