//! How a turn ends before its answer: its time is up, or somebody cancels it.
//!
//! Knows nothing about why it is cancelled.

use std::time::Duration;

use runtime_ports::{AgentTurn, CommitDisposition, PortFailureKind as Kind, TurnEnd, TurnStart};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::{
    Broken, Proof,
    claim::{BRIEFLY, SOON, claim, equal, failed, within},
    model::ProviderReply,
    turn::{
        StagedTurns, TurnHarness, TurnPlan,
        course::{call, follow, follow_to_the_end, next, read_result, stage, text},
    },
};

const SILENCE: ProviderReply = ProviderReply::StallBeforeAnswer;

pub(crate) async fn a_timeout_ends_the_turn(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [SILENCE]).await?;
    let mut start = staged.start();
    start.request.timeout = Some(BRIEFLY);
    let mut turn = staged.begin(&start).await?;
    let ending = follow_to_the_end(turn.as_mut());
    let course = within("the turn past its timeout", BRIEFLY + SOON, ending).await??;
    let (failure, receipt) = course.must_fail()?;
    equal("the kind of the failure", &failure.kind, &Kind::Timeout)?;
    equal("its disposition", &failure.commit, &CommitDisposition::Unknown)?;
    let settled = staged.settled(start.operation_id, TurnEnd::TimedOut).await?;
    equal("the receipt in the failure", receipt, &settled)
}

pub(crate) async fn the_timeout_spares_the_host(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [call("call-1"), text("done")]).await?;
    let mut start = staged.start();
    start.request.timeout = Some(BRIEFLY);
    let mut turn = staged.begin(&start).await?;
    let id = follow(turn.as_mut()).await?.must_call()?;
    sleep(BRIEFLY + BRIEFLY / 2).await;
    let answered = turn.respond(&id, read_result("after long work")).await;
    claim(answered.is_ok(), || format!("the answer after long work failed: {answered:?}"))?;
    follow_to_the_end(turn.as_mut()).await?.completion()?;
    staged.settled(start.operation_id, TurnEnd::Completed).await.map(drop)
}

/// Cancels `operation` while the turn is waited for; the turn fails soon, receipted as cancelled.
async fn cancelled_while_waiting(
    staged: &StagedTurns,
    start: &TurnStart,
    turn: &mut dyn AgentTurn,
    operation: Uuid,
) -> Proof {
    let cancelling = async {
        sleep(BRIEFLY / 8).await;
        (staged.cancel(operation).await, Instant::now())
    };
    let following = async { (follow_to_the_end(turn).await, Instant::now()) };
    let ((running, cancelled), (course, ended)) = tokio::join!(cancelling, following);
    equal("whether something was running", &running?, &true)?;
    let late = ended.saturating_duration_since(cancelled);
    claim(late <= SOON, || format!("the turn ended {late:?} after its cancellation"))?;
    let course = course?;
    let (failure, receipt) = course.must_fail()?;
    equal("the kind of the failure", &failure.kind, &Kind::Canceled)?;
    let settled = staged.settled(start.operation_id, TurnEnd::Cancelled).await?;
    equal("the receipt in the failure", receipt, &settled)
}

pub(crate) async fn cancelling_ends_the_turn(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [SILENCE]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    cancelled_while_waiting(&staged, &start, turn.as_mut(), start.operation_id).await
}

pub(crate) async fn cancelling_an_answering_turn_ends_it(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [call("call-1"), text("done")]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    let id = follow(turn.as_mut()).await?.must_call()?;
    equal("whether something was running", &staged.cancel(start.operation_id).await?, &true)?;
    let settled = staged.settled(start.operation_id, TurnEnd::Cancelled).await?;
    failed("an answer after cancellation", turn.respond(&id, read_result("too-late")).await)?;
    let failure = failed("the event after cancellation", next(turn.as_mut()).await?)?;
    equal("the kind of its failure", &failure.failure.kind, &Kind::Canceled)?;
    equal("its receipt", &failure.receipt.as_deref(), &Some(&settled))?;
    claim(!staged.world.was_sent("too-late"), || "the late answer was sent".into())
}

