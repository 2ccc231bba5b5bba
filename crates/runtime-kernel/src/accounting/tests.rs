//! Both failures stay in sight, by text and by type.

use anyhow::anyhow;
use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind};

use super::AccountingError;

#[test]
fn both_failures_can_be_read_and_told_apart() {
    let unavailable = PortFailureKind::Unavailable;
    let first = PortFailure::in_flight_unknown(unavailable, "CUT", "the model went away");
    let disk = PortFailure::not_sent(unavailable, "FULL", "no space");
    let accounting = anyhow::Error::from(disk.clone()).context("the ledger is down");

    let error = AccountingError::during(accounting, first.clone().into()).context("run 7");

    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    let expected = ["run 7", "the ledger is down: FULL: no space", "CUT: the model went away"];
    assert_eq!(chain, expected);
    assert_eq!(error.root_cause().downcast_ref(), Some(&first));
    let found: &PortFailure = error.downcast_ref().unwrap();
    assert_eq!(found.commit, CommitDisposition::Unknown, "the model's disposition, not the disk's");
    let kept = error.downcast_ref::<AccountingError>().unwrap();
    assert_eq!(kept.accounting().downcast_ref(), Some(&disk));
}

#[test]
fn the_first_failure_is_the_source() {
    let error = AccountingError::during(anyhow!("second"), anyhow!("first"));
    assert_eq!(error.to_string(), "second");
    assert_eq!(error.source().unwrap().to_string(), "first");
}
