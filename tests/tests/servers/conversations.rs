//! Decides whether an adapter, and the whole kernel over it, can talk with a server: texts, tools over
//! several turns, answers in a form, refusals, a call that is given up.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use port_conformance::model::{ProviderView as _, RecordedDeltas};
use runtime_kernel::{
    FunctionTool, ToolContext, ToolError,
    engine::{Agent, RunResult, RunStatus, Task},
    schemars,
};
use runtime_ports::{
    CommitDisposition, EffectClass, GenerationOptions, ModelFinish, ModelRequest, PortFailureKind,
    ResponseFormat,
};
use serde_json::{Value, json};

use crate::{
    calling::{ask, claim, operation, question, text_of, told},
    relay::Relay,
    results::{About, Held, Outcome, Results},
    speech::{Delivery, Endpoint},
};

/// What is known beforehand of the answers of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Knows {
    /// The words themselves, from a script of ours.
    pub(crate) words: bool,
    /// Whether the model calls tools.
    pub(crate) tools: bool,
    /// Whether a model that is not there is refused.
    pub(crate) models: bool,
    /// Whether a schema for the answer is heeded.
    pub(crate) forms: bool,
    /// Most tokens to ask for.
    pub(crate) most_tokens: u32,
}

impl Knows {
    /// Answers are those of `fixtures.json`.
    pub(crate) const THE_SCRIPT: Self =
        Self { words: true, tools: true, models: true, forms: true, most_tokens: 200 };
    /// Answers are made up, but a tool that is offered is called.
    pub(crate) const NOTHING: Self = Self { words: false, models: false, ..Self::THE_SCRIPT };
    /// A small model, which calls no tools but when it must.
    pub(crate) const A_SMALL_MODEL: Self = Self { tools: false, most_tokens: 24, ..Self::NOTHING };
}

/// A server to talk with.
pub(crate) struct Subject {
    /// Scheme, host and port.
    pub(crate) base: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) knows: Knows,
}

/// All of it.
pub(crate) async fn check(subject: &Subject, about: &About, results: &Results) {
    results.take(about, "text, streamed", text(subject, Delivery::Streamed)).await;
    results.take(about, "text, as a document", text(subject, Delivery::Whole)).await;
    results.take(about, "tools over turns", tools(subject)).await;
    results.take(about, "json schema", form(subject)).await;
    results.take(about, "refusals", refusals(subject)).await;
    results.take(about, "cancelled amid an answer", cancelled(subject)).await;
}

async fn text(subject: &Subject, delivery: Delivery) -> Outcome {
    let Subject { endpoint, knows, .. } = subject;
    let session = Endpoint { delivery, ..endpoint.clone() }.session();
    let request = question(&endpoint.model, "Say hello to the garden.", knows.most_tokens);
    let began = Instant::now();
    let (answered, deltas) = ask(&*session, request).await;
    let response = answered.map_err(told)?;
    let said = text_of(&response);
    claim(!said.trim().is_empty(), || "the answer is empty".into())?;
    claim(said == deltas.text(), || format!("deltas {:?}, answer {said:?}", deltas.text()))?;
    let finish = response.finish;
    let ended = [ModelFinish::Stop, ModelFinish::Length].contains(&finish);
    claim(ended && (!knows.words || finish == ModelFinish::Stop), || format!("{finish:?}"))?;
    if knows.words {
        claim(said == "Hello, garden: bean, pea and rose.", || format!("it said {said:?}"))?;
    }
    let counts = response.usage.output_tokens.map(|count| {
        let seconds = began.elapsed().as_secs_f64();
        format!(
            "{count} tokens out, {:.0} a second",
            f64::from(u32::try_from(count).unwrap_or(0)) / seconds
        )
    });
    Ok(Held::With(counts.unwrap_or_else(|| "no counts".into())))
}

/// What the tool takes.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Product {
    factors: Vec<i64>,
}

/// An agent with a tool, on a task; how the run ended, and how often the tool ran.
pub(crate) async fn run_agent(
    endpoint: &Endpoint,
    task: &str,
) -> Result<(Arc<RunResult>, usize), String> {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let multiply = move |product: Product, _: ToolContext| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { Ok::<_, ToolError>(product.factors.iter().product::<i64>().to_string()) }
    };
    let multiply = FunctionTool::new("multiply", "Multiplies integers.", multiply);
    let agent = Agent::builder("calculator", endpoint.session(), &*endpoint.model)
        .instructions("Use the tool.")
        .tool(multiply.effect(EffectClass::ReadOnly).idempotent().parallel())
        .max_cycles(6)
        .build()
        .map_err(|error| error.to_string())?;
    let run = agent.start(Task::new(task));
    let end = run.result().await.map_err(|lost| lost.to_string())?;
    let result = end.finished().map_err(|error| error.to_string())?;
    Ok((result, ran.load(Ordering::SeqCst)))
}

