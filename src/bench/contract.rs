//! What a measurement needs of its caller, and reports to it.

use std::sync::atomic::AtomicBool;

use super::clock::Clock;
use super::event::{Event, Step, Turn};
use super::outcome::Outcome;
use spmv_matrix::scalar::Precision;
use spmv_matrix::system::energy::Rapl;
use spmv_methods::method::profile::Profile;
use spmv_methods::method::{Choice, Device};
use spmv_methods::team::Team;
use spmv_results::row::{Baseline, Row, RowKey};
use spmv_results::settings::Settings;

/// Whether a library of the CPU computes the product.
pub fn is_of_library(choice: &Choice) -> bool {
    Baseline::named(choice.method.name).is_some_and(Baseline::is_library)
}

/// A method, and what identifies its row among those of a matrix.
#[derive(Clone)]
pub struct Cell<'m> {
    pub key: RowKey,
    pub choice: Choice<'m>,
    /// Whether the method is to take part in a duel.
    pub duels: bool,
}

impl<'m> From<Choice<'m>> for Cell<'m> {
    /// Creates the cell of a method in double precision on one thread, as in tests.
    fn from(choice: Choice<'m>) -> Self {
        let (precision, device) = (Precision::F64, choice.method.device());
        let (method, threads) = (choice.name(), choice.method.threads(1));
        let key = RowKey { precision, device, method, threads, cache: None, order: None };
        Self { key, choice, duels: false }
    }
}

pub struct Bench<'a> {
    /// The threads on which the methods of the CPU run.
    pub team: &'a Team,
    pub clock: &'a dyn Clock,
    /// Set by another thread or a signal handler to stop early.
    pub interrupted: &'a AtomicBool,
    pub settings: &'a Settings,
    /// The rounds on the CPU that other processes have taken before, and those of this one; `None`: it takes all.
    pub share: Option<[usize; 2]>,
    /// Whether the best methods may alternate after the rounds.
    pub has_duel: bool,
    /// Whether modelled products run again without each performance problem of their kernels.
    pub explains: bool,
    /// The part of the user's limit of memory that the matrix has left; `None` without a limit.
    pub max_memory: Option<u64>,
    /// Whether this process does nothing else, so that what changes in it while a method runs is changed by the method.
    pub is_alone: bool,
    /// The machine's profile in the precision of the products, if a method needs it and it has been measured.
    pub profile: Option<&'a Profile>,
    /// The host's counters of energy, where they can be read.
    pub rapl: Option<&'a Rapl>,
    /// What all rows have in common: the facts of the matrix.
    pub row: Row,
    /// Called with each step, and with the result of each method.
    pub emit: &'a dyn Fn(Event),
    /// Returns a number that no method can predict: it seeds the choice of when and how x and y change between samples.
    pub entropy: fn() -> u64,
}

impl<'a> Bench<'a> {
    /// Returns a measurement that is not interrupted, reports nothing, and always makes the same choices, as in tests.
    pub fn new(team: &'a Team, clock: &'a dyn Clock, settings: &'a Settings) -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self {
            team,
            clock,
            interrupted: &NEVER,
            settings,
            share: None,
            has_duel: true,
            explains: false,
            max_memory: settings.max_memory,
            is_alone: false,
            profile: None,
            rapl: None,
            row: Row::default(),
            emit: &|_: Event| (),
            entropy: || 1,
        }
    }

    /// Returns the number of rounds before this process, and of its own, on a device.
    pub fn own_rounds(&self, device: Device) -> [usize; 2] {
        let share = self.share.filter(|_| device == Device::Cpu);
        share.unwrap_or([0, self.settings.rounds.max(1)])
    }

    /// Reports the next step of a method, which is the cause if the process ends.
    pub fn begin(&self, cell: &Cell, turn: Turn) {
        (self.emit)(Event::Step(Step::Method(cell.key.clone(), turn)));
    }

    /// Reports that these methods have no times.
    pub fn end(&self, cells: &[Cell], outcome: &Outcome) {
        for cell in cells {
            let row = outcome.in_row(self.row.clone().with_key(&cell.key));
            (self.emit)(Event::Row(Box::new(row), Vec::new()));
        }
    }
}
