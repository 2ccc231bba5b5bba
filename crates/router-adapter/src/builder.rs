//! Decides whether the parts of a router fit each other before it starts.
//!
//! Knows nothing about turns. Invariant: a router that was built has a session for each provider that
//! it was given, and has settled what dead owners left open.

use std::{collections::BTreeMap, fmt, sync::Arc};

use runtime_ports::{ModelSession, PortFailure, ReceiptStore};
use thiserror::Error;

use crate::{
    CallObserver, Catalogue, CatalogueError, RetryPolicy, Router,
    route::{Provider, Routes},
};

/// Gathers the parts of a [`Router`]; see [`Router::builder`].
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use in_memory_fakes::FakeModel;
/// use router_adapter::{Catalogue, Router};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let catalogue = Catalogue::parse(r#"
///     [[models]]
///     id = "writer"
///     provider = "house"
///     provider_model = "fake-model"
///     context_window_tokens = 128_000
///     max_input_tokens = 120_000
/// "#)?;
/// let session = FakeModel::new([]);
/// let router =
///     Router::builder().catalogue(catalogue).provider("house", Arc::new(session)).start().await?;
/// # drop(router);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct RouterBuilder {
    catalogue: Catalogue,
    sessions: Vec<(String, Arc<dyn ModelSession>)>,
    fallbacks: Vec<(String, Vec<String>)>,
    receipts: Option<Arc<dyn ReceiptStore>>,
    instructions: Option<String>,
    policy: RetryPolicy,
    observer: Option<Arc<dyn CallObserver>>,
}

/// Why a router did not start.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum RouterError {
    /// A provider without a session behind it cannot be chosen.
    #[error("no provider was given; add one with `provider`")]
    NoProvider,
    /// Two sessions under one name.
    #[error("the provider {name} was given twice; give each its own name")]
    DuplicateProvider {
        /// The name.
        name: String,
    },
    /// No model of the catalogue would ever reach the session.
    #[error("no model of the catalogue names the provider {name}; add one or correct the name")]
    UnusedProvider {
        /// The name.
        name: String,
    },
    /// A fallback that is not known, or that leads back to its model.
    #[error(transparent)]
    Fallbacks(CatalogueError),
    /// The turns that dead owners left open could not be settled.
    #[error("the open turns of an earlier process could not be settled: {0}")]
    Recovery(#[source] PortFailure),
}

impl RouterBuilder {
    /// The models. Those whose provider has no session are known, but cannot be resolved.
    #[must_use]
    pub fn catalogue(self, catalogue: Catalogue) -> Self {
        Self { catalogue, ..self }
    }

    /// The session that serves the models of a provider: a raw adapter, no router's session.
    #[must_use]
    pub fn provider(mut self, name: impl Into<String>, session: Arc<dyn ModelSession>) -> Self {
        self.sessions.push((name.into(), session));
        self
    }

    /// Models that may serve in the place of `model`, in this order, instead of those that the
    /// catalogue names.
    #[must_use]
    pub fn fallbacks(
        mut self,
        model: impl Into<String>,
        fallbacks: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.fallbacks.push((model.into(), fallbacks.into_iter().map(Into::into).collect()));
        self
    }

    /// When a failed call is sent again, or elsewhere. Default: [`RetryPolicy::default`].
    #[must_use]
    pub fn policy(self, policy: RetryPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Who is told of calls that are sent again or go elsewhere, while they are on their way.
    #[must_use]
    pub fn observer(self, observer: impl CallObserver + 'static) -> Self {
        Self { observer: Some(Arc::new(observer)), ..self }
    }

    /// Where receipts are kept. Without a store they are only handed to the host of each turn.
    #[must_use]
    pub fn receipts(self, store: Arc<dyn ReceiptStore>) -> Self {
        Self { receipts: Some(store), ..self }
    }

    /// The text that begins every fresh thread, as the system's.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        Self { instructions: Some(instructions.into()), ..self }
    }

    /// Checks the parts, settles what dead owners left open, and gives the router.
    ///
    /// # Errors
    /// [`RouterError`], which says what to change.
    pub async fn start(self) -> Result<Router, RouterError> {
        let providers = fitting(&self.catalogue, self.sessions)?;
        let catalogue =
            self.fallbacks.into_iter().try_fold(self.catalogue, |catalogue, (model, fallbacks)| {
                catalogue.with_fallbacks(&model, fallbacks)
            });
        let catalogue = catalogue.map_err(RouterError::Fallbacks)?;
        let router = Router::over(Routes::Listed { catalogue, providers });
        let mut router = router.with_policy(self.policy).with_observer(self.observer);
        if let Some(store) = self.receipts {
            router = router.with_receipts(store);
        }
        if let Some(instructions) = self.instructions {
            router = router.with_instructions(instructions);
        }
        router.recover().await.map_err(RouterError::Recovery)?;
        Ok(router)
    }
}

impl fmt::Debug for RouterBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let providers: Vec<_> = self.sessions.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("RouterBuilder")
            .field("providers", &providers)
            .finish_non_exhaustive()
    }
}

fn fitting(
    catalogue: &Catalogue,
    sessions: Vec<(String, Arc<dyn ModelSession>)>,
) -> Result<BTreeMap<String, Provider>, RouterError> {
    let mut by_name = BTreeMap::new();
    for (name, session) in sessions {
        if !catalogue.models().iter().any(|model| model.provider == name) {
            return Err(RouterError::UnusedProvider { name });
        }
        if by_name.insert(name.clone(), Provider::new(session)).is_some() {
            return Err(RouterError::DuplicateProvider { name });
        }
    }
    if by_name.is_empty() { Err(RouterError::NoProvider) } else { Ok(by_name) }
}
