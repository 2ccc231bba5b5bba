//! Checks which failures the model is told and which the host gets.

use in_memory_fakes::FaultPlan;
use runtime_ports::{CommandRequest, CommitDisposition, PortFailureKind, WorkspaceEntry};

use super::*;

#[tokio::test]
async fn what_the_model_did_wrong_is_told() {
    let workspace = FakeWorkspace::default().with_file("d/f", "x");
    let check = async |name: &str, arguments: Value, code: &str| {
        assert_eq!(told_error(&workspace, name, arguments.clone()).await, code, "{arguments}");
    };
    check("read_file", json!({ "path": "../x" }), "PATH_FORBIDDEN").await;
    check("read_file", json!({ "path": ".env" }), "PATH_PROTECTED").await;
    check("read_file", json!({ "path": "none" }), "PATH_NOT_FOUND").await;
    check("read_file", json!({ "path": "d" }), "NOT_A_FILE").await;
    check("list_files", json!({ "path": "/etc" }), "PATH_FORBIDDEN").await;
    check("list_files", json!({ "path": "none" }), "PATH_NOT_FOUND").await;
    check("search_files", json!({ "query": "x", "path": "none" }), "PATH_NOT_FOUND").await;
    check("write_file", json!({ "path": ".git/x", "content": "" }), "PATH_PROTECTED").await;
    check("write_file", json!({ "path": "d", "content": "" }), "NOT_A_FILE").await;
    check("run_command", json!({ "command": "x", "cwd": "../x" }), "PATH_FORBIDDEN").await;
}

/// A workspace that fails every call alike.
#[derive(Clone)]
struct Failing(PortFailure);

#[async_trait::async_trait]
impl WorkspaceSession for Failing {
    async fn describe(&self, _: &OperationContext) -> Result<String, PortFailure> {
        Err(self.0.clone())
    }

    async fn read(&self, _: &OperationContext, _: &str) -> Result<Vec<u8>, PortFailure> {
        Err(self.0.clone())
    }

    async fn write(&self, _: &OperationContext, _: &str, _: &[u8]) -> Result<(), PortFailure> {
        Err(self.0.clone())
    }

    async fn list(
        &self,
        _: &OperationContext,
        _: &str,
    ) -> Result<Vec<WorkspaceEntry>, PortFailure> {
        Err(self.0.clone())
    }

    async fn search(
        &self,
        _: &OperationContext,
        _: &str,
        _: &str,
        _: usize,
    ) -> Result<Vec<String>, PortFailure> {
        Err(self.0.clone())
    }

    async fn execute(
        &self,
        _: &OperationContext,
        _: CommandRequest,
    ) -> Result<runtime_ports::CommandOutput, PortFailure> {
        Err(self.0.clone())
    }
}

#[tokio::test]
async fn what_the_world_did_wrong_keeps_its_disposition() {
    let calls = [
        ("list_files", json!({})),
        ("read_file", json!({ "path": "f" })),
        ("search_files", json!({ "query": "q" })),
        ("write_file", json!({ "path": "f", "content": "c" })),
        ("run_command", json!({ "command": "c" })),
    ];
    let make = [PortFailure::rejected, PortFailure::in_flight_unknown, PortFailure::committed];
    let kinds = [
        PortFailureKind::Invalid,
        PortFailureKind::NotFound,
        PortFailureKind::Forbidden,
        PortFailureKind::Conflict,
        PortFailureKind::RateLimited,
        PortFailureKind::Timeout,
        PortFailureKind::Canceled,
        PortFailureKind::Unavailable,
        PortFailureKind::Protocol,
        PortFailureKind::Internal,
    ];
    for (name, arguments) in calls {
        for (at, kind) in kinds.into_iter().enumerate() {
            for make in make {
                let failure = make(kind, "CODE".to_owned(), "message".to_owned());
                let told = at < 3 && failure.commit == CommitDisposition::NotCommitted;
                let reply = call(&Failing(failure.clone()), name, arguments.clone()).await;
                match reply {
                    Ok(reply) => {
                        assert!(told, "{name} {failure:?}");
                        assert_eq!(reply.error_code.as_deref(), Some("CODE"));
                    }
                    Err(passed) => {
                        assert!(!told, "{name} {failure:?}");
                        assert_eq!(passed, failure);
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_failure_after_the_write_is_never_told_as_a_reply() {
    let lost = PortFailure::committed(PortFailureKind::Unavailable, "LOST", "reply lost");
    let faults = FaultPlan::new().after("workspace.write", 1, lost.clone());
    let workspace = FakeWorkspace::default().with_faults(&faults);
    let failure = call(&workspace, "write_file", json!({ "path": "f", "content": "c" })).await;
    assert_eq!(failure, Err(lost));
    assert_eq!(workspace.files()["f"], b"c");
}
