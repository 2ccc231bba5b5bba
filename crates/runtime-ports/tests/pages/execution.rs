//! Pages of who runs, and on whose behalf.

use std::collections::{BTreeMap, BTreeSet};

use runtime_ports::{ResolvedExecutionContext, SessionScope};
use runtime_types::{
    CallerScope, ConversationId, ExecutionId, OperationId, ProjectId, RuntimeInstanceId, SubjectId,
    TenantId, WorkspaceId,
};
use uuid::Uuid;

use crate::Page;

pub(crate) fn pages() -> Vec<Page> {
    vec![
        Page::of("resolved_execution_context", vec![resolved()]),
        Page::of("session_scope", scopes()),
        Page::of("caller_scope", callers()),
        Page::of("operation_id", operations()),
    ]
}

fn resolved() -> ResolvedExecutionContext {
    ResolvedExecutionContext {
        runtime_instance_id: RuntimeInstanceId::new("instance-1").unwrap(),
        agent_id: "agent-1".into(),
        runtime_type: "kernel".into(),
        model: "fast".into(),
        workspace_id: WorkspaceId::new("workspace-1").unwrap(),
        package_id: "package".into(),
        package_version: "1.0.0".into(),
        package_digest: Some("digest".into()),
        metadata: BTreeMap::from([("team".into(), "blue".into())]),
    }
}

fn scopes() -> Vec<SessionScope> {
    let scope = |conversation: Option<&str>| SessionScope {
        execution_id: ExecutionId::new("run-1").unwrap(),
        conversation_id: conversation.map(|id| ConversationId::new(id).unwrap()),
        resolved: ResolvedExecutionContext { package_digest: None, ..resolved() },
    };
    vec![scope(None), scope(Some("conversation-1"))]
}

fn callers() -> Vec<CallerScope> {
    let subject = SubjectId::new("ada").unwrap();
    let full = CallerScope {
        tenant_id: Some(TenantId::new("tenant").unwrap()),
        project_id: Some(ProjectId::new("project").unwrap()),
        capabilities: BTreeSet::from(["write".into(), "read".into()]),
        ..CallerScope::of(subject.clone())
    };
    vec![CallerScope::of(subject), full]
}

fn operations() -> Vec<OperationId> {
    vec![OperationId::new("run-1-7").unwrap(), OperationId::from(Uuid::from_u128(1))]
}
