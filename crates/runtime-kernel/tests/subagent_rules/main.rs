//! The rules of the single-turn subagent loop, one by one, by their numbers.

mod accounting;
mod answer;
mod calls;
mod opening;
mod projection;
mod stage;
