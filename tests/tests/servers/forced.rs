//! Decides whether a real model's tool call arrives whole, and whether the conversation goes on with
//! its result.
//!
//! The model is a small one that has to call. What it says is its own affair; that it is a call of
//! the tool, with arguments that are JSON, is the server's and the adapter's.

use std::sync::Arc;

use port_conformance::model::ProviderView as _;
use runtime_ports::{
    GenerationOptions, ModelContent, ModelMessage, ModelRequest, ModelResponse, ModelRole,
    ModelToolDefinition, ToolChoice, ToolSet, Transcript,
};
use serde_json::json;

use crate::{
    calling::{ask, claim, question, text_of, told},
    conversations::Subject,
    relay::Relay,
    results::{About, Held, Outcome, Results},
    speech::{Delivery, Endpoint},
};

const TOOL: &str = "get_weather";
/// Room for one call, and for the words after it.
const ROOM: u32 = 96;

/// Both ways of delivery.
pub(crate) async fn check(subject: &Subject, about: &About, results: &Results) {
    let streamed = forced(subject, Delivery::Streamed);
    results.take(about, "forced call, streamed", streamed).await;
    let whole = forced(subject, Delivery::Whole);
    results.take(about, "forced call, as a document", whole).await;
}

async fn forced(subject: &Subject, delivery: Delivery) -> Outcome {
    let relay = Relay::to(&subject.base).await;
    let path = subject.endpoint.base_url.replace(&subject.base, "");
    let base_url = format!("{}{path}", relay.base());
    let endpoint = Endpoint { delivery, base_url, ..subject.endpoint.clone() };
    let session = endpoint.session();
    let mut request = question(&endpoint.model, "What is the weather in Paris?", ROOM);
    request.tools = ToolSet::new(vec![tool()]);
    request.options = options(ToolChoice::Required);
    let (answered, _) = ask(&*session, request.clone()).await;
    let response = answered.map_err(told)?;
    let (calls, cities) = calls(&response)?;
    let next = after(request, response, calls);
    let (answered, deltas) = ask(&*session, next).await;
    let said = text_of(&answered.map_err(told)?);
    claim(!said.trim().is_empty(), || "the answer to the result is empty".into())?;
    claim(said == deltas.text(), || format!("deltas {:?}, answer {said:?}", deltas.text()))?;
    let asked = relay.requests_seen();
    claim(asked == 2, || format!("{asked} requests for a call and its result"))?;
    Ok(Held::With(format!("called for {cities}")))
}

/// As steady as a model can be.
fn options(tool_choice: ToolChoice) -> Arc<GenerationOptions> {
    let temperature = Some(0.0);
    Arc::new(GenerationOptions { tool_choice, temperature, ..GenerationOptions::default() })
}

/// The calls of an answer, and what they are about.
fn calls(response: &ModelResponse) -> Result<(Vec<ModelContent>, String), String> {
    let (mut results, mut cities) = (Vec::new(), Vec::new());
    for content in &response.output {
        let ModelContent::ToolUse { id, name, arguments } = content else { continue };
        claim(name == TOOL, || format!("it called {name:?}"))?;
        let city = arguments["city"].as_str();
        cities.push(city.ok_or_else(|| format!("the arguments are {arguments}"))?.to_owned());
        results.push(ModelContent::ToolResult {
            tool_use_id: id.clone(),
            name: name.clone(),
            content: "18 degrees and sunny".to_owned(),
            failed: false,
        });
    }
    claim(!results.is_empty(), || format!("no call in {:?}", text_of(response)))?;
    Ok((results, cities.join(", ")))
}

fn after(
    request: ModelRequest,
    response: ModelResponse,
    results: Vec<ModelContent>,
) -> ModelRequest {
    let mut messages: Vec<ModelMessage> =
        vec![ModelMessage::text(ModelRole::User, "What is the weather in Paris?")];
    messages.push(ModelMessage { role: ModelRole::Assistant, content: response.output });
    messages.push(ModelMessage { role: ModelRole::Tool, content: results });
    ModelRequest {
        invocation_id: uuid::Uuid::new_v4().to_string().into(),
        messages: Transcript::from(messages),
        options: options(ToolChoice::Auto),
        ..request
    }
}

fn tool() -> ModelToolDefinition {
    ModelToolDefinition {
        name: TOOL.to_owned(),
        description: "the weather of today in a city".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": { "city": { "type": "string" } },
            "required": ["city"],
        }),
    }
}
