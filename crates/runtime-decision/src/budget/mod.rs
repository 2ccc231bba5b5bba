//! Decides what budgets are, apart from any run that spends.
//!
//! Knows amounts, limits and how they are shared; refuses to know models and tools.

mod amounts;
mod limits;
mod name;
mod reservation;
mod shortage;
mod spent;
mod tree;

pub use amounts::Amounts;
pub use limits::BudgetLimits;
pub use name::BudgetName;
pub use reservation::{Charge, Grant};
pub use shortage::Shortage;
pub use spent::Spent;
pub(crate) use spent::{Bill, most_cost};
pub use tree::{BudgetNode, BudgetStanding, BudgetTree};
