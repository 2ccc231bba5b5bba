//! What must arrive of an answer: text, reasoning, deltas.
//!
//! Knows nothing about calls, usage and failures.

use std::sync::Arc;

use runtime_ports::{
    ModelContent, ModelFinish, ModelMessage, ModelResponse, ModelRole, Transcript,
};
use serde_json::json;

use crate::{
    Broken, Proof,
    claim::{PATIENCE, claim, equal, eventually, operation, success, within},
    model::{
        Answer, ModelHarness, Piece, ProviderReply, ProviderScript, RecordedDeltas,
        request::{calls_of, request, text_of},
    },
};

const HIDDEN: &str = "opaque-marker-7c1f";

pub(crate) async fn text_arrives_whole(harness: &dyn ModelHarness) -> Proof {
    let answer = Answer::of(vec![Piece::fragments(&["forty", "-two", " it is"])]);
    let staged = harness.stage(ProviderScript::answer(answer)).await?;
    let response = success("the call", staged.ask("question").await)?;
    equal("the text", text_of(&response).as_str(), "forty-two it is")?;
    equal("the finish", &response.finish, &ModelFinish::Stop)?;
    equal("the requests at the provider", &staged.provider.requests_seen(), &1)
}

pub(crate) async fn an_empty_answer_is_an_answer(harness: &dyn ModelHarness) -> Proof {
    let staged = harness.stage(ProviderScript::answer(Answer::of(Vec::new()))).await?;
    let response = success("the call", staged.ask("question").await)?;
    equal("the text", text_of(&response).as_str(), "")?;
    equal("the finish", &response.finish, &ModelFinish::Stop)
}

pub(crate) async fn any_text_survives(harness: &dyn ModelHarness) -> Proof {
    let fragments =
        ["\"quotes\" \\ / ", "tab\t, line\n\r\n", "ä漢👩‍👩‍👧", "\u{2028}\u{feff} data: [DONE]\n\n"];
    let answer = Answer::of(vec![Piece::fragments(&fragments)]);
    let staged = harness.stage(ProviderScript::answer(answer.clone())).await?;
    let deltas = RecordedDeltas::default();
    let response = success("the call", staged.ask_watching(&deltas).await)?;
    equal("the text", &text_of(&response), &answer.whole_text())?;
    equal("the text of the deltas", &deltas.text(), &answer.whole_text())
}

pub(crate) async fn a_long_text_arrives_whole(harness: &dyn ModelHarness) -> Proof {
    let fragments = (0..256).map(|number| format!("{number:01023} ")).collect();
    let answer = Answer::of(vec![Piece::Text(fragments)]);
    let staged = harness.stage(ProviderScript::answer(answer.clone())).await?;
    let response = success("the call", staged.ask("question").await)?;
    claim(text_of(&response) == answer.whole_text(), || {
        format!("{} bytes of {} arrived", text_of(&response).len(), answer.whole_text().len())
    })
}

pub(crate) async fn deltas_add_up_to_the_text(harness: &dyn ModelHarness) -> Proof {
    let answer = Answer::of(vec![Piece::fragments(&["one ", "two ", "three ", "four"])]);
    let staged = harness.stage(ProviderScript::answer(answer)).await?;
    let deltas = RecordedDeltas::default();
    let response = success("the call", staged.ask_watching(&deltas).await)?;
    equal("the text", text_of(&response).as_str(), "one two three four")?;
    equal("the text of the deltas", deltas.text().as_str(), "one two three four")
}

