//! Decides how one request and its answer go over the wire, and what is true when they do not.
//!
//! Knows nothing about what is asked, and repeats nothing. Invariant: whatever happens, the failure
//! says whether the request can have taken effect, and a request that can have has a meter.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use runtime_ports::{
    CommitDisposition, DeltaSink, Interruption, Metering, ModelResponse, OperationContext,
    PortFailure, RequestMeter, TokenUsage, TurnEnd,
};
use tokio::time::Instant;

use crate::{
    answer::{Answer, Decoder, Progress},
    arrivals::Arrivals,
    client::HttpClient,
    connection,
    endpoint::Timeouts,
    failure,
    gathered::Gathered,
    heads, metering,
    reader::Reader,
    refusal::Refusal,
    response::{self, Asked, Response, Stop, Unanswered},
    retry_after,
    waiting::{Waited, Waiting},
};

/// Most bytes of an error body that are read.
const ERROR_BODY: usize = 64 * 1024;
/// Longest wait for the rest of an error body.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(10);
/// Longest wait for the end of a finished response, so that its connection can be used again.
const DRAIN_WAIT: Duration = Duration::from_millis(25);

/// One request over the wire.
#[derive(Clone, Copy)]
pub struct Exchange<'a> {
    /// Whom to ask.
    pub client: &'a HttpClient,
    /// What bounds the exchange.
    pub operation: &'a OperationContext,
    /// Who is told about the answer while it arrives.
    pub sink: &'a dyn DeltaSink,
}

/// A request that was answered.
#[derive(Debug)]
pub struct Answered {
    /// What the model said.
    pub answer: Answer,
    /// What was counted.
    pub usage: TokenUsage,
    /// The request, for the list of attempts.
    pub meter: RequestMeter,
}

/// A request that was not.
#[derive(Debug)]
pub struct Failed {
    /// What happened, and whether the request can have taken effect.
    pub failure: PortFailure,
    /// `None` when nothing reached the provider.
    pub meter: Option<RequestMeter>,
    /// What the server said against the request, when it refused it with a 4xx.
    pub refusal: Option<Refusal>,
}

impl Answered {
    /// What a session returns, after the earlier requests of the same call.
    #[must_use]
    pub fn into_response(self, mut attempts: Vec<RequestMeter>) -> ModelResponse {
        let Self { answer, usage, meter } = self;
        let cost_nano_usd = meter.cost_nano_usd;
        attempts.push(meter);
        let (output, finish) = (answer.output, answer.finish);
        ModelResponse { output, finish, usage, cost_nano_usd, attempts }
    }
}

