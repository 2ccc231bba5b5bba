//! Decides what is kept of an endless output: its head and its tail.
//!
//! Knows nothing about processes. Invariant: memory is bounded by the limit, however much arrives.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt};

const CHUNK_BYTES: usize = 16 << 10;

/// Head and tail of a stream of bytes.
#[derive(Debug)]
pub(crate) struct HeadTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    total: u64,
}

/// A stream as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeptText {
    pub(crate) text: String,
    pub(crate) is_cut: bool,
}

impl HeadTail {
    /// Keeps at most `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: max_bytes / 2, total: 0 }
    }

    /// Takes what arrived.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    /// Reads a stream to its end, or for as long as it is polled.
    pub(crate) async fn drain(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Ok(read @ 1..) = stream.read(&mut chunk).await {
            self.push(&chunk[..read]);
        }
    }

    /// What was kept, with a line in place of what was left out. Invalid UTF-8 is replaced; a
    /// character that was cut counts as left out.
    pub(crate) fn to_text(&self) -> KeptText {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.total == (self.head.len() + tail.len()) as u64 {
            let whole = [&self.head[..], &tail].concat();
            let text = String::from_utf8_lossy(&whole).into_owned();
            return KeptText { text, is_cut: false };
        }
        let (head, tail) = (without_cut_end(&self.head), without_cut_start(&tail));
        let left_out = self.total - (head.len() + tail.len()) as u64;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        KeptText { text: format!("{head}\n[{left_out} bytes left out]\n{tail}"), is_cut: true }
    }
}

fn without_cut_end(bytes: &[u8]) -> &[u8] {
    let begins = |byte: &u8| byte & 0b1100_0000 != 0b1000_0000;
    let Some(last) = bytes.iter().rposition(begins) else { return bytes };
    match std::str::from_utf8(&bytes[last..]) {
        Err(error) if error.error_len().is_none() => &bytes[..last],
        _ => bytes,
    }
}

fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let inside = bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000);
    &bytes[inside.count()..]
}

#[cfg(test)]
mod tests;
