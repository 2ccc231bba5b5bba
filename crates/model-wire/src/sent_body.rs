//! Decides whether a request has begun to leave this process.
//!
//! Knows nothing about what it says. Invariant: while the flag is down, the other side has not seen
//! a whole request and cannot have acted on it.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// Goes up when the transport asks for the body of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentFlag(Arc<AtomicBool>);

impl SentFlag {
    /// Whether the request may have reached the other side.
    pub(crate) fn is_up(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A body of known length that raises a flag when it is taken. The transport takes it once there is
/// a connection to write it to, and not before.
#[derive(Debug)]
pub(crate) struct SentBody {
    bytes: Option<Bytes>,
    flag: SentFlag,
}

impl SentBody {
    /// A body of `bytes`.
    pub(crate) const fn new(bytes: Bytes, flag: SentFlag) -> Self {
        Self { bytes: Some(bytes), flag }
    }
}

impl Body for SentBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.flag.0.store(true, Ordering::Release);
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