pub(crate) async fn cancelling_twice_is_harmless(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [SILENCE]).await?;
    let start = staged.start();
    let turn = staged.begin(&start).await?;
    equal("whether something was running", &staged.cancel(start.operation_id).await?, &true)?;
    staged.settled(start.operation_id, TurnEnd::Cancelled).await?;
    equal("the second cancel", &staged.cancel(start.operation_id).await?, &false)?;
    equal("the cancel of a stranger", &staged.cancel(Uuid::new_v4()).await?, &false)?;
    drop(turn);
    staged.settled(start.operation_id, TurnEnd::Cancelled).await.map(drop)
}

async fn refuses_as_cancelled(staged: &StagedTurns, start: TurnStart) -> Proof {
    let failure = staged.refused_start(start).await?;
    equal("the kind of the refusal", &failure.kind, &Kind::Canceled)?;
    equal("its disposition", &failure.commit, &CommitDisposition::NotCommitted)?;
    staged.nothing_happened().await
}

pub(crate) async fn cancelling_is_sticky(harness: &dyn TurnHarness) -> Proof {
    let staged = harness.stage(TurnPlan::nothing()).await?;
    let start = staged.start();
    equal("whether something was running", &staged.cancel(start.operation_id).await?, &false)?;
    refuses_as_cancelled(&staged, start.clone()).await?;
    refuses_as_cancelled(&staged, start).await
}

pub(crate) async fn a_cancelled_parent_starts_nothing(harness: &dyn TurnHarness) -> Proof {
    let staged = harness.stage(TurnPlan::nothing()).await?;
    let parent = Uuid::new_v4();
    staged.cancel(parent).await?;
    let start = TurnStart { parent_operation_id: Some(parent), ..staged.start() };
    refuses_as_cancelled(&staged, start).await
}

/// Three turns without answers: a parent, its child, and a stranger.
struct Family {
    staged: StagedTurns,
    starts: [TurnStart; 3],
    turns: [Box<dyn AgentTurn>; 3],
}

async fn family(harness: &dyn TurnHarness) -> Result<Family, Broken> {
    let staged = harness.stage(TurnPlan(vec![vec![SILENCE]; 3])).await?;
    let parent = staged.start();
    let of_parent = Some(parent.operation_id);
    let child = TurnStart { parent_operation_id: of_parent, ..staged.start() };
    let starts = [parent, child, staged.start()];
    let turns = [
        staged.begin(&starts[0]).await?,
        staged.begin(&starts[1]).await?,
        staged.begin(&starts[2]).await?,
    ];
    Ok(Family { staged, starts, turns })
}

impl Family {
    /// The turns at these places were cancelled; the others run, until they are cancelled here.
    async fn only_cancelled(self, places: &[usize]) -> Proof {
        for place in places {
            let id = self.starts[*place].operation_id;
            self.staged.settled(id, TurnEnd::Cancelled).await?;
        }
        sleep(Duration::from_millis(50)).await;
        for place in (0..3).filter(|place| !places.contains(place)) {
            let running = self.staged.cancel(self.starts[place].operation_id).await?;
            claim(running, || format!("turn {place} was ended, too"))?;
        }
        drop(self.turns);
        Ok(())
    }
}

pub(crate) async fn cancelling_a_parent_ends_its_descendants(harness: &dyn TurnHarness) -> Proof {
    let family = family(harness).await?;
    let grandparent = family.starts[0].parent_operation_id.unwrap_or_default();
    equal("whether something was running", &family.staged.cancel(grandparent).await?, &true)?;
    family.only_cancelled(&[0, 1]).await
}

pub(crate) async fn cancelling_a_child_spares_its_parent(harness: &dyn TurnHarness) -> Proof {
    let family = family(harness).await?;
    let child = family.starts[1].operation_id;
    equal("whether something was running", &family.staged.cancel(child).await?, &true)?;
    family.only_cancelled(&[1]).await
}
