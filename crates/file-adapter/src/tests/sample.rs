//! Decides what the receipts, stores and operations of the tests look like.

use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
    time::Duration,
};

use runtime_ports::{
    AgentProvider, Metering, OperationContext, RequestMeter, TokenUsage, TurnEnd, UsageReceipt,
};
use runtime_types::{ExecutionId, OperationId};
use tempfile::TempDir;
use uuid::Uuid;

use crate::{
    FileReceiptStore,
    record::{Change, RECORD_VERSION, Record},
};

/// 2026-11-29, in Unix milliseconds.
const START: u64 = 1_795_910_400_000;

pub(crate) fn id(turn: u64) -> Uuid {
    Uuid::from_u128(u128::from(turn))
}

pub(crate) fn opened(turn: u64) -> UsageReceipt {
    UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: id(turn),
        parent_operation_id: Some(id(1_000_000)),
        user_id: "ada".into(),
        requested_model: "fast".into(),
        provider: AgentProvider::new("offline"),
        provider_model: "offline-1 \"quoted\" ü\n".into(),
        thread_id: None,
        started_at_ms: START + turn,
        ended_at_ms: START + turn,
        end: TurnEnd::Interrupted,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: true,
        cost_nano_usd: None,
        losses: Vec::new(),
    }
}

pub(crate) fn meter(tokens: u64) -> RequestMeter {
    let usage =
        TokenUsage { input_tokens: Some(tokens), output_tokens: Some(0), ..TokenUsage::default() };
    RequestMeter {
        provider_request_id: Some(format!("request-{tokens}")),
        metering: Metering::Tokens(usage),
        end: TurnEnd::Completed,
        cost_nano_usd: Some(tokens * 3),
    }
}

pub(crate) fn settled(turn: u64) -> UsageReceipt {
    UsageReceipt {
        ended_at_ms: START + turn + 7,
        end: TurnEnd::Completed,
        requests: vec![meter(turn)],
        metering: meter(turn).metering,
        is_lower_bound: false,
        cost_nano_usd: Some(turn * 3),
        ..opened(turn)
    }
}

pub(crate) fn operation() -> OperationContext {
    operation_of(Duration::from_secs(30))
}

pub(crate) fn operation_of(timeout: Duration) -> OperationContext {
    let id = OperationId::new("test").expect("the id is valid");
    OperationContext::root(id, ExecutionId::new("run").expect("the id is valid"), timeout)
}

pub(crate) fn store(folder: &Path) -> FileReceiptStore {
    FileReceiptStore::open(folder).expect("the folder can be used")
}

pub(crate) fn record(change: Change) -> Record {
    Record { version: RECORD_VERSION, owner: id(77), change }
}

pub(crate) fn open(turn: u64) -> Change {
    Change::Opened { receipt: opened(turn) }
}

pub(crate) fn note(turn: u64, ordinal: u32) -> Change {
    Change::Noted { turn: id(turn), ordinal, meter: meter(u64::from(ordinal)) }
}

pub(crate) fn settle(turn: u64) -> Change {
    Change::Settled { receipt: settled(turn) }
}

/// The line of a change, with its line feed.
pub(crate) fn line(change: Change) -> String {
    record(change).to_line().expect("the sample can be stored")
}

/// An empty folder that is for its owner alone, whatever the umask of who runs the tests.
pub(crate) fn empty_folder() -> TempDir {
    let mut builder = tempfile::Builder::new();
    builder.permissions(Permissions::from_mode(0o700)).tempdir().expect("a folder can be made")
}

/// The bytes of the receipts in `folder`.
pub(crate) fn bytes(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("receipts.jsonl")).expect("there are receipts")
}

/// Puts these bytes in place of the receipts in `folder`.
pub(crate) fn put_bytes(folder: &Path, bytes: impl AsRef<[u8]>) {
    write(&folder.join("receipts.jsonl"), bytes);
}

/// Writes a file that is for its owner alone, whatever the umask of who runs the tests.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(bytes.as_ref())).expect("the folder can be written");
}

/// Makes a folder that is for its owner alone.
pub(crate) fn make_folder(path: &Path) {
    DirBuilder::new().mode(0o700).create(path).expect("the folder can be made");
}
