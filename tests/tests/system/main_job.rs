//! Decides whether a task in a folder is done end to end without any fake: offline model, router,
//! primary loop, tools, folder, receipts on disk.

use std::{fs, path::Path, sync::Arc, time::Duration};

use file_adapter::{FileArtifactStore, FileReceiptStore, FileResources};
use offline_adapter::{OFFLINE_MODEL, OfflineModel};
use router_adapter::Router;
use runtime_kernel::{
    AgentRuntime, HostFuture, PreparedRound, RoundCompletion, RoundPreparation, SessionControl,
    SessionEvent, SessionHost, SessionRunRequest, SessionToolOutcome, ToolCall, ToolHost,
};
use runtime_ports::{
    InteractionRequest, InteractionResponse, InteractionSession, Metering, OperationContext,
    PortFailure, PortFailureKind, ReceiptStore, ToolWorld, TurnEnd, UsageReceipt,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::Value;
use standard_tools::standard_tools;
use uuid::Uuid;
use workspace_adapter::FolderWorkspace;

/// Nobody is there; the tools of this job ask nobody.
struct Nobody;

#[async_trait::async_trait]
impl InteractionSession for Nobody {
    async fn prepare(
        &self,
        _operation: &OperationContext,
        _request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        Err(PortFailure::not_sent(PortFailureKind::Unavailable, "NOBODY", "nobody is there"))
    }

    async fn wait(
        &self,
        _operation: &OperationContext,
        _request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        Err(PortFailure::not_sent(PortFailureKind::Unavailable, "NOBODY", "nobody is there"))
    }
}

fn operation() -> OperationContext {
    let (id, run) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    OperationContext::root(id, run, Duration::from_secs(60))
}

fn tools(folder: &Path, state: &Path) -> ToolHost {
    let world = ToolWorld {
        workspace: Arc::new(FolderWorkspace::open(folder).unwrap()),
        interaction: Arc::new(Nobody),
        resources: Arc::new(FileResources::new(state)),
        artifacts: Arc::new(FileArtifactStore::new(state.join("artifacts"))),
    };
    ToolHost::new(standard_tools(), world).unwrap()
}

struct Job {
    task: &'static str,
    tools: ToolHost,
    calls: Vec<String>,
    receipts: Vec<UsageReceipt>,
}

impl SessionHost for Job {
    fn prepare_round<'a>(&'a mut self, _round: u64) -> HostFuture<'a, RoundPreparation> {
        let prepared = PreparedRound {
            input: self.task.to_owned(),
            provider_input: self.task.to_owned(),
            continuation: None,
            model: OFFLINE_MODEL.to_owned(),
            reasoning_effort: String::new(),
            tool_description: self.tools.tool_description().to_owned(),
            timeout: None,
        };
        Box::pin(async move { Ok(RoundPreparation::Run(prepared)) })
    }

    fn record<'a>(&'a mut self, event: SessionEvent) -> HostFuture<'a, ()> {
        if let SessionEvent::ProviderReceipt { receipt, .. } = event {
            self.receipts.push(*receipt);
        }
        Box::pin(async { Ok(()) })
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: anyhow::Result<ToolCall>,
        _provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome> {
        Box::pin(async move {
            let call = call?;
            self.calls.push(call.name.clone());
            Ok(self.tools.execute(&operation(), call, 1).await.into())
        })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async move { Ok(SessionControl::Complete(Some(contents))) })
    }

    fn complete_round<'a>(
        &'a mut self,
        completion: RoundCompletion,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async move { Ok(SessionControl::Complete(Some(completion.answer))) })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_counted_and_the_receipt_is_on_disk_as_unavailable() {
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(folder.path().join("a.txt"), "1\n2\n3\n").unwrap();
    fs::create_dir(folder.path().join("deep")).unwrap();
    fs::write(folder.path().join("deep/b.txt"), "x\n").unwrap();
    fs::write(folder.path().join(".gitignore"), "*.log\n").unwrap();
    fs::write(folder.path().join("noise.log"), "1\n").unwrap();
    let store = Arc::new(FileReceiptStore::open(state.path()).unwrap());
    let router = Router::single(Arc::new(OfflineModel::new()), OFFLINE_MODEL)
        .with_receipts(Arc::clone(&store) as Arc<dyn ReceiptStore>);
    let mut job = Job {
        task: "count the lines of every file and write the totals to TOTALS.md",
        tools: tools(folder.path(), state.path()),
        calls: Vec::new(),
        receipts: Vec::new(),
    };
    let request = SessionRunRequest {
        user_id: "ada".into(),
        operation_id: Uuid::new_v4(),
        rounds_used: 0,
        round_limit: 3,
    };
    let runtime = AgentRuntime::new(Arc::new(router));
    let answer = runtime.run_session(request, &mut job).await.unwrap().unwrap();
    let written = fs::read_to_string(folder.path().join("TOTALS.md")).unwrap();
    assert!(
        written.contains("| a.txt | 3 |") && written.contains("| deep/b.txt | 1 |"),
        "{written}"
    );
    assert!(!written.contains("noise.log"), "{written}");
    assert!(answer.contains("offline model"), "{answer}");
    assert_eq!(job.calls.first().map(String::as_str), Some("list_files"));
    assert_eq!(job.calls.last().map(String::as_str), Some("write_file"));
    let [receipt] = &job.receipts[..] else { panic!("{:?}", job.receipts) };
    assert_eq!((receipt.end, receipt.metering), (TurnEnd::Completed, Metering::Unavailable));
    assert_eq!(receipt.cost_nano_usd, None);
    drop(store);
    let reopened = FileReceiptStore::open(state.path()).unwrap();
    assert_eq!(reopened.list(&operation(), None, 10).await.unwrap(), job.receipts);
}
