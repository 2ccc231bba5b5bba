//! Decides how the models that can be used are listed for a person or a program.
//!
//! Knows the catalogue and the servers of the user. Refuses to send a request for an answer. Invariant:
//! a model without a known price is called unpriced, and what nobody said is unknown.

mod row;

use std::{path::PathBuf, time::Duration};

use model_wire::Tape;
use offline_adapter::OFFLINE_MODEL;
use router_adapter::{Catalogue, CatalogueModel};
use runtime_ports::OperationContext;
use tokio::task::JoinSet;

use self::row::{Key, Row};
use crate::{
    arguments::ModelsArguments,
    bench::root_operation,
    configuration::ConfigurationFile,
    diagnosis::Diagnosis,
    endpoint::{Endpoint, VENDORS},
    exit::Exit,
    places::Places,
    safe_text::safe_line,
    screen::{Screen, print_err},
    server::Server,
    servers::Servers,
};

/// How long one server may take to list its models.
const PATIENCE: Duration = Duration::from_secs(10);

/// `agent models`.
pub(crate) async fn models(arguments: ModelsArguments) -> Exit {
    let file = Places::find().and_then(|places| file_of(&places));
    let file = match file {
        Ok(file) => file,
        Err(error) => return failed("", &Diagnosis::configuration(&error)),
    };
    let environment = |name: &str| std::env::var(name).ok();
    let variable = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
    let servers = Servers::of(&variable, &file);
    let operation = root_operation(PATIENCE);
    let listing = match &arguments.base_url {
        Some(address) => one(&servers.at(address), &operation).await,
        None => all(&servers, &operation).await,
    };
    let text = match arguments.json {
        true => row::json_lines(&listing.rows),
        false => row::table(&listing.rows),
    };
    Screen::of_process().lines_out(text.as_bytes());
    listing.exit
}

/// What was found, and whether all of it was.
struct Listing {
    rows: Vec<Row>,
    exit: Exit,
}

fn file_of(places: &Places) -> anyhow::Result<ConfigurationFile> {
    let path: PathBuf = places.configuration_file();
    ConfigurationFile::read(&path)
}

async fn one(endpoint: &Endpoint, operation: &OperationContext) -> Listing {
    listed(endpoint, of_server(endpoint, operation).await)
}

fn listed(endpoint: &Endpoint, found: Result<Vec<Row>, Diagnosis>) -> Listing {
    match found {
        Ok(rows) => Listing { rows, exit: Exit::Done },
        Err(diagnosis) => {
            Listing { rows: Vec::new(), exit: failed(&endpoint.provider(), &diagnosis) }
        }
    }
}

/// The embedded model, those of the catalogue, and those that the user's own servers list: all are
/// asked at once, so that a slow one takes no time of another.
async fn all(servers: &Servers<'_>, operation: &OperationContext) -> Listing {
    let (endpoints, catalogue) = (servers.all(), Catalogue::shipped());
    let mut rows = vec![Row::offline(OFFLINE_MODEL)];
    rows.extend(catalogue.models().iter().map(|model| of_catalogue(model, &endpoints)));
    let mut listing = Listing { rows, exit: Exit::Done };
    let own = endpoints.iter().filter(|endpoint| endpoint.catalogue_provider().is_none());
    let mut asked = JoinSet::new();
    for (place, endpoint) in own.cloned().enumerate() {
        let operation = operation.clone();
        asked.spawn(async move {
            let found = of_server(&endpoint, &operation).await;
            (place, endpoint, found)
        });
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(place, ..)| *place);
    for (_, endpoint, found) in answers {
        let found = listed(&endpoint, found);
        listing.rows.extend(found.rows);
        if found.exit != Exit::Done {
            listing.exit = found.exit;
        }
    }
    listing
}

fn of_catalogue(model: &CatalogueModel, endpoints: &[Endpoint]) -> Row {
    let mut public = endpoints.iter();
    let public = public.find(|it| it.catalogue_provider() == Some(&*model.provider));
    let vendor = VENDORS.iter().find(|vendor| vendor.name == model.provider);
    let variable = vendor.map_or("OPENAI_API_KEY", |vendor| vendor.keys[0]);
    let key = match public.and_then(|endpoint| endpoint.key.as_ref()) {
        Some(_) => Key::There,
        None => Key::Missing(variable),
    };
    let provider = public.map_or_else(|| model.provider.clone(), Endpoint::provider);
    Row {
        model: model.id.clone(),
        provider,
        provider_model: model.provider_model.clone(),
        profile: Some(model.profile()),
        key,
    }
}

async fn of_server(
    endpoint: &Endpoint,
    operation: &OperationContext,
) -> Result<Vec<Row>, Diagnosis> {
    let server = Server::at(endpoint, &[], &Tape::None)?;
    let operation = operation.clone().within(PATIENCE);
    let models = server.list_models(&operation).await;
    let models = models.map_err(|failure| Diagnosis::port(&failure))?;
    let row = |model: String| Row {
        // A server of the file is named before the slash.
        model: endpoint.name.as_ref().map_or_else(|| model.clone(), |it| format!("{it}/{model}")),
        provider: endpoint.provider(),
        provider_model: model,
        profile: None,
        key: if endpoint.key.is_some() { Key::There } else { Key::Unneeded },
    };
    Ok(models.into_iter().map(row).collect())
}

fn failed(provider: &str, diagnosis: &Diagnosis) -> Exit {
    let place = if provider.is_empty() { String::new() } else { format!("{provider}: ") };
    let (message, code) = (&diagnosis.message, &diagnosis.code);
    print_err(&format!("agent: {} ({})\n", safe_line(&format!("{place}{message}"), 600), code));
    if let Some(hint) = &diagnosis.hint {
        print_err(&format!("       {hint}\n"));
    }
    diagnosis.exit
}
