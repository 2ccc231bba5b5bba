//! Decides whether an audit on disk keeps its form, survives being cut anywhere, and grows with what
//! is new.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use runtime_ports::{
    CommitDisposition, ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot,
    ContextAuditStage, ContextDerivationKind, ContextSegment, ContextSegmentKind, Digest,
    ModelInvocationAudit, ModelInvocationAuditState as State, ModelMessage, ModelRole,
    ModelToolDefinition, PortFailureKind, SegmentChange, TokenUsage, ToolSet, Transcript,
};
use serde_json::json;

use super::sample::{empty_folder, operation, write};
use crate::{AuditContents, FileContextAudit};

const VERSION_1: &str = include_str!("../../golden/audit-v1.jsonl");

fn open(folder: &Path) -> FileContextAudit {
    FileContextAudit::open(folder).expect("the folder can be used")
}

fn bytes(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("audit.jsonl")).expect("there is an audit")
}

fn history(len: usize) -> Transcript {
    let text = |place| ModelMessage::text(ModelRole::User, format!("message {place} \"ü\"\n"));
    (0..len).map(text).collect()
}

fn snapshot(id: &str, messages: Transcript) -> ContextAuditSnapshot {
    let tool = ModelToolDefinition {
        name: "read_file".into(),
        description: "reads".into(),
        input_schema: json!({ "type": "object" }),
    };
    ContextAuditSnapshot {
        id: id.into(),
        stage: ContextAuditStage::Assembled,
        purpose: "cycle".into(),
        tools: ToolSet::new(vec![tool]),
        protocol_overhead_tokens: 1,
        reserved_output_tokens: 2,
        estimated_tokens: 3,
        request_digest: Digest::of(b"request").to_string(),
        segments: vec![ContextSegment {
            kind: ContextSegmentKind::History,
            digest: messages.digest(),
            items: messages.len(),
            estimated_tokens: 4,
            change: SegmentChange::Rewritten { message: Some(1) },
        }],
        compared_with: None,
        messages,
    }
}

fn derivation() -> ContextAuditDerivation {
    ContextAuditDerivation {
        id: "d".into(),
        source_snapshot_id: "one".into(),
        target_snapshot_id: "two".into(),
        kind: ContextDerivationKind::Trim,
        input_tokens: 3,
        output_tokens: 2,
        input_items: 2,
        output_items: 1,
    }
}

fn invocation(state: State) -> ModelInvocationAudit {
    ModelInvocationAudit {
        id: "i".into(),
        request_snapshot_id: "two".into(),
        model: "m".into(),
        state,
        usage: TokenUsage { input_tokens: Some(0), ..TokenUsage::default() },
        error_code: None,
    }
}

/// How many records the script writes.
const STEPS: usize = 6;

/// Writes one record of the script; the same each time.
async fn step(audit: &FileContextAudit, number: usize) {
    let op = operation();
    let kept = match number {
        0 => audit.snapshot(&op, snapshot("one", history(2))).await,
        1 => audit.model_invocation(&op, invocation(State::Prepared)).await,
        2 => audit.snapshot(&op, snapshot("two", history(3))).await,
        3 => audit.derivation(&op, derivation()).await,
        4 => audit.model_invocation(&op, invocation(State::Succeeded)).await,
        _ => {
            let mut other = history(1);
            other.push(ModelMessage::text(ModelRole::Assistant, "another way"));
            audit.snapshot(&op, snapshot("three", other)).await
        }
    };
    kept.expect("it can be kept");
}

async fn contents(audit: &FileContextAudit) -> AuditContents {
    audit.contents(&operation()).await.expect("it can be read")
}

/// What is kept after so many steps, and the bytes of the file.
async fn after(steps: usize) -> (AuditContents, Vec<u8>) {
    let folder = empty_folder();
    let audit = open(folder.path());
    for number in 0..steps {
        step(&audit, number).await;
    }
    (contents(&audit).await, bytes(folder.path()))
}

#[tokio::test]
async fn the_stored_form_is_that_of_the_golden_file_which_reads_back() {
    let (kept, written) = after(STEPS).await;
    let written = String::from_utf8(written).expect("text");
    assert!(written == VERSION_1, "a changed form needs a new version and file:\n{written}");
    let folder = empty_folder();
    write(&folder.path().join("audit.jsonl"), VERSION_1);
    assert_eq!(contents(&open(folder.path())).await, kept);
}

