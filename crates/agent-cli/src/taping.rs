//! Decides what a tape says about a run: which servers and models were chosen, and what is left of
//! it in the end.
//!
//! Knows the choice of models. Refuses to know what is said over the wire. Invariant: no key is ever
//! in what is noted; a replay needs none, and nothing of the environment.

use std::path::PathBuf;

use anyhow::anyhow;
use model_wire::{Recorder, Replay, Tape, TapeError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    arguments::WorkArguments,
    configuration::{Fallback, ModelChoice, Wanted},
    diagnosis::Diagnosis,
    endpoint::{Api, Endpoint, Profile},
    exit::Exit,
};

/// The name of the note.
const CHOICE: &str = "choice";

/// Whether a run is recorded or replayed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Taping(Tape);

/// What is noted of a choice.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    /// The model as it was asked for.
    asked: Option<String>,
    model: Option<String>,
    server: Server,
    fallbacks: Vec<Other>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Other {
    model: String,
    server: Server,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    name: Option<String>,
    base_url: String,
    api: Api,
    profile: Option<String>,
}

impl Taping {
    /// Begins a tape, or reads one, as the command line says. None is begun for a run that `choose`
    /// finds no model for.
    ///
    /// # Errors
    /// Those of `choose`; there is nothing to record; the file is there already, cannot be made, or
    /// cannot be read.
    pub(crate) async fn of(
        work: &WorkArguments,
        choose: impl FnOnce() -> Result<ModelChoice, Diagnosis>,
    ) -> Result<Self, Diagnosis> {
        let (record, replay) = (work.record.clone(), work.replay.clone());
        if record.is_some() && matches!(choose()?, ModelChoice::Offline) {
            return Err(silent());
        }
        let opened = tokio::task::spawn_blocking(move || opened(record, replay)).await;
        let opened = opened.map_err(|error| Diagnosis::configuration(&error.into()))?;
        opened.map(Self).map_err(|error| Diagnosis::configuration(&error.into()))
    }

    /// For the sessions.
    pub(crate) const fn tape(&self) -> &Tape {
        &self.0
    }

    /// Whether nothing goes over the network, and so nothing costs anything.
    pub(crate) const fn is_replay(&self) -> bool {
        matches!(self.0, Tape::Replay(_))
    }

    /// The models of a run: as they were recorded, or as `choose` finds them.
    ///
    /// # Errors
    /// Those of `choose`; the tape has no such choice, or there is nothing to record.
    pub(crate) async fn choice(
        &self,
        wanted: Wanted,
        choose: impl FnOnce(Wanted) -> Result<ModelChoice, Diagnosis>,
    ) -> Result<ModelChoice, Diagnosis> {
        match &self.0 {
            Tape::None => choose(wanted),
            Tape::Replay(replay) => recorded(replay, wanted.model),
            Tape::Record(recorder) => {
                let asked = wanted.model.clone();
                let choice = choose(wanted)?;
                note(recorder, asked, &choice).await?;
                Ok(choice)
            }
        }
    }

    /// What is wrong with the tape when all is done: it could not be written, or was not used up.
    pub(crate) async fn ended(&self) -> Option<Diagnosis> {
        match &self.0 {
            Tape::None => None,
            Tape::Record(recorder) => recorder.settled().await.err().map(|error| unwritten(&error)),
            Tape::Replay(replay) => left_over(&replay.unused()),
        }
    }
}

fn opened(record: Option<PathBuf>, replay: Option<PathBuf>) -> Result<Tape, TapeError> {
    match (record, replay) {
        (Some(path), _) => Recorder::create(path).map(Tape::Record),
        (None, Some(path)) => Replay::open(&path).map(Tape::Replay),
        (None, None) => Ok(Tape::None),
    }
}

async fn note(
    recorder: &Recorder,
    asked: Option<String>,
    choice: &ModelChoice,
) -> Result<(), Diagnosis> {
    let ModelChoice::Remote { endpoint, model, fallbacks } = choice else {
        return Err(silent());
    };
    let others = fallbacks.iter().map(|fallback| {
        Ok(Other { model: fallback.model.clone(), server: server(&fallback.endpoint)? })
    });
    let others = others.collect::<anyhow::Result<_>>();
    let wrong = |error: anyhow::Error| Diagnosis::configuration(&error);
    let chosen = Chosen {
        asked,
        model: model.clone(),
        server: server(endpoint).map_err(wrong)?,
        fallbacks: others.map_err(wrong)?,
    };
    let noted = recorder.note(CHOICE, json!(chosen)).await;
    noted.map_err(|error| Diagnosis::configuration(&error.into()))
}

fn silent() -> Diagnosis {
    let error = anyhow!("the embedded model says nothing over the wire that could be recorded");
    Diagnosis::configuration(&error).with_hint("name another model with --model")
}

/// The query of an address may hold a key.
fn server(endpoint: &Endpoint) -> anyhow::Result<Server> {
    let profile = endpoint.profile.as_ref().map(Profile::text).transpose()?;
    let base_url = endpoint.base_url.split(['?', '#']).next().unwrap_or_default();
    let base_url = base_url.trim_end_matches('/').to_owned();
    Ok(Server { name: endpoint.name.clone(), base_url, api: endpoint.api, profile })
}

fn recorded(replay: &Replay, asked: Option<String>) -> Result<ModelChoice, Diagnosis> {
    let chosen: Result<Vec<Chosen>, _> =
        replay.notes(CHOICE).map(|note| serde_json::from_value(note.clone())).collect();
    let damaged =
        || Diagnosis::configuration(&anyhow!("the tape has no choice of models that can be read"));
    let chosen = chosen.map_err(|_| damaged())?;
    // Whoever names no model takes what was recorded first.
    let fits = |one: &Chosen| asked.is_none() || [&one.asked, &one.model].contains(&&asked);
    match chosen.into_iter().find(fits) {
        Some(chosen) => Ok(choice(chosen)),
        None => match asked {
            None => Err(damaged()),
            Some(asked) => {
                let error = anyhow!("the tape has no run with the model {asked:?}");
                Err(Diagnosis::configuration(&error).with_hint("leave --model out"))
            }
        },
    }
}

fn choice(chosen: Chosen) -> ModelChoice {
    let others = chosen.fallbacks.into_iter();
    ModelChoice::Remote {
        endpoint: endpoint(chosen.server),
        model: chosen.model,
        fallbacks: others
            .map(|other| Fallback { endpoint: endpoint(other.server), model: other.model })
            .collect(),
    }
}

fn endpoint(server: Server) -> Endpoint {
    Endpoint {
        name: server.name,
        base_url: server.base_url,
        api: server.api,
        key: None,
        profile: server.profile.map(Profile::Text),
    }
}

fn unwritten(error: &TapeError) -> Diagnosis {
    Diagnosis {
        exit: Exit::Failed,
        code: "tape_failed".to_owned(),
        message: error.to_string(),
        hint: Some("make room on the disk, and record to another file".to_owned()),
    }
}

fn left_over(unused: &[String]) -> Option<Diagnosis> {
    let first = unused.first()?;
    let more = match unused.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    Some(Diagnosis {
        exit: Exit::Failed,
        code: "replay_unused".to_owned(),
        message: format!("the replay did not ask for {first}{more}"),
        hint: Some("give the same task and options as in the recording".to_owned()),
    })
}
