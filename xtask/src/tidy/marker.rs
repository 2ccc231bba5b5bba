//! Decides whether a line carries a comment that a rule asks for.

/// Whether the comment directly above a line, or one at its end, begins with one of the markers and
/// goes on with a reason. Lines are counted from one.
pub(super) fn is_marked(lines: &[&str], line: usize, markers: &[&str]) -> bool {
    let above = lines[..line - 1].iter().rev().take_while(|text| text.trim().starts_with("//"));
    above.chain(lines.get(line - 1)).any(|text| {
        let comment = text.split_once("// ").map_or("", |(_, comment)| comment);
        let reasons = markers.iter().filter_map(|marker| comment.strip_prefix(marker));
        reasons.into_iter().any(|reason| !reason.trim().is_empty())
    })
}
