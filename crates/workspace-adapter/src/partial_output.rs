//! Decides what becomes of the output of a command that was interrupted.
//!
//! Knows nothing about the command. Invariant: the output is in no message; where it is, the failure
//! says.

use std::{fmt, sync::Arc, time::Duration};

use runtime_ports::{ArtifactStore, Interruption, OperationContext, PortFailure};

use crate::output::HeadTail;

/// How long keeping it may take: the operation of the command is over already.
const KEEPING: Duration = Duration::from_secs(2);

/// Where the output of interrupted commands is kept, if anywhere.
#[derive(Clone, Default)]
pub(crate) struct PartialOutput(Option<Arc<dyn ArtifactStore>>);

impl PartialOutput {
    pub(crate) const fn kept_in(artifacts: Arc<dyn ArtifactStore>) -> Self {
        Self(Some(artifacts))
    }

    /// The failure of an interrupted command, with the name of what it said until then.
    pub(crate) async fn interrupted(
        &self,
        operation: &OperationContext,
        interruption: Interruption,
        (stdout, stderr): (&HeadTail, &HeadTail),
    ) -> PortFailure {
        let mut failure = interruption.in_flight();
        let (stdout, stderr) = (stdout.to_text().text, stderr.to_text().text);
        let Some(artifacts) = self.0.as_ref().filter(|_| !(stdout.is_empty() && stderr.is_empty()))
        else {
            return failure;
        };
        let (id, execution) = (operation.id.clone(), operation.execution_id.clone());
        let own_time = OperationContext {
            parent: operation.parent.clone(),
            ..OperationContext::root(id, execution, KEEPING)
        };
        let text = format!("stdout:\n{stdout}\nstderr:\n{stderr}");
        let kept = own_time.bounded(artifacts.put(&own_time, text.as_bytes())).await;
        let what = match kept {
            Ok(Ok(digest)) => format!("what it said until then is the artifact {digest}"),
            Ok(Err(failure)) => format!("what it said could not be kept ({})", failure.code),
            Err(_) => "what it said could not be kept in time".to_owned(),
        };
        failure.message = format!("{}; {what}", failure.message);
        failure
    }
}

impl fmt::Debug for PartialOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("PartialOutput").field(&self.0.is_some()).finish()
    }
}
