//! The minimum speed of a download, so that a server that sends very slowly cannot block a worker thread for
//! ever.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use super::error::PaceError;

/// The minimum speed of a connection in bytes per second, measured over windows of the connection's timeout.
pub const LEAST_RATE: u64 = 1 << 10;
/// The minimum mean speed in bytes per second, over all attempts, for an archive of the largest permitted size.
pub const LEAST_MEAN: u64 = 64 << 10;

/// The total time that every download may take, even of a small file.
const LEAST_TIME: Duration = Duration::from_secs(3600);

/// The time spent waiting for servers. Time for which the process is suspended does not count.
pub type Waited = Rc<Cell<Duration>>;

/// The time limits of a download.
pub struct Pace {
    /// The time spent waiting for responses.
    pub waited: Waited,
    paused: Cell<Duration>,
    /// The length of the window over which the speed is measured.
    window: Duration,
    /// The time limit for the whole download.
    most: Duration,
}

/// The time and the bytes of a connection since its speed was last checked.
#[derive(Default)]
pub struct Window {
    begun: Duration,
    bytes: u64,
}

impl Pace {
    /// Creates the time limits of a download of at most `most_bytes` bytes.
    pub fn new(window: Duration, most_bytes: u64) -> Self {
        let most = Duration::from_secs(most_bytes / LEAST_MEAN).max(LEAST_TIME);
        Self { waited: Waited::default(), paused: Cell::default(), window, most }
    }

    /// Starts a window for a connection.
    pub fn window(&self) -> Window {
        Window { begun: self.waited.get(), bytes: 0 }
    }

    /// Adds bytes that were received on a connection.
    ///
    /// # Errors
    /// Returns an error if the connection is too slow.
    pub fn take(&self, window: &mut Window, bytes: usize) -> Result<(), PaceError> {
        window.bytes += bytes as u64;
        let time = self.waited.get().saturating_sub(window.begun);
        if time < self.window {
            return Ok(());
        }
        let received = std::mem::replace(window, self.window()).bytes;
        let seconds = time.as_secs_f64();
        match received as f64 >= LEAST_RATE as f64 * seconds {
            true => Ok(()),
            false => Err(PaceError::Slow { received, seconds, least: LEAST_RATE }),
        }
    }

    /// Adds a pause to the total time.
    pub fn pause(&self, time: Duration) {
        self.paused.set(self.paused.get().saturating_add(time));
    }

    /// Checks the total time.
    ///
    /// # Errors
    /// Returns an error if the time limit for the whole download is exceeded.
    pub fn check(&self) -> Result<(), PaceError> {
        match self.waited.get().saturating_add(self.paused.get()) <= self.most {
            true => Ok(()),
            false => Err(PaceError::Late(self.most.as_secs())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(pace: &Pace) {
        pace.waited.set(pace.waited.get() + Duration::from_secs(1));
    }

    #[test]
    fn a_connection_has_a_least_rate() {
        let pace = Pace::new(Duration::from_secs(60), u64::MAX);
        for (bytes, seconds) in [(1, 60), (LEAST_RATE as usize - 1, 60), (LEAST_RATE as usize, 0)] {
            let mut window = pace.window();
            let mut taken = (0..200).map(|_| {
                second(&pace);
                pace.take(&mut window, bytes)
            });
            let failed = taken.position(|taken| taken.is_err()).map_or(0, |at| at + 1);
            assert_eq!(failed, seconds, "{bytes}");
        }
    }

    /// A fast beginning does not compensate for a slow continuation.
    #[test]
    fn every_window_counts() {
        let pace = Pace::new(Duration::from_secs(60), u64::MAX);
        let mut window = pace.window();
        for _ in 0..60 {
            second(&pace);
            pace.take(&mut window, 1 << 20).unwrap();
        }
        let drip = (1..).find(|_| {
            second(&pace);
            pace.take(&mut window, 1).is_err()
        });
        assert_eq!(drip, Some(60));
    }

    #[test]
    fn the_total_counts_waiting_and_pauses() {
        for (most_bytes, seconds) in [(4000 * LEAST_MEAN, 4000), (1, 3600)] {
            let pace = Pace::new(Duration::from_secs(1), most_bytes);
            pace.pause(Duration::from_secs(seconds - 1));
            second(&pace);
            pace.check().unwrap();
            second(&pace);
            let late = pace.check().unwrap_err().to_string();
            assert!(late.contains(&format!("longer than {seconds} s")));
        }
    }
}