impl Exchange<'_> {
    /// Sends `body` to `path` (which may end with a query) and reads the answer.
    ///
    /// # Cancellation
    /// Ends soon after the operation is cancelled. Dropping the future closes the connection; what
    /// was sent before is then unknown.
    ///
    /// # Errors
    /// [`Failed`]: refused before anything was sent, by the provider, or broken off after sending.
    pub async fn run(
        &self,
        path: &str,
        body: Bytes,
        decoder: Box<dyn Decoder>,
    ) -> Result<Answered, Failed> {
        self.exchanged(path, body, decoder).await.map_err(|failed| {
            let failure = self.client.redacted(failed.failure);
            Failed { failure, ..failed }
        })
    }

    async fn exchanged(
        &self,
        path: &str,
        body: Bytes,
        decoder: Box<dyn Decoder>,
    ) -> Result<Answered, Failed> {
        let mut response = self.send(path, body).await?;
        let facts = Facts::of(&response.head().headers);
        if !response.head().status.is_success() {
            return Err(self.refused(response, &facts).await);
        }
        let mut reader = Reader::new(decoder, self.client.event_limit());
        let sink = Gathered::new(self.sink);
        let outcome = match self.pump(&mut response, &mut reader, &sink).await {
            Ok(()) => reader.finish(&sink).map_err(|failure| (failure, TurnEnd::Failed)),
            Err(broken) => Err(broken),
        };
        sink.release();
        response.end(self.operation).await;
        let decoder = reader.decoder();
        match outcome {
            Ok(answer) => {
                let usage = decoder.meter().usage();
                warn_of_contradictions(decoder.meter());
                let meter = self.meter(&facts, Some(decoder), TurnEnd::Completed);
                Ok(Answered { answer, usage, meter })
            }
            Err((failure, end)) => {
                let meter = Some(self.meter(&facts, Some(decoder), end));
                Err(Failed { failure, meter, refusal: None })
            }
        }
    }

    pub(crate) const fn timeouts(&self) -> &Timeouts {
        self.client.timeouts()
    }

    async fn send(&self, path: &str, body: Bytes) -> Result<Response, Failed> {
        let asked = response::ask(self.client, self.operation, path, Asked::Post(body)).await;
        let origin = || self.client.origin();
        let (failure, end) = match asked {
            Ok(response) => return Ok(response),
            Err(Unanswered::Tape(failure)) => (failure, TurnEnd::Failed),
            Err(Unanswered::Unreachable(unreachable)) => {
                (connection::failure(&unreachable, &origin()), TurnEnd::Failed)
            }
            Err(Unanswered::TimedOut { sent }) => {
                (connection::head_timeout(sent, &origin()), TurnEnd::TimedOut)
            }
            Err(Unanswered::Interrupted { interruption, sent: true }) => in_flight(interruption),
            Err(Unanswered::Interrupted { interruption, sent: false }) => {
                (interruption.before_sending(), end_of(interruption))
            }
        };
        let reached = failure.commit != CommitDisposition::NotCommitted;
        let meter = reached.then(|| self.meter(&Facts::default(), None, end));
        Err(Failed { failure, meter, refusal: None })
    }

    async fn refused(&self, mut response: Response, facts: &Facts) -> Failed {
        let head = response.head();
        let (status, wait) = (head.status, retry_after::wait_of_headers(&head.headers, head.at));
        let body = self.error_body(&mut response).await.unwrap_or_default();
        response.end(self.operation).await;
        let refusal = Refusal::of_body(&body);
        let failure = failure::of_status(status, &refusal, wait);
        let meter = Some(self.meter(facts, None, TurnEnd::Failed));
        let refusal = status.is_client_error().then_some(refusal);
        Failed { failure, meter, refusal }
    }

    async fn error_body(&self, response: &mut Response) -> Result<Vec<u8>, Stop> {
        let mut body = Vec::new();
        let until = Instant::now() + ERROR_BODY_WAIT;
        while let Some(chunk) = response.chunk(self.operation, until).await? {
            let room = ERROR_BODY.saturating_sub(body.len());
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if room <= chunk.len() {
                break;
            }
        }
        Ok(body)
    }

    /// Reads until the answer is over, or the bytes are.
    async fn pump(
        &self,
        response: &mut Response,
        reader: &mut Reader,
        sink: &Gathered<'_>,
    ) -> Result<(), (PortFailure, TurnEnd)> {
        let origin = || self.client.origin();
        let mut arrivals = Arrivals::new(Waiting::within(self.operation));
        let mut patience = self.patience(Progress::Idle, arrivals.seen());
        loop {
            let settled = reader.progress() >= Progress::Settled;
            let came = match arrivals.next(response, patience, sink).await {
                Waited::Done(came) => came,
                Waited::TooLong => Err(response.stopped(Stop::TimedOut)),
                Waited::Interrupted(by) => Err(response.stopped(Stop::Interrupted(by))),
            };
            match came {
                Err(Stop::Interrupted(interruption)) => return Err(in_flight(interruption)),
                Ok(None) => return Ok(()),
                // A finished answer needs neither its tail nor an orderly end.
                Err(_) if settled => return Ok(()),
                Err(Stop::TimedOut) => {
                    return Err((connection::idle(&origin()), TurnEnd::TimedOut));
                }
                Err(Stop::Broken) => return Err((connection::lost(&origin()), TurnEnd::Failed)),
                Ok(Some(chunk)) => {
                    let fed = reader.feed(&chunk, sink);
                    let fed = fed.map_err(|failure| (failure, TurnEnd::Failed))?;
                    if fed.progress == Progress::Over {
                        self.drain(response).await;
                        return Ok(());
                    }
                    if fed.progressed {
                        patience = self.patience(fed.progress, arrivals.seen());
                    }
                }
            }
        }
    }

    /// Waits a moment for the end of the response. A connection whose response was not read to its
    /// end is closed, and the next request would have to open another.
    async fn drain(&self, response: &mut Response) {
        let until = Instant::now() + DRAIN_WAIT;
        // Nothing is lost when it does not come: then the connection is closed.
        while let Ok(Some(_)) = response.chunk(self.operation, until).await {}
    }

    /// When to give up waiting for what follows an event that came at `at`. A finished answer is not
    /// lost to the deadline because of a tail that does not come.
    fn patience(&self, progress: Progress, at: Instant) -> Instant {
        let left = || self.operation.deadline.saturating_duration_since(at);
        let wait = match progress {
            Progress::Settled => self.timeouts().tail.min(left() / 2),
            _ => self.timeouts().idle,
        };
        at.checked_add(wait).unwrap_or(self.operation.deadline)
    }

    fn meter(&self, facts: &Facts, decoder: Option<&dyn Decoder>, end: TurnEnd) -> RequestMeter {
        let response_id = decoder.and_then(Decoder::response_id);
        let id = facts.request_id.as_deref().or(response_id).filter(|id| is_name(id));
        let meter = decoder.map(Decoder::meter);
        RequestMeter {
            provider_request_id: id.map(|id| self.client.without_key(id.to_owned())),
            metering: meter.map_or(Metering::Unavailable, metering::Meter::metering),
            end,
            cost_nano_usd: meter.and_then(metering::Meter::cost_nano_usd).or(facts.cost_nano_usd),
        }
    }
}

/// What the head of a response says about the request.
#[derive(Debug, Default)]
struct Facts {
    request_id: Option<String>,
    cost_nano_usd: Option<u64>,
}

impl Facts {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name: &str| heads::text(headers, name).filter(|text| !text.is_empty());
        let ids = ["x-request-id", "request-id", "x-litellm-call-id"];
        let request_id = ids.into_iter().find_map(text).map(str::to_owned);
        let dollars = text("x-litellm-response-cost").and_then(|text| text.parse().ok());
        Self { request_id, cost_nano_usd: dollars.and_then(metering::nano_usd) }
    }
}

/// Names are kept for a receipt, so that they must be short and plain.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id.len() <= 512 && !id.chars().any(char::is_control)
}

fn in_flight(interruption: Interruption) -> (PortFailure, TurnEnd) {
    (interruption.in_flight(), end_of(interruption))
}

const fn end_of(interruption: Interruption) -> TurnEnd {
    match interruption {
        Interruption::Canceled => TurnEnd::Cancelled,
        Interruption::DeadlineExceeded => TurnEnd::TimedOut,
    }
}

fn warn_of_contradictions(meter: &metering::Meter) {
    for warning in meter.warnings() {
        tracing::warn!("{warning}");
    }
}