pub(crate) async fn streaming_changes_no_answer(harness: &dyn ModelHarness) -> Proof {
    let pieces = || {
        vec![
            Piece::fragments(&["I ", "read."]),
            Piece::call("call-1", "read", r#"{"path":"a"}"#),
            Piece::call("call-2", "write", r#"{"path":"b"}"#),
        ]
    };
    let cut = Answer::text("cut").stopped_by(ModelFinish::Length);
    for answer in [Answer::of(pieces()), Answer::text("plain"), cut] {
        same_both_ways(harness, answer).await?;
    }
    Ok(())
}

async fn same_both_ways(harness: &dyn ModelHarness, answer: Answer) -> Proof {
    let whole = harness.stage(ProviderScript::answer(answer.clone())).await?;
    let streamed = harness.stage(ProviderScript::answer(answer)).await?;
    let whole = success("invoke", whole.ask("question").await)?;
    let watch = RecordedDeltas::default();
    let streamed = success("invoke_streaming", streamed.ask_watching(&watch).await)?;
    equal("the output of invoke_streaming", &text_of(&streamed), &text_of(&whole))?;
    equal("the calls of invoke_streaming", &calls_of(&streamed), &calls_of(&whole))?;
    equal("the finish of invoke_streaming", &streamed.finish, &whole.finish)?;
    equal("the usage of invoke_streaming", &streamed.usage, &whole.usage)
}

pub(crate) async fn deltas_come_while_it_is_generated(harness: &dyn ModelHarness) -> Proof {
    let answer = Answer::of(vec![Piece::fragments(&["early ", "words"])]);
    let staged = harness.stage(ProviderScript::one(ProviderReply::StallMidAnswer(answer))).await?;
    let operation = operation();
    let deltas = RecordedDeltas::default();
    let call = staged.session.invoke_streaming(&operation, staged.question("question"), &deltas);
    let watching = async {
        let seen = eventually("the first delta", || deltas.text().starts_with("early")).await;
        operation.cancellation.cancel();
        seen
    };
    let (answered, seen) =
        within("a cancelled stream", 2 * PATIENCE, async { tokio::join!(call, watching) }).await?;
    seen?;
    claim(answered.is_err(), || "a cancelled stream ended as a success".into())
}

pub(crate) async fn reasoning_arrives_as_reasoning(harness: &dyn ModelHarness) -> Proof {
    let reasoning = Piece::Reasoning { text: "let me think".into(), opaque: json!(HIDDEN) };
    let answer = Answer::of(vec![reasoning, Piece::text("done")]);
    let staged = harness.stage(ProviderScript::answer(answer)).await?;
    let deltas = RecordedDeltas::default();
    let response = success("the call", staged.ask_watching(&deltas).await)?;
    let [ModelContent::Reasoning { issuer, text, .. }, ModelContent::Text { .. }] =
        &response.output[..]
    else {
        let what = format!("the output is {:?}, expected reasoning, then text", response.output);
        return Err(Broken::Claim(what));
    };
    claim(!issuer.is_empty(), || "the reasoning names no issuer".into())?;
    equal("the reasoning", text.as_str(), "let me think")?;
    equal("the reasoning of the deltas", deltas.reasoning().as_str(), "let me think")?;
    equal("the text", text_of(&response).as_str(), "done")
}

pub(crate) async fn reasoning_goes_back_to_its_issuer(harness: &dyn ModelHarness) -> Proof {
    let reasoning = Piece::Reasoning { text: "let me think".into(), opaque: json!(HIDDEN) };
    let first = Answer::of(vec![reasoning, Piece::call("call-1", "read", "{}")]);
    let replies = [first, Answer::text("done")].map(ProviderReply::Answer);
    let staged = harness.stage(ProviderScript::Replies(replies.into())).await?;
    let response = success("the first call", staged.ask("question").await)?;
    let next = request(&staged.model, history_with(response));
    success("the second call", staged.session.invoke(&operation(), next).await)?;
    let sent = staged.provider.request_text(1).unwrap_or_default();
    claim(sent.contains(HIDDEN), || "the second request lacks what the issuer needs back".into())
}

fn history_with(response: ModelResponse) -> Transcript {
    let results = response.output.iter().filter_map(|content| match content {
        ModelContent::ToolUse { id, name, .. } => Some(ModelContent::ToolResult {
            tool_use_id: id.clone(),
            name: name.clone(),
            content: "result".into(),
            failed: false,
        }),
        _ => None,
    });
    let results = ModelMessage { role: ModelRole::Tool, content: results.collect() };
    let question = ModelMessage::text(ModelRole::User, "question");
    let answer = ModelMessage { role: ModelRole::Assistant, content: response.output };
    Transcript::from(vec![question, answer, results])
}

pub(crate) async fn foreign_reasoning_is_not_sent(harness: &dyn ModelHarness) -> Proof {
    let staged = harness.stage(ProviderScript::answer(Answer::text("done"))).await?;
    let foreign = ModelContent::Reasoning {
        issuer: "somebody-else/account".into(),
        text: "foreign-thought-marker".into(),
        opaque: json!({ "blob": HIDDEN }),
    };
    let spoken = vec![foreign, ModelContent::text("portable-marker")];
    let history = vec![
        ModelMessage::text(ModelRole::User, "question"),
        ModelMessage { role: ModelRole::Assistant, content: spoken },
        ModelMessage::text(ModelRole::User, "go on"),
    ];
    let asked = request(&staged.model, history);
    success("the call", staged.session.invoke(&operation(), asked).await)?;
    let sent: Arc<str> = staged.provider.request_text(0).unwrap_or_default().into();
    claim(sent.contains("portable-marker"), || {
        "the text beside the reasoning was not sent".into()
    })?;
    claim(!sent.contains(HIDDEN), || "what only another issuer can read was sent".into())
}
