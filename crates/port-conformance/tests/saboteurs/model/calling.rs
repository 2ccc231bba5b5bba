//! What the saboteur does wrong with a call under way.
//!
//! Knows nothing about requests and answers.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    DeltaSink, DiscardDeltas, ModelRequest, ModelResponse, OperationContext, PortFailure,
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{ModelFault, SabotagedModel};

const LATER: Duration = Duration::from_secs(2);

impl SabotagedModel {
    pub(super) async fn call_badly(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        let (honest, again) = (&self.honest, request.clone());
        match self.fault {
            ModelFault::IgnoresCancel => {
                let cancellation = CancellationToken::new();
                let deaf = OperationContext { cancellation, ..operation.clone() };
                honest.invoke_streaming(&deaf, request, sink).await
            }
            ModelFault::IgnoresDeadline => {
                let deadline = Instant::now() + Duration::from_secs(3_600);
                let deaf = OperationContext { deadline, ..operation.clone() };
                honest.invoke_streaming(&deaf, request, sink).await
            }
            ModelFault::RetriesInside => {
                match honest.invoke_streaming(operation, request, sink).await {
                    Err(_) => honest.invoke_streaming(operation, again, sink).await,
                    answered => answered,
                }
            }
            ModelFault::Dawdles => {
                let outcome = honest.invoke_streaming(operation, request, sink).await;
                if operation.remaining().is_err() {
                    sleep(LATER).await;
                }
                outcome
            }
            ModelFault::CancelsAll => self.cancel_all(operation, request, sink).await,
            ModelFault::LeaksRequests => self.leak(operation, request).await,
            _ => honest.invoke_streaming(operation, request, sink).await,
        }
    }

    /// Whoever is cancelled takes everybody along.
    async fn cancel_all(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        let cancellation = self.everybody.clone();
        let shared = OperationContext { cancellation, ..operation.clone() };
        let call = self.honest.invoke_streaming(&shared, request, sink);
        tokio::pin!(call);
        tokio::select! {
            outcome = &mut call => outcome,
            () = operation.cancellation.cancelled() => {
                self.everybody.cancel();
                call.await
            }
        }
    }

    /// The request runs on under a deaf operation, whatever becomes of its caller.
    async fn leak(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        operation.remaining()?;
        let cancellation = CancellationToken::new();
        let deadline = Instant::now() + Duration::from_secs(3_600);
        let deaf = OperationContext { cancellation, deadline, ..operation.clone() };
        let honest = Arc::clone(&self.honest);
        let running =
            tokio::spawn(
                async move { honest.invoke_streaming(&deaf, request, &DiscardDeltas).await },
            );
        match operation.bounded(running).await {
            Ok(outcome) => outcome.expect("the honest session does not panic"),
            Err(interruption) => Err(interruption.in_flight()),
        }
    }
}
