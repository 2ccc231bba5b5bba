//! Decides how the records of cycles are written into a stored run, which has many of them.
//!
//! Knows nothing about the run. A record is a list: the cycle, its messages, whether its context
//! was compacted, its five token counts, its results. Invariant: what is written is read again as
//! it was.

use runtime_ports::TokenUsage;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{CycleRecord, ToolRecord, ledger::compact_usage, log::Log};

#[derive(Serialize, Deserialize)]
struct Usage(#[serde(with = "compact_usage")] TokenUsage);

type Written<'a> = (u32, (usize, usize), bool, Usage, &'a [ToolRecord]);
type Read = (u32, (usize, usize), bool, Usage, Vec<ToolRecord>);

pub(crate) fn serialize<S: Serializer>(
    records: &Log<CycleRecord>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(records.iter().map(written))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Log<CycleRecord>, D::Error> {
    let records = Vec::<Read>::deserialize(deserializer)?;
    Ok(records.into_iter().map(read).collect())
}

fn written(record: &CycleRecord) -> Written<'_> {
    let usage = Usage(record.token_usage);
    (record.cycle, record.messages, record.memory_compacted, usage, &record.tool_results)
}

fn read((cycle, messages, memory_compacted, usage, tool_results): Read) -> CycleRecord {
    CycleRecord { cycle, messages, memory_compacted, token_usage: usage.0, tool_results }
}
