//! Decides when a primary session calls the model, and when it is over.
//!
//! Knows nothing about prompts, tools or users: its host prepares every round and judges every
//! answer. Invariant: no round begins before the receipt of the turn before it is recorded.

use anyhow::ensure;
use runtime_ports::{AgentTurnRequest, DEFAULT_MAX_REQUESTS, Digest, TurnFailure, TurnStart};
use tracing::{Instrument as _, debug, debug_span, info_span};
use uuid::Uuid;

use crate::{
    AgentRuntime, PreparedRound, RoundPreparation, SessionControl, SessionEvent, SessionHost,
    SessionRoundLimitError, SessionRunRequest, bridge,
    session_turn::{SessionTurn, record_broken_turn},
};

impl AgentRuntime {
    /// Runs a session round by round until its host completes it; gives the host's answer.
    ///
    /// Each round starts one turn under a fresh id whose parent is `request.operation_id`.
    ///
    /// # Cancellation
    /// Cancel `request.operation_id` on the intelligence: the turn then fails, its receipt is
    /// recorded, and the failure is returned. Dropping the future drops the turn, whose receipt
    /// the intelligence settles as interrupted; the host is not told any more.
    ///
    /// # Errors
    /// - A `round_limit` of zero, or `rounds_used` above it.
    /// - [`SessionRoundLimitError`] when no round is left; recognise it with
    ///   [`is_session_round_limit`](crate::is_session_round_limit).
    /// - The host's error, as it gave it; the intelligence's
    ///   [`PortFailure`](runtime_ports::PortFailure); a turn that ended without a terminal event.
    ///   The receipt of a turn that started has then been recorded.
    /// - When that receipt cannot be settled or recorded: why not, with the error before it as its
    ///   source; see [`AccountingError`](crate::AccountingError).
    pub async fn run_session<H: SessionHost>(
        &self,
        request: SessionRunRequest,
        host: &mut H,
    ) -> anyhow::Result<Option<String>> {
        let span = info_span!(
            "session",
            operation = %request.operation_id,
            rounds_used = request.rounds_used,
            round_limit = request.round_limit,
        );
        self.run_rounds(&request, host).instrument(span).await
    }

    async fn run_rounds<H: SessionHost>(
        &self,
        request: &SessionRunRequest,
        host: &mut H,
    ) -> anyhow::Result<Option<String>> {
        for round in rounds_left(request)? {
            let turn_id = Uuid::new_v4();
            let span = debug_span!("round", round, turn = %turn_id);
            let played = self.run_round(request, host, round, turn_id).instrument(span).await?;
            if let SessionControl::Complete(answer) = played {
                debug!(round, "session completed");
                return Ok(answer);
            }
        }
        Err(SessionRoundLimitError::new(request.round_limit).into())
    }

    async fn run_round<H: SessionHost>(
        &self,
        request: &SessionRunRequest,
        host: &mut H,
        round: u64,
        turn_id: Uuid,
    ) -> anyhow::Result<SessionControl> {
        let prepared = match host.prepare_round(round).await? {
            RoundPreparation::Run(prepared) => prepared,
            RoundPreparation::Complete(answer) => return Ok(SessionControl::Complete(answer)),
        };
        host.record(inference_submitted(round, &prepared)).await?;
        let start = turn_start(request, turn_id, prepared);
        match self.intelligence.start_agent_turn(start).await {
            Ok(turn) => SessionTurn::new(turn, turn_id, round, host).play().await,
            Err(TurnFailure { failure, receipt: None }) => Err(failure.into()),
            Err(TurnFailure { failure, receipt: Some(receipt) }) => {
                Err(record_broken_turn(host, round, receipt, failure.into()).await)
            }
        }
    }
}

/// The rounds that may still be taken, by number.
fn rounds_left(request: &SessionRunRequest) -> anyhow::Result<std::ops::RangeInclusive<u64>> {
    let SessionRunRequest { rounds_used, round_limit, .. } = *request;
    ensure!(round_limit > 0, "the round limit is zero; allow at least one round");
    ensure!(
        rounds_used <= round_limit,
        "{rounds_used} rounds were used of {round_limit}; restore the session with a count within \
         its limit"
    );
    ensure!(rounds_used < round_limit, SessionRoundLimitError::new(round_limit));
    Ok(rounds_used + 1..=round_limit)
}

fn inference_submitted(round: u64, prepared: &PreparedRound) -> SessionEvent {
    let manifest_hash = Digest::of(prepared.input.as_bytes()).to_string();
    SessionEvent::InferenceSubmitted { round, manifest_hash, model: prepared.model.clone() }
}

fn turn_start(request: &SessionRunRequest, turn_id: Uuid, prepared: PreparedRound) -> TurnStart {
    TurnStart {
        user_id: request.user_id.clone(),
        operation_id: turn_id,
        parent_operation_id: Some(request.operation_id),
        continuation: prepared.continuation,
        request: AgentTurnRequest {
            model: prepared.model,
            reasoning_effort: prepared.reasoning_effort,
            input: prepared.provider_input,
            tools: vec![bridge::definition(prepared.tool_description)],
            timeout: prepared.timeout,
            ephemeral: false,
            max_requests: DEFAULT_MAX_REQUESTS,
        },
    }
}
