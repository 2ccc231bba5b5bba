//! Intelligence over any number of model sessions: catalogue, operation tree, receipts.
//!
//! Knows how a request/response provider becomes an interactive turn, which calls may be repeated,
//! what a turn cost and who is told to stop. Refuses to know any provider, wire format, store or
//! tool, and what a host does between two requests.
//!
//! | file | decides |
//! |---|---|
//! | `catalogue`, `route`, `suggestion` | which session serves a model, and which in its place |
//! | `tree` | which operations a cancellation reaches |
//! | `turn` | the course of a turn, and its one end |
//! | `sending`, `attempt`, `hedge` | the attempts of a model call |
//! | `policy`, `retry` | whether it is sent again, where and when |
//! | `way`, `candidate`, `circuit` | who is asked, and which endpoint is left alone |
//! | `projection` | what of a history another provider is given |
//! | `account`, `totals`, `ledger`, `losses` | the one receipt of a turn |
//! | `contained`, `depth` | how far faults of foreign code and values reach |
//! | `thread` | what a later turn goes on from |
//! | `session` | a billed model call without a turn |
//! | `tap`, `observer` | who else sees the events, and the detours of calls |

mod account;
mod attempt;
mod builder;
mod candidate;
mod catalogue;
mod circuit;
mod contained;
mod delta;
mod depth;
mod hedge;
mod ledger;
mod losses;
mod mailbox;
mod observer;
mod policy;
mod projection;
mod retry;
mod route;
mod router;
mod sending;
mod session;
mod suggestion;
mod tap;
mod thread;
mod thread_store;
mod totals;
mod tree;
mod turn;
mod way;

pub use builder::{RouterBuilder, RouterError};
pub use catalogue::{Catalogue, CatalogueError, CatalogueModel, CataloguePrice};
pub use observer::{CallObserver, Detour, ServedModel};
pub use policy::{CircuitPolicy, Pauses, RetryPolicy, UnknownOutcomes};
pub use router::Router;
pub use tap::{TappedIntelligence, TurnObserver};
