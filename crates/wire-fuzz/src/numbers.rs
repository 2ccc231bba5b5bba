//! Decides which counts can have come from some bytes.

use std::collections::BTreeSet;

/// More numbers than this explain any count.
const MOST: usize = 64;

/// The whole numbers that stand in some bytes.
pub(crate) struct Numbers(BTreeSet<u64>);

impl Numbers {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let words = bytes.split(|byte| !is_part(byte));
        let words = words.filter_map(|word| std::str::from_utf8(word).ok());
        Self(words.filter_map(whole).collect())
    }

    /// Whether `count` is one of them, or the sum of two or three.
    pub(crate) fn explain(&self, count: u64) -> bool {
        let Self(numbers) = self;
        let rest = |of: u64, part: &u64| of.checked_sub(*part);
        let two = |of: u64| {
            numbers.iter().filter_map(|part| rest(of, part)).any(|left| numbers.contains(&left))
        };
        numbers.len() > MOST
            || numbers.contains(&count)
            || two(count)
            || numbers.iter().filter_map(|part| rest(count, part)).any(two)
    }
}

fn whole(word: &str) -> Option<u64> {
    let float = || word.parse::<f64>().ok().filter(|number| *number >= 0.0 && *number < 9e18);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    word.parse().ok().or_else(|| float().map(|number| number as u64))
}
