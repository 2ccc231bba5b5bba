//! When deltas are handed on: together what is ready together, and at once what came alone.

use std::{sync::Mutex, time::Duration};

use runtime_ports::{DeltaSink, ModelDelta, ModelSession};
use wire_rehearsal::loopback::{Act, LAST_CHUNK, Loopback, chunk, events, stream_head};

use crate::{DONE, STOP, operation, request, session};

const EVENTS: usize = 500;

/// The texts that were told, each as it was told.
#[derive(Default)]
struct Texts(Mutex<Vec<String>>);

impl DeltaSink for Texts {
    fn delta(&self, delta: ModelDelta<'_>) {
        if let ModelDelta::Text(text) = delta {
            self.0.lock().expect("no panic").push(text.to_owned());
        }
    }
}

fn event(text: &str) -> Vec<u8> {
    events(&[format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#)])
}

async fn told(acts: Vec<Act>) -> Vec<String> {
    let server = Loopback::start(vec![acts]).await;
    let (session, texts) = (session(&server), Texts::default());
    let limit = Duration::from_secs(20);
    let answered = session.invoke_streaming(&operation(limit), request(), &texts).await;
    answered.expect("an answer");
    texts.0.into_inner().expect("no panic")
}

fn end() -> Vec<u8> {
    [chunk(&events(&[STOP, DONE])), LAST_CHUNK.to_vec()].concat()
}

#[tokio::test]
async fn deltas_of_one_read_are_told_as_one() {
    let body = [stream_head(&[]), chunk(&event("hi").repeat(EVENTS)), end()].concat();
    let told = told(vec![Act::Send(body)]).await;
    assert_eq!(told.concat(), "hi".repeat(EVENTS));
    assert!(told.len() <= 8, "{} deltas of {EVENTS}", told.len());
}

#[tokio::test]
async fn deltas_that_are_ready_together_are_told_together_whatever_holds_them() {
    let body = [stream_head(&[]), chunk(&event("hi")).repeat(EVENTS), end()].concat();
    let told = told(vec![Act::Send(body)]).await;
    assert_eq!(told.concat(), "hi".repeat(EVENTS));
    assert!(told.len() <= EVENTS / 5, "{} deltas of {EVENTS}", told.len());
}

#[tokio::test]
async fn a_delta_that_came_alone_waits_for_no_other() {
    let pause = Act::Pause(Duration::from_millis(150));
    let mut acts = vec![Act::Send(stream_head(&[]))];
    for text in ["a", "b", "c"] {
        acts.extend([Act::Send(chunk(&event(text))), pause.clone()]);
    }
    acts.push(Act::Send(end()));
    assert_eq!(told(acts).await, ["a", "b", "c"]);
}
