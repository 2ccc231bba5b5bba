//! Decides whether what is serialised still looks as it was promised.
//!
//! Each page of `tests/golden/` holds values of one type. A change of a page is a change of what is
//! stored or sent: a reader of the old form must go on understanding it. `UPDATE_GOLDEN=1` writes
//! the pages anew.

use std::{fmt::Debug, fs, path::PathBuf};

use runtime_ports::{
    CommitDisposition, ContextAuditSnapshot, Digest, GenerationOptions, JournalRecordKind,
    ModelContent, PortFailure, Price, TokenUsage, UtcDay,
};
use serde::{Serialize, de::DeserializeOwned};

#[path = "pages/execution.rs"]
mod execution;
#[path = "pages/model.rs"]
mod model;
#[path = "pages/receipts.rs"]
mod receipts;
#[path = "pages/stores.rs"]
mod stores;
#[path = "pages/tools.rs"]
mod tools;

/// Reads a page and compares it with the values that it was written from.
type ReadAgain = Box<dyn Fn(&str) -> Result<(), String>>;

/// The values of one type, as they are written and read again.
struct Page {
    name: &'static str,
    written: String,
    read_again: ReadAgain,
}

impl Page {
    fn of<T>(name: &'static str, values: Vec<T>) -> Self
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug + 'static,
    {
        let mut written = serde_json::to_string_pretty(&values).expect("valid JSON");
        written.push('\n');
        let read_again = Box::new(move |text: &str| {
            let read: Vec<T> = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let same = read == values;
            same.then_some(()).ok_or_else(|| format!("read {read:#?}, expected {values:#?}"))
        });
        Self { name, written, read_again }
    }
}

fn pages() -> Vec<Page> {
    let mut pages = model::pages();
    pages.extend(receipts::pages());
    pages.extend(tools::pages());
    pages.extend(stores::pages());
    pages.extend(execution::pages());
    pages
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1")
}

#[test]
fn values_are_written_as_promised_and_read_again() {
    let mut problems = Vec::new();
    for page in pages() {
        let path = folder().join(page.name).with_extension("json");
        if updating() {
            fs::write(&path, &page.written).expect("a writable golden folder");
        }
        let golden = fs::read_to_string(&path).unwrap_or_default();
        if golden != page.written {
            problems.push(format!("{}: now written as\n{}", page.name, page.written));
        }
        if let Err(problem) = (page.read_again)(&golden) {
            problems.push(format!("{}: {problem}", page.name));
        }
    }
    assert!(problems.is_empty(), "UPDATE_GOLDEN=1 rewrites the pages\n{}", problems.join("\n"));
}

#[test]
fn every_file_is_a_page() {
    if updating() {
        return;
    }
    let mut expected: Vec<_> = pages().iter().map(|page| format!("{}.json", page.name)).collect();
    let files = fs::read_dir(folder()).expect("a golden folder");
    let name = |file: fs::DirEntry| file.file_name().to_string_lossy().into_owned();
    let mut found: Vec<_> = files.map(|file| name(file.expect("an entry"))).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn objects_are_written_with_sorted_keys() {
    let parsed: serde_json::Value = serde_json::from_str(r#"{"b":1,"a":{"d":2,"c":3}}"#).unwrap();
    let sorted = r#"{"a":{"c":3,"d":2},"b":1}"#;
    assert_eq!(parsed.to_string(), sorted, "a dependency switched `preserve_order` on");
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("an older form")
}

#[test]
fn forms_without_the_later_fields_are_read() {
    let failure =
        r#"{"kind":"timeout","code":"C","message":"m","retryable":false,"commit":"unknown"}"#;
    let failure: PortFailure = read(failure);
    assert_eq!((failure.retry_after, failure.attempts), (None, Vec::new()));
    assert_eq!(read::<TokenUsage>("{}"), TokenUsage::default());
    assert_eq!(
        read::<TokenUsage>(r#"{"inputTokens":null,"outputTokens":0}"#).output_tokens,
        Some(0)
    );
    assert_eq!(read::<GenerationOptions>("{}"), GenerationOptions::default());
    let snapshot = r#"{"id":"s","stage":"original","purpose":"cycle","messages":[],"tools":[],
        "protocolOverheadTokens":0,"reservedOutputTokens":0,"estimatedTokens":0,"requestDigest":""}"#;
    let snapshot: ContextAuditSnapshot = read(snapshot);
    assert_eq!((snapshot.segments, snapshot.compared_with), (Vec::new(), None));
}

#[test]
fn what_is_unknown_is_refused_where_guessing_would_cost() {
    fn refused<T: DeserializeOwned>(text: &str) {
        assert!(serde_json::from_str::<T>(text).is_err(), "{text}");
    }
    refused::<ModelContent>(r#"{"type":"video","url":"x"}"#);
    refused::<CommitDisposition>(r#""perhaps""#);
    refused::<JournalRecordKind>(r#""note""#);
    refused::<Price>(r#"{"input":1,"cachedInput":null,"cacheWrite":null,"output":1,"outptu":2}"#);
    refused::<Digest>(r#""E3B0""#);
    refused::<UtcDay>(r#""2026-02-30""#);
}
