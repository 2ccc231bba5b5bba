//! Decides how instructions and skills become part of what a model is told.
//!
//! Knows nothing about where they are kept. Invariants: they are placed once a run, before its first
//! request, and never enter the history; what was placed stays as it was.

use std::sync::Arc;

use runtime_ports::{ModelMessage, ModelRole, PortFailure, ResourceSnapshot, TranscriptEntry};
use serde::{Deserialize, Serialize};

use crate::{
    Event, Machine, Out, RunError,
    context::Context,
    state::{Ask, Phase},
};

/// The part of the model's input, as its inverse, that resources may take.
const PART_OF_INPUT: u64 = 4;

/// What is known of the resources that a run is under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Resources {
    pub(crate) digest: Arc<str>,
    /// Estimated size of the message that they are; 0 when they are none.
    pub(crate) tokens: u64,
}

impl Machine {
    pub(crate) fn take_resources(
        &mut self,
        loaded: Result<ResourceSnapshot, PortFailure>,
        out: &mut Out,
    ) -> Phase {
        match loaded {
            Ok(snapshot) => {
                let (instructions, skills) = (snapshot.instructions.len(), snapshot.skills.len());
                let digest: Arc<str> = snapshot.digest.as_str().into();
                let tokens = text_of(&snapshot).map_or(0, |text| self.place(text));
                self.state.resources =
                    Some(Box::new(Resources { digest: Arc::clone(&digest), tokens }));
                if instructions + skills > 0 {
                    self.tell(Event::ResourcesLoaded { digest, instructions, skills }, out);
                }
                self.begin(out)
            }
            Err(failure) if self.was_halted(&failure) => {
                self.ask(Ask::Resources);
                Phase::ResolvingModel
            }
            Err(failure) => self.fail(RunError::of_port("resources_failed", failure), out),
        }
    }

    /// The first cycle, once all is there that a run begins with.
    pub(crate) fn begin(&mut self, out: &mut Out) -> Phase {
        if !self.state.open.is_empty() {
            return Phase::ResolvingModel;
        }
        if self.state.resources.as_ref().is_none_or(|loaded| loaded.tokens == 0) {
            self.leave_out_earlier();
        }
        match self.too_large() {
            Some(error) => self.fail(error, out),
            None => self.go_on(out),
        }
    }

    /// A context that is carried over may stand under resources that this run does not have.
    fn leave_out_earlier(&mut self) {
        if let Some(context) = self.state.context.take() {
            let framed = context.framed(&self.state.history, Vec::new());
            self.state.context = Some(Box::new(framed));
        }
    }

    /// Puts a message behind the agent's own system message; gives its estimated size in tokens.
    fn place(&mut self, text: String) -> u64 {
        let message = ModelMessage::text(ModelRole::System, text);
        let tokens = TranscriptEntry::new(message.clone()).estimated_tokens();
        let context = match self.state.context.take() {
            Some(context) => *context,
            None => Context::of(&self.state.history),
        };
        let framed = context.framed(&self.state.history, vec![message]);
        self.state.context = Some(Box::new(framed));
        tokens
    }

    /// Why resources are too large for the model, if they are.
    fn too_large(&self) -> Option<RunError> {
        let tokens = self.state.resources.as_ref()?.tokens;
        let profile = self.state.profile.as_ref()?;
        let sizes = [profile.context_window_tokens, profile.max_input_tokens];
        // A size of 0 is one that nobody knows.
        let most = sizes.into_iter().filter(|size| *size > 0).min()? / PART_OF_INPUT;
        (tokens > most).then(|| {
            let message = format!(
                "the instructions and skills take about {tokens} tokens, and with this model they \
                 may take at most {most}; shorten them, or take a model with a larger input"
            );
            RunError::new("resources_too_large", message)
        })
    }
}

/// Instructions in order, then skills by name; nothing when all of them are blank.
fn text_of(snapshot: &ResourceSnapshot) -> Option<String> {
    let instructions = snapshot.instructions.iter().map(|text| text.trim().to_owned());
    let skills = snapshot.skills.iter().filter(|(_, text)| !text.trim().is_empty());
    let skills = skills.map(|(name, text)| format!("# Skill: {name}\n\n{}", text.trim()));
    let texts: Vec<_> = instructions.chain(skills).filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
