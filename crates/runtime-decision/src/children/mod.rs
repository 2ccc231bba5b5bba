//! Decides how a run delegates to other runs.
//!
//! Knows children by their names and ends; refuses to know how they run. Invariants: a child has
//! one end, and its parent takes it once; the model is told of it once; no child outlives its
//! parent, and none is silently run again.

mod declaration;
mod delegating;
mod ends;
mod live;
mod reports;
mod sound;
mod stored_child;
mod tasks;
mod tools;
mod waiting;
mod wishes;
mod work;

pub use self::{
    declaration::{DelegationLimits, SubAgentDeclaration},
    tools::{
        CONTINUE_SUB_TASK, CREATE_SUB_TASK, CREATE_SUB_TASK_BATCH, STEER_SUB_TASK, SUB_TASK_STATUS,
        WAIT_SUB_TASKS,
    },
    work::{ChildEnd, ChildResult, ChildWork},
};
pub(crate) use self::{
    delegating::Delegation,
    sound::{check_children, check_delegation},
    tasks::Children,
    tools::{DelegationTool, descriptors},
    wishes::sub_tasks_of,
};
