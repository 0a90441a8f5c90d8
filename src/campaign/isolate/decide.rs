//! What a parent does next, as it follows from what its child has shown, and from nothing else.
//!
//! A plug-in runs in the process of the child and may do anything in its name. It can neither forge a row nor lose one,
//! because a child that does what this program does not do ends, and what it was running has failed.

use std::time::Duration;

use super::child::LAST_GRACE;
use super::watch::Watch;
use crate::bench::event::{Event, Step, Stopped};
use crate::bench::outcome::Outcome;
use crate::campaign::collect::Collector;
use spmv_results::row::{RowKey, Status};

/// The number of attempts with children that end before they are ready, or while no method is running.
pub const TRIES: usize = 4;

/// What the parent sees of its child at a moment.
pub struct Sight<'e> {
    pub answer: Answer<'e>,
    /// Whether the child holds something else in the place of its connection.
    pub has_other_connection: bool,
    /// How long ago the child was asked to end, if it was.
    pub asked: Option<Duration>,
}

pub enum Answer<'e> {
    /// An event, and how far the clock of the child is from that of this process.
    Event(&'e Event, Duration),
    /// What the child did instead of sending a message of this program.
    Invalid(&'e str),
    /// The child has ended, or closed its connection.
    Ended,
    /// Nothing arrives, and the child has started more processes than any library does.
    TooManyProcesses,
    Silence,
}

/// The next step of the parent.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// It waits for the next answer.
    Wait,
    /// It keeps the event, and passes it on.
    Take,
    /// The same, if it is interrupted, too: a method may have interrupted the child alone.
    TakeIfInterrupted,
    /// The task is done, and the child can take another one.
    Done,
    /// It asks the system how the child has ended.
    AskHow,
    /// A signal to the child has ended the task. A method of the matrix before may have sent it.
    Interrupted,
    /// The child must end.
    End(Outcome),
}

/// Returns what follows from what a parent sees. `timeout` is the time limit of a method.
pub fn next(sight: &Sight, watch: &Watch, collector: &Collector, timeout: Duration) -> Next {
    let fail = |what: &str| Next::End(watch.failed(what, ""));
    if sight.asked.is_some_and(|asked| asked > LAST_GRACE) {
        return fail("does not answer");
    }
    if sight.has_other_connection && watch.is_in_method() {
        return fail("has replaced its connection");
    }
    match sight.answer {
        Answer::Event(event, lag) => after_event(event, lag, watch, collector),
        Answer::Invalid(what) => fail(what),
        Answer::Ended => Next::AskHow,
        Answer::TooManyProcesses => fail("started too many processes"),
        // The time limit is checked only if no message from the child is waiting.
        Answer::Silence => watch.overdue(timeout).map_or(Next::Wait, Next::End),
    }
}

fn after_event(event: &Event, lag: Duration, watch: &Watch, collector: &Collector) -> Next {
    if watch.is_of_another_clock(lag) {
        let lag = lag.as_secs_f64();
        let what = format!("tells a time that is {lag:.1} s from that of the system");
        return Next::End(watch.failed(&what, ""));
    }
    if let Some(what) = watch.forgery(event, collector) {
        return Next::End(watch.failed(what, ""));
    }
    match event {
        Event::Partial(_) => Next::TakeIfInterrupted,
        Event::End(Ok(())) => Next::Done,
        Event::End(Err(Stopped::Lost { reason, .. })) => Next::End(Outcome::new(Status::Failed, reason.clone())),
        Event::End(Err(Stopped::Interrupted)) => Next::Interrupted,
        _ => Next::Take,
    }
}

/// What follows from the end of a child that has not done its task.
#[derive(Clone, Debug, PartialEq)]
pub enum Consequence {
    /// No method is the cause, so another child may succeed.
    Again,
    /// These cells have ended with it.
    EndCells(Vec<RowKey>),
    /// The matrix is not measured any further.
    GiveUp,
}

/// Returns what follows from the end of a child of which the cells `open` have no row yet, after so many ends without a
/// cause.
pub fn consequence(watch: &Watch, open: Vec<RowKey>, ends_without_cause: usize) -> Consequence {
    if watch.is_idle() && ends_without_cause < TRIES {
        return Consequence::Again;
    }
    if watch.is_of_matrix() {
        return Consequence::GiveUp;
    }
    let concerns = |cell: &RowKey| watch.step.as_ref().is_some_and(|step: &Step| step.concerns(cell));
    let concerned: Vec<_> = open.into_iter().filter(concerns).collect();
    if concerned.is_empty() { Consequence::GiveUp } else { Consequence::EndCells(concerned) }
}
