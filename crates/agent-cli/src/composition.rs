//! Decides which adapters serve a run, and puts them together.
//!
//! Knows every adapter. Refuses to know what the run is about.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use file_adapter::{FileArtifactStore, FileContextAudit, FileReceiptStore, FileResources};
use model_wire::Tape;
use offline_adapter::{OFFLINE_MODEL, OfflineModel};
use router_adapter::{CallObserver, Catalogue, CatalogueModel, Pauses, RetryPolicy, Router};
use runtime_ports::{
    ArtifactStore, ContextAuditSession, InteractionSession, ModelSession, OperationContext,
    PortFailure, ReceiptStore, ToolWorld,
};
use uuid::Uuid;
use workspace_adapter::FolderWorkspace;

use crate::{
    configuration::{Fallback, ModelChoice},
    diagnosis::Diagnosis,
    endpoint::Endpoint,
    places::{self, Places},
    server::Server,
    tally::Tally,
};

/// The receipts of the user, and a count of those of this process.
pub(crate) type Receipts = Tally<FileReceiptStore>;

/// What a model is taken to hold when the catalogue does not know it.
const ASSUMED_WINDOW_TOKENS: u64 = 128_000;

/// How many models of a server an error names.
const MODELS_SHOWN: usize = 12;

const OFFLINE_PROVIDER: &str = "offline";

/// The model that was found, behind a router.
pub(crate) struct Served {
    pub(crate) router: Router,
    pub(crate) model: String,
    pub(crate) provider: String,
    pub(crate) is_offline: bool,
    /// Who may serve in its place, for people.
    pub(crate) fallbacks: Vec<String>,
    /// The first of these whose price is not known, where that of the model is.
    unpriced: Option<String>,
}

impl Served {
    /// The same, when its cost can be limited, if it is to be.
    ///
    /// # Errors
    /// A fallback has no known price, so that nobody can say what a request may cost.
    pub(crate) fn within(self, cost_nano_usd: Option<u64>) -> Result<Self, Diagnosis> {
        let Some(unpriced) = self.unpriced.as_ref().filter(|_| cost_nano_usd.is_some()) else {
            return Ok(self);
        };
        let hint = "leave it out, or limit the tokens with --budget-tokens instead";
        let error = anyhow::anyhow!("the cost is limited and nobody knows the price of {unpriced}");
        let code = "budget_unpriced_model".to_owned();
        Err(Diagnosis { code, ..Diagnosis::configuration(&error).with_hint(hint) })
    }
}

/// A session, and the provider that it speaks to.
type NamedSession = (String, Arc<dyn ModelSession>);

/// A model behind a server.
struct Placed {
    endpoint: Endpoint,
    entry: CatalogueModel,
}

/// Builds the router for a choice. Who watches is told of calls that take a detour.
pub(crate) async fn serve(
    choice: ModelChoice,
    tape: &Tape,
    receipts: Arc<dyn ReceiptStore>,
    observer: impl CallObserver + 'static,
    operation: &OperationContext,
) -> Result<Served, Diagnosis> {
    let wrong = |error: anyhow::Error| Diagnosis::configuration(&error);
    let (entries, sessions, is_offline) = match choice {
        ModelChoice::Offline => {
            let session: Arc<dyn ModelSession> = Arc::new(OfflineModel::new());
            let entry = plain_entry(OFFLINE_MODEL, OFFLINE_PROVIDER);
            (vec![entry], vec![(OFFLINE_PROVIDER.to_owned(), session)], true)
        }
        ModelChoice::Remote { endpoint, model, fallbacks } => {
            let placed = placed(endpoint, model, fallbacks, tape, operation).await?;
            let sessions = sessions(&placed, tape)?;
            (placed.into_iter().map(|placed| placed.entry).collect(), sessions, false)
        }
    };
    let (model, provider) = (entries[0].id.clone(), entries[0].provider.clone());
    let shown = |entry: &CatalogueModel| format!("{} at {}", entry.id, entry.provider);
    let fallbacks = entries[1..].iter().map(shown).collect();
    let unpriced = entries[1..].iter().find(|entry| entry.price.is_none());
    let unpriced = unpriced.filter(|_| entries[0].price.is_some()).map(shown);
    let catalogue = Catalogue::of(entries).context("the model cannot be served").map_err(wrong)?;
    let builder = Router::builder().catalogue(catalogue).receipts(receipts).observer(observer);
    let builder = builder.policy(policy(tape));
    let builder =
        sessions.into_iter().fold(builder, |all, (name, session)| all.provider(name, session));
    let router = builder.start().await.map_err(|error| wrong(error.into()))?;
    Ok(Served { router, model, provider, is_offline, fallbacks, unpriced })
}

