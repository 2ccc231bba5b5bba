//! Decides what becomes of one model call: its attempts, where they go, and what is noted of them.
//!
//! Knows nothing about threads, tools or hosts. Invariant: every attempt that may have reached a
//! provider is noted before anything else happens; what a fallback is not given, and what is sent
//! again although it may have been accepted, is stated before it is sent.

use std::{future::Future, ops::ControlFlow, sync::Arc, time::Duration};

use runtime_ports::{
    CommitDisposition, DeltaSink, ModelDelta, ModelRequest, ModelResponse, OperationContext,
    PortFailure,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    account::Account,
    attempt::{Attempt, Frame},
    hedge::{self, Claim, Lane, LaneSink},
    observer::{CallObserver, Detour},
    policy::{Pauses, RetryPolicy},
    projection::{Projections, Target},
    retry::{self, Circumstances, Next, Retries, Verdict},
    route::Route,
    way::{Entered, Stop, Way},
};

/// What a router was told about the calls of its models.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub(crate) policy: RetryPolicy,
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
}

/// One model call.
pub(crate) struct Sending<'a> {
    pub(crate) route: &'a Route,
    pub(crate) rules: &'a Rules,
    /// How far histories were looked through for others.
    pub(crate) projections: &'a Projections,
    /// The call, as whoever watches knows it.
    pub(crate) id: Uuid,
    pub(crate) request: ModelRequest,
    pub(crate) operation: &'a OperationContext,
    /// Fires when nobody waits for the answer any more.
    pub(crate) given_up: &'a CancellationToken,
    /// Who watches; nobody when the call is not streamed.
    pub(crate) sink: Option<&'a dyn DeltaSink>,
}

/// What became of a call, and how long providers were waited for.
pub(crate) struct Sent {
    pub(crate) outcome: Result<ModelResponse, Unanswered>,
    pub(crate) waited: Duration,
}

/// Why a call has no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    GivenUp,
    Failed(PortFailure),
}

/// A call on its way.
#[derive(Default)]
struct Course {
    retries: Retries,
    waited: Duration,
    /// The failure that led to a fallback.
    earlier: Option<PortFailure>,
}

/// An attempt that ended.
struct Ended<'a> {
    stop: Stop<'a>,
    attempt: Attempt,
    delta_delivered: bool,
    /// Why an attempt beside it could not be noted.
    unnoted: Option<PortFailure>,
}

/// What the first attempt is, as far as it is asked alone.
enum Slow {
    Ended(Attempt),
    /// It has begun to answer.
    Heard,
    Silent,
}

/// An attempt that failed.
struct Failed<'a> {
    stop: Stop<'a>,
    failure: PortFailure,
    delta_delivered: bool,
}

impl<'a> Sending<'a> {
    /// Sends the request, again or elsewhere where the policy says so, and notes every attempt. It
    /// fails with the failure that the policy gives up on, or with that of a note.
    pub(crate) async fn send(&self, account: &mut Account) -> Sent {
        let mut course = Course::default();
        let outcome = match self.way().first() {
            Ok(entered) => self.follow(entered, &mut course, account).await,
            Err(refused) => Err(Unanswered::Failed(refused)),
        };
        Sent { outcome, waited: course.waited }
    }

    async fn follow(
        &self,
        mut entered: Entered<'a>,
        course: &mut Course,
        account: &mut Account,
    ) -> Result<ModelResponse, Unanswered> {
        self.begin(entered.0, course, account);
        loop {
            let began = Instant::now();
            let ended = self.one_or_two(entered, course, account).await;
            course.waited += began.elapsed();
            let Ended { stop, attempt, delta_delivered, unnoted } = ended;
            let noted = noted(attempt, account).await;
            if let Some(lost) = unnoted {
                return Err(Unanswered::Failed(lost));
            }
            let failure = match noted {
                ControlFlow::Continue(failure) => failure,
                ControlFlow::Break(outcome) => return outcome,
            };
            let failed = Failed { stop, failure, delta_delivered };
            entered = self.go_on(failed, course, account).await?;
        }
    }

