//! Decides whether every port says what it promises, and what a cancelled call leaves behind.

use std::{fs, path::Path};

const SECTIONS: [&str; 2] = ["/// # Contract", "/// # Cancellation"];

/// Name and doc of every public trait of a source.
fn ports(source: &str) -> Vec<(String, String)> {
    let is_above = |line: &&str| line.starts_with("///") || line.starts_with("#[");
    let lines: Vec<&str> = source.lines().collect();
    let named = lines.iter().enumerate().filter_map(|(at, line)| {
        let rest = line.strip_prefix("pub trait ")?;
        let name = rest.chars().take_while(|letter| letter.is_alphanumeric()).collect();
        let doc: Vec<_> = lines[..at].iter().rev().copied().take_while(is_above).collect();
        Some((name, doc.join("\n")))
    });
    named.collect()
}

#[test]
fn every_port_has_a_contract_and_a_word_on_cancellation() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sources = sources.filter(|path| path.is_file());
    let ports: Vec<_> =
        sources.flat_map(|path| ports(&fs::read_to_string(path).unwrap())).collect();
    assert!(ports.len() > 15, "the scan found only {ports:?}");
    for (name, doc) in ports {
        for section in SECTIONS {
            assert!(doc.contains(section), "{name} has no section `{section}`");
        }
    }
}
