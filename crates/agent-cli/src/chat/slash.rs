//! Decides which messages are commands to the program, and what each is for.
//!
//! Knows names. Refuses to take anything that could be meant for the model: a path is no command,
//! and neither is what begins with a space or with two slashes.

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slash {
    Help,
    Exit,
    New,
    Cost,
    /// Sum up what was said so far.
    Compact,
    History,
    /// Another model, or which one it is.
    Model(Option<String>),
    Tools,
    Session,
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Read {
    Message(String),
    Command(Slash),
    /// Looks like a command, and is none.
    Unknown(String),
}

/// Name, argument, and what it does; the order in which they are listed.
const COMMANDS: [(&str, &str, &str); 11] = [
    ("/help", "", "list these commands"),
    ("/new", "", "begin a new conversation; /clear does the same"),
    ("/cost", "", "show what was used and paid; /usage does the same"),
    ("/compact", "", "sum up what was said, with the next message"),
    ("/history", "", "show the last messages"),
    ("/model", "[NAME]", "show the model, or go on with another one"),
    ("/tools", "", "list what the agent can use"),
    ("/session", "", "show how to take the conversation up again"),
    ("/exit", "", "leave; /quit and Ctrl-D do the same"),
    ("/clear", "", ""),
    ("/usage", "", ""),
];

const KEYS: [(&str, &str); 6] = [
    ("Enter", "send; while the agent works, steer it"),
    ("Alt-Enter, Ctrl-J, \\ Enter", "begin another line"),
    ("Up, Down", "what was typed before"),
    ("Ctrl-R", "what was typed before and contains what is typed"),
    ("Tab", "complete a command"),
    ("Ctrl-C", "stop the agent; at an empty prompt twice: leave"),
];

/// Reads a message.
pub(crate) fn read(text: &str) -> Read {
    if let Some(rest) = text.strip_prefix("//") {
        return Read::Message(format!("/{rest}"));
    }
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    if !is_name(name) || !text.starts_with('/') {
        return Read::Message(text.to_owned());
    }
    let argument = words.next();
    match (name, argument, words.next()) {
        ("/model", argument, None) => Read::Command(Slash::Model(argument.map(str::to_owned))),
        (name, None, None) => plain(name).map_or_else(|| unknown(text), Read::Command),
        _ => unknown(text),
    }
}

fn plain(name: &str) -> Option<Slash> {
    Some(match name {
        "/help" | "/?" => Slash::Help,
        "/exit" | "/quit" => Slash::Exit,
        "/new" | "/clear" => Slash::New,
        "/cost" | "/usage" => Slash::Cost,
        "/compact" => Slash::Compact,
        "/history" => Slash::History,
        "/tools" => Slash::Tools,
        "/session" => Slash::Session,
        _ => return None,
    })
}

fn unknown(text: &str) -> Read {
    Read::Unknown(text.to_owned())
}

/// `/word`, and nothing that goes on like a path.
fn is_name(word: &str) -> bool {
    let name = word.strip_prefix('/').unwrap_or_default();
    name == "?" || !name.is_empty() && name.chars().all(|at| at.is_ascii_lowercase())
}

/// The one command that begins like this, with a space when an argument follows.
pub(crate) fn complete(begun: &str) -> Option<String> {
    if !is_name(begun) {
        return None;
    }
    let mut fitting = COMMANDS.iter().filter(|(name, ..)| name.starts_with(begun));
    let (name, argument, _) = fitting.next()?;
    let space = if argument.is_empty() { "" } else { " " };
    fitting.next().is_none().then(|| format!("{name}{space}"))
}

/// All commands and keys.
pub(crate) fn help() -> String {
    let commands = COMMANDS.iter().filter(|(.., does)| !does.is_empty());
    let commands = commands.map(|(name, argument, does)| (format!("{name} {argument}"), *does));
    let keys = KEYS.iter().map(|(keys, does)| ((*keys).to_owned(), *does));
    let lines = commands.chain(keys).map(|(left, does)| format!("  {left:<26}  {does}"));
    lines.collect::<Vec<_>>().join("\n")
        + "\nA message that begins with a slash: write two of them."
}

#[cfg(test)]
mod tests;
