//! What the real ports hold: traits and the contexts are no values, all that is stored is one.

use super::*;
use crate::workspace::Workspace;

fn names() -> BTreeSet<String> {
    let workspace = Workspace::locate().expect("tests run in the workspace");
    NoValues::among(&workspace.text_files().expect("the files are read")).names
}

#[test]
fn ways_to_the_world_are_found_in_the_real_ports() {
    let names = names();
    for name in [
        "ModelSession",
        "Tool",
        "AgentTurn",
        "DeltaSink",
        "ExecutionJournal",
        "OperationContext",
        "ToolWorld",
        "ExecutionSessions",
    ] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
}

#[test]
fn values_of_the_real_ports_stay_free() {
    let names = names();
    for name in [
        "Transcript",
        "TranscriptEntry",
        "ModelMessage",
        "ModelRole",
        "ModelRequest",
        "ModelResponse",
        "ModelProfile",
        "PortFailure",
        "ToolSet",
        "ToolDescriptor",
        "ToolReply",
        "TokenUsage",
        "UsageReceipt",
        "InteractionRequest",
        "JournalRecord",
        "ExecutionId",
        "OperationId",
        "CallerScope",
    ] {
        assert!(!names.contains(name), "{name} in {names:?}");
    }
}
