//! Decides what runs may use, and how what they use is counted.
//!
//! Knows no clock and no process. Invariant: what was not reported never becomes zero.

mod amounts;
mod limits;

pub use self::{
    amounts::Amounts,
    limits::{BudgetLimits, BudgetShort, Charge},
};
