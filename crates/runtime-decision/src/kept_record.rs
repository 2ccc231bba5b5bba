//! Decides what is kept of a cycle while its run goes on: in memory, and in a stored run.
//!
//! Knows nothing about the run. A stored record is a list: the cycle, its messages, whether its
//! context was compacted, its five token counts, its results. Invariant: the record that is made
//! of it is the one that it was made of.

use runtime_ports::TokenUsage;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{CycleRecord, ToolRecord, counts::Counts};

/// A [`CycleRecord`] in less room, since there is one of each cycle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeptRecord {
    pub(crate) messages: (usize, usize),
    pub(crate) tool_results: Box<[ToolRecord]>,
    token_counts: Counts<5>,
    cycle: u32,
    memory_compacted: bool,
}

type Written<'a> = (u32, (usize, usize), bool, [Option<u64>; 5], &'a [ToolRecord]);
type Read = (u32, (usize, usize), bool, [Option<u64>; 5], Box<[ToolRecord]>);

impl KeptRecord {
    /// Of a cycle whose answer is at `messages`.
    pub(crate) fn opened(
        cycle: u32,
        messages: (usize, usize),
        memory_compacted: bool,
        usage: &TokenUsage,
    ) -> Self {
        let (token_counts, tool_results) = (Counts::of(usage.fields()), Box::default());
        Self { messages, tool_results, token_counts, cycle, memory_compacted }
    }

    pub(crate) fn record(&self) -> CycleRecord {
        CycleRecord {
            cycle: self.cycle,
            messages: self.messages,
            memory_compacted: self.memory_compacted,
            token_usage: self.token_counts.usage(),
            tool_results: self.tool_results.to_vec(),
        }
    }
}

impl Serialize for KeptRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = self.token_counts.get();
        let written: Written<'_> =
            (self.cycle, self.messages, self.memory_compacted, counts, &self.tool_results);
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KeptRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (cycle, messages, memory_compacted, counts, tool_results) =
            Read::deserialize(deserializer)?;
        let token_counts = Counts::of(counts);
        Ok(Self { messages, tool_results, token_counts, cycle, memory_compacted })
    }
}
