//! Decides what every [`ModelSession`] must hold, and what a harness must give to try it.
//!
//! Knows no provider and no wire format: a provider's doings are data ([`ProviderScript`]), and
//! the harness turns them into a fake's script or into a loopback server. A harness is about a
//! hundred lines; the one over the fakes, in `crates/in-memory-fakes/tests/harness/`, is the
//! example to copy.

use std::sync::Arc;

use async_trait::async_trait;
use runtime_ports::ModelSession;

use crate::{Declares, Unstageable};

mod deltas;
mod list;
mod provider;
mod request;
mod scenarios;

pub use deltas::{Delta, RecordedDeltas};
pub use list::SCENARIOS;
pub use provider::{Answer, Piece, ProviderReply, ProviderScript, Refusal};

/// Makes the subject: a session over a provider that follows a script.
///
/// # Contract
/// - Each [`Self::stage`] gives a fresh session over a fresh provider; the session has no deadline
///   of its own below a minute, and no retry policy.
/// - `capabilities` is the same at every call. What is declared can be staged; what cannot be
///   staged is declared as missing.
///
/// # Examples
/// The shape of a harness over a server of one's own:
///
/// ```no_run
/// # use port_conformance::{Unstageable, model::*};
/// # struct LoopbackServer; impl LoopbackServer {
/// #     async fn start(_: ProviderScript) -> Arc<Self> { Arc::new(Self) }
/// #     fn session(&self) -> Arc<dyn runtime_ports::ModelSession> { panic!("a sketch") }
/// # }
/// # impl ProviderView for LoopbackServer {
/// #     fn requests_seen(&self) -> usize { 0 }
/// #     fn request_text(&self, _: usize) -> Option<String> { None }
/// #     fn abandoned(&self) -> usize { 0 }
/// # }
/// # use std::sync::Arc;
/// struct MyHarness;
///
/// #[async_trait::async_trait]
/// impl ModelHarness for MyHarness {
///     fn capabilities(&self) -> ModelCapabilities {
///         ModelCapabilities { cost: false, ..ModelCapabilities::ALL }
///     }
///
///     async fn stage(&self, script: ProviderScript) -> Result<StagedModel, Unstageable> {
///         let provider = LoopbackServer::start(script).await;
///         Ok(StagedModel {
///             session: provider.session(),
///             model: "served".into(),
///             unknown_model: "not-served".into(),
///             provider,
///         })
///     }
/// }
/// ```
#[async_trait]
pub trait ModelHarness: Send + Sync {
    /// What the session and its provider can do.
    fn capabilities(&self) -> ModelCapabilities;

    /// A fresh session over a fresh provider that follows `script`.
    ///
    /// # Errors
    /// [`Unstageable`] when the provider's protocol cannot say what the script asks for.
    async fn stage(&self, script: ProviderScript) -> Result<StagedModel, Unstageable>;
}

/// A session and the provider behind it.
pub struct StagedModel {
    /// The subject.
    pub session: Arc<dyn ModelSession>,
    /// A model that the session serves.
    pub model: String,
    /// A model that it does not serve.
    pub unknown_model: String,
    /// What happened on the provider's side.
    pub provider: Arc<dyn ProviderView>,
}

/// What the provider noticed.
pub trait ProviderView: Send + Sync {
    /// Requests that arrived so far, whatever became of them.
    fn requests_seen(&self) -> usize;

    /// The body of request number `index` (from 0), as it was sent: the suite looks for words of
    /// its own in it, and compares two of them, but knows no format.
    fn request_text(&self, index: usize) -> Option<String>;

    /// Requests whose caller went away before the reply was complete.
    fn abandoned(&self) -> usize;
}

/// What a session may lack without breaking the contract. `true` means: it is there, try it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCapabilities {
    /// `invoke_streaming` gives deltas while the answer is generated.
    pub live_deltas: bool,
    /// Reasoning that the provider sends arrives as `ModelContent::Reasoning`.
    pub reasoning: bool,
    /// Reasoning goes back to who issued it, verbatim.
    pub reasoning_replay: bool,
    /// Images are sent to the provider.
    pub images: bool,
    /// The provider says what a request cost.
    pub cost: bool,
    /// The provider reports tokens that were written to a cache.
    pub cache_writes: bool,
    /// The provider names its requests.
    pub request_ids: bool,
    /// The provider may leave out the identity of a tool call.
    pub missing_call_ids: bool,
    /// The session knows which models it serves, so that `profile` can say `NotFound`.
    pub knows_its_models: bool,
    /// Getting a connection can take time, and the harness can make it take for ever.
    pub waits_to_connect: bool,
}

/// One field of [`ModelCapabilities`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of the same name")]
pub enum ModelNeed {
    LiveDeltas,
    Reasoning,
    ReasoningReplay,
    Images,
    Cost,
    CacheWrites,
    RequestIds,
    MissingCallIds,
    KnowsItsModels,
    WaitsToConnect,
}

impl ModelCapabilities {
    /// Everything is there.
    pub const ALL: Self = Self {
        live_deltas: true,
        reasoning: true,
        reasoning_replay: true,
        images: true,
        cost: true,
        cache_writes: true,
        request_ids: true,
        missing_call_ids: true,
        knows_its_models: true,
        waits_to_connect: true,
    };
}

impl Declares<ModelNeed> for dyn ModelHarness + '_ {
    fn declares(&self, need: ModelNeed) -> bool {
        let declared = self.capabilities();
        match need {
            ModelNeed::LiveDeltas => declared.live_deltas,
            ModelNeed::Reasoning => declared.reasoning,
            ModelNeed::ReasoningReplay => declared.reasoning_replay,
            ModelNeed::Images => declared.images,
            ModelNeed::Cost => declared.cost,
            ModelNeed::CacheWrites => declared.cache_writes,
            ModelNeed::RequestIds => declared.request_ids,
            ModelNeed::MissingCallIds => declared.missing_call_ids,
            ModelNeed::KnowsItsModels => declared.knows_its_models,
            ModelNeed::WaitsToConnect => declared.waits_to_connect,
        }
    }
}
