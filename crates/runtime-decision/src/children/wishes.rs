//! Decides what a call that delegates asks for.
//!
//! Knows the shape of arguments; refuses to know whether it can be done. Invariant: what is read
//! says what to do in full.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::tools::{DelegationTool, MAX_WAIT_SECONDS};
use crate::Call;

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    Create { orders: Vec<Order>, is_batch: bool, background: bool },
    Status { tasks: Option<Vec<String>> },
    Wait { tasks: Option<Vec<String>>, timeout_ms: u64 },
    Steer { task: String, message: Arc<str> },
    Continue { task: String, message: Arc<str> },
}

/// One task for a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    pub(crate) agent_name: Arc<str>,
    pub(crate) task_description: Arc<str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    agent_name: Arc<str>,
    task_description: Arc<str>,
    background: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateBatch {
    tasks: Vec<Order>,
    background: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Status {
    task_ids: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wait {
    task_ids: Option<Vec<String>>,
    timeout_seconds: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    task_id: String,
    message: Arc<str>,
}

impl Wish {
    /// What the arguments of a call of `tool` say, or what they should have been.
    pub(crate) fn read(tool: DelegationTool, arguments: &Value) -> Result<Self, &'static str> {
        let wish = match tool {
            DelegationTool::Create => Self::create(arguments),
            DelegationTool::CreateBatch => Self::create_batch(arguments),
            DelegationTool::Status => {
                Status::deserialize(arguments).ok().map(|it| Self::Status { tasks: it.task_ids })
            }
            DelegationTool::Wait => Wait::deserialize(arguments).ok().map(|it| Self::Wait {
                tasks: it.task_ids,
                timeout_ms: it.timeout_seconds.min(MAX_WAIT_SECONDS) * 1_000,
            }),
            DelegationTool::Steer => {
                said(arguments).map(|(task, message)| Self::Steer { task, message })
            }
            DelegationTool::Continue => {
                said(arguments).map(|(task, message)| Self::Continue { task, message })
            }
        };
        wish.ok_or_else(|| expected(tool))
    }

    fn create(arguments: &Value) -> Option<Self> {
        let Create { agent_name, task_description, background } =
            Create::deserialize(arguments).ok()?;
        let orders = vec![Order { agent_name, task_description }];
        let background = background.unwrap_or(false);
        says_something(&orders).then_some(Self::Create { orders, is_batch: false, background })
    }

    fn create_batch(arguments: &Value) -> Option<Self> {
        let CreateBatch { tasks: orders, background } = CreateBatch::deserialize(arguments).ok()?;
        let background = background.unwrap_or(false);
        let is_good = !orders.is_empty() && says_something(&orders);
        is_good.then_some(Self::Create { orders, is_batch: true, background })
    }
}

/// How many runs a call asks to start, for whoever reserves them before it is made.
#[must_use]
pub(crate) fn sub_tasks_of(call: &Call) -> u64 {
    let wish = DelegationTool::of(&call.name).map(|tool| Wish::read(tool, &call.arguments));
    match wish {
        Some(Ok(Wish::Create { orders, .. })) => orders.len() as u64,
        Some(Ok(Wish::Continue { .. })) => 1,
        _ => 0,
    }
}

fn says_something(orders: &[Order]) -> bool {
    orders.iter().all(|order| !order.task_description.trim().is_empty())
}

fn said(arguments: &Value) -> Option<(String, Arc<str>)> {
    let said = Said::deserialize(arguments).ok()?;
    (!said.message.trim().is_empty()).then_some((said.task_id, said.message))
}

const fn expected(tool: DelegationTool) -> &'static str {
    match tool {
        DelegationTool::Create => {
            "must be {agent_name: string, task_description: string that is not blank, \
             background?: boolean}"
        }
        DelegationTool::CreateBatch => {
            "must be {tasks: [{agent_name: string, task_description: string that is not blank}], \
             background?: boolean} with at least one task"
        }
        DelegationTool::Status => "must be {task_ids?: [string]}",
        DelegationTool::Wait => "must be {task_ids?: [string], timeout_seconds: integer from 0}",
        DelegationTool::Steer | DelegationTool::Continue => {
            "must be {task_id: string, message: string that is not blank}"
        }
    }
}
