//! Decides where one server-sent event ends and the next begins.
//!
//! Knows nothing about what an event says. Invariant: the events are the same however the bytes
//! were cut into chunks, each byte is looked at once, and no more than the limit is ever held.

use memchr::memchr2;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event: its name (empty when the stream gave none) and its data, lines joined by `\n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The value of the last `event` field.
    pub name: &'a [u8],
    /// The values of the `data` fields. Bytes: the server may have sent invalid UTF-8.
    pub data: &'a [u8],
}

/// An event, or a line of it, is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// Cuts bytes into events.
#[derive(Debug)]
pub struct Framer {
    limit: usize,
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    first_line: bool,
}

impl Framer {
    /// A framer that refuses to hold more than `limit` bytes of an event.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            name: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            first_line: true,
        }
    }

    /// Takes more bytes and tells `take` about each event that they complete. Stops at the first
    /// error of `take`.
    pub fn feed<E: From<TooLarge>>(
        &mut self,
        mut chunk: &[u8],
        take: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !chunk.is_empty() {
            if std::mem::take(&mut self.after_cr) && chunk[0] == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', chunk) else {
                self.hold(chunk)?;
                return Ok(());
            };
            self.hold(&chunk[..end])?;
            self.after_cr = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            self.end_line(take)?;
        }
        Ok(())
    }

    /// Ends the stream: a last event that was not closed by an empty line counts as well.
    pub fn finish<E: From<TooLarge>>(
        &mut self,
        take: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.line.is_empty() {
            self.end_line(take)?;
        }
        self.dispatch(take)
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + self.data.len() + bytes.len() > self.limit {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line<E>(&mut self, take: &mut impl FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if std::mem::take(&mut self.first_line) {
            text = text.strip_prefix(BOM).unwrap_or(text);
        }
        let outcome = if text.is_empty() {
            self.dispatch(take)
        } else {
            self.field(text);
            Ok(())
        };
        line.clear();
        self.line = line;
        outcome
    }

    fn field(&mut self, line: &[u8]) {
        // Some proxies keep a connection alive with zero bytes.
        let padding = line.iter().take_while(|byte| **byte == 0).count();
        let line = &line[padding..];
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
                self.has_data = true;
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {}
        }
    }

    fn dispatch<E>(&mut self, take: &mut impl FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let outcome = if std::mem::take(&mut self.has_data) {
            let data = self.data.strip_suffix(b"\n").unwrap_or(&self.data);
            take(Event { name: &self.name, data })
        } else {
            Ok(())
        };
        self.data.clear();
        self.name.clear();
        outcome
    }
}

#[cfg(test)]
mod tests;
