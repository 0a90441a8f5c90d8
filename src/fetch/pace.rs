//! How fast a download must be, so that a server that sends a byte now and then holds no job for ever.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Bytes per second that must come on a connection, over the time after which a silent one has failed.
pub const LEAST_RATE: u64 = 1 << 10;
/// Bytes per second that the largest archive allowed must come with, in the mean over all tries.
pub const LEAST_MEAN: u64 = 64 << 10;

/// The time that every download may take.
const LEAST_TIME: Duration = Duration::from_secs(3600);

/// Time spent on waiting for servers. That for which the process is suspended does not count.
pub type Waited = Rc<Cell<Duration>>;

/// Looks at the time that a download takes.
pub struct Pace {
    /// Grows while an answer is waited for.
    pub waited: Waited,
    paused: Cell<Duration>,
    /// The time that counts for the least rate.
    window: Duration,
    /// The most time for the whole download.
    most: Duration,
}

/// A connection's time and bytes since the least rate was last looked at.
#[derive(Default)]
pub struct Window {
    begun: Duration,
    bytes: u64,
}

impl Pace {
    /// Of a download of so many bytes at most.
    pub fn new(window: Duration, most_bytes: u64) -> Self {
        let most = Duration::from_secs(most_bytes / LEAST_MEAN).max(LEAST_TIME);
        Self { waited: Waited::default(), paused: Cell::default(), window, most }
    }

    /// Begins a connection.
    pub fn window(&self) -> Window {
        Window { begun: self.waited.get(), bytes: 0 }
    }

    /// Counts bytes that came on a connection.
    ///
    /// # Errors
    /// When it is too slow.
    pub fn take(&self, window: &mut Window, bytes: usize) -> Result<(), String> {
        window.bytes += bytes as u64;
        let time = self.waited.get().saturating_sub(window.begun);
        if time < self.window {
            return Ok(());
        }
        let came = std::mem::replace(window, self.window()).bytes;
        if came as f64 >= LEAST_RATE as f64 * time.as_secs_f64() {
            return Ok(());
        }
        let seconds = time.as_secs_f64();
        Err(format!("{came} bytes in {seconds:.1} s are less than {LEAST_RATE} bytes per second"))
    }

    /// Counts a pause.
    pub fn pause(&self, time: Duration) {
        self.paused.set(self.paused.get().saturating_add(time));
    }

    /// Whether there is time left.
    ///
    /// # Errors
    /// When all of it is spent.
    pub fn check(&self) -> Result<(), String> {
        if self.waited.get().saturating_add(self.paused.get()) <= self.most {
            return Ok(());
        }
        let seconds = self.most.as_secs();
        Err(format!("the download took longer than {seconds} s, the most for its expected size"))
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

    /// What came before does not make up for a drip.
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
            assert!(pace.check().unwrap_err().contains(&format!("longer than {seconds} s")));
        }
    }
}
