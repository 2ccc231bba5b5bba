//! Decides how the model suite runs over a server that others scripted: each scenario that can be
//! staged with its script must hold, and the list of those that cannot must be exact.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use port_conformance::{
    Unstageable, Verdict,
    model::{
        ModelCapabilities, ModelHarness, ProviderReply, ProviderScript, ProviderView, SCENARIOS,
        StagedModel,
    },
};
use wire_rehearsal::loopback::refusing_address;

use crate::{
    relay::Relay,
    results::{Held, Outcome},
    speech::{Endpoint, Speech},
};

/// A server that follows scripts.
#[async_trait]
pub(crate) trait Scripted: Send + Sync {
    /// Makes the server answer requests for `model` with `replies`, in their order.
    async fn script(&self, model: &str, replies: &[ProviderReply]) -> Result<(), Unstageable>;

    /// Scheme, host and port of the server.
    fn base(&self) -> &str;

    /// What stands between these and the paths of the API.
    fn prefix(&self) -> &'static str;

    fn speech(&self) -> Speech;

    /// Why a scenario cannot be had from the server although its script can be written.
    fn departs(&self, scenario: &str) -> Option<&'static str>;

    /// What the server can say.
    fn capabilities(&self) -> ModelCapabilities;
}

/// One scenario's harness; notes whether it could stage it.
struct Staging {
    server: Arc<dyn Scripted>,
    name: &'static str,
    unstaged: Mutex<Option<String>>,
}

impl Staging {
    fn model(&self) -> String {
        let speech = self.server.speech().name();
        format!("{speech}_{}_{:08x}", self.name, rand())
    }

    async fn try_stage(&self, script: ProviderScript) -> Result<StagedModel, Unstageable> {
        if let Some(why) = self.server.departs(self.name) {
            return Err(Unstageable::because(why));
        }
        let model = self.model();
        let mut endpoint = Endpoint::new(self.server.speech(), "", &model);
        let provider: Arc<dyn ProviderView> = match script {
            ProviderScript::Replies(replies) => {
                self.server.script(&model, &replies).await?;
                let relay = Relay::to(self.server.base()).await;
                endpoint.base_url = format!("{}{}", relay.base(), self.server.prefix());
                Arc::new(relay)
            }
            ProviderScript::Unreachable => {
                endpoint.base_url = format!("http://{}/v1", refusing_address().await);
                Arc::new(Relay::to(self.server.base()).await)
            }
            ProviderScript::NeverConnects => {
                return Err(Unstageable::because("the server takes every connection"));
            }
        };
        let session = endpoint.session();
        Ok(StagedModel { session, model, unknown_model: "not-served".into(), provider })
    }
}

/// Different at each call.
fn rand() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0 >> 32
}

#[async_trait]
impl ModelHarness for Staging {
    fn capabilities(&self) -> ModelCapabilities {
        self.server.capabilities()
    }

    async fn stage(&self, script: ProviderScript) -> Result<StagedModel, Unstageable> {
        let staged = self.try_stage(script).await;
        if let Err(Unstageable(why)) = &staged {
            *self.unstaged.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
        }
        staged
    }
}

/// Runs every scenario, some at once; those of `not_staged` must be just those that the server
/// cannot play.
pub(crate) async fn run(server: Arc<dyn Scripted>, not_staged: &[&str]) -> Outcome {
    let (mut held, mut skipped) = (0, 0);
    let (mut unstaged, mut broken) = (BTreeSet::new(), Vec::new());
    for scenario in SCENARIOS {
        let server = Arc::clone(&server);
        let staging = Staging { server, name: scenario.name, unstaged: Mutex::default() };
        let verdict = scenario.judge(&staging as &dyn ModelHarness).await;
        let why = staging.unstaged.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (verdict, why) {
            (Verdict::Held, _) => held += 1,
            (Verdict::Skipped(_), _) => skipped += 1,
            (Verdict::Broke(_), Some(_)) => {
                unstaged.insert(scenario.name);
            }
            (Verdict::Broke(what), None) => broken.push(format!("{}: {what}", scenario.name)),
        }
    }
    let expected: BTreeSet<&str> = not_staged.iter().copied().collect();
    if unstaged != expected {
        let now_held: Vec<_> = expected.difference(&unstaged).collect();
        let missing: Vec<_> = unstaged.difference(&expected).collect();
        broken.push(format!(
            "not staged and not listed: {missing:?}; listed and staged: {now_held:?}"
        ));
    }
    if broken.is_empty() {
        let left = unstaged.len();
        let count = SCENARIOS.len();
        Ok(Held::With(format!(
            "{held} of {count} scenarios; {skipped} lack a capability, {left} cannot be scripted"
        )))
    } else {
        Err(broken.join("\n    "))
    }
}
