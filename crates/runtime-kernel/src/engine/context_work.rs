//! Decides how the effects of a compaction are performed.
//!
//! Knows the ports; refuses to know what is compacted, and when.

use std::sync::Arc;

use futures_util::{FutureExt as _, future::BoxFuture};
use runtime_decision::{Collected, MemoryCall, Outcome};
use runtime_ports::{ModelRequest, OperationContext};

use super::{
    audit::CallAudit, audited_call::audited, callback::RunContext, memory::consult_memory,
    parts::Parts,
};

impl Parts {
    pub(super) fn memory(&self, call: MemoryCall, run: RunContext) -> BoxFuture<'static, Outcome> {
        let answer = match self.memory.get(call.provider).cloned() {
            Some(provider) => consult_memory(provider, call, run).boxed(),
            None => std::future::ready(Collected::Messages(Vec::new())).boxed(),
        };
        answer.map(Outcome::MemoryConsulted).boxed()
    }

    pub(super) async fn store_artifact(
        self: Arc<Self>,
        operation: Arc<OperationContext>,
        content: Arc<str>,
    ) -> Outcome {
        Outcome::ArtifactStored(self.world.artifacts.put(&operation, content.as_bytes()).await)
    }

    pub(super) async fn summarize(
        self: Arc<Self>,
        operation: Arc<OperationContext>,
        request: ModelRequest,
        audit: Option<CallAudit>,
    ) -> Outcome {
        let model = self.summarizer.as_ref().unwrap_or(&self.model);
        let send = |operation: Arc<OperationContext>, request| async move {
            model.invoke(&operation, request).await
        };
        audited(audit, operation, request, send).await.of_summary()
    }
}