#[tokio::test]
async fn a_file_that_was_cut_anywhere_has_what_was_whole_and_goes_on() {
    let (mut whole, mut ends) = (Vec::new(), Vec::new());
    for steps in 0..=STEPS {
        let (kept, written) = after(steps).await;
        whole.push(kept);
        ends.push(written.len());
    }
    let all = after(STEPS).await.1;
    // Every byte near the ends of lines, and some between.
    let is_near =
        |cut: &usize| ends.iter().any(|end| cut.abs_diff(*end) < 3) || cut.is_multiple_of(97);
    for cut in (0..=all.len()).filter(is_near) {
        let folder = empty_folder();
        write(&folder.path().join("audit.jsonl"), &all[..cut]);
        let audit = open(folder.path());
        let steps = ends.iter().rposition(|end| *end <= cut).expect("nothing is the first");
        let mut kept = contents(&audit).await;
        // Messages may be there before their snapshot is.
        assert!(kept.stored_messages >= whole[steps].stored_messages, "cut at {cut}");
        kept.stored_messages = whole[steps].stored_messages;
        assert_eq!(kept, whole[steps], "cut at {cut}");
        // Whoever was told nothing begins again; what is there already is Ok.
        for number in steps..STEPS {
            step(&audit, number).await;
        }
        assert_eq!(contents(&open(folder.path())).await, whole[STEPS], "cut at {cut}");
    }
}

#[tokio::test]
async fn damage_costs_what_it_hit_and_is_listed() {
    let all = after(STEPS).await.1;
    let lines: Vec<_> = all.split_inclusive(|byte| *byte == b'\n').collect();
    for hit in 0..lines.len() {
        let folder = empty_folder();
        let mut damaged: Vec<_> = lines.iter().map(|line| line.to_vec()).collect();
        let middle = damaged[hit].len() / 2;
        damaged[hit][middle] ^= 1;
        write(&folder.path().join("audit.jsonl"), damaged.concat());
        let audit = open(folder.path());
        let listed: Vec<_> = audit.damage().into_iter().map(|damage| damage.line).collect();
        assert!(listed.contains(&(hit as u64 + 1)), "line {hit}: {listed:?}");
        // What is there is true: no snapshot has other messages than it was kept with.
        for (id, kept) in contents(&audit).await.snapshots {
            let digest = kept.segments[0].digest;
            assert_eq!(kept.messages.digest(), digest, "{id}, line {hit}");
        }
        // What is missing can be kept again, and then all is there.
        for number in [0, 2, 3, 4, 5] {
            step(&audit, number).await;
        }
        let again = contents(&open(folder.path())).await;
        assert_eq!(again.snapshots.len() + again.derivations.len() + again.invocations.len(), 5);
    }
}

#[tokio::test]
async fn a_newer_form_is_refused_and_left_alone() {
    let json = r#"{"version":2,"kept":{"unheard":1}}"#;
    let check = &Digest::of(json.as_bytes()).to_string()[..16];
    let newer = format!("{{\"check\":\"{check}\",\"record\":{json}}}\n");
    let folder = empty_folder();
    write(&folder.path().join("audit.jsonl"), &newer);
    let refused = FileContextAudit::open(folder.path()).expect_err("it is newer");
    assert_eq!((&*refused.code, refused.kind), ("NEWER_VERSION", PortFailureKind::Invalid));
    assert_eq!(bytes(folder.path()), newer.as_bytes());
}

#[tokio::test]
async fn the_file_is_for_its_owner_alone() {
    let folder = empty_folder();
    let path = folder.path().join("made/on/the/way");
    step(&open(&path), 0).await;
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&path.join("audit.jsonl"))), (0o700, 0o600));
    let exposed = folder.path().join("exposed");
    fs::create_dir(&exposed).expect("a folder");
    fs::set_permissions(&exposed, fs::Permissions::from_mode(0o777)).expect("a mode");
    let refused = FileContextAudit::open(&exposed).expect_err("others can write");
    assert_eq!(refused.kind, PortFailureKind::Forbidden);
}

#[tokio::test]
async fn after_a_failed_sync_nobody_says_what_was_kept() {
    let folder = empty_folder();
    let audit = open(folder.path());
    step(&audit, 0).await;
    audit.set_sync_fails(true).await;
    let failed = audit.derivation(&operation(), derivation()).await.expect_err("it is not on disk");
    assert_eq!((&*failed.code, failed.commit), ("FILE_SYNC", CommitDisposition::Unknown));
    audit.set_sync_fails(false).await;
    let failed = audit.derivation(&operation(), derivation()).await.expect_err("it is not trusted");
    assert_eq!(&*failed.code, "STORE_POISONED");
    let again = open(folder.path());
    assert_eq!(again.derivation(&operation(), derivation()).await, Ok(()));
    assert_eq!(contents(&again).await.derivations.len(), 1);
}

#[tokio::test]
async fn a_context_costs_what_is_new_of_it() {
    let folder = empty_folder();
    let audit = open(folder.path());
    let mut sizes = Vec::new();
    for len in 1..=120 {
        let kept =
            audit.snapshot(&operation(), snapshot(&format!("s{len:03}"), history(len))).await;
        kept.expect("it can be kept");
        sizes.push(bytes(folder.path()).len());
    }
    let added: Vec<_> = sizes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (least, most) = (added.iter().min().expect("some"), added.iter().max().expect("some"));
    assert!(most - least < 32, "{added:?}");
    assert_eq!(contents(&audit).await.stored_messages, 120);
}
