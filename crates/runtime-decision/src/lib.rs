//! The cycle engine's decisions as a pure, serialisable machine: inputs in, effects and events out.
//!
//! Knows every rule of a run: what is asked of the model, when a tool runs, who is asked first,
//! what interrupts it, how it ends. Refuses to know time, randomness, files, networks, tasks and
//! async: all of that belongs to the driver (`runtime_kernel::engine`), which performs each
//! [`Effect`] and reports one [`Outcome`] for it.
//!
//! | word | what it is |
//! |---|---|
//! | [`Definition`], [`Plan`] | an agent, and the same with what is computed once |
//! | [`Task`], [`RunIdentity`] | what one run is asked to do, and its names |
//! | [`Machine`] | one run |
//! | [`Input`] | something that happened, and when |
//! | [`Effect`], [`Halt`] | what the run asks of the world, and takes back |
//! | [`RunEvent`] | what it tells those who watch |
//! | [`RunResult`] | what is left of it |
//!
//! Because the machine is pure, a run is a fold over its inputs: the same inputs give the same
//! effects, events and ids, and a run that was stored goes on as if it had never stopped.
//!
//! # Examples
//! ```
//! use std::sync::Arc;
//!
//! use runtime_decision::*;
//! use runtime_ports::{ModelContent, ModelFinish, ModelProfile, ModelResponse, TokenUsage};
//!
//! let definition = Definition::new("greeter", "some-model");
//! let plan = Arc::new(Plan::new(definition)?);
//! let identity = RunIdentity::root("run-1", "task", "greeter");
//! let mut run = Machine::new(plan, identity, Task::new("Say hello."));
//!
//! let mut out = Out::default();
//! run.handle(Input { at_ms: 1, happened: Happened::Started }, &mut out)?;
//! let profile = ModelProfile {
//!     context_window_tokens: 1_000,
//!     max_input_tokens: 1_000,
//!     max_output_tokens: None,
//!     images: false,
//!     price: None,
//! };
//! let asked = out.effects.remove(0).id;
//! run.handle(Input::settled(2, asked, Outcome::ProfileResolved(Ok(profile))), &mut out)?;
//! assert!(matches!(out.effects[0].effect, Effect::CallModel(_)));
//!
//! let response = ModelResponse {
//!     output: vec![ModelContent::text("Hello.")],
//!     finish: ModelFinish::Stop,
//!     usage: TokenUsage::default(),
//!     cost_nano_usd: None,
//!     attempts: Vec::new(),
//! };
//! let asked = out.effects.remove(0).id;
//! run.handle(Input::settled(3, asked, Outcome::ModelReplied(Ok(response))), &mut out)?;
//! assert_eq!(run.result().unwrap().final_answer.as_deref(), Some("Hello."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admission;
mod answer;
mod answer_schema;
mod answer_text;
mod answering;
mod approval;
mod batch;
mod budget;
mod call;
mod call_hooks;
mod children;
mod context;
mod counts;
mod cycle;
mod definition;
mod definition_error;
mod effect;
mod event;
mod gate;
mod group;
mod hook;
mod input;
mod interruption;
mod kept_record;
mod ledger;
mod load_error;
mod log;
mod machine;
mod policy;
mod refused;
mod repair;
mod reply;
mod requests;
mod resources;
mod run_result;
mod soundness;
mod spending;
mod stages;
mod state;
mod stopping;
mod storable;
mod storage;
mod stored_history;
mod suspension;
mod task;
mod typed_answer;
mod unaudited;
pub mod wording;

pub use answer_schema::{ANSWER_NAME_MAX_BYTES, AnswerSchema};
pub use approval::{ApprovalAnswer, ApprovalRequest, Consultation};
pub use budget::{
    Amounts, BudgetLimits, BudgetName, BudgetNode, BudgetStanding, BudgetTree, Charge, Grant,
    Shortage, Spent,
};
pub use call::{Call, CallResult, ResultStatus};
pub use children::{
    CONTINUE_SUB_TASK, CREATE_SUB_TASK, CREATE_SUB_TASK_BATCH, ChildEnd, ChildResult, ChildWork,
    DelegationLimits, STEER_SUB_TASK, SUB_TASK_STATUS, SubAgentDeclaration, WAIT_SUB_TASKS,
};
pub use context::{
    CarriedContext, ContextPolicy, MemoryCall, MemoryDeclaration, MemoryMoment, RequestOrigin,
};
pub use definition::{
    ASK_USER, BRIDGE_TOOL, Callbacks, Definition, Limits, NoToolPolicy, Plan, TASK_FINISH,
    TOOL_NAME_MAX_BYTES,
};
pub use definition_error::DefinitionError;
pub use effect::{CycleView, Effect, EffectId, Halt, Out, Requested, ToolWork};
pub use event::{EVENT_VERSION, Event, RunEvent};
pub use hook::{
    CallEdits, Edit, HookCall, HookDeclaration, HookPoint, HookResult, HookSubject, HookVerdict,
    RequestEdits, ResultEdits,
};
pub use input::{ArgumentFault, Collected, Happened, Input, Outcome, ToolEnd, ToolOutput};
pub use ledger::{Attempt, Ledger, LedgerTotals};
pub use load_error::LoadError;
pub use machine::Machine;
pub use policy::{Ruling, ToolPolicy};
pub use refused::Refused;
pub use repair::repaired;
pub use run_result::{CycleRecord, ReturnedSteering, RunError, RunResult, RunStatus, ToolRecord};
pub use storage::{Pending, STORED_RUN_VERSION};
pub use task::{RunIdentity, Task};
pub use typed_answer::AnswerError;
pub use unaudited::CONTEXT_AUDIT_FAILED;
