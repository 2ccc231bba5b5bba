//! Decides which session serves a model that was asked for by name.
//!
//! Knows nothing about turns. Invariant: a name is resolved exactly or refused; nothing is guessed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use runtime_ports::{
    AgentProvider, Interruption, ModelProfile, ModelSession, OperationContext, PortFailure,
    PortFailureKind, ResolvedAgentModel,
};
use runtime_types::{ExecutionId, OperationId};
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::{Catalogue, contained::contained, suggestion};

const PROFILE_PATIENCE: Duration = Duration::from_secs(30);

/// A model and who serves it.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) requested: String,
    pub(crate) provider: AgentProvider,
    pub(crate) provider_model: Arc<str>,
    pub(crate) profile: ModelProfile,
    pub(crate) session: Arc<dyn ModelSession>,
}

/// All models that can be asked for.
pub(crate) enum Routes {
    /// One session with one model.
    Single(Single),
    /// The models of a catalogue whose provider has a session.
    Listed { catalogue: Catalogue, sessions: BTreeMap<String, Arc<dyn ModelSession>> },
}

/// One session with one model; its profile is asked for once.
pub(crate) struct Single {
    pub(crate) provider: AgentProvider,
    pub(crate) model: Arc<str>,
    pub(crate) session: Arc<dyn ModelSession>,
    pub(crate) profile: OnceCell<ModelProfile>,
}

impl Routes {
    /// The route of `requested`.
    ///
    /// # Errors
    /// `NotFound` with the nearest known names; whatever the session says about its profile.
    pub(crate) async fn find(&self, requested: &str) -> Result<Route, PortFailure> {
        match self {
            Self::Single(single) => single.find(requested).await,
            Self::Listed { catalogue, sessions } => listed(catalogue, sessions, requested),
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
        Ok(Route {
            requested: requested.to_owned(),
            provider: self.provider.clone(),
            provider_model: Arc::clone(&self.model),
            profile: profile.clone(),
            session: Arc::clone(&self.session),
        })
    }

    async fn ask_profile(&self) -> Result<ModelProfile, PortFailure> {
        let frame = frame();
        let question = contained(async { self.session.profile(&frame, &self.model).await });
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
    sessions: &BTreeMap<String, Arc<dyn ModelSession>>,
    requested: &str,
) -> Result<Route, PortFailure> {
    let served = |provider: &str| sessions.get(provider);
    let Some(model) = catalogue.find(requested) else {
        let known = catalogue.names_where(|model| served(&model.provider).is_some());
        return Err(suggestion::unknown_model(requested, known));
    };
    let session = served(&model.provider).ok_or_else(|| without_session(&model.provider))?;
    Ok(Route {
        requested: requested.to_owned(),
        provider: AgentProvider::new(&*model.provider),
        provider_model: model.provider_model.as_str().into(),
        profile: model.profile(),
        session: Arc::clone(session),
    })
}

fn without_session(provider: &str) -> PortFailure {
    let message =
        format!("the catalogue has this model, but its provider {provider} is not set up");
    PortFailure::not_sent(PortFailureKind::NotFound, "provider_not_set_up", message)
}

impl Route {
    /// The route as callers see it.
    pub(crate) fn resolved(&self) -> ResolvedAgentModel {
        ResolvedAgentModel {
            requested_model: self.requested.clone(),
            provider_model: self.provider_model.to_string(),
            provider: self.provider.clone(),
            context_window_tokens: self.profile.context_window_tokens,
            max_input_tokens: self.profile.max_input_tokens,
        }
    }
}
