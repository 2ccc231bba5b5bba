//! What the saboteur does wrong with a request.
//!
//! Knows nothing about what becomes of it.

use std::sync::Arc;

use runtime_ports::{
    ModelContent, ModelMessage, ModelRequest, ModelRole, ModelToolDefinition, Transcript,
};

use super::ModelFault;

/// The request as it is sent.
pub(super) fn spoiled(fault: ModelFault, call: u64, request: ModelRequest) -> ModelRequest {
    match fault {
        ModelFault::DropsHistory => {
            let last = request.messages.messages().last().cloned().into_iter().collect();
            ModelRequest { messages: last, ..request }
        }
        ModelFault::SortsTools => {
            let mut tools: Vec<ModelToolDefinition> = request.tools.to_vec();
            tools.sort_by(|left, right| left.name.cmp(&right.name));
            ModelRequest { tools: tools.into_iter().collect(), ..request }
        }
        ModelFault::DropsOptions => ModelRequest { options: Arc::default(), ..request },
        ModelFault::DropsOutputLimit => ModelRequest { max_output_tokens: None, ..request },
        ModelFault::AddsANonce => {
            let mut messages = request.messages.clone();
            messages.push(ModelMessage::text(ModelRole::User, format!("nonce {call}")));
            ModelRequest { messages, ..request }
        }
        ModelFault::DropsImages => {
            retaining(request, |content| !matches!(content, ModelContent::Image { .. }))
        }
        ModelFault::ForgetsReasoning => {
            retaining(request, |content| !matches!(content, ModelContent::Reasoning { .. }))
        }
        ModelFault::AdoptsForeignReasoning => retaining(request, |content| {
            if let ModelContent::Reasoning { issuer, .. } = content {
                "fake".clone_into(issuer);
            }
            true
        }),
        _ => request,
    }
}

fn retaining(
    request: ModelRequest,
    mut keeps: impl FnMut(&mut ModelContent) -> bool,
) -> ModelRequest {
    let messages: Transcript = request
        .messages
        .messages()
        .cloned()
        .map(|mut message| {
            message.content.retain_mut(&mut keeps);
            message
        })
        .collect();
    ModelRequest { messages, ..request }
}
