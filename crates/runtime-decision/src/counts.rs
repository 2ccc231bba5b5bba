//! Decides how counts that may be unknown are kept in little room.
//!
//! Knows nothing about what is counted. Invariant: what was unknown stays unknown, and no count is
//! taken for it.

#[cfg(test)]
mod tests;

use runtime_ports::TokenUsage;

/// At most eight counts. An `Option<u64>` takes 16 bytes, of which one bit says whether it is known;
/// here these bits share a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts<const N: usize> {
    values: [u64; N],
    known: u8,
}

impl<const N: usize> Counts<N> {
    pub(crate) fn of(counts: [Option<u64>; N]) -> Self {
        const { assert!(N <= 8, "one byte says which are known") };
        let known =
            counts.iter().rev().fold(0, |known, count| known << 1 | u8::from(count.is_some()));
        Self { values: counts.map(Option::unwrap_or_default), known }
    }

    pub(crate) fn get(&self) -> [Option<u64>; N] {
        std::array::from_fn(|place| {
            Some(self.values[place]).filter(|_| self.known >> place & 1 == 1)
        })
    }
}

impl Counts<5> {
    pub(crate) fn usage(&self) -> TokenUsage {
        usage_of(self.get())
    }
}

/// The usage of these fields, in the order of their declaration.
pub(crate) const fn usage_of(fields: [Option<u64>; 5]) -> TokenUsage {
    let [input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens] =
        fields;
    TokenUsage {
        input_tokens,
        output_tokens,
        cached_input_tokens,
        cache_write_tokens,
        reasoning_tokens,
    }
}

/// Writes usage as the list of its five counts.
pub(crate) mod compact_usage {
    use runtime_ports::TokenUsage;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        usage: &TokenUsage,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        usage.fields().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<TokenUsage, D::Error> {
        <[Option<u64>; 5]>::deserialize(deserializer).map(super::usage_of)
    }
}
