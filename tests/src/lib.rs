//! Shows that an adapter is swapped by the lines that build it, and holds what whole-system tests
//! share.
//!
//! Every program below is a doctest, kept in a file of its own under `swap/`. What stands after
//! `// The program:` is the same in all files of a group; a system test compares them to the byte.
//!
//! # An agent, over a scripted fake
#![doc = concat!("```\n", include_str!("../swap/agent_over_fake.rs"), "```")]
//! # The same agent, over a model server
#![doc = concat!("```\n", include_str!("../swap/agent_over_openai.rs"), "```")]
//! # The same agent, over a router with a catalogue
#![doc = concat!("```\n", include_str!("../swap/agent_over_catalogue.rs"), "```")]
//! # A session, over a scripted fake
#![doc = concat!("```\n", include_str!("../swap/session_over_fake.rs"), "```")]
//! # The same session, over a model server
#![doc = concat!("```\n", include_str!("../swap/session_over_openai.rs"), "```")]
//! # The same session, over a router with a catalogue
#![doc = concat!("```\n", include_str!("../swap/session_over_catalogue.rs"), "```")]
//! # One model call, over a scripted fake
#![doc = concat!("```\n", include_str!("../swap/model_over_fake.rs"), "```")]
//! # The same call, over a model server
#![doc = concat!("```\n", include_str!("../swap/model_over_openai.rs"), "```")]
//! # The same call, over a server of the Messages API
#![doc = concat!("```\n", include_str!("../swap/model_over_anthropic.rs"), "```")]
//! # The same call, over a server of the Gemini API
#![doc = concat!("```\n", include_str!("../swap/model_over_gemini.rs"), "```")]
//! # The same call, over a router with a catalogue
#![doc = concat!("```\n", include_str!("../swap/model_over_catalogue.rs"), "```")]

mod chat_server;
mod one_question;

pub use chat_server::ChatServer;
pub use one_question::OneQuestion;
