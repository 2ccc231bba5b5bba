//! Decides what a receipt says was lost, and how often it says it.
//!
//! Knows nothing about why. Invariant: each loss is told once, however many requests of a turn it
//! befell: what differs between requests is counted, and the whole has an end.

use std::fmt::Write as _;

/// Most sentences of one receipt; what comes after them is counted.
const MOST_SENTENCES: usize = 64;

/// Most ranges of requests that one sentence names.
const MOST_RANGES: usize = 8;

/// What was lost so far, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct LossList {
    losses: Vec<Loss>,
    untold: u64,
}

/// What another provider was not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Omission {
    /// Reasoning by `issuer`, for `to`.
    Reasoning { issuer: String, to: String },
    /// Pictures, for `to`.
    Pictures { to: String },
}

/// What befell a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Befallen {
    /// It went to `to`, in the place of `from`.
    Substituted { from: String, to: String },
    /// Its outcome is unknown, and it was sent once more.
    Repeated,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Loss {
    Said(String),
    /// With the most that a request lacked.
    Omitted(Omission, u64),
    Befell(Befallen, Ordinals),
}

/// Requests of a turn, as ranges; ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Ordinals {
    ranges: Vec<(u32, u32)>,
    more: u64,
}

impl LossList {
    /// States a loss that has no parts.
    pub(crate) fn say(&mut self, sentence: String) {
        let loss = Loss::Said(sentence);
        if !self.losses.contains(&loss) {
            self.add(loss);
        }
    }

    /// States that a request lacks so much of something.
    pub(crate) fn omit(&mut self, omission: Omission, count: u64) {
        let known = self.losses.iter_mut().find_map(|loss| match loss {
            Loss::Omitted(known, most) if *known == omission => Some(most),
            _ => None,
        });
        match known {
            Some(most) => *most = count.max(*most),
            None => self.add(Loss::Omitted(omission, count)),
        }
    }

    /// States what befell a request.
    pub(crate) fn befell(&mut self, befallen: Befallen, ordinal: u32) {
        let known = self.losses.iter_mut().find_map(|loss| match loss {
            Loss::Befell(known, ordinals) if *known == befallen => Some(ordinals),
            _ => None,
        });
        match known {
            Some(ordinals) => ordinals.add(ordinal),
            None => self.add(Loss::Befell(befallen, Ordinals::of(ordinal))),
        }
    }

    /// One sentence for each loss, in the order in which they came first.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<_> = self.losses.iter().map(Loss::sentence).collect();
        if self.untold > 0 {
            sentences.push(format!("{} more losses are not listed", self.untold));
        }
        sentences
    }

    fn add(&mut self, loss: Loss) {
        if self.losses.len() < MOST_SENTENCES {
            self.losses.push(loss);
        } else {
            self.untold = self.untold.saturating_add(1);
        }
    }
}

impl Loss {
    fn sentence(&self) -> String {
        match self {
            Self::Said(sentence) => sentence.clone(),
            Self::Omitted(Omission::Reasoning { issuer, to }, most) => {
                let pieces = counted(*most, "piece", "pieces");
                format!("{pieces} of reasoning by {issuer} left out for {to}")
            }
            Self::Omitted(Omission::Pictures { to }, most) => {
                format!("{} replaced by a note for {to}", counted(*most, "picture", "pictures"))
            }
            Self::Befell(Befallen::Substituted { from, to }, requests) => {
                format!("{} went to {to}, in the place of {from}", requests.named())
            }
            Self::Befell(Befallen::Repeated, requests) if requests.is_one() => format!(
                "{} got no conclusive answer and was sent once more; it may have been billed",
                requests.named()
            ),
            Self::Befell(Befallen::Repeated, requests) => format!(
                "{} got no conclusive answer and were sent once more each; \
                 they may have been billed",
                requests.named()
            ),
        }
    }
}

impl Ordinals {
    fn of(ordinal: u32) -> Self {
        Self { ranges: vec![(ordinal, ordinal)], more: 0 }
    }

    fn add(&mut self, ordinal: u32) {
        let has_room = self.ranges.len() < MOST_RANGES;
        match self.ranges.last_mut() {
            _ if self.more > 0 => self.more = self.more.saturating_add(1),
            Some((_, last)) if *last >= ordinal => {}
            Some((_, last)) if last.checked_add(1) == Some(ordinal) => *last = ordinal,
            _ if has_room => self.ranges.push((ordinal, ordinal)),
            _ => self.more = 1,
        }
    }

    fn is_one(&self) -> bool {
        self.more == 0 && matches!(self.ranges[..], [(first, last)] if first == last)
    }

    fn named(&self) -> String {
        let mut text = String::from(if self.is_one() { "request " } else { "requests " });
        for (place, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            // Writing to a string does not fail.
            let _ = match last - first {
                0 => write!(text, "{comma}{first}"),
                1 => write!(text, "{comma}{first}, {last}"),
                _ => write!(text, "{comma}{first} to {last}"),
            };
        }
        if self.more > 0 {
            let _ = write!(text, " and {} more", self.more);
        }
        text
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
