//! Decides whether the command keeps its promises: the real binary, in folders and an environment
//! of its own, against a scripted model server on loopback, at a pseudo-terminal where it matters.
//!
//! Knows the command line, the streams, the exit code and the files, as a user does. Every wait has
//! an end.

mod answers_in_a_form;
mod approval;
mod chatting;
mod choosing_a_model;
mod colours;
mod delegating;
mod doctor;
mod events;
mod failing;
mod falling_back;
mod interrupting;
mod invalid_calls;
mod limits;
mod main_job;
mod model_server;
mod models;
mod odd_tasks;
mod offline_tasks;
mod on_a_terminal;
mod output;
mod piped_chat;
mod pipes;
mod place;
mod protected_names;
mod receipts;
mod secrets;
mod sharing;
mod steering;
mod taping;
mod taping_odd;
mod terminal;
mod tmux;
