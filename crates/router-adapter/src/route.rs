//! Decides which session serves a model that was asked for by name, and which may in its place.
//!
//! Knows nothing about turns. Invariant: a name is resolved exactly or refused; nothing is guessed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use runtime_ports::{
    AgentProvider, Interruption, ModelProfile, ModelSession, OperationContext, PortFailure,
    PortFailureKind, Price, ResolvedAgentModel,
};
use runtime_types::{ExecutionId, OperationId};
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::{
    Catalogue, CatalogueModel,
    candidate::{Candidate, Gate},
    contained::contained,
    suggestion,
};

const PROFILE_PATIENCE: Duration = Duration::from_secs(30);

/// A model that was asked for, who serves it, and who may serve in its place.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) requested: String,
    primary: Candidate,
    fallbacks: Vec<Candidate>,
}

/// A session and what is known of the endpoint behind it.
#[derive(Clone)]
pub(crate) struct Provider {
    session: Arc<dyn ModelSession>,
    gate: Gate,
}

/// All models that can be asked for.
pub(crate) enum Routes {
    /// One session with one model.
    Single(Single),
    /// The models of a catalogue whose provider has a session.
    Listed { catalogue: Catalogue, providers: BTreeMap<String, Provider> },
}

/// One session with one model; its profile is asked for once.
pub(crate) struct Single {
    pub(crate) provider: AgentProvider,
    pub(crate) model: Arc<str>,
    pub(crate) profile: OnceCell<ModelProfile>,
    pub(crate) behind: Provider,
}

impl Provider {
    /// A provider of which nothing is known yet.
    pub(crate) fn new(session: Arc<dyn ModelSession>) -> Self {
        Self { session, gate: Gate::default() }
    }

    fn candidate(&self, model: &CatalogueModel) -> Candidate {
        Candidate {
            provider: AgentProvider::new(&*model.provider),
            provider_model: model.provider_model.as_str().into(),
            profile: model.profile(),
            session: Arc::clone(&self.session),
            gate: self.gate.clone(),
        }
    }
}

impl Routes {
    /// The route of `requested`.
    ///
    /// # Errors
    /// `NotFound` with the nearest known names; whatever the session says about its profile.
    pub(crate) async fn find(&self, requested: &str) -> Result<Route, PortFailure> {
        match self {
            Self::Single(single) => single.find(requested).await,
            Self::Listed { catalogue, providers } => listed(catalogue, providers, requested),
        }
    }
}

impl Single {
    async fn find(&self, requested: &str) -> Result<Route, PortFailure> {
        if requested != &*self.model {
            return Err(suggestion::unknown_model(requested, [&*self.model]));
        }
        // Who waits for another's question waits no longer than for one of its own.
        let asked = frame().bounded(self.profile.get_or_try_init(|| self.ask_profile())).await;
        let profile = asked.map_err(Interruption::before_sending).flatten()?;
        let primary = Candidate {
            provider: self.provider.clone(),
            provider_model: Arc::clone(&self.model),
            profile: profile.clone(),
            session: Arc::clone(&self.behind.session),
            gate: self.behind.gate.clone(),
        };
        Ok(Route::new(requested, primary))
    }

    async fn ask_profile(&self) -> Result<ModelProfile, PortFailure> {
        let frame = frame();
        let question = contained(async { self.behind.session.profile(&frame, &self.model).await });
        // A profile is a question without an effect.
        let asked = frame.bounded(question).await.map_err(Interruption::before_sending)?;
        asked.unwrap_or_else(|_| Err(panicked()))
    }
}

fn frame() -> OperationContext {
    let id = Uuid::new_v4();
    OperationContext::root(OperationId::from(id), ExecutionId::from(id), PROFILE_PATIENCE)
}

fn panicked() -> PortFailure {
    PortFailure::not_sent(
        PortFailureKind::Internal,
        "model_session_panicked",
        "the model session panicked, which is a fault of its adapter",
    )
}

fn listed(
    catalogue: &Catalogue,
    providers: &BTreeMap<String, Provider>,
    requested: &str,
) -> Result<Route, PortFailure> {
    let mut chain = catalogue.chain(requested).into_iter();
    let Some(model) = chain.next() else {
        let known = catalogue.names_where(|model| providers.contains_key(&model.provider));
        return Err(suggestion::unknown_model(requested, known));
    };
    let candidate = |model: &CatalogueModel| {
        providers.get(&model.provider).map(|provider| provider.candidate(model))
    };
    let primary = candidate(model).ok_or_else(|| without_session(&model.provider))?;
    let fallbacks = chain.filter_map(candidate).collect();
    Ok(Route { fallbacks, ..Route::new(requested, primary) })
}

fn without_session(provider: &str) -> PortFailure {
    let message =
        format!("the catalogue has this model, but its provider {provider} is not set up");
    PortFailure::not_sent(PortFailureKind::NotFound, "provider_not_set_up", message)
}

/// The dearer of both for each kind of token. A kind without a price of its own costs what `input`
/// does.
fn dearer(one: Price, other: Price) -> Price {
    let of_part = |own: fn(&Price) -> Option<u64>| {
        let is_priced = own(&one).is_some() || own(&other).is_some();
        let most = || own(&one).unwrap_or(one.input).max(own(&other).unwrap_or(other.input));
        is_priced.then(most)
    };
    Price {
        input: one.input.max(other.input),
        cached_input: of_part(|price| price.cached_input),
        cache_write: of_part(|price| price.cache_write),
        output: one.output.max(other.output),
    }
}

impl Route {
    /// A route without fallbacks.
    pub(crate) fn new(requested: &str, primary: Candidate) -> Self {
        Self { requested: requested.to_owned(), primary, fallbacks: Vec::new() }
    }

    /// Who serves the model that was asked for.
    pub(crate) const fn primary(&self) -> &Candidate {
        &self.primary
    }

    /// Who may be asked: the primary at 0, its fallbacks after it.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        std::iter::once(&self.primary).chain(&self.fallbacks)
    }

    /// What a call costs at most: the dearest of all who may be asked, kind by kind. `None` when the
    /// price of one of them is not known, since nobody can say then what a call may cost.
    pub(crate) fn dearest_price(&self) -> Option<Price> {
        let prices: Option<Vec<Price>> = self.candidates().map(|it| it.profile.price).collect();
        prices?.into_iter().reduce(dearer)
    }

    /// The route as callers see it.
    pub(crate) fn resolved(&self) -> ResolvedAgentModel {
        ResolvedAgentModel {
            requested_model: self.requested.clone(),
            provider_model: self.primary.provider_model.to_string(),
            provider: self.primary.provider.clone(),
            context_window_tokens: self.primary.profile.context_window_tokens,
            max_input_tokens: self.primary.profile.max_input_tokens,
        }
    }
}
