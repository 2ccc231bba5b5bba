//! Decides how a model server is examined: who is asked, what is told, and what is kept.
//!
//! Knows the order of things. Refuses to know what is tried and how it is judged.

mod ask;
mod finding;
mod patient;
mod place;
mod probes;
mod report;
mod seen;
mod speaking;
mod written;

use std::{sync::Arc, time::Duration};

use anyhow::anyhow;
use runtime_ports::{PortFailure, PortFailureKind};
use serde_json::Value;

use self::{finding::Verdict, patient::Patient, seen::Seen, written::Kept};
use crate::{
    arguments::{DoctorArguments, EXAMINATION},
    bench::root_operation,
    diagnosis::Diagnosis,
    endpoint::{VENDORS, Vendor},
    exit::Exit,
    interrupt,
    places::Places,
    safe_text::safe_line,
    screen::Screen,
    show::{self, Manner},
};

/// Longest examination.
const LIMIT: Duration = Duration::from_secs(10 * 60);
/// How many models of a server an error names.
const MODELS_SHOWN: usize = 12;

/// `agent doctor`.
pub(crate) async fn doctor(arguments: DoctorArguments) -> Exit {
    let screen = Arc::new(Screen::of_process());
    let show = show::form(arguments.json, &screen, Manner::Task);
    let operation = root_operation(LIMIT);
    interrupt::watch(operation.cancellation.clone(), show, Arc::clone(&screen));
    match examined(&arguments, &screen, operation.clone()).await {
        Ok(exit) => exit,
        Err(_) if operation.cancellation.is_cancelled() => Exit::Cancelled,
        Err(diagnosis) => {
            let message = safe_line(&diagnosis.message, 600);
            screen.line(&format!("agent: {message} ({})", diagnosis.code));
            if let Some(hint) = &diagnosis.hint {
                screen.line(&format!("       {hint}"));
            }
            diagnosis.exit
        }
    }
}

async fn examined(
    arguments: &DoctorArguments,
    screen: &Screen,
    operation: runtime_ports::OperationContext,
) -> Result<Exit, Diagnosis> {
    let wrong = |error: anyhow::Error| Diagnosis::configuration(&error);
    let file = Places::find().map_err(wrong)?.configuration_file();
    let place = place::find(arguments, &file).map_err(wrong)?;
    let kept = arguments.profile_out.as_deref().map(Kept::new).transpose().map_err(wrong)?;
    let (named, is_told) = (place.model.clone(), place.is_told);
    let mut patient = Patient::new(place, operation).map_err(|error| wrong(error.into()))?;
    screen.line(&format!(
        "examining {}: {EXAMINATION}, at most 10 minutes; Ctrl-C stops it",
        shown_address(&patient)
    ));
    if let Some(most) = arguments.window_up_to {
        screen.line(&probes::cost_of_window(most));
    }
    find_model(&mut patient, named).await?;
    if !is_told {
        speaking::listen(&mut patient).await.map_err(|error| wrong(error.into()))?;
        screen.line(&format!("  {}", speaking::text(&patient)));
    }
    let told = |part: &str| screen.line(&format!("  {part}"));
    probes::examine(&mut patient, arguments.window_up_to, &told).await;
    let exit = exit_of(&patient);
    let text = match arguments.json {
        true => report::json_lines(&patient, exit.code()),
        false => report::text(&patient, &fitness(&patient), screen.columns_out()),
    };
    screen.lines_out(text.as_bytes());
    if let Some(failure) = &patient.over {
        let diagnosis = advised(&patient, failure);
        screen.line(&format!("agent: {}", safe_line(&diagnosis.message, 600)));
        diagnosis.hint.iter().for_each(|hint| screen.line(&format!("       {hint}")));
    }
    if let Some(kept) = kept.filter(|_| patient.over.is_none()) {
        screen.line(&kept.write(&mut patient).map_err(wrong)?);
    }
    Ok(exit)
}

fn shown_address(patient: &Patient) -> String {
    let address = patient.endpoint.base_url.split('?').next().unwrap_or_default();
    safe_line(address, 200)
}

/// The model that is named, or the only one that the server lists.
async fn find_model(patient: &mut Patient, named: Option<String>) -> Result<(), Diagnosis> {
    let seen = patient.models().await;
    let names = names(&seen);
    let is_page = |failure: &PortFailure| failure.code == "NOT_AN_API";
    let says_no = |failure: &&PortFailure| {
        // A server that is not there need not be asked for an answer, nor one that is none.
        let is_nobody = seen.status == 0 || is_page(failure);
        is_nobody || (named.is_none() && seen.trouble().is_some())
    };
    if let Some(failure) = seen.read.as_ref().err().filter(says_no) {
        return Err(advised(patient, failure));
    }
    let came = match (names.len(), seen.status) {
        (0, 200..300) => "none".to_owned(),
        (0, status) => format!("http {status}"),
        (count, _) => format!("{count}"),
    };
    let model = match (named, &names[..]) {
        (Some(named), _) => named,
        (None, [only]) => only.clone(),
        (None, several) => {
            let absent = version(patient).filter(|_| seen.status == 404);
            let hint = absent.unwrap_or_else(|| "name one with --model".to_owned());
            return Err(name_one(several).with_hint(&hint));
        }
    };
    context(patient, &seen, &model);
    let is_listed = names.contains(&model);
    let (verdict, came) = match (names.is_empty(), is_listed) {
        (true, _) => (Verdict::Handled, format!("{came}; --model names one")),
        (false, true) => (Verdict::Works, format!("{came}, {model} among them")),
        (false, false) => (Verdict::Handled, format!("{came}, {model} not among them")),
    };
    patient.model = model;
    patient.find(probes::MODELS, verdict, came);
    Ok(())
}

