//! HTTP requests that can be interrupted immediately and that end if a connection is silent for too long.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use ureq::http::HeaderMap;

use super::client::{Client, Resume};
use super::error::{FetchError, WebError};
use super::pace::Waited;

/// The interval at which the interrupt flag is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The size of the read buffer in bytes.
const PIECE: usize = 1 << 16;
/// The number of pieces that are read in advance.
const AHEAD: usize = 16;

/// Requests that end if the run is interrupted.
pub struct Web<'w> {
    pub(super) client: Arc<Client>,
    interrupted: &'w AtomicBool,
}

/// The status and headers of a response, and the stream of its body.
pub struct Answer<'w> {
    /// The HTTP status code.
    pub status: u16,
    /// The HTTP headers of the response.
    pub headers: HeaderMap,
    arrivals: Arrivals<'w>,
}

/// A message from the thread that reads the connection.
enum Arrival {
    Head(u16, HeaderMap),
    Piece(Vec<u8>),
    End,
    Failed(WebError),
}

struct Arrivals<'w> {
    receiver: Receiver<Arrival>,
    interrupted: &'w AtomicBool,
    waited: Waited,
}

impl<'w> Web<'w> {
    /// Creates a client with the proxies of the environment variables. A connection fails if it is not
    /// established, or if no data arrives, within `timeout`. `interrupted` ends all requests and pauses.
    ///
    /// # Errors
    /// Returns an error if an environment variable does not name a valid proxy.
    pub fn new(timeout: Duration, interrupted: &'w AtomicBool) -> Result<Self, FetchError> {
        Ok(Self { client: Arc::new(Client::new(timeout)?), interrupted })
    }

    /// Returns whether the run is interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Requests an address. With `resume`, requests only the data after this number of bytes, provided that the
    /// file is still the version that the validator identifies. Redirects are followed, but not from https to
    /// http. The waiting time is added to `waited`.
    ///
    /// # Errors
    /// Returns an error if there is no response.
    pub fn get(
        &self,
        address: &str,
        resume: Option<Resume>,
        waited: &Waited,
    ) -> Result<Answer<'w>, FetchError> {
        let (sender, receiver) = sync_channel(AHEAD);
        let (client, address) = (self.client.clone(), address.to_owned());
        // The thread ends when the receiver is dropped or its read ends. An interrupt does not wait for it.
        thread::spawn(move || {
            if let Err(error) = read(&client, &address, resume.as_ref(), &sender) {
                let _ = sender.send(Arrival::Failed(error));
            }
        });
        let (interrupted, waited) = (self.interrupted, waited.clone());
        let arrivals = Arrivals { receiver, interrupted, waited };
        match arrivals.next()? {
            Arrival::Head(status, headers) => Ok(Answer { status, headers, arrivals }),
            Arrival::Failed(error) => Err(error.into()),
            Arrival::Piece(_) | Arrival::End => unreachable!("the head is sent first"),
        }
    }

    /// Sleeps for this time.
    ///
    /// # Errors
    /// Returns an error if the run is interrupted.
    pub fn pause(&self, time: Duration) -> Result<(), FetchError> {
        let begun = Instant::now();
        while !self.is_interrupted() {
            match time.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
                Some(left) => thread::sleep(left.min(CHECK_INTERVAL)),
                None => return Ok(()),
            }
        }
        Err(FetchError::Interrupted)
    }
}

impl Answer<'_> {
    /// Returns the next bytes of the body, or `None` at its end.
    ///
    /// # Errors
    /// Returns an error if the connection ends before the body does, or if no data arrives.
    pub fn piece(&mut self) -> Result<Option<Vec<u8>>, FetchError> {
        match self.arrivals.next()? {
            Arrival::Piece(bytes) => Ok(Some(bytes)),
            Arrival::Failed(error) => Err(error.into()),
            Arrival::End => Ok(None),
            Arrival::Head(..) => unreachable!("a head is sent once"),
        }
    }
}

impl Arrivals<'_> {
    fn next(&self) -> Result<Arrival, FetchError> {
        while !self.interrupted.load(Ordering::Relaxed) {
            let begun = Instant::now();
            let arrival = self.receiver.recv_timeout(CHECK_INTERVAL);
            // Any additional time is time for which the process was suspended.
            let waited = begun.elapsed().min(2 * CHECK_INTERVAL);
            self.waited.set(self.waited.get() + waited);
            match arrival {
                Ok(arrival) => return Ok(arrival),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(WebError::Thread.into()),
            }
        }
        Err(FetchError::Interrupted)
    }
}

/// Reads a response to its end, or until the receiver is dropped.
fn read(
    client: &Client,
    address: &str,
    resume: Option<&Resume>,
    sender: &SyncSender<Arrival>,
) -> Result<(), WebError> {
    let (head, body) = client.get(address, resume)?.into_parts();
    let (mut body, mut piece) = (body.into_reader(), vec![0; PIECE]);
    let mut arrival = Arrival::Head(head.status.as_u16(), head.headers);
    while sender.send(arrival).is_ok() {
        arrival = match body.read(&mut piece) {
            Ok(0) => {
                let _ = sender.send(Arrival::End);
                break;
            }
            Ok(bytes) => Arrival::Piece(piece[..bytes].to_vec()),
            Err(error) => return Err(client.failure(error.into())),
        };
    }
    Ok(())
}
