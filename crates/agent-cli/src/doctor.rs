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

use std::{fs::OpenOptions, io::Write, path::Path, sync::Arc, time::Duration};

use anyhow::{Context, anyhow};
use runtime_ports::PortFailure;
use serde_json::Value;

use self::{finding::Verdict, patient::Patient, seen::Seen};
use crate::{
    arguments::{DoctorArguments, EXAMINATION},
    bench::root_operation,
    diagnosis::Diagnosis,
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
    if let Some(path) = arguments.profile_out.as_deref().filter(|path| path.exists()) {
        return Err(wrong(exists(path)));
    }
    let named = place.model.clone();
    let mut patient = Patient::new(place, operation).map_err(|error| wrong(error.into()))?;
    screen.line(&format!(
        "examining {}: {EXAMINATION}, at most 10 minutes; Ctrl-C stops it",
        shown_address(&patient)
    ));
    find_model(&mut patient, named).await?;
    probes::examine(&mut patient, &|part| screen.line(&format!("  {part}"))).await;
    let exit = exit_of(&patient);
    let text = match arguments.json {
        true => report::json_lines(&patient, exit.code()),
        false => report::text(&patient, &fitness(&patient)),
    };
    screen.lines_out(text.as_bytes());
    if let Some(path) = arguments.profile_out.as_deref().filter(|_| patient.over.is_none()) {
        write_profile(path, &mut patient).map_err(wrong)?;
        let shown = path.display();
        screen.line(&format!(
            "{shown} holds the profile; name it as profile in the configuration file"
        ));
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
        return Err(Diagnosis::port(failure));
    }
    let came = match (names.len(), seen.status) {
        (0, 200..300) => "none".to_owned(),
        (0, status) => format!("http {status}"),
        (count, _) => format!("{count}"),
    };
    let model = match (named, &names[..]) {
        (Some(named), _) => named,
        (None, [only]) => only.clone(),
        (None, several) => return Err(name_one(several)),
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

fn name_one(names: &[String]) -> Diagnosis {
    let shown: Vec<&str> = names.iter().take(MODELS_SHOWN).map(String::as_str).collect();
    let found = match names.len() {
        0 => "the server lists no model".to_owned(),
        count => format!("the server has {count} models: {}", shown.join(", ")),
    };
    Diagnosis::configuration(&anyhow!(found)).with_hint("name one with --model")
}

fn entries(seen: &Seen) -> Vec<&Value> {
    let lists = ["/data", "/models"].into_iter().filter_map(|place| seen.all(place).next());
    let lists = lists.chain(seen.all("").filter(|whole| whole.is_array()));
    lists.filter_map(Value::as_array).next().map(|list| list.iter().collect()).unwrap_or_default()
}

fn name(entry: &Value) -> Option<&str> {
    ["id", "name", "model"].into_iter().find_map(|field| entry[field].as_str())
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

fn exists(path: &Path) -> anyhow::Error {
    anyhow!("{} exists already; name another file, or remove it", path.display())
}

fn write_profile(path: &Path, patient: &mut Patient) -> anyhow::Result<()> {
    patient.profile.name = format!("measured: {}", safe_line(&patient.model, 60));
    let context = || format!("the profile {} cannot be written", path.display());
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.with_context(context)?;
    file.write_all(patient.profile.to_toml().as_bytes()).with_context(context)
}