/// A recording is not waited for.
fn policy(tape: &Tape) -> RetryPolicy {
    let pauses = match tape {
        Tape::Replay(_) => Pauses::Skipped,
        Tape::None | Tape::Record(_) => Pauses::SatOut,
    };
    RetryPolicy { pauses, ..RetryPolicy::default() }
}

/// The model that was chosen and its fallbacks, each once, as the catalogue has them.
async fn placed(
    endpoint: Endpoint,
    model: Option<String>,
    fallbacks: Vec<Fallback>,
    tape: &Tape,
    operation: &OperationContext,
) -> Result<Vec<Placed>, Diagnosis> {
    let model = match model {
        Some(model) => model,
        None => only_model(&Server::at(&endpoint, &[], tape)?, operation).await?,
    };
    let first = Placed { entry: entry_for(&endpoint, &model), endpoint };
    let mut all = vec![first];
    for Fallback { endpoint, model } in fallbacks {
        let endpoint = told_apart(endpoint, &all);
        let entry = entry_for(&endpoint, &model);
        let is_known = |known: &Placed| {
            known.endpoint.is_same(&endpoint) && known.entry.provider_model == entry.provider_model
        };
        if all.iter().any(is_known) {
            continue;
        }
        // Two servers may have models of one name.
        let is_taken = all.iter().any(|known| known.entry.id == entry.id);
        let id = if is_taken { format!("{}/{}", entry.provider, entry.id) } else { entry.id };
        all[0].entry.fallbacks.push(id.clone());
        all.push(Placed { endpoint, entry: CatalogueModel { id, ..entry } });
    }
    Ok(all)
}

/// A host may speak several APIs: the one that comes later is called by its API, too.
fn told_apart(endpoint: Endpoint, known: &[Placed]) -> Endpoint {
    let provider = endpoint.provider();
    let is_other = |known: &Placed| {
        known.endpoint.provider() == provider && !known.endpoint.is_same(&endpoint)
    };
    if !known.iter().any(is_other) {
        return endpoint;
    }
    let name = format!("{provider}/{}", endpoint.api.word());
    Endpoint { name: Some(name), ..endpoint }
}

/// One session for each server.
fn sessions(placed: &[Placed], tape: &Tape) -> Result<Vec<NamedSession>, Diagnosis> {
    let mut servers: Vec<&Endpoint> = Vec::new();
    for Placed { endpoint, .. } in placed {
        if !servers.iter().any(|known| known.is_same(endpoint)) {
            servers.push(endpoint);
        }
    }
    let session = |endpoint: &Endpoint| {
        let here = placed.iter().filter(|placed| placed.endpoint.is_same(endpoint));
        let known =
            here.map(|placed| (placed.entry.provider_model.clone(), placed.entry.profile()));
        let server = Server::at(endpoint, &known.collect::<Vec<_>>(), tape)?;
        Ok((endpoint.provider(), server.session()))
    };
    servers.into_iter().map(session).collect()
}

/// Opens the receipts, which every run needs: nothing is sent that could not be accounted for.
pub(crate) fn receipts(folder: PathBuf) -> Result<Arc<Receipts>, Diagnosis> {
    let store = FileReceiptStore::open(&folder)
        .with_context(|| format!("receipts cannot be kept in {}", folder.display()));
    let hint = "make the folder writable, or set XDG_STATE_HOME to one that is";
    store.map(Tally::over).map_err(|error| Diagnosis::configuration(&error).with_hint(hint))
}

