//! Which events a turn gives, in which order, and how calls are answered.
//!
//! Knows nothing about receipts beyond that they are there.

use std::time::Duration;

use runtime_ports::{
    AgentTurn, AgentTurnEvent, ModelContext, ModelFinish, PortFailureKind as Kind, ToolResult,
    TurnEnd,
};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use crate::{
    Broken, Proof,
    claim::{PATIENCE, claim, equal, failed, refused, success},
    model::{Answer, Piece, ProviderReply},
    turn::{
        StagedTurns, TurnHarness,
        course::{
            Course, INPUT, answer, call, follow, follow_to_the_end, next, read_result, read_tool,
            stage, text,
        },
    },
};

async fn whole_course(
    harness: &dyn TurnHarness,
    replies: impl Into<Vec<ProviderReply>>,
) -> Result<Course, Broken> {
    let staged = stage(harness, replies).await?;
    let mut turn = staged.begin(&staged.start()).await?;
    follow_to_the_end(turn.as_mut()).await
}

pub(crate) async fn the_context_comes_first_and_once(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [call("call-1"), text("done")]).await?;
    let resolved = staged.intelligence.resolve_agent_model(&staged.model).await;
    let model = success("resolving", resolved)?;
    let mut turn = staged.begin(&staged.start()).await?;
    let course = follow_to_the_end(turn.as_mut()).await?;
    let Some(AgentTurnEvent::ModelContextSubmitted(context)) = course.events.first() else {
        return Err(Broken::Claim(format!("the first event is {:?}", course.events.first())));
    };
    let expected = ModelContext {
        input: INPUT.into(),
        provider: model.provider,
        model: model.provider_model,
        reasoning_effort: "low".into(),
        instructions: context.instructions.clone(),
        tools: vec![read_tool()],
    };
    equal("the context", context, &expected)?;
    let is_context =
        |event: &&AgentTurnEvent| matches!(event, AgentTurnEvent::ModelContextSubmitted(_));
    equal("the number of contexts", &course.events.iter().filter(is_context).count(), &1)
}

pub(crate) async fn an_answer_completes_the_turn(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [text("forty-two")]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    let completion = follow_to_the_end(turn.as_mut()).await?.completion()?;
    equal("the answer", completion.answer.as_str(), "forty-two")?;
    let after = success("asking after the end", next(turn.as_mut()).await?)?;
    equal("the event after the end", &after, &None)?;
    let receipt = staged.settled(start.operation_id, TurnEnd::Completed).await?;
    equal("the receipt of the turn", &turn.receipt(), &Some(&receipt))
}

pub(crate) async fn deltas_add_up_to_the_answer(harness: &dyn TurnHarness) -> Proof {
    let pieces = vec![Piece::fragments(&["one ", "two ", "three"])];
    let course = whole_course(harness, [answer(Answer::of(pieces))]).await?;
    equal("the answer", course.completion()?.answer.as_str(), "one two three")?;
    equal("the deltas", course.deltas().as_str(), "one two three")
}

