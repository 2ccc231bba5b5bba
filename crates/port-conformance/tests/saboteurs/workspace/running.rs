//! What the saboteur does wrong with commands.
//!
//! Knows nothing about what a command does.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    CommandOutput, CommandRequest, OperationContext, PortFailure, PortFailureKind, WorkspaceSession,
};
use runtime_types::{ExecutionId, OperationId};
use tokio::time::sleep;
use uuid::Uuid;

use super::{Refused, SabotagedWorkspace, WorkspaceFault as Fault};

const LATER: Duration = Duration::from_millis(300);

impl SabotagedWorkspace {
    pub(super) async fn run_badly(
        &self,
        operation: &OperationContext,
        mut request: CommandRequest,
    ) -> Result<CommandOutput, PortFailure> {
        let path = request.cwd.clone().unwrap_or_default();
        if self.fault == Fault::RunsInTheRoot {
            request.cwd = None;
        }
        let outcome = self.honest.execute(&self.operation(operation), request).await;
        match self.fault {
            Fault::RunsOutside if self.refused(&path, &outcome) == Some(Refused::ByText) => {
                return Ok(silent());
            }
            Fault::LeavesChildren => self.leave_a_child(),
            Fault::Dawdles if outcome.is_err() => sleep(Duration::from_secs(2)).await,
            _ => {}
        }
        self.spoiled(outcome?)
    }

    fn spoiled(&self, mut output: CommandOutput) -> Result<CommandOutput, PortFailure> {
        match self.fault {
            Fault::FailsWithCommands if output.exit_code != 0 => {
                let message = "the command failed";
                return Err(PortFailure::committed(PortFailureKind::Internal, "FAILED", message));
            }
            Fault::LosesSignals if output.exit_code > 128 => output.exit_code = -1,
            Fault::CutsOutput => output.stdout.truncate(100_000),
            Fault::ClaimsToHaveCut => output.truncated = true,
            _ => {}
        }
        Ok(output)
    }

    /// Something of the command goes on and makes a file.
    fn leave_a_child(&self) {
        let honest = Arc::clone(&self.honest);
        tokio::spawn(async move {
            sleep(LATER).await;
            let (id, execution) =
                (OperationId::from(Uuid::new_v4()), ExecutionId::from(Uuid::new_v4()));
            let operation = OperationContext::root(id, execution, LATER);
            honest.write(&operation, "late.txt", b"late").await
        });
    }
}

fn silent() -> CommandOutput {
    let (stdout, stderr) = (String::new(), String::new());
    CommandOutput { exit_code: 0, stdout, stderr, truncated: false }
}