    /// One attempt; where the policy hedges and it is slow, another beside it, of which one is heard
    /// and the other noted.
    async fn one_or_two(
        &self,
        (stop, pass): Entered<'a>,
        course: &mut Course,
        account: &mut Account,
    ) -> Ended<'a> {
        account.turn_to(stop.candidate, self.route.primary());
        let request = self.fitted(stop, account);
        let claim = Claim::default();
        let delay = self.hedge_delay(stop, course);
        // What may be asked beside it is one request, which the first must not use up.
        let most = course.retries.requests_left(&self.rules.policy);
        let most = most - u32::from(delay.is_some());
        let mut first = Box::pin(self.attempt((stop, most), request, Lane::First, &claim));
        let second = match slow(&mut first, delay, &claim).await {
            Slow::Ended(attempt) => return Ended::of((stop, pass), attempt, &claim),
            Slow::Heard => None,
            Slow::Silent => self.way().after(stop),
        };
        let Some((other, other_pass)) = second else {
            return Ended::of((stop, pass), first.await, &claim);
        };
        self.state_hedge(stop, other, account);
        // Two were asked: whatever comes of it, that is enough.
        course.retries.forbid_more();
        let request = self.fitted(other, account);
        let second = Box::pin(self.attempt((other, 1), request, Lane::Second, &claim));
        let raced = hedge::race(first, second, &claim).await;
        let (heard, left) = match raced.heard {
            Lane::First => ((stop, pass), (other, other_pass)),
            Lane::Second => ((other, other_pass), (stop, pass)),
        };
        let unnoted = self.note_the_other(left, raced.other, course, account).await.err();
        account.turn_to(heard.0.candidate, self.route.primary());
        Ended { unnoted, ..Ended::of(heard, raced.attempt, &claim) }
    }

    /// After which silence another is asked as well, if the policy says so and there is one.
    fn hedge_delay(&self, stop: Stop<'a>, course: &Course) -> Option<Duration> {
        let policy = &self.rules.policy;
        let may = || course.retries.may_hedge(policy) && self.way().next(stop) != Next::Nobody;
        policy.hedge_after.filter(|_| may())
    }

    /// Notes the attempt that was not heard: dropped, or ended by itself.
    async fn note_the_other(
        &self,
        (stop, pass): Entered<'a>,
        attempt: Option<Attempt>,
        course: &mut Course,
        account: &mut Account,
    ) -> Result<(), PortFailure> {
        account.turn_to(stop.candidate, self.route.primary());
        let attempt = attempt.unwrap_or(Attempt::Broken);
        pass.settle(attempt.report(false));
        match attempt {
            Attempt::Failed(failure) => {
                let noted = account.failed(&failure).await;
                course.earlier = Some(failure);
                noted
            }
            Attempt::Answered(response) => account.answered(&response).await,
            Attempt::Broken | Attempt::Unneeded => account.abandoned().await,
        }
    }

    fn state_hedge(&self, slow: Stop<'a>, other: Stop<'a>, account: &mut Account) {
        let (from, to) = (slow.candidate, other.candidate);
        account.lose(format!(
            "{} was slow, {} was asked as well; both may be billed",
            from.name(),
            to.name()
        ));
        self.tell(&Detour::Hedged { from: from.served(), to: to.served() });
    }

    fn way(&self) -> Way<'a> {
        let tokens = self.request.messages.estimated_tokens();
        Way { route: self.route, policy: &self.rules.policy, tokens }
    }

    /// Says so when the call does not begin where it should.
    fn begin(&self, stop: Stop<'a>, course: &mut Course, account: &mut Account) {
        if stop.place > 0 {
            let primary = self.route.primary();
            course.retries.begin_at_a_fallback();
            account.lose(format!("{} was left out: it failed too often just now", primary.name()));
            self.tell(&Detour::LeftOut { from: primary.served(), to: stop.candidate.served() });
        }
    }

    async fn attempt(
        &self,
        (stop, most_requests): (Stop<'a>, u32),
        request: ModelRequest,
        lane: Lane,
        claim: &Claim,
    ) -> Attempt {
        let frame = Frame { operation: self.operation, given_up: self.given_up, most_requests };
        let session = stop.candidate.session.as_ref();
        let heard = self.sink.map(|sink| LaneSink { lane, claim, sink });
        let sink = heard.as_ref().map(|heard| -> &dyn DeltaSink { heard });
        frame.attempt(session, request, sink).await
    }

    /// Where the call goes on after a failure, if it does.
    async fn go_on(
        &self,
        failed: Failed<'a>,
        course: &mut Course,
        account: &mut Account,
    ) -> Result<Entered<'a>, Unanswered> {
        let at = self.circumstances(&failed);
        let verdict = course.retries.judge(&self.rules.policy, &failed.failure, &at);
        let way = self.way();
        let (wait, entered) = match verdict {
            Verdict::GiveUp => (Duration::ZERO, None),
            Verdict::SendAgain { wait } => (wait, way.again(failed.stop)),
            Verdict::Move => (Duration::ZERO, way.after(failed.stop)),
            Verdict::MoveToLarger => (Duration::ZERO, way.larger_after(failed.stop)),
        };
        let Some(entered) = entered else { return Err(course.give_up(failed)) };
        self.tell_detour(&failed, entered.0, wait);
        if let Some(sink) = self.sink.filter(|_| failed.delta_delivered) {
            sink.delta(ModelDelta::Restarted);
        }
        let began = Instant::now();
        let paused = self.pause(wait).await;
        course.waited += began.elapsed();
        paused?;
        state_detour(&failed, entered.0, account);
        if entered.0.place != failed.stop.place && !failed.is_about_a_fallback() {
            course.earlier = Some(failed.failure);
        }
        Ok(entered)
    }

    fn circumstances(&self, failed: &Failed<'a>) -> Circumstances {
        Circumstances {
            delta_delivered: failed.delta_delivered,
            circuit_open: !failed.stop.candidate.gate.admits(),
            next: self.way().next(failed.stop),
            // Without time left the wait, however short, passes the deadline.
            left: self.operation.remaining().unwrap_or(Duration::ZERO),
            jitter: random_fraction(),
        }
    }

    /// The request as this candidate is given it.
    fn fitted(&self, stop: Stop<'a>, account: &mut Account) -> ModelRequest {
        let candidate = stop.candidate;
        let is_primary = stop.place == 0;
        // What the model that was asked for takes, its caller has seen to.
        let images = is_primary || candidate.profile.images;
        let target = Target { issuer: candidate.session.issuer(), images };
        let (messages, losses) = self.projections.project(&self.request.messages, target);
        let omissions = losses.omissions(&candidate.name()).into_iter();
        omissions.for_each(|(omission, count)| account.omit(omission, count));
        let model = Arc::clone(&candidate.provider_model);
        let request = ModelRequest { model, messages, ..self.request.clone() };
        if is_primary { request } else { self.for_a_fallback(request, stop, account) }
    }

    /// Other bytes are another invocation, and another model may have a lower limit.
    fn for_a_fallback(
        &self,
        request: ModelRequest,
        stop: Stop<'a>,
        account: &mut Account,
    ) -> ModelRequest {
        let most = stop.candidate.profile.max_output_tokens;
        let most = most.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
        let lowered = request.max_output_tokens.zip(most).filter(|(asked, most)| asked > most);
        if let Some((asked, most)) = lowered {
            let name = stop.candidate.name();
            account.lose(format!("{most} answer tokens were asked of {name} instead of {asked}"));
        }
        let limit = lowered.map(|(_, most)| most).or(request.max_output_tokens);
        let id = format!("{}-{}", request.invocation_id, stop.place);
        ModelRequest { invocation_id: id.into(), max_output_tokens: limit, ..request }
    }

    /// Tells whoever watches where the call goes on, before it waits.
    fn tell_detour(&self, failed: &Failed<'a>, next: Stop<'a>, wait: Duration) {
        let (from, code) = (failed.stop.candidate.served(), failed.failure.code.clone());
        self.tell(&match next.place == failed.stop.place {
            true => Detour::SentAgain { served: from, code, wait },
            false => Detour::Moved { from, to: next.candidate.served(), code },
        });
    }

    fn tell(&self, detour: &Detour) {
        if let Some(observer) = &self.rules.observer {
            observer.detour(self.id, detour);
        }
    }

    async fn pause(&self, wait: Duration) -> Result<(), Unanswered> {
        let until = match self.rules.policy.pauses {
            Pauses::SatOut => Instant::now() + wait,
            Pauses::Skipped => Instant::now(),
        };
        tokio::select! {
            biased;
            () = self.given_up.cancelled() => Err(Unanswered::GivenUp),
            interruption = self.operation.interrupted() => {
                Err(Unanswered::Failed(interruption.before_sending()))
            }
            () = tokio::time::sleep_until(until) => Ok(()),
        }
    }
}

