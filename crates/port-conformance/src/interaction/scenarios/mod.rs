//! The scenarios of the suite of interaction, by what they are about.
//!
//! Each is one promise of the list, tried on one fresh subject.

use runtime_ports::{InteractionRequest, InteractionResponse, OperationContext};

use crate::{
    Broken, Proof,
    claim::success,
    interaction::{Audience, InteractionHarness, StagedInteraction},
};

mod answering;
mod asking;
mod ending;

pub(crate) use answering::*;
pub(crate) use asking::*;
pub(crate) use ending::*;

const ID: &str = "question-1";

fn question() -> InteractionRequest {
    InteractionRequest::question(ID, "which colour?")
}

async fn staged(harness: &dyn InteractionHarness) -> Result<StagedInteraction, Broken> {
    Ok(harness.stage(Audience::Human).await?)
}

impl StagedInteraction {
    async fn prepare(&self, operation: &OperationContext, request: InteractionRequest) -> Proof {
        success("preparing", self.session.prepare(operation, request).await)
    }

    async fn wait(&self, operation: &OperationContext) -> Result<InteractionResponse, Broken> {
        success("the wait", self.session.wait(operation, ID).await)
    }

    /// The human answers question [`ID`] with this text.
    async fn answer(&self, operation: &OperationContext, text: &str) {
        let response = InteractionResponse::text(text);
        self.human.answers(&operation.execution_id, ID, response).await;
    }
}
