//! Decides how two listings are compared: changed lines, each under the item it belongs to.

/// The lines that only one of them has, `-` for the agreed and `+` for the found one.
pub(super) fn between(agreed: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (agreed.lines().collect(), found.lines().collect());
    let mut shown = Shown::default();
    let common = common_lengths(&old, &new);
    let (mut at, mut to) = (0, 0);
    while at < old.len() || to < new.len() {
        if at < old.len() && to < new.len() && old[at] == new[to] {
            shown.pass(old[at]);
            (at, to) = (at + 1, to + 1);
        } else if to == new.len() || (at < old.len() && common[at + 1][to] >= common[at][to + 1]) {
            shown.change('-', old[at]);
            at += 1;
        } else {
            shown.change('+', new[to]);
            to += 1;
        }
    }
    shown.text
}

/// For each pair of positions, how many lines the two rests have in common, in order.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut lengths = vec![vec![0; new.len() + 1]; old.len() + 1];
    for at in (0..old.len()).rev() {
        for to in (0..new.len()).rev() {
            lengths[at][to] = if old[at] == new[to] {
                lengths[at + 1][to + 1] + 1
            } else {
                lengths[at + 1][to].max(lengths[at][to + 1])
            };
        }
    }
    lengths
}

#[derive(Default)]
struct Shown {
    text: String,
    /// The item that the next line belongs to, until it has been printed.
    item: Option<String>,
}

impl Shown {
    fn pass(&mut self, line: &str) {
        if !line.starts_with(' ') {
            self.item = Some(line.to_owned());
        }
    }

    fn change(&mut self, sign: char, line: &str) {
        let inner = line.starts_with(' ');
        let item = self.item.take().filter(|_| inner);
        let item = item.map(|item| format!("  {item}\n")).unwrap_or_default();
        self.text.push_str(&format!("{item}{sign} {line}\n"));
    }
}

#[cfg(test)]
mod tests;