fn two_calls() -> ProviderReply {
    answer(Answer::of(vec![
        Piece::call("call-b", "write", r#"{"path":"x"}"#),
        Piece::call("call-a", "read", r#"{"path":"y"}"#),
    ]))
}

pub(crate) async fn calls_come_one_by_one(harness: &dyn TurnHarness) -> Proof {
    let course = whole_course(harness, [two_calls(), call("call-c"), text("done")]).await?;
    let (x, y, a) = (json!({ "path": "x" }), json!({ "path": "y" }), json!({ "path": "a" }));
    let calls: Vec<_> = course.calls().into_iter().map(|call| (call.1, call.2)).collect();
    equal("the calls", &calls, &vec![("write", &x), ("read", &y), ("read", &a)])?;
    let mut ids: Vec<_> = course.calls().into_iter().map(|call| call.0).collect();
    ids.sort_unstable();
    ids.dedup();
    equal("the number of distinct identities", &ids.len(), &3)?;
    equal("the answer", course.completion()?.answer.as_str(), "done")
}

pub(crate) async fn arguments_arrive_as_written(harness: &dyn TurnHarness) -> Proof {
    let raw = r#"{path: "a"}"#;
    let odd = answer(Answer::of(vec![Piece::call("call-1", "read", raw)]));
    let course = whole_course(harness, [odd, text("done")]).await?;
    let arguments: Vec<_> = course.calls().into_iter().map(|call| call.2.clone()).collect();
    equal("the arguments", &arguments, &vec![Value::String(raw.into())])
}

pub(crate) async fn answers_reach_the_provider(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [two_calls(), text("done")]).await?;
    let mut turn = staged.begin(&staged.start()).await?;
    for (success_of_call, result) in [(true, "result-marker-1"), (false, "result-marker-2")] {
        let id = follow(turn.as_mut()).await?.must_call()?;
        let result = ToolResult { success: success_of_call, text: result.into() };
        success("the answer to a call", turn.respond(&id, result).await)?;
    }
    follow_to_the_end(turn.as_mut()).await?.completion()?;
    for text in [INPUT, "result-marker-1", "result-marker-2"] {
        claim(staged.world.was_sent(text), || format!("{text} was not sent to the provider"))?;
    }
    Ok(())
}

/// A turn whose call waits for its answer.
struct OpenCall {
    staged: StagedTurns,
    operation: Uuid,
    turn: Box<dyn AgentTurn>,
    id: String,
}

async fn open_call(harness: &dyn TurnHarness) -> Result<OpenCall, Broken> {
    let staged = stage(harness, [call("call-1"), text("done")]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    let id = follow(turn.as_mut()).await?.must_call()?;
    Ok(OpenCall { staged, operation: start.operation_id, turn, id })
}

impl OpenCall {
    async fn answer(&mut self) -> Proof {
        answered(self.turn.as_mut(), &self.id).await
    }

    /// An answer that must be refused as a conflict.
    async fn meddle(&mut self, id: &str) -> Proof {
        let result = self.turn.respond(id, read_result("meddled")).await;
        refused("a second or strange answer", result, Kind::Conflict).map(drop)
    }

    /// The answered turn goes on as if nothing had been refused.
    async fn goes_on(mut self) -> Proof {
        let course = follow_to_the_end(self.turn.as_mut()).await?;
        equal("the answer", course.completion()?.answer.as_str(), "done")?;
        equal("the calls that came again", &course.calls(), &Vec::new())?;
        claim(!self.staged.world.was_sent("meddled"), || "a refused answer was sent".into())?;
        self.staged.settled(self.operation, TurnEnd::Completed).await.map(drop)
    }
}

async fn answered(turn: &mut dyn AgentTurn, id: &str) -> Proof {
    success("the answer to a call", turn.respond(id, read_result("first")).await)
}

pub(crate) async fn an_open_call_blocks_the_next_event(harness: &dyn TurnHarness) -> Proof {
    let mut open = open_call(harness).await?;
    for _ in 0..2 {
        let failure = failed("the event after an open call", next(open.turn.as_mut()).await?)?;
        equal("the kind of its failure", &failure.failure.kind, &Kind::Conflict)?;
        claim(failure.receipt.is_none(), || "the refusal carries a receipt".into())?;
    }
    open.answer().await?;
    open.goes_on().await
}

pub(crate) async fn a_second_answer_is_refused(harness: &dyn TurnHarness) -> Proof {
    let mut open = open_call(harness).await?;
    open.answer().await?;
    open.meddle(&open.id.clone()).await?;
    open.goes_on().await
}

pub(crate) async fn an_unknown_call_is_refused(harness: &dyn TurnHarness) -> Proof {
    let mut open = open_call(harness).await?;
    open.meddle(&format!("{}-2", open.id)).await?;
    open.meddle("").await?;
    open.answer().await?;
    open.goes_on().await
}

pub(crate) async fn a_dropped_wait_loses_no_event(harness: &dyn TurnHarness) -> Proof {
    let spoken = Answer::of(vec![
        Piece::fragments(&["first ", "I ", "look"]),
        Piece::call("call-1", "read", "{}"),
    ]);
    let replies = [answer(spoken), text("done")];
    let whole = whole_course(harness, replies.clone()).await?;
    let staged = stage(harness, replies).await?;
    let mut turn = staged.begin(&staged.start()).await?;
    let hasty = follow_hastily(turn.as_mut()).await?;
    equal("the deltas", &hasty.deltas(), &whole.deltas())?;
    equal("the calls", &hasty.calls(), &whole.calls())?;
    // Two turns may have two threads; what they say is the same.
    let (hasty, whole) = (hasty.completion()?, whole.completion()?);
    equal("the answer", &hasty.answer, &whole.answer)?;
    equal("the usage", &hasty.usage, &whole.usage)
}

/// Follows the turn to its end, with waits that are dropped after a moment.
async fn follow_hastily(turn: &mut dyn AgentTurn) -> Result<Course, Broken> {
    let give_up = Instant::now() + PATIENCE;
    let mut course = Course::default();
    for round in 0_u64.. {
        claim(Instant::now() < give_up, || format!("it did not end: {course:?}"))?;
        let moment = Duration::from_micros(round % 3 * 500);
        let Ok(event) = timeout(moment, turn.next_event()).await else { continue };
        match success("the next event", event)? {
            Some(AgentTurnEvent::TransportInput(_)) => {}
            Some(event) => course.events.push(event),
            None => break,
        }
        if let Some(id) = course.open_call() {
            answered(turn, &id).await?;
        }
    }
    Ok(course)
}

pub(crate) async fn usage_is_cumulative(harness: &dyn TurnHarness) -> Proof {
    let course = whole_course(harness, [call("call-1"), call("call-2"), text("done")]).await?;
    let usage = course.completion()?.usage.unwrap_or_default();
    equal("the prompt tokens of the completion", &usage.input_tokens, &Some(36))?;
    equal("the answer tokens of the completion", &usage.output_tokens, &Some(9))?;
    let reports = course.reports();
    let grows = reports.windows(2).all(|pair| pair[0].input_tokens <= pair[1].input_tokens);
    claim(grows, || format!("the reports {reports:?} do not grow"))?;
    let last = reports.last().copied().unwrap_or(usage);
    equal("the last report", &last, &usage)
}

async fn fails_the_turn(harness: &dyn TurnHarness, finish: ModelFinish) -> Proof {
    let pieces = vec![Piece::text("I begin"), Piece::call("call-1", "read", "{}")];
    let cut = Answer::of(pieces).stopped_by(finish);
    let staged = stage(harness, [answer(cut)]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    let course = follow_to_the_end(turn.as_mut()).await?;
    let (_, receipt) = course.must_fail()?;
    equal("the calls", &course.calls(), &Vec::new())?;
    equal("the end in the receipt", &receipt.end, &TurnEnd::Failed)?;
    equal("the receipt", receipt, &staged.only_receipt(start.operation_id).await?)
}

pub(crate) async fn a_cut_answer_fails_the_turn(harness: &dyn TurnHarness) -> Proof {
    fails_the_turn(harness, ModelFinish::Length).await
}

pub(crate) async fn a_filtered_answer_fails_the_turn(harness: &dyn TurnHarness) -> Proof {
    fails_the_turn(harness, ModelFinish::ContentFilter).await
}
