//! What must reach the provider, and what a session says of its models.
//!
//! Knows no wire format: it looks for words of its own in what was sent.

use std::{collections::BTreeSet, future::Future, pin::Pin, sync::Arc};

use runtime_ports::{
    CommitDisposition, GenerationOptions, ImageSource, ModelContent, ModelMessage, ModelRequest,
    ModelResponse, ModelRole, PortFailure, PortFailureKind, ResponseFormat, ToolSet, Transcript,
};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    Broken, Proof,
    claim::{claim, equal, failed, failure, operation, refused, success},
    model::{
        Answer, ModelHarness, ProviderReply, ProviderScript, Refusal, StagedModel,
        request::{question, request, text_of, tool},
    },
};

async fn sent(staged: &StagedModel, request: ModelRequest) -> Result<String, Broken> {
    success("the call", staged.session.invoke(&operation(), request).await)?;
    let last = staged.provider.requests_seen().saturating_sub(1);
    let text = staged.provider.request_text(last);
    text.ok_or_else(|| Broken::Claim("the provider has no record of the request".into()))
}

async fn answering(harness: &dyn ModelHarness, calls: usize) -> Result<StagedModel, Broken> {
    let replies = vec![ProviderReply::Answer(Answer::text("done")); calls];
    Ok(harness.stage(ProviderScript::Replies(replies)).await?)
}

fn in_order(sent: &str, words: &[&str]) -> Proof {
    let mut rest = sent;
    for word in words {
        let Some(position) = rest.find(word) else {
            let what = format!("{word} was not sent, or before its turn");
            return Err(Broken::Claim(what));
        };
        rest = &rest[position + word.len()..];
    }
    Ok(())
}

fn history_of_every_role() -> Transcript {
    let call = |id: &str, path: &str| ModelContent::ToolUse {
        id: id.into(),
        name: "read".into(),
        arguments: json!({ "path": path }),
    };
    let result = |id: &str, content: &str, failed| ModelContent::ToolResult {
        tool_use_id: id.into(),
        name: "read".into(),
        content: content.into(),
        failed,
    };
    let calls = vec![
        ModelContent::text("assistant-words"),
        call("call-1", "argument-one"),
        call("call-2", "argument-two"),
    ];
    let results = vec![result("call-1", "result-one", false), result("call-2", "result-two", true)];
    Transcript::from(vec![
        ModelMessage::text(ModelRole::System, "system-words"),
        ModelMessage::text(ModelRole::User, "user-words"),
        ModelMessage { role: ModelRole::Assistant, content: calls },
        ModelMessage { role: ModelRole::Tool, content: results },
        ModelMessage::text(ModelRole::User, "last-words"),
    ])
}

pub(crate) async fn every_role_reaches_the_provider(harness: &dyn ModelHarness) -> Proof {
    let staged = answering(harness, 1).await?;
    let tools = ToolSet::new(vec![tool("read")]);
    let asked = ModelRequest { tools, ..request(&staged.model, history_of_every_role()) };
    let sent = sent(&staged, asked).await?;
    let conversation = ["user-words", "assistant-words", "argument-one", "argument-two"];
    in_order(&sent, &conversation)?;
    in_order(&sent, &["argument-two", "result-one", "result-two", "last-words"])?;
    claim(sent.contains("system-words"), || "the system's words were not sent".into())
}

pub(crate) async fn tools_are_offered_in_order(harness: &dyn ModelHarness) -> Proof {
    let staged = answering(harness, 1).await?;
    let names = ["zebra", "apple", "mango"];
    let tools = names.iter().map(|name| tool(name)).collect();
    let asked = ModelRequest { tools, ..request(&staged.model, question("question")) };
    let sent = sent(&staged, asked).await?;
    let descriptions = names.map(|name| format!("description-of-{name}"));
    in_order(&sent, &descriptions.each_ref().map(String::as_str))?;
    for name in names {
        let property = format!("property_of_{name}");
        claim(sent.contains(&property), || format!("the schema of {name} was not sent"))?;
    }
    Ok(())
}

pub(crate) async fn the_output_limit_is_sent(harness: &dyn ModelHarness) -> Proof {
    let staged = answering(harness, 2).await?;
    let plain = request(&staged.model, question("question"));
    let limited = ModelRequest { max_output_tokens: Some(4_321), ..plain.clone() };
    claim(sent(&staged, limited).await?.contains("4321"), || "the limit was not sent".into())?;
    claim(!sent(&staged, plain).await?.contains("4321"), || "a limit was sent unasked".into())
}

