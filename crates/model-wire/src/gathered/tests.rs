//! Which deltas become one, and that none is lost or moved.

use std::sync::Mutex;

use runtime_ports::{DeltaSink, ModelDelta};

use super::Gathered;

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl DeltaSink for Lines {
    fn delta(&self, delta: ModelDelta<'_>) {
        self.0.lock().expect("no panic").push(match delta {
            ModelDelta::Text(text) => format!("text {text}"),
            ModelDelta::Reasoning(text) => format!("reasoning {text}"),
            ModelDelta::ToolCall { index, name, .. } => format!("call {index} {name}"),
            ModelDelta::ToolArguments { index, fragment } => {
                format!("arguments {index} {fragment}")
            }
            ModelDelta::Restarted => "restarted".to_owned(),
        });
    }
}

fn gathered(deltas: &[ModelDelta<'_>]) -> Vec<String> {
    let lines = Lines::default();
    let gathered = Gathered::new(&lines);
    deltas.iter().for_each(|delta| gathered.delta(*delta));
    gathered.release();
    gathered.release();
    lines.0.into_inner().expect("no panic")
}

#[test]
fn neighbours_of_one_kind_become_one() {
    use ModelDelta::{Reasoning, Restarted, Text, ToolArguments, ToolCall};
    let deltas = [
        Reasoning("a"),
        Reasoning("b"),
        Text("c"),
        Text("d"),
        ToolCall { index: 0, id: "i", name: "f" },
        ToolArguments { index: 0, fragment: "{" },
        ToolArguments { index: 0, fragment: "}" },
        ToolArguments { index: 1, fragment: "[" },
        Text("e"),
        Restarted,
        Text("f"),
    ];
    let expected = [
        "reasoning ab",
        "text cd",
        "call 0 f",
        "arguments 0 {}",
        "arguments 1 [",
        "text e",
        "restarted",
        "text f",
    ];
    assert_eq!(gathered(&deltas), expected);
}

#[test]
fn nothing_is_handed_on_when_nothing_waits() {
    assert!(gathered(&[]).is_empty());
}
