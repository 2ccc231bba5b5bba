//! Decides how a run delegates to other runs.
//!
//! Knows children by their names and ends. Invariant: a child has one end, and its parent takes it
//! once.

mod declaration;
mod work;

pub use self::{
    declaration::{DelegationLimits, SubAgentDeclaration},
    work::{ChildEnd, ChildResult, ChildWork},
};
