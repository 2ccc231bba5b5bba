//! Decides what the events of the scenarios look like, and how they are appended and read.
//!
//! Knows nothing about what is expected of the store.

use runtime_ports::{OperationContext, PortFailure, TraceRecord};
use runtime_types::ExecutionId;
use serde_json::{Value, json};
use uuid::Uuid;

use super::TracePorts;
use crate::{
    Broken, Proof,
    claim::{claim, equal, operation, success},
};

/// The type of a [`numbered`] event.
pub(super) const NUMBERED: &str = "cycle_started";

/// More events than any scenario appends.
const EVERYTHING: usize = 100_000;

pub(super) fn new_run() -> ExecutionId {
    ExecutionId::from(Uuid::new_v4())
}

/// A living operation of this run.
pub(super) fn of(run: &ExecutionId) -> OperationContext {
    OperationContext { execution_id: run.clone(), ..operation() }
}

/// The payload that says which event it is. It is long enough to be caught half written.
pub(super) fn numbered(number: usize) -> Value {
    json!({ "number": number, "text": "·".repeat(200) })
}

pub(super) async fn append(
    ports: &TracePorts,
    run: &ExecutionId,
    event_type: &str,
    payload: Value,
) -> Proof {
    success("appending", ports.session.append(&of(run), event_type, payload).await)
}

/// Appends the [`numbered`] event under a new operation.
pub(super) async fn append_number(ports: &TracePorts, run: &ExecutionId, number: usize) -> Proof {
    append(ports, run, NUMBERED, numbered(number)).await
}

/// What becomes of the [`numbered`] event under this operation.
pub(super) async fn tried(
    ports: &TracePorts,
    operation: &OperationContext,
    number: usize,
) -> Result<(), PortFailure> {
    ports.session.append(operation, NUMBERED, numbered(number)).await
}

pub(super) async fn page(
    ports: &TracePorts,
    run: &ExecutionId,
    after: u64,
    limit: usize,
) -> Result<Vec<TraceRecord>, Broken> {
    success("reading", ports.reader.read(&operation(), run, after, limit).await)
}

/// The run has exactly these events, numbered from 1.
pub(super) async fn holds(
    ports: &TracePorts,
    run: &ExecutionId,
    expected: &[(&str, Value)],
) -> Proof {
    let records = page(ports, run, 0, EVERYTHING).await?;
    for (record, (event_type, payload)) in records.iter().zip(expected) {
        equal("the type", &*record.event_type, *event_type)?;
        same(&record.payload, payload)?;
    }
    equal("the number of events", &records.len(), &expected.len())?;
    let sequences: Vec<_> = records.iter().map(|record| record.sequence).collect();
    equal("the sequences", &sequences, &(1..=expected.len() as u64).collect())
}

/// Both are equal, and so are their texts: zero has a sign. Megabytes are not printed.
fn same(actual: &Value, expected: &Value) -> Proof {
    let (is, should) = (actual.to_string(), expected.to_string());
    claim(actual == expected && is == should, || {
        let start = |text: &str| text.chars().take(200).collect::<String>();
        let (length, expected) = (is.len(), should.len());
        format!(
            "a payload of {length} bytes is {}, expected {expected} bytes: {}",
            start(&is),
            start(&should)
        )
    })
}

/// The numbers of the [`numbered`] events of these records, in order: each is whole and there
/// once, and the records follow each other without a gap after `after`.
pub(super) fn numbers_of(records: &[TraceRecord], after: u64) -> Result<Vec<usize>, Broken> {
    let mut numbers = Vec::new();
    for (record, sequence) in records.iter().zip(after + 1..) {
        equal("a sequence", &record.sequence, &sequence)?;
        let number = record.payload.get("number").and_then(Value::as_u64);
        let number = number.and_then(|number| usize::try_from(number).ok());
        let number = number.ok_or_else(|| Broken::Claim("an event that nobody appended".into()))?;
        equal("the type", &*record.event_type, NUMBERED)?;
        same(&record.payload, &numbered(number))?;
        claim(!numbers.contains(&number), || format!("event {number} is there twice"))?;
        numbers.push(number);
    }
    Ok(numbers)
}

/// The numbers of all events of the run, which are all [`numbered`].
pub(super) async fn numbers(ports: &TracePorts, run: &ExecutionId) -> Result<Vec<usize>, Broken> {
    numbers_of(&page(ports, run, 0, EVERYTHING).await?, 0)
}