/// A failure with what to do about it here, where there is no run and no receipt.
fn advised(patient: &Patient, failure: &PortFailure) -> Diagnosis {
    let diagnosis = Diagnosis::port(failure);
    let hint = match failure.kind {
        _ if failure.code == "NOT_AN_API" => version(patient),
        PortFailureKind::NotFound => version(patient),
        PortFailureKind::Forbidden => Some(set_up(patient)),
        PortFailureKind::Unavailable => {
            Some("check the address; if it is right, try again".to_owned())
        }
        // The message says it.
        _ if failure.code == "REDIRECT_REFUSED" => None,
        _ => return diagnosis,
    };
    Diagnosis { hint, ..diagnosis }
}

/// How a key and its address are set up, in the variables of the API.
fn set_up(patient: &Patient) -> String {
    let (address, key) = vendor(patient)
        .map_or(("OPENAI_BASE_URL", "OPENAI_API_KEY"), |it| (it.address, it.keys[0]));
    format!(
        "a key goes only to the address that it is set up with: set {address} with {key}, or \
         base_url with api_key_env in the configuration file"
    )
}

/// Whose API is spoken; `None` for that of the first provider.
fn vendor(patient: &Patient) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.api == patient.api)
}

/// An address without a version is the most usual mistake.
fn version(patient: &Patient) -> Option<String> {
    let address = shown_address(patient);
    let path = address.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    let is_bare = path.is_none_or(|(_, path)| path.trim_matches('/').is_empty());
    let address = address.trim_end_matches('/');
    let version = vendor(patient).map_or("/v1", |vendor| vendor.version);
    is_bare.then(|| format!("most servers have a version in their address: try {address}{version}"))
}

fn name_one(names: &[String]) -> Diagnosis {
    let shown: Vec<&str> = names.iter().take(MODELS_SHOWN).map(String::as_str).collect();
    let found = match names.len() {
        0 => "the server lists no model".to_owned(),
        count => format!("the server has {count} models: {}", shown.join(", ")),
    };
    Diagnosis::configuration(&anyhow!(found))
}

fn entries(seen: &Seen) -> Vec<&Value> {
    let lists = ["/data", "/models"].into_iter().filter_map(|place| seen.all(place).next());
    let lists = lists.chain(seen.all("").filter(|whole| whole.is_array()));
    lists.filter_map(Value::as_array).next().map(|list| list.iter().collect()).unwrap_or_default()
}

fn name(entry: &Value) -> Option<&str> {
    if let Some(id) = entry["id"].as_str() {
        return Some(id);
    }
    let name = ["name", "model"].into_iter().find_map(|field| entry[field].as_str())?;
    // generateContent lists them with their collection.
    Some(name.strip_prefix("models/").unwrap_or(name))
}

fn names(seen: &Seen) -> Vec<String> {
    entries(seen).into_iter().filter_map(name).map(str::to_owned).collect()
}

/// Some servers tell how large the window is that they were set up with.
fn context(patient: &mut Patient, seen: &Seen, model: &str) {
    let entries = entries(seen);
    let Some(entry) = entries.into_iter().find(|entry| name(entry) == Some(model)) else { return };
    let fields = ["/meta/n_ctx", "/n_ctx", "/max_model_len", "/loaded_context_length"];
    let told = fields.into_iter().find_map(|field| entry.pointer(field)?.as_u64());
    if let Some(told) = told.filter(|&tokens| tokens > 0) {
        patient.profile.context_tokens = Some(told);
    }
}

fn exit_of(patient: &Patient) -> Exit {
    match &patient.over {
        Some(failure) => Diagnosis::port(failure).exit,
        None if patient.operation().cancellation.is_cancelled() => Exit::Cancelled,
        None if patient.findings.iter().any(finding::Finding::is_fatal) => Exit::Unfit,
        None if patient.operation().remaining().is_err() => Exit::BudgetUsedUp,
        None => Exit::Done,
    }
}

fn fitness(patient: &Patient) -> String {
    let fatal: Vec<&str> = patient
        .findings
        .iter()
        .filter(|finding| finding.is_fatal())
        .map(|finding| finding.probe.name)
        .collect();
    match (&patient.over, fatal.is_empty()) {
        (Some(_), _) => "no agent can work with this server as it is".to_owned(),
        (None, false) => format!("an agent needs what this lacks: {}", fatal.join(", ")),
        (None, true) => "an agent can work with this server and model".to_owned(),
    }
}