/// Each option set for itself, with a word by which it is found again.
fn options() -> [(&'static str, GenerationOptions); 4] {
    let unset = GenerationOptions::default;
    let name = "schema-marker".into();
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let form = ResponseFormat::JsonSchema { name, schema, strict: true };
    [
        ("0.125", GenerationOptions { temperature: Some(0.125), ..unset() }),
        ("stop-marker", GenerationOptions { stop: vec!["stop-marker".into()], ..unset() }),
        ("schema-marker", GenerationOptions { response_format: form, ..unset() }),
        ("minimal", GenerationOptions { reasoning_effort: Some("minimal".into()), ..unset() }),
    ]
}

pub(crate) async fn options_are_sent_or_refused(harness: &dyn ModelHarness) -> Proof {
    for (word, options) in options() {
        let staged = answering(harness, 2).await?;
        let plain = request(&staged.model, question("question"));
        let with_option = ModelRequest { options: Arc::new(options), ..plain.clone() };
        let unasked = sent(&staged, plain).await?;
        claim(!unasked.contains(word), || format!("{word} was sent unasked"))?;
        match staged.session.invoke(&operation(), with_option).await {
            Ok(_) => {
                let text = staged.provider.request_text(1).unwrap_or_default();
                claim(text.contains(word), || format!("{word} was dropped without a word"))?;
            }
            refused => {
                let not_committed = CommitDisposition::NotCommitted;
                failure("an unknown option", refused, PortFailureKind::Invalid, not_committed)?;
                equal("the requests at the provider", &staged.provider.requests_seen(), &1)?;
            }
        }
    }
    Ok(())
}

pub(crate) async fn images_reach_the_provider(harness: &dyn ModelHarness) -> Proof {
    let staged = answering(harness, 1).await?;
    let base64 = "aW1hZ2UtbWFya2Vy".to_owned();
    let source = ImageSource::Inline { media_type: "image/png".into(), base64: base64.clone() };
    let content = vec![ModelContent::text("look-here"), ModelContent::Image { source }];
    let shown = vec![ModelMessage { role: ModelRole::User, content }];
    let sent = sent(&staged, request(&staged.model, shown)).await?;
    in_order(&sent, &["look-here", &base64])
}

pub(crate) async fn the_profile_tells_of_images(harness: &dyn ModelHarness) -> Proof {
    let staged = answering(harness, 0).await?;
    let profile = staged.session.profile(&operation(), &staged.model).await;
    let images = success("the profile", profile)?.images;
    equal("whether the profile takes images", &images, &harness.capabilities().images)
}

pub(crate) async fn the_same_request_is_sent_alike(harness: &dyn ModelHarness) -> Proof {
    let staged = answering(harness, 2).await?;
    let tools: ToolSet = ["read", "write", "list"].iter().map(|name| tool(name)).collect();
    let history = || history_of_every_role();
    let asked = || ModelRequest { tools: tools.clone(), ..request(&staged.model, history()) };
    let first = sent(&staged, asked()).await?;
    let second = sent(&staged, asked()).await?;
    claim(first == second, || "two equal requests were sent as different bytes".into())
}

type Asking = Pin<Box<dyn Future<Output = Result<ModelResponse, PortFailure>> + Send>>;

pub(crate) async fn calls_at_once_do_not_mix(harness: &dyn ModelHarness) -> Proof {
    let answers = (0..8).map(|number| Answer::text(format!("answer {number}")));
    let replies = answers.map(ProviderReply::Answer).collect();
    let staged = harness.stage(ProviderScript::Replies(replies)).await?;
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let session = Arc::clone(&staged.session);
        let asked = request(&staged.model, question("question"));
        let call: Asking = Box::pin(async move { session.invoke(&operation(), asked).await });
        calls.spawn(call);
    }
    let mut texts = BTreeSet::new();
    for answered in calls.join_all().await {
        texts.insert(text_of(&success("one of eight calls", answered)?));
    }
    let expected: BTreeSet<_> = (0..8).map(|number| format!("answer {number}")).collect();
    equal("the answers", &texts, &expected)?;
    equal("the requests at the provider", &staged.provider.requests_seen(), &8)
}

pub(crate) async fn the_profile_fits_itself(harness: &dyn ModelHarness) -> Proof {
    let staged = answering(harness, 0).await?;
    let profile = staged.session.profile(&operation(), &staged.model).await;
    let profile = success("the profile", profile)?;
    let window = profile.context_window_tokens;
    claim(profile.max_input_tokens > 0, || "the profile takes no prompt".into())?;
    claim(profile.max_input_tokens <= window, || {
        format!("{} prompt tokens do not fit {window}", profile.max_input_tokens)
    })?;
    let output = profile.max_output_tokens.unwrap_or(1);
    claim((1..=window).contains(&output), || format!("{output} answer tokens in {window}"))
}

pub(crate) async fn an_unknown_model_has_no_profile(harness: &dyn ModelHarness) -> Proof {
    let staged = answering(harness, 0).await?;
    let profile = staged.session.profile(&operation(), &staged.unknown_model).await;
    refused("the profile of an unknown model", profile, PortFailureKind::NotFound).map(drop)
}

pub(crate) async fn a_failure_leaves_the_session_usable(harness: &dyn ModelHarness) -> Proof {
    let replies = vec![
        ProviderReply::Refuse(Refusal::Invalid),
        ProviderReply::CutBeforeAnswer,
        ProviderReply::Answer(Answer::text("recovered")),
    ];
    let staged = harness.stage(ProviderScript::Replies(replies)).await?;
    failed("a refused call", staged.ask("question").await)?;
    failed("a cut call", staged.ask("question").await)?;
    let response = success("the call after both", staged.ask("question").await)?;
    equal("the text", text_of(&response).as_str(), "recovered")
}