impl<'a> Ended<'a> {
    fn of((stop, pass): Entered<'a>, attempt: Attempt, claim: &Claim) -> Self {
        let delta_delivered = claim.heard().is_some();
        pass.settle(attempt.report(delta_delivered));
        Self { stop, attempt, delta_delivered, unnoted: None }
    }
}

impl Failed<'_> {
    /// Whether it says no more than that a fallback is too small.
    fn is_about_a_fallback(&self) -> bool {
        self.stop.place > 0 && retry::is_about_size(&self.failure)
    }
}

impl Course {
    /// What the call fails with: that a fallback is too small says nothing about the model that was
    /// asked for, and must not shorten a history that fits it.
    fn give_up(&mut self, failed: Failed<'_>) -> Unanswered {
        let earlier = self.earlier.take().filter(|_| failed.is_about_a_fallback());
        Unanswered::Failed(earlier.unwrap_or(failed.failure))
    }
}

/// States in the receipt where the call goes on: nothing is repeated silently, and nothing is said
/// to be repeated whose wait was broken off.
fn state_detour(failed: &Failed<'_>, next: Stop<'_>, account: &mut Account) {
    let last = account.requests_made().saturating_sub(1);
    let (from, to, code) = (failed.stop.candidate, next.candidate, &failed.failure.code);
    if failed.failure.commit == CommitDisposition::Unknown {
        tracing::info!(request = last, code, "sent again after an unknown outcome");
        account.repeat_the_last();
    }
    if next.place != failed.stop.place {
        tracing::info!(request = last, code, "a fallback is asked after a failure");
        account.lose(format!("{} failed ({code}), {} was asked instead", from.name(), to.name()));
    }
}

