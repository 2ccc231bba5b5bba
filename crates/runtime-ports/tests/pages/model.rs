//! Pages of what is said to models, and by them.

use std::{collections::BTreeMap, sync::Arc};

use runtime_ports::{
    Digest, GenerationOptions, ImageSource, ModelContent, ModelFinish, ModelMessage, ModelProfile,
    ModelRequest, ModelResponse, ModelRole, ModelToolDefinition, Price, ResponseFormat, TokenUsage,
    ToolChoice, ToolSet, Transcript,
};
use serde_json::json;

use crate::{Page, receipts::meters};

pub(crate) fn pages() -> Vec<Page> {
    vec![
        Page::of("model_content", contents()),
        Page::of("model_message", messages()),
        Page::of("transcript", vec![Transcript::new(), Transcript::from(messages())]),
        Page::of("generation_options", options()),
        Page::of("model_request", requests()),
        Page::of("model_response", responses()),
        Page::of("model_finish", finishes()),
        Page::of("model_profile", profiles()),
        Page::of("token_usage", usages()),
        Page::of("digests", vec![digests()]),
    ]
}

fn contents() -> Vec<ModelContent> {
    vec![
        ModelContent::text("grüße\n\"quoted\""),
        ModelContent::ToolUse {
            id: "call-1".into(),
            name: "read_file".into(),
            arguments: json!({ "path": "a", "lines": [1, 2] }),
        },
        ModelContent::ToolUse {
            id: "call-2".into(),
            name: "read_file".into(),
            arguments: json!("{\"path\":"),
        },
        ModelContent::ToolResult {
            tool_use_id: "call-1".into(),
            name: "read_file".into(),
            content: "milk".into(),
            failed: false,
        },
        ModelContent::Image {
            source: ImageSource::Inline { media_type: "image/png".into(), base64: "AAAA".into() },
        },
        ModelContent::Image {
            source: ImageSource::Url { url: "https://example.com/a.png".into() },
        },
        ModelContent::Reasoning {
            issuer: "provider/account".into(),
            text: String::new(),
            opaque: json!({ "encrypted": "x" }),
        },
    ]
}

fn messages() -> Vec<ModelMessage> {
    vec![
        ModelMessage::text(ModelRole::System, "be kind"),
        ModelMessage::text(ModelRole::User, "read a"),
        ModelMessage { role: ModelRole::Assistant, content: contents()[..2].to_vec() },
        ModelMessage { role: ModelRole::Tool, content: contents()[3..4].to_vec() },
    ]
}

pub(crate) fn definition() -> ModelToolDefinition {
    ModelToolDefinition {
        name: "read_file".into(),
        description: "reads a file".into(),
        input_schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    }
}

fn options() -> Vec<GenerationOptions> {
    let named = ToolChoice::Named { name: "read_file".into() };
    let schema = ResponseFormat::JsonSchema {
        name: "answer".into(),
        schema: json!({ "type": "object" }),
        strict: true,
    };
    let with = |tool_choice, response_format| GenerationOptions {
        tool_choice,
        response_format,
        ..GenerationOptions::default()
    };
    vec![
        GenerationOptions::default(),
        with(ToolChoice::None, ResponseFormat::JsonObject),
        with(ToolChoice::Required, ResponseFormat::Text),
        GenerationOptions {
            temperature: Some(0.25),
            stop: vec!["END".into()],
            reasoning_effort: Some("high".into()),
            ..with(named, schema)
        },
    ]
}

fn request(max_output_tokens: Option<u32>, options: GenerationOptions) -> ModelRequest {
    ModelRequest {
        invocation_id: "inv-1".into(),
        model: "model-1".into(),
        messages: Transcript::from(messages()),
        tools: ToolSet::new(vec![definition()]),
        max_output_tokens,
        options: Arc::new(options),
    }
}

fn empty_request() -> ModelRequest {
    ModelRequest {
        messages: Transcript::new(),
        tools: ToolSet::default(),
        ..request(None, GenerationOptions::default())
    }
}

fn requests() -> Vec<ModelRequest> {
    vec![empty_request(), request(Some(512), options().remove(3))]
}

fn responses() -> Vec<ModelResponse> {
    vec![
        ModelResponse {
            output: Vec::new(),
            finish: ModelFinish::Other,
            usage: TokenUsage::default(),
            cost_nano_usd: None,
            attempts: Vec::new(),
        },
        ModelResponse {
            output: contents()[..2].to_vec(),
            finish: ModelFinish::ToolCalls,
            usage: usages().remove(2),
            cost_nano_usd: Some(12_000),
            attempts: meters(),
        },
    ]
}

fn finishes() -> Vec<ModelFinish> {
    use ModelFinish::{ContentFilter, Length, Other, Stop, ToolCalls};
    vec![Stop, ToolCalls, Length, ContentFilter, Other]
}

fn profiles() -> Vec<ModelProfile> {
    let price =
        Price { input: 250_000_000, cached_input: Some(25_000_000), cache_write: None, output: 2 };
    let profile = ModelProfile {
        context_window_tokens: 128_000,
        max_input_tokens: 120_000,
        max_output_tokens: Some(8_000),
        images: true,
        price: Some(price),
    };
    vec![ModelProfile { max_output_tokens: None, price: None, ..profile.clone() }, profile]
}

fn usages() -> Vec<TokenUsage> {
    let some =
        TokenUsage { input_tokens: Some(10), output_tokens: Some(0), ..TokenUsage::default() };
    let all = TokenUsage {
        input_tokens: Some(u64::MAX),
        output_tokens: Some(7),
        cached_input_tokens: Some(3),
        cache_write_tokens: Some(2),
        reasoning_tokens: Some(1),
    };
    vec![TokenUsage::default(), some, all]
}

/// What identifies requests for audit, and everything that it is made of.
fn digests() -> BTreeMap<String, Digest> {
    let reserved = request(Some(512), GenerationOptions::default());
    let history = Transcript::from(messages());
    let named = [
        ("transcript, empty", Transcript::new().digest()),
        ("transcript, one message", history.prefix(1).digest()),
        ("transcript, four messages", history.digest()),
        ("message, first", history.entries().next().unwrap().digest()),
        ("tools, none", ToolSet::default().digest()),
        ("tools, one", reserved.tools.digest()),
        ("request, empty", empty_request().digest()),
        ("request, nothing reserved", request(None, GenerationOptions::default()).digest()),
        ("request, 512 tokens reserved", reserved.digest()),
        ("request, with options", request(Some(512), options().remove(3)).digest()),
    ];
    named.map(|(name, digest)| (name.to_owned(), digest)).into()
}
