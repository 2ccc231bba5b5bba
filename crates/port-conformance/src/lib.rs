//! The named scenarios that every adapter of a port must hold, and the macros that make a test of
//! each.
//!
//! Knows the contracts of `runtime-ports`, sentence by sentence. Refuses to know any adapter: a
//! harness, written once by who writes the adapter, makes the subject and the world around it.
//!
//! | suite | port | harness | tests |
//! |---|---|---|---|
//! | [`model`] | `ModelSession`, `DeltaSink` | [`model::ModelHarness`] | [`model_conformance!`] |
//! | [`turn`] | `Intelligence`, `AgentTurn` | [`turn::TurnHarness`] | [`turn_conformance!`] |
//! | [`receipts`] | `ReceiptStore` | [`receipts::ReceiptHarness`] | [`receipt_conformance!`] |
//! | [`workspace`] | `WorkspaceSession` | [`workspace::WorkspaceHarness`] | [`workspace_conformance!`] |
//! | [`interaction`] | `InteractionSession` | [`interaction::InteractionHarness`] | [`interaction_conformance!`] |
//! | [`artifacts`] | `ArtifactStore` | [`artifacts::ArtifactHarness`] | [`artifact_conformance!`] |
//! | [`resources`] | `ResourceSession` | [`resources::ResourceHarness`] | [`resource_conformance!`] |
//! | [`subagents`] | `SubagentSession` | [`subagents::SubagentHarness`] | [`subagent_conformance!`] |
//! | [`delegation`] | `ExecutionSessionFactory` | [`delegation::DelegationHarness`] | [`delegation_conformance!`] |
//! | [`conversation`] | `ConversationSession` | [`conversation::ConversationHarness`] | [`conversation_conformance!`] |
//! | [`trace`] | `TraceSession`, `TraceReader` | [`trace::TraceHarness`] | [`trace_conformance!`] |
//! | [`context_audit`] | `ContextAuditSession` | [`context_audit::AuditHarness`] | [`context_audit_conformance!`] |
//!
//! [`registry::PORTS`] says which ports have no suite yet, and why.
//!
//! # How to run a suite on an adapter of your own
//! 1. Add this crate to the `[dev-dependencies]` of the adapter.
//! 2. Write the harness: declare what the adapter can do, and make a fresh subject in the condition
//!    that a scenario asks for. What the world does is data; the harness turns it into whatever the
//!    adapter talks to. The harnesses over the fakes (`crates/in-memory-fakes/tests/harness/`) are
//!    there to be copied.
//! 3. Call the macro in a test. It makes one `#[test]` for each scenario, named after it; scenarios
//!    that are added later come by themselves.
//!
//! ```text
//! // tests/conformance.rs of the adapter
//! mod interaction {
//!     port_conformance::interaction_conformance!(crate::PostboxHarness);
//! }
//! ```
//!
//! A scenario is [held, skipped, or broken](Scenario::judge). It is skipped only when the harness
//! declares that the adapter lacks what it needs, and then it must not hold: a declaration hides
//! nothing. All runs are in real time, each in a runtime of its own, and none is longer than
//! [`SCENARIO_LIMIT`].
//!
//! # Examples
//! A whole adapter with its harness: questions are put into a postbox, and somebody answers them.
//! It lives in memory, so it declares that its questions do not outlive it.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use async_trait::async_trait;
//! use port_conformance::{Unstageable, Verdict, interaction::*};
//! use runtime_ports::*;
//! use runtime_types::ExecutionId;
//! use tokio::sync::watch;
//!
//! // The adapter.
//! struct Letter {
//!     execution: ExecutionId,
//!     request: InteractionRequest,
//!     answer: watch::Sender<Option<InteractionResponse>>,
//! }
//!
//! #[derive(Default)]
//! struct Postbox(Mutex<Vec<Letter>>);
//!
//! fn find<'a>(letters: &'a [Letter], execution: &ExecutionId, id: &str) -> Option<&'a Letter> {
//!     letters.iter().find(|it| it.execution == *execution && it.request.request_id == id)
//! }
//!
//! # fn refused(kind: PortFailureKind) -> PortFailure {
//! #     PortFailure::rejected(kind, "POSTBOX", "the postbox refuses")
//! # }
//! #[async_trait]
//! impl InteractionSession for Postbox {
//!     async fn prepare(
//!         &self,
//!         operation: &OperationContext,
//!         request: InteractionRequest,
//!     ) -> Result<(), PortFailure> {
//!         operation.remaining()?;
//!         let execution = operation.execution_id.clone();
//!         let mut letters = self.0.lock().unwrap();
//!         match find(&letters, &execution, &request.request_id) {
//!             Some(letter) if letter.request == request => Ok(()),
//!             Some(_) => Err(refused(PortFailureKind::Conflict)),
//!             None => {
//!                 letters.push(Letter { execution, request, answer: watch::Sender::default() });
//!                 Ok(())
//!             }
//!         }
//!     }
//!
//!     async fn wait(
//!         &self,
//!         operation: &OperationContext,
//!         request_id: &str,
//!     ) -> Result<InteractionResponse, PortFailure> {
//!         let letter = find(&self.0.lock().unwrap(), &operation.execution_id, request_id)
//!             .map(|letter| letter.answer.subscribe());
//!         let mut answer = letter.ok_or_else(|| refused(PortFailureKind::NotFound))?;
//!         let answered = operation.bounded(answer.wait_for(Option::is_some)).await;
//!         match answered.map_err(Interruption::before_sending)?.ok().and_then(|it| it.clone()) {
//!             Some(answer) => Ok(answer),
//!             None => Err(refused(PortFailureKind::Unavailable)),
//!         }
//!     }
//! }
//!
//! // Its harness.
//! struct PostboxHarness;
//!
//! #[async_trait]
//! impl InteractionHarness for PostboxHarness {
//!     fn capabilities(&self) -> InteractionCapabilities {
//!         InteractionCapabilities {
//!             can_be_alone: false,
//!             outlives_its_process: false,
//!             ..InteractionCapabilities::ALL
//!         }
//!     }
//!
//!     async fn stage(&self, audience: Audience) -> Result<StagedInteraction, Unstageable> {
//!         if audience == Audience::Nobody {
//!             return Err(Unstageable::because("somebody comes by every postbox"));
//!         }
//!         let postbox = Arc::new(Postbox::default());
//!         Ok(StagedInteraction { session: postbox.clone(), human: Arc::new(Postman(postbox)) })
//!     }
//! }
//!
//! struct Postman(Arc<Postbox>);
//!
//! #[async_trait]
//! impl Human for Postman {
//!     fn sees(&self) -> Vec<InteractionRequest> {
//!         let letters = self.0.0.lock().unwrap();
//!         let open = letters.iter().filter(|letter| letter.answer.borrow().is_none());
//!         open.map(|letter| letter.request.clone()).collect()
//!     }
//!
//!     async fn answers(&self, execution: &ExecutionId, id: &str, response: InteractionResponse) {
//!         let letters = self.0.0.lock().unwrap();
//!         let letter = find(&letters, execution, id).expect("a question that can be seen");
//!         letter.answer.send_if_modified(|answer| {
//!             let is_first = answer.is_none();
//!             if is_first {
//!                 *answer = Some(response);
//!             }
//!             is_first
//!         });
//!     }
//!
//!     async fn after_death(&self) -> Result<StagedInteraction, Unstageable> {
//!         Err(Unstageable::because("a postbox in memory dies with its process"))
//!     }
//! }
//!
//! // What the macro's tests do, for all scenarios at once.
//! # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! let mut held = 0;
//! for scenario in SCENARIOS {
//!     match scenario.judge(&PostboxHarness as &dyn InteractionHarness).await {
//!         Verdict::Held => held += 1,
//!         Verdict::Skipped(reason) => println!("{}: skipped, {reason}", scenario.name),
//!         Verdict::Broke(what) => panic!("{}: {what}", scenario.name),
//!     }
//! }
//! assert_eq!(held, SCENARIOS.len() - 2);
//! # });
//! ```

mod claim;
mod expansion;
mod scenario;
mod trouble;

pub mod artifacts;
pub mod context_audit;
pub mod conversation;
pub mod delegation;
pub mod interaction;
pub mod model;
pub mod receipts;
pub mod registry;
pub mod resources;
pub mod subagents;
pub mod trace;
pub mod turn;
pub mod workspace;

pub use scenario::{
    Broken, Declares, Proof, SCENARIO_LIMIT, Scenario, ScenarioFuture, Unstageable, Verdict, check,
};
pub use trouble::Trouble;