/// Waits for the first attempt as long as it is asked alone.
async fn slow(
    first: &mut (impl Future<Output = Attempt> + Unpin),
    delay: Option<Duration>,
    claim: &Claim,
) -> Slow {
    let Some(delay) = delay else { return Slow::Ended(first.await) };
    tokio::select! {
        biased;
        attempt = first => Slow::Ended(attempt),
        () = tokio::time::sleep(delay) => match claim.heard() {
            Some(_) => Slow::Heard,
            None => Slow::Silent,
        },
    }
}

/// Notes an attempt. Goes on with its failure, about which the policy has to decide, or breaks off
/// with the outcome of the call.
async fn noted(
    attempt: Attempt,
    account: &mut Account,
) -> ControlFlow<Result<ModelResponse, Unanswered>, PortFailure> {
    let (noted, outcome) = match attempt {
        Attempt::Answered(response) => (account.answered(&response).await, Ok(response)),
        Attempt::Broken => (account.abandoned().await, Err(Unanswered::GivenUp)),
        Attempt::Unneeded => (Ok(()), Err(Unanswered::GivenUp)),
        Attempt::Failed(failure) => match account.failed(&failure).await {
            Ok(()) => return ControlFlow::Continue(failure),
            Err(lost) => (Err(lost), Err(Unanswered::Failed(failure))),
        },
    };
    ControlFlow::Break(noted.map_err(Unanswered::Failed).and(outcome))
}

/// Enough for jitter, which needs no quality.
fn random_fraction() -> f64 {
    // Version and variant stand in the middle; the last four bytes are random throughout.
    let [.., a, b, c, d] = Uuid::new_v4().into_bytes();
    f64::from(u32::from_be_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
}
