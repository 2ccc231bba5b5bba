//! Decides which adapters serve a run, and puts them together.
//!
//! Knows every adapter. Refuses to know what the run is about.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use file_adapter::{FileArtifactStore, FileContextAudit, FileReceiptStore, FileResources};
use offline_adapter::{OFFLINE_MODEL, OfflineModel};
use openai_adapter::OpenAiSession;
use router_adapter::{Catalogue, CatalogueModel, Router};
use runtime_ports::{
    ArtifactStore, ContextAuditSession, InteractionSession, ModelSession, OperationContext,
    PortFailure, ReceiptStore, ToolWorld,
};
use uuid::Uuid;
use workspace_adapter::FolderWorkspace;

use crate::{
    configuration::ModelChoice,
    diagnosis::Diagnosis,
    endpoint::{Api, Endpoint, PUBLIC_BASE_URL},
    places::{self, Places},
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
}

/// Builds the router for a choice.
pub(crate) async fn serve(
    choice: ModelChoice,
    receipts: Arc<dyn ReceiptStore>,
    operation: &OperationContext,
) -> Result<Served, Diagnosis> {
    let (session, entry, is_offline) = match choice {
        ModelChoice::Offline => {
            let session: Arc<dyn ModelSession> = Arc::new(OfflineModel::new());
            (session, plain_entry(OFFLINE_MODEL, OFFLINE_PROVIDER), true)
        }
        ModelChoice::Remote { endpoint, model } => {
            let (session, model) = connect(&endpoint, model, operation).await?;
            (session, entry_for(&endpoint, &model), false)
        }
    };
    let (model, provider) = (entry.id.clone(), entry.provider.clone());
    let catalogue = Catalogue::of(vec![entry]).context("the model cannot be served");
    let catalogue = catalogue.map_err(|error| Diagnosis::configuration(&error))?;
    let router = Router::builder()
        .catalogue(catalogue)
        .provider(provider.clone(), session)
        .receipts(receipts)
        .start()
        .await
        .map_err(|error| Diagnosis::configuration(&anyhow::Error::new(error)))?;
    Ok(Served { router, model, provider, is_offline })
}

/// Opens the receipts, which every run needs: nothing is sent that could not be accounted for.
pub(crate) fn receipts(places: &Places) -> Result<Arc<Receipts>, Diagnosis> {
    let folder = places.receipts();
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

/// What a session is built from.
const CHECK_ENDPOINT: &str = "check OPENAI_BASE_URL and OPENAI_API_KEY, or base_url and \
                              api_key_env in the configuration file";

async fn connect(
    endpoint: &Endpoint,
    model: Option<String>,
    operation: &OperationContext,
) -> Result<(Arc<dyn ModelSession>, String), Diagnosis> {
    let mut builder = OpenAiSession::builder(&endpoint.base_url).api(match endpoint.api {
        Api::Chat => openai_adapter::Api::Chat,
        Api::Responses => openai_adapter::Api::Responses,
    });
    if let Some(key) = &endpoint.key {
        builder = builder.credential(key.clone());
    }
    let session = builder.build();
    let session = session
        .map_err(|error| Diagnosis::configuration(&error.into()).with_hint(CHECK_ENDPOINT))?;
    let model = match model {
        Some(model) => model,
        None => only_model(&session, operation).await?,
    };
    Ok((Arc::new(session), model))
}

/// The one model of a server that has only one.
async fn only_model(
    session: &OpenAiSession,
    operation: &OperationContext,
) -> Result<String, Diagnosis> {
    let models =
        session.list_models(operation).await.map_err(|failure| Diagnosis::port(&failure))?;
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

/// What the shipped catalogue says about a model of the public endpoint. Another server may charge
/// something else for a model of the same name, so its price is unknown.
fn entry_for(endpoint: &Endpoint, model: &str) -> CatalogueModel {
    let shipped = Catalogue::shipped();
    let known = shipped.find(model).filter(|_| endpoint.base_url == PUBLIC_BASE_URL);
    match known {
        Some(known) => {
            let (id, provider) = (model.to_owned(), endpoint.provider());
            CatalogueModel {
                id,
                provider,
                aliases: Vec::new(),
                fallbacks: Vec::new(),
                ..known.clone()
            }
        }
        None => plain_entry(model, &endpoint.provider()),
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
