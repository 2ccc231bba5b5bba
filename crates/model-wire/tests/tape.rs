//! What is recorded and what is played back, over real sockets: the same answers, the same
//! failures, no secret, and no network in a replay.

#[path = "tape/echo.rs"]
mod echo;
#[path = "tape/equal.rs"]
mod equal;
#[path = "tape/keeping.rs"]
mod keeping;
#[path = "tape/secrets.rs"]
mod secrets;