/// Opens the record of what models are given in a session: nothing is sent that it does not have.
pub(crate) fn audit(
    places: &Places,
    session_id: Uuid,
) -> Result<Arc<dyn ContextAuditSession>, Diagnosis> {
    let folder = places.audit(session_id);
    let store = FileContextAudit::open(&folder)
        .with_context(|| format!("audits cannot be kept in {}", folder.display()));
    let hint = "make the folder writable, or set XDG_STATE_HOME to one that is";
    let store = store.map_err(|error| Diagnosis::configuration(&error).with_hint(hint))?;
    Ok(Arc::new(store))
}

/// The one model of a server that has only one.
async fn only_model(server: &Server, operation: &OperationContext) -> Result<String, Diagnosis> {
    let models =
        server.list_models(operation).await.map_err(|failure| Diagnosis::port(&failure))?;
    match &models[..] {
        [model] => Ok(model.clone()),
        [] => Err(name_one("the server lists no model".to_owned())),
        several => {
            let mut shown: Vec<_> = several.iter().take(MODELS_SHOWN).map(String::as_str).collect();
            if several.len() > MODELS_SHOWN {
                shown.push("…");
            }
            Err(name_one(format!("the server has {} models: {}", several.len(), shown.join(", "))))
        }
    }
}

fn name_one(found: String) -> Diagnosis {
    let diagnosis = Diagnosis::configuration(&anyhow::Error::msg(found));
    diagnosis.with_hint("name one with --model or AGENT_MODEL")
}

fn plain_entry(model: &str, provider: &str) -> CatalogueModel {
    CatalogueModel {
        id: model.to_owned(),
        provider: provider.to_owned(),
        provider_model: model.to_owned(),
        aliases: Vec::new(),
        context_window_tokens: ASSUMED_WINDOW_TOKENS,
        max_input_tokens: ASSUMED_WINDOW_TOKENS,
        max_output_tokens: None,
        images: false,
        price: None,
        fallbacks: Vec::new(),
    }
}

/// What the shipped catalogue says about a model of a public endpoint. Another server may charge
/// something else for a model of the same name, so its price is unknown.
fn entry_for(endpoint: &Endpoint, model: &str) -> CatalogueModel {
    let (shipped, provider) = (Catalogue::shipped(), endpoint.provider());
    let known = shipped.find(model);
    match known.filter(|known| endpoint.catalogue_provider() == Some(&*known.provider)) {
        Some(known) => CatalogueModel {
            id: model.to_owned(),
            provider,
            aliases: Vec::new(),
            fallbacks: Vec::new(),
            ..known.clone()
        },
        None => plain_entry(model, &provider),
    }
}

/// What tools may use: the folder, the person, the user's own files.
pub(crate) fn world(
    folder: &Path,
    places: &Places,
    interaction: Arc<dyn InteractionSession>,
) -> Result<ToolWorld, Diagnosis> {
    let artifacts: Arc<dyn ArtifactStore> = Arc::new(FileArtifactStore::new(places.artifacts()));
    Ok(ToolWorld {
        workspace: Arc::new(
            workspace(folder, places)?.keeping_partial_output(Arc::clone(&artifacts)),
        ),
        interaction,
        resources: Arc::new(FileResources::new(places.configuration())),
        artifacts,
    })
}

/// The folder, without the command's own files, should they lie inside: an agent must not write
/// its own settings, or what its runs have cost.
fn workspace(folder: &Path, places: &Places) -> Result<FolderWorkspace, Diagnosis> {
    let failed = |failure: PortFailure| {
        let error = anyhow::Error::new(failure).context(folder.display().to_string());
        Diagnosis::configuration(&error).with_hint("name an existing folder with --folder")
    };
    let mut workspace = FolderWorkspace::open(folder).map_err(failed)?;
    for own in places.own_folders() {
        if places::is_within(workspace.location(), &own) {
            let error = anyhow::anyhow!("{} belongs to this command", own.display());
            let hint = "name another folder with --folder";
            return Err(Diagnosis::configuration(&error).with_hint(hint));
        }
        if places::is_within(&own, workspace.location()) {
            places::make(&own).map_err(|error| Diagnosis::configuration(&error))?;
            workspace = workspace.keeping_out(&own).map_err(failed)?;
        }
    }
    Ok(workspace)
}
