//! A small rule-based model that needs no network, and says so.
//!
//! Knows a handful of tasks about a folder of files, in English, and how to ask for the tools that
//! they need. Refuses to know anything else: a task that it does not understand gets an honest
//! answer, not a guess. It drives the same loops, tools and receipts as any other
//! [`ModelSession`](runtime_ports::ModelSession); its calls depend on the task and on the results
//! that it got.
//!
//! | task | for example |
//! |---|---|
//! | list | `list the files`, `what is in this folder?`, `show the files in docs/` |
//! | read | `read plan.txt`, `show me notes/plan.txt`, `what does plan.txt say?` |
//! | search | `search for "milk"`, `find 'milk' in notes/`, `which files mention milk?` |
//! | count | `count the lines of every file`, `how many words are in plan.txt?`, `count the files` |
//! | summarise | `summarise this folder`, `write a summary of the folder to SUMMARY.md` |
//! | write | `write "buy milk" to todo.txt` |
//!
//! A count, a list, a search or a summary that says `write … to FILE` (or `save`, `put`, `store`)
//! is also written to that file. Usage is never reported: nothing here counts tokens.

mod answer;
mod exchange;
mod plan;
mod plan_folder;
mod session;
mod step;
mod survey;
mod task;
mod toolbox;
mod vocabulary;
mod wording;

pub use session::{OFFLINE_MODEL, OfflineModel};

#[cfg(test)]
mod tests;
