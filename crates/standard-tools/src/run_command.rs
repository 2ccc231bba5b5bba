//! Decides how a model runs a command and what it is shown of the output.
//!
//! Knows nothing about permission and containment: who may run what was decided before.

use std::time::Duration;

use async_trait::async_trait;
use runtime_ports::{
    CommandOutput, CommandRequest, EffectClass, OperationContext, PortFailure, Tool,
    ToolDescriptor, ToolInvocation, ToolReply, ToolWorld, WorkspaceSession,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    declared::{Declaration, OUTPUT_LIMIT_BYTES, path_schema},
    fitted::{fitted, head_and_tail},
    reply::{Ending, arguments, ended, told},
};

const EXPECTED: &str = "{command: string, cwd?: string}";

/// The tool `run_command`.
pub(crate) struct RunCommand {
    descriptor: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    cwd: Option<String>,
}

impl RunCommand {
    pub(crate) fn new() -> Self {
        let declaration = Declaration {
            name: "run_command",
            description: "Runs a command line with the POSIX shell in a folder of the workspace, \
                without input and with a clean environment. It has ten minutes; everything it \
                started is ended with it. Result: {\"exit_code\": 128 + signal when a signal \
                ended it, \"stdout\", \"stderr\", \"truncated\": whether the middle of either was \
                left out}. A command that fails is a result, not an error.",
            arguments: vec![
                (
                    "command",
                    json!({
                        "type": "string",
                        "minLength": 1,
                        "description": "Command line for sh -c.",
                    }),
                ),
                ("cwd", path_schema("Folder to run in; the root when left out.")),
            ],
            required: &["command"],
            effect: EffectClass::Process,
            timeout: Duration::from_secs(600),
        };
        Self { descriptor: declaration.into_descriptor() }
    }
}

#[async_trait]
impl Tool for RunCommand {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        ended(serve(operation, world.workspace.as_ref(), call.arguments).await)
    }
}

async fn serve(
    operation: &OperationContext,
    workspace: &dyn WorkspaceSession,
    given: Value,
) -> Result<ToolReply, Ending> {
    let Arguments { command, cwd } = arguments(given, EXPECTED)?;
    let output = workspace.execute(operation, CommandRequest { command, cwd }).await?;
    Ok(told(&rendered(&output)))
}

/// Two thirds of the room for the output, one for the errors.
fn rendered(output: &CommandOutput) -> Value {
    fitted(OUTPUT_LIMIT_BYTES, |budget| {
        let (stdout_room, stderr_room) = (budget / 3 * 2, budget / 3);
        let is_cut = output.stdout.len() > stdout_room || output.stderr.len() > stderr_room;
        json!({
            "exit_code": output.exit_code,
            "stdout": head_and_tail(&output.stdout, stdout_room),
            "stderr": head_and_tail(&output.stderr, stderr_room),
            "truncated": output.truncated || is_cut,
        })
    })
}
