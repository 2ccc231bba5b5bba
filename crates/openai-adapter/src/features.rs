//! Decides which optional parts of a request a server gets, after what it has refused before.
//!
//! Knows nothing about how they are written. Invariant: a part is left out only after this server
//! refused it by name, and never one that changes what was asked. One call at a time is a wish: any
//! answer may have several, and callers take them.

use std::sync::atomic::{AtomicU16, Ordering};

use model_wire::{Refusal, Size};

use crate::server_profile::{ReasoningReplay, ServerProfile, ToolChoices};

/// A part of a request that an answer does not depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Feature {
    /// Asking for usage at the end of a stream.
    StreamOptions = 1,
    /// The configured name of the output limit; the other name is used without it.
    MaxTokensName = 1 << 1,
    /// Asking for encrypted reasoning, so that it can be sent back.
    EncryptedReasoning = 1 << 2,
    /// Sending a chat model's reasoning back to it.
    ReasoningReplay = 1 << 3,
    /// Choosing a tool by its name; without, that tool is sent alone, and a call is required.
    NamedToolChoice = 1 << 4,
    /// Asking for one call at a time.
    ParallelToolCalls = 1 << 5,
    /// Continuing a response that the server keeps; without, the whole history is sent.
    PreviousResponse = 1 << 6,
}

const ALL: [Feature; 7] = [
    Feature::StreamOptions,
    Feature::MaxTokensName,
    Feature::EncryptedReasoning,
    Feature::ReasoningReplay,
    Feature::NamedToolChoice,
    Feature::ParallelToolCalls,
    Feature::PreviousResponse,
];

/// The parts that one request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Features(u16);

/// What a session has learnt about its server.
#[derive(Debug, Default)]
pub(crate) struct RefusedFeatures(AtomicU16);

impl RefusedFeatures {
    /// What the profile of a server says that it does not know.
    pub(crate) fn of(server: &ServerProfile) -> Self {
        let refused = Self::default();
        let known = [
            (Feature::StreamOptions, server.stream_options),
            (Feature::EncryptedReasoning, server.encrypted_reasoning),
            (Feature::ReasoningReplay, server.reasoning_replay != ReasoningReplay::Never),
            (Feature::NamedToolChoice, server.tool_choice == ToolChoices::Named),
            (Feature::ParallelToolCalls, server.parallel_tool_calls),
            (Feature::PreviousResponse, server.previous_response_id),
        ];
        let unknown = known.into_iter().filter(|(_, is_known)| !is_known);
        unknown.for_each(|(feature, _)| refused.remember(feature));
        refused
    }

    /// The parts that have not been refused so far.
    pub(crate) fn remaining(&self) -> Features {
        Features(!self.0.load(Ordering::Relaxed))
    }

    /// Remembers that the server refuses `feature`.
    pub(crate) fn remember(&self, feature: Feature) {
        self.0.fetch_or(feature as u16, Ordering::Relaxed);
    }
}

impl Features {
    /// Whether a request has `feature`.
    pub(crate) const fn has(self, feature: Feature) -> bool {
        self.0 & feature as u16 != 0
    }

    /// The same without `feature`, for a request that has none of it anyway.
    pub(crate) const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(feature as u16))
    }

    /// The part of this request that `refusal` is about, if it is about one.
    pub(crate) fn refused_by(self, refusal: &Refusal) -> Option<Feature> {
        if Size::of(refusal).is_some() {
            return None;
        }
        ALL.into_iter().find(|feature| self.has(*feature) && feature.is_refused_by(refusal))
    }
}

/// How servers say that they do not know a field.
const UNKNOWN_FIELD: &[&str] = &[
    "unsupported",
    "not supported",
    "does not support",
    "unknown",
    "unrecognized",
    "unexpected",
    "extra input",
    "not permitted",
    "not allowed",
    "additional propert",
    "extra_forbidden",
    "cannot be used",
    "instead",
];

impl Feature {
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::StreamOptions => &["stream_options"],
            Self::MaxTokensName => &["max_tokens", "max_completion_tokens"],
            Self::EncryptedReasoning => &["reasoning.encrypted_content", "encrypted content"],
            Self::ReasoningReplay => &["reasoning_content", "reasoning_details", "'reasoning'"],
            Self::NamedToolChoice => &["tool_choice"],
            Self::ParallelToolCalls => &["parallel_tool_calls"],
            Self::PreviousResponse => &["previous_response_id", "previous response"],
        }
    }

    fn is_refused_by(self, refusal: &Refusal) -> bool {
        let names = self.names();
        let by_param = refusal.param.as_deref().is_some_and(|param| names.contains(&param));
        let told_unknown =
            refusal.mentions(UNKNOWN_FIELD) || refusal.is_any(&["unsupported_parameter"]);
        (by_param || refusal.mentions(names)) && told_unknown
    }
}

#[cfg(test)]
mod tests;
