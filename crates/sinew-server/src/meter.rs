//! Rate limits of messages, and of bytes received through a connection.

use std::io::{Error, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A token bucket: fills at a rate, up to the amount of one second.
#[derive(Debug)]
pub struct Allowance {
    rate: f64,
    left: f64,
    last: Instant,
}

impl Allowance {
    /// A full bucket with this rate [1/s].
    pub fn new(rate: f64) -> Self {
        Self { rate, left: rate, last: Instant::now() }
    }

    /// Removes an amount and returns the remainder, which is negative beyond the rate.
    pub fn take(&mut self, amount: f64, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.last).as_secs_f64();
        self.left = (self.left + self.rate * passed).min(self.rate) - amount;
        self.last = now;
        self.left
    }
}

/// A connection that fails when more bytes arrive than its rate allows.
#[derive(Debug)]
pub struct Metered<T> {
    inner: T,
    bytes: Allowance,
}

impl<T> Metered<T> {
    /// A connection with a rate limit [bytes/s].
    pub fn new(inner: T, rate: f64) -> Self {
        Self { inner, bytes: Allowance::new(rate) }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Metered<T> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let came = buffer.filled().len() - before;
        if self.bytes.take(came as f64, Instant::now()) < 0.0 {
            return Poll::Ready(Err(Error::other("too many bytes")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Metered<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_token_bucket_fills_at_its_rate_up_to_the_amount_of_a_second() {
        let mut allowance = Allowance::new(10.0);
        let start = Instant::now();
        assert!(allowance.take(10.0, start) < 1e-3);
        assert!(allowance.take(1.0, start) < 0.0);
        let later = start + Duration::from_millis(500);
        assert!((allowance.take(0.0, later) - 4.0).abs() < 1e-2);
        let much_later = start + Duration::from_secs(100);
        assert_eq!(allowance.take(0.0, much_later), 10.0);
    }
}
