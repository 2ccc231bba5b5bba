//! Decides where one server-sent event ends and the next begins.
//!
//! Knows nothing about what an event says. Invariant: the events are the same however the bytes
//! were cut into chunks, each byte is looked at once, and no more than the limit is ever held.

use memchr::memchr2;

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
    /// Whether the lines are those of a document that is no event.
    is_bare: bool,
    after_cr: bool,
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
            is_bare: false,
            after_cr: false,
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
        let outcome = if line.is_empty() {
            self.dispatch(take)
        } else {
            self.field(&line);
            Ok(())
        };
        line.clear();
        self.line = line;
        outcome
    }

    /// Takes a line. What some servers write before a field does not hide it: a proxy's zero bytes,
    /// spaces, another byte order mark. Nor do large letters.
    fn field(&mut self, line: &[u8]) {
        let line = without_padding(line);
        // No field begins so: an error that was written into the stream as it is, which goes on to
        // the next empty line.
        if line.starts_with(b"{") || line.starts_with(b"[") {
            self.is_bare = true;
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            name if name.eq_ignore_ascii_case(b"data") => self.hold_data(value),
            name if name.eq_ignore_ascii_case(b"event") => self.hold_name(value),
            // Some servers name the field as others name the event.
            name if name.eq_ignore_ascii_case(b"error") => {
                self.hold_name(b"error");
                self.hold_data(value);
            }
            _ if self.is_bare => self.hold_data(line),
            _ => {}
        }
    }

    fn hold_data(&mut self, value: &[u8]) {
        self.data.extend_from_slice(value);
        self.data.push(b'\n');
        self.has_data = true;
    }

    fn hold_name(&mut self, value: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(value);
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
        self.is_bare = false;
        outcome
    }
}

fn without_padding(mut line: &[u8]) -> &[u8] {
    loop {
        line = match line {
            [0 | b' ' | b'\t', rest @ ..] | [0xef, 0xbb, 0xbf, rest @ ..] => rest,
            _ => return line,
        };
    }
}

#[cfg(test)]
mod tests;
