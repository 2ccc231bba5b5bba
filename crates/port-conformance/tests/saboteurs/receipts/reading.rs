//! What the saboteur does wrong when it reads.
//!
//! Knows nothing about how it was written.

use runtime_ports::{
    OperationContext, PortFailure, PortFailureKind, ReceiptTotals, UsageReceipt, UsageTotal, UtcDay,
};
use uuid::Uuid;

use super::{ReceiptFault as Fault, SabotagedStore};

impl SabotagedStore {
    pub(super) async fn unsettled_badly(
        &self,
        operation: &OperationContext,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        let mut turns = self.honest.unsettled(operation).await?;
        match self.fault {
            Fault::ShowsTheLiving => {
                let memory = self.memory();
                let open = memory.opened.iter().filter(|turn| {
                    let id = turn.operation_id;
                    !memory.settled.iter().any(|settled| settled.operation_id == id)
                });
                turns = open.cloned().collect();
            }
            Fault::HidesTheDead => turns.clear(),
            Fault::ShowsTheNewestFirst => turns.reverse(),
            Fault::KeepsRefusedNotes => {
                let refused = self.memory().refused.clone();
                for turn in &mut turns {
                    let of_turn = refused.iter().filter(|it| it.0 == turn.operation_id);
                    let meters = of_turn.map(|it| it.1.clone());
                    let count = meters.clone().count().min(turn.requests.len());
                    turn.requests.splice(..count, meters);
                }
            }
            _ => {}
        }
        Ok(turns)
    }

    pub(super) async fn list_badly(
        &self,
        operation: &OperationContext,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        let asked = match self.fault {
            Fault::ExceedsTheLimit => limit + 1,
            _ => limit,
        };
        let page = self.honest.list(operation, after, asked).await;
        let unknown = page.as_ref().is_err_and(|failure| failure.kind == PortFailureKind::NotFound);
        if unknown && self.fault == Fault::ForgivesUnknownCursors {
            return self.honest.list(operation, None, limit).await;
        }
        let mut page = page?;
        let memory = self.memory();
        match self.fault {
            Fault::ListsOpenTurns => page.extend(memory.opened.iter().cloned()),
            Fault::ListsAsOpened => page.sort_by_key(|receipt| {
                memory.opened.iter().position(|it| it.operation_id == receipt.operation_id)
            }),
            Fault::ListsRepetitions => page.clone_from(&memory.settled),
            Fault::RepeatsTheCursor => {
                let cursor = memory.settled.iter().find(|it| Some(it.operation_id) == after);
                page.splice(0..0, cursor.cloned());
            }
            _ => {}
        }
        Ok(page)
    }

    pub(super) async fn totals_badly(
        &self,
        operation: &OperationContext,
        utc_day: UtcDay,
    ) -> Result<Vec<ReceiptTotals>, PortFailure> {
        let mut sums = self.honest.totals(operation, utc_day).await?;
        let complete = |sum: UsageTotal| UsageTotal { complete: true, ..sum };
        match self.fault {
            Fault::ReversesTotals => sums.reverse(),
            Fault::SumsOpenTurns => sums = ReceiptTotals::sum(&self.memory().opened),
            Fault::MergesUsers => {
                sums = self.resummed(|receipt| receipt.user_id = "all".into());
                sums.retain(|sum| sum.utc_day == utc_day);
            }
            Fault::MistakesMidnight => {
                sums = self.resummed(|receipt| receipt.started_at_ms += 1_000);
                sums.retain(|sum| sum.utc_day == utc_day);
            }
            Fault::CompletesSums => {
                for sum in &mut sums {
                    sum.input_tokens = complete(sum.input_tokens);
                    sum.output_tokens = complete(sum.output_tokens);
                    sum.cost_nano_usd = complete(sum.cost_nano_usd);
                }
            }
            _ => {}
        }
        Ok(sums)
    }

    /// The sums over receipts that are taken for others.
    fn resummed(&self, mistake: impl Fn(&mut UsageReceipt)) -> Vec<ReceiptTotals> {
        let mut receipts = self.memory().settled.clone();
        receipts.iter_mut().for_each(mistake);
        ReceiptTotals::sum(&receipts)
    }
}