async fn tools(subject: &Subject) -> Outcome {
    if !subject.knows.tools {
        return Ok(Held::DoesNotApply(
            "the small model calls when it must; see forced call".into(),
        ));
    }
    let (result, ran) = run_agent(&subject.endpoint, "Multiply six times seven, twice.").await?;
    claim(result.status == RunStatus::Completed, || {
        format!("the run ended as {:?}: {:?}", result.status, result.error)
    })?;
    let answer = result.final_answer.as_deref().unwrap_or_default();
    if subject.knows.words {
        // Two calls in the first answer, one in the second, then the words.
        claim(ran == 3, || format!("the tool ran {ran} times"))?;
        claim(answer == "It is 84.", || format!("it answered {answer:?}"))?;
    }
    claim(ran > 0 && !answer.is_empty(), || format!("{ran} calls, then {answer:?}"))?;
    Ok(Held::With(format!("{ran} calls over {} turns", result.cycles.len())))
}

async fn form(subject: &Subject) -> Outcome {
    let Subject { endpoint, knows, .. } = subject;
    if !knows.forms {
        return Ok(Held::DoesNotApply("the server heeds no schema".into()));
    }
    let schema = json!({
        "type": "object",
        "properties": { "plant": { "type": "string" }, "count": { "type": "integer" } },
        "required": ["plant", "count"],
        "additionalProperties": false,
    });
    let format = ResponseFormat::JsonSchema { name: "bed".into(), schema, strict: true };
    let options = GenerationOptions { response_format: format, ..GenerationOptions::default() };
    let most = knows.most_tokens.max(60);
    let request = question(&endpoint.model, "Describe one bed of the garden.", most);
    let request = ModelRequest { options: Arc::new(options), ..request };
    let (answered, _) = ask(&*endpoint.session(), request).await;
    let response = match answered {
        Err(failure) if failure.kind == PortFailureKind::Invalid => {
            return Ok(Held::DoesNotApply(format!("refused: {}", failure.message)));
        }
        answered => answered.map_err(told)?,
    };
    let said = text_of(&response);
    if response.finish == ModelFinish::Length {
        return Ok(Held::DoesNotApply("the small model did not come to an end".into()));
    }
    let value = match serde_json::from_str::<Value>(&said) {
        Ok(value) => value,
        // What a real server does with a schema is its own affair; a script heeds it.
        Err(_) if !knows.tools => return Ok(Held::DoesNotApply("no schema is heeded".into())),
        Err(_) => return Err(format!("no json: {said:?}")),
    };
    let follows = value["plant"].is_string() && value["count"].is_i64();
    claim(follows, || format!("it does not follow the schema: {said}"))?;
    Ok(Held::Yes)
}

async fn refusals(subject: &Subject) -> Outcome {
    if !subject.knows.models {
        return Ok(Held::DoesNotApply("every model is served".into()));
    }
    let session = subject.endpoint.session();
    let wanted = [
        ("refused-overflow", PortFailureKind::ContextOverflow),
        ("refused-key", PortFailureKind::Forbidden),
        ("refused-limit", PortFailureKind::RateLimited),
        ("nowhere", PortFailureKind::NotFound),
    ];
    for (model, kind) in wanted {
        let (answered, _) = ask(&*session, question(model, "Anything.", 20)).await;
        let failure = answered.err().ok_or(format!("{model} was answered"))?;
        claim(failure.kind == kind, || format!("{model}: {}", told(failure.clone())))?;
        let commit = failure.commit;
        claim(commit == CommitDisposition::NotCommitted, || format!("{model}: {commit:?}"))?;
    }
    Ok(Held::Yes)
}

/// Gives a call up after its first words: it ends at once, its connection is closed, and the server
/// answers the next one.
async fn cancelled(subject: &Subject) -> Outcome {
    let relay = Relay::to(&subject.base).await;
    let path = subject.endpoint.base_url.replace(&subject.base, "");
    let base_url = format!("{}{path}", relay.base());
    let endpoint = Endpoint { base_url, ..subject.endpoint.clone() };
    let model = if subject.knows.words { "scripted-slow" } else { &endpoint.model };
    let session = endpoint.session();
    let operation = operation(Duration::from_secs(60));
    let deltas = RecordedDeltas::default();
    let request = question(model, "Tell a long story about a garden.", 400);
    let call = session.invoke_streaming(&operation, request, &deltas);
    let giving_up = async {
        while deltas.text().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        operation.cancellation.cancel();
        Instant::now()
    };
    let ended = async {
        let answered = call.await;
        (answered, Instant::now())
    };
    let ((answered, ended), cancelled) = tokio::join!(ended, giving_up);
    let Err(failure) = answered else {
        return Ok(Held::DoesNotApply("the answer was there before it could be given up".into()));
    };
    claim(failure.kind == PortFailureKind::Canceled, || told(failure.clone()))?;
    let took = ended.saturating_duration_since(cancelled);
    claim(took < Duration::from_secs(1), || format!("it ended after {took:?}"))?;
    let until = Instant::now() + Duration::from_secs(5);
    while relay.abandoned() == 0 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    claim(relay.abandoned() == 1, || "the connection stayed open".into())?;
    let next = question(&endpoint.model, "Say hello to the garden.", subject.knows.most_tokens);
    let (answered, _) = ask(&*session, next).await;
    answered.map_err(told)?;
    Ok(Held::With(format!("{} µs to end", took.as_micros())))
}
