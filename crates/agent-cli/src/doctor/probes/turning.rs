//! Decides whether the adapter gets through a whole turn, with the profile that was found.
//!
//! Knows the port of models alone. Refuses to know the wire.

use std::{sync::Arc, time::Duration};

use anthropic_adapter::AnthropicSession;
use gemini_adapter::GeminiSession;
use model_wire::BuildError;
use openai_adapter::{Delivery, OpenAiSession};
use runtime_ports::{
    ModelContent, ModelMessage, ModelRequest, ModelResponse, ModelRole, ModelSession, PortFailure,
    ToolSet, Transcript,
};
use serde_json::json;

use super::TURN;
use crate::{
    doctor::{finding::Verdict, patient::Patient},
    endpoint::Api,
};

const ROOM: u32 = 1_024;
const ONE_ANSWER: Duration = Duration::from_secs(60);

/// A task, a call, its result, and an answer: two requests of the adapter itself.
pub(super) async fn turn(patient: &mut Patient) {
    if !patient.tries(TURN) {
        return;
    }
    let session = match session(patient) {
        Ok(session) => session,
        Err(error) => return patient.find(TURN, Verdict::Broken, error.to_string()),
    };
    let task = "Call the tool ping once. When you have its result, repeat the result.";
    let mut messages = vec![ModelMessage::text(ModelRole::User, task)];
    let first = match asked(patient, &*session, &messages).await {
        Ok(first) => first,
        Err(failure) => return failed(patient, "the task", &failure),
    };
    let calls: Vec<ModelContent> = first.output.iter().filter_map(result_of).collect();
    if calls.is_empty() {
        return patient.pass_over(TURN, "the model called nothing");
    }
    messages.push(ModelMessage { role: ModelRole::Assistant, content: first.output });
    messages.push(ModelMessage { role: ModelRole::Tool, content: calls });
    match asked(patient, &*session, &messages).await {
        Ok(_) => {
            let with = if patient.has_profile() { ", with the profile of this report" } else { "" };
            patient.find(TURN, Verdict::Works, format!("two requests{with}"));
        }
        Err(failure) => failed(patient, "the result", &failure),
    }
}

fn session(patient: &Patient) -> Result<Box<dyn ModelSession>, BuildError> {
    Ok(match patient.api {
        Api::Chat => Box::new(openai(patient, openai_adapter::Api::Chat)?),
        Api::Responses => Box::new(openai(patient, openai_adapter::Api::Responses)?),
        Api::Messages => Box::new(anthropic(patient)?),
        Api::Gemini => Box::new(gemini(patient)?),
    })
}

fn openai(patient: &Patient, api: openai_adapter::Api) -> Result<OpenAiSession, BuildError> {
    let endpoint = &patient.endpoint;
    let mut builder = OpenAiSession::builder(&endpoint.base_url)
        .api(api)
        .timeouts(endpoint.timeouts)
        .server_profile(patient.profile.clone())
        .delivery(delivery(patient));
    if let Some(key) = &endpoint.credential {
        builder = builder.credential(key.clone());
    }
    builder.build()
}

fn anthropic(patient: &Patient) -> Result<AnthropicSession, BuildError> {
    let endpoint = &patient.endpoint;
    let builder = AnthropicSession::builder(&endpoint.base_url).delivery(delivery(patient));
    let mut builder = builder.timeouts(endpoint.timeouts);
    if let Some(key) = &endpoint.credential {
        builder = builder.credential(key.clone());
    }
    builder.build()
}

fn gemini(patient: &Patient) -> Result<GeminiSession, BuildError> {
    let endpoint = &patient.endpoint;
    let builder = GeminiSession::builder(&endpoint.base_url).delivery(delivery(patient));
    let mut builder = builder.timeouts(endpoint.timeouts);
    if let Some(key) = &endpoint.credential {
        builder = builder.credential(key.clone());
    }
    builder.build()
}

fn delivery(patient: &Patient) -> Delivery {
    patient.profile.only_delivery.unwrap_or(Delivery::Streamed)
}

async fn asked(
    patient: &mut Patient,
    session: &dyn ModelSession,
    messages: &[ModelMessage],
) -> Result<ModelResponse, PortFailure> {
    let request = ModelRequest {
        invocation_id: format!("doctor-{}", messages.len()).into(),
        model: patient.model.as_str().into(),
        messages: Transcript::from(messages.to_vec()),
        tools: ToolSet::new(vec![ping()]),
        max_output_tokens: Some(ROOM),
        options: Arc::default(),
    };
    let operation = patient.operation().clone().within(ONE_ANSWER);
    let response = session.invoke(&operation, request).await;
    let attempts = response
        .as_ref()
        .map_or_else(|failure| failure.attempts.len(), |response| response.attempts.len());
    patient.requests += u32::try_from(attempts).unwrap_or(u32::MAX);
    let usage = response.as_ref().map(|response| response.usage).unwrap_or_default();
    patient.tokens.add(usage.input_tokens, usage.output_tokens);
    response
}

fn ping() -> runtime_ports::ModelToolDefinition {
    runtime_ports::ModelToolDefinition {
        name: "ping".to_owned(),
        description: "takes nothing and answers pong".to_owned(),
        input_schema: json!({ "type": "object", "properties": {} }),
    }
}

fn result_of(content: &ModelContent) -> Option<ModelContent> {
    let ModelContent::ToolUse { id, name, .. } = content else { return None };
    Some(ModelContent::ToolResult {
        tool_use_id: id.clone(),
        name: name.clone(),
        content: "pong".to_owned(),
        failed: false,
    })
}

fn failed(patient: &mut Patient, at: &str, failure: &PortFailure) {
    patient.find(TURN, Verdict::Broken, format!("{at}: {} ({})", failure.message, failure.code));
}
