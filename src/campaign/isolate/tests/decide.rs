//! Tests what a parent does next, for everything that a child can show at every moment.

use super::*;
use crate::bench::outcome::Outcome;
use crate::campaign::collect::Collector;
use crate::campaign::isolate::child::LAST_GRACE;
use crate::campaign::isolate::decide::{Answer, Consequence, Next, Sight, TRIES, consequence, next};
use crate::campaign::isolate::watch::{GRACE, Watch};

const TIMEOUT: Duration = Duration::from_secs(9);

/// The parent's view of a child that should measure a and b on a matrix, after these events.
struct View<'r> {
    watch: Watch,
    collector: Collector<'r>,
}

impl<'r> View<'r> {
    fn after(record: &'r RunRecord, events: &[Event]) -> Self {
        let mut watch = Watch::begin(false, false);
        let mut collector = Collector::new(record, &[], &[]);
        for event in events {
            let mut event = event.clone();
            watch.note(&mut event, Duration::ZERO);
            collector.take(&mut event);
        }
        Self { watch, collector }
    }

    fn next(&self, answer: Answer) -> Next {
        let sight = Sight { answer, has_other_connection: false, asked: None };
        next(&sight, &self.watch, &self.collector, TIMEOUT)
    }

    /// Returns what follows from an event that arrives in time: in words, if it is the failure of the child.
    fn after_event(&self, event: &Event) -> Next {
        self.next(Answer::Event(event, Duration::ZERO))
    }
}

fn failed(reason: &str) -> Next {
    Next::End(Outcome::new(Status::Failed, format!("the child process {reason}")))
}

/// The moments of a task, with what the child has sent until then.
fn moments() -> [Vec<Event>; 8] {
    let load = vec![Event::Step(Step::Load)];
    let is_read = [&load[..], &[read()]].concat();
    let prepares = [&is_read[..], &[step("a", Turn::Prepare)]].concat();
    let finishes = [&prepares[..], &[step("a", Turn::Other)]].concat();
    let has_row = [&finishes[..], &[row("a")]].concat();
    let has_group = [&has_row[..], &[end_of_group("a")]].concat();
    let has_all = [&has_group[..], &group("b")[..]].concat();
    let has_no_matrix = [&load[..], &[ended()]].concat();
    [load, is_read, prepares, finishes, has_row, has_group, has_all, has_no_matrix]
}

fn samples() -> Event {
    Event::Samples { cell: cell("a"), process: 1, samples: vec![] }
}

/// Each line is an event, and what follows from it at each of the moments, in a letter: it is taken (`+`), the task is
/// done (`.`), or it must be a forgery, of which the kinds are named below.
#[test]
fn events_are_taken_only_when_this_program_sends_them() {
    let record = record(&["a", "b"]);
    let forgeries = [
        ('r', "reported again that it is ready"),
        ('n', "began with a method that was not to be measured"),
        ('m', "described a matrix that it was not reading"),
        ('2', "sent a second row of a method"),
        ('g', "reported the end of methods without all of their rows"),
        ('e', "reported its end"),
    ];
    let refusal = Event::Ready(Err("no".into()));
    for (name, event, expected) in [
        ("refuses", refusal, "rrrrrrrr"),
        ("loads", Event::Step(Step::Load), "++++++++"),
        ("describes the matrix", read(), "+mmmmmmm"),
        ("ends the matrix", ended(), "+mmmmmmm"),
        ("begins a", step("a", Turn::Prepare), "+++++nn+"),
        ("begins c", step("c", Turn::Prepare), "nnnnnnnn"),
        ("sends a row", row("a"), "++++222+"),
        ("sends a row of c", row("c"), "22222222"),
        ("ends the group of a", end_of_group("a"), "gggg+ggg"),
        ("ends the task", Event::End(Ok(())), "eeeeee.."),
    ] {
        let letter = |events: &Vec<Event>| match View::after(&record, events).after_event(&event) {
            Next::Take => '+',
            Next::Done => '.',
            Next::End(end) => {
                let is_kind = |(_, what): &&(char, &str)| end.reason.contains(what);
                forgeries.iter().find(is_kind).unwrap_or_else(|| panic!("{name}: {end:?}")).0
            }
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(moments().iter().map(letter).collect::<String>(), expected, "{name}");
    }
}

/// A row that is right comes at the end of its method. After one that came before, only an interrupt is no forgery.
#[test]
fn results_before_their_time_are_a_forgery() {
    let record = record(&["a", "b"]);
    let bad = Row { status: Some(Status::Wrong), ..Row::default().with_key(&cell("a")) };
    let bad = Event::Row(Box::new(bad), vec![]);
    let next_step = step("b", Turn::Prepare);
    let interrupted = Event::End(Err(Stopped::Interrupted));
    let duel = Event::Step(Step::Duel(vec![cell("a")]));
    for (step, result, is_early) in [
        (step("a", Turn::Prepare), row("a"), true),
        (step("a", Turn::Prepare), samples(), true),
        (step("a", Turn::Prepare), bad.clone(), false),
        (step("b", Turn::Other), bad.clone(), true),
        (step("a", Turn::Other), row("a"), false),
        (step("a", Turn::Other), samples(), false),
        (duel.clone(), row("a"), true),
        (duel, bad, false),
    ] {
        let view = View::after(&record, &[read(), step.clone(), result]);
        let is_forgery = match view.after_event(&next_step) {
            Next::End(end) => end.reason.contains("sent results of a method before its end"),
            next => next != Next::Take,
        };
        assert_eq!(is_forgery, is_early, "{step:?}");
        assert_eq!(view.after_event(&interrupted), Next::Interrupted);
    }
    let twice = View::after(&record, &[step("a", Turn::Other), samples()]);
    let expected = failed("sent the samples of a method twice while running a");
    assert_eq!(twice.after_event(&samples()), expected);
}

#[test]
fn what_is_no_event_ends_the_child_or_is_awaited() {
    let record = record(&["a", "b"]);
    let mut view = View::after(&record, &[read(), step("a", Turn::Prepare)]);
    let lost = Stopped::Lost { method: "a".into(), reason: "no device".into() };
    let lost = Event::End(Err(lost));
    let seconds = Duration::from_secs;
    let other_clock = failed("tells a time that is 6.0 s from that of the system while running a");
    let partial = Event::Partial(Box::default());
    let row = step("a", Turn::Other);
    for (answer, expected) in [
        (Answer::Silence, Next::Wait),
        (Answer::Ended, Next::AskHow),
        (Answer::Invalid("sends noise"), failed("sends noise while running a")),
        (Answer::TooManyProcesses, failed("started too many processes while running a")),
        (Answer::Event(&row, seconds(5)), Next::Take),
        (Answer::Event(&row, seconds(6)), other_clock),
        (Answer::Event(&lost, seconds(0)), failed_with("no device")),
        (Answer::Event(&partial, seconds(0)), Next::TakeIfInterrupted),
    ] {
        assert_eq!(view.next(answer), expected);
    }
    // All turns of a method count, and some time more, in which the child may end it.
    view.watch.at = TIMEOUT + GRACE + Duration::from_millis(1);
    let overdue = "did not end within the 9 s of --timeout while running a";
    let overdue = Next::End(Outcome::new(Status::Timeout, overdue.into()));
    assert_eq!(view.next(Answer::Silence), overdue);
    view.watch.note(&mut step("b", Turn::Prepare), Duration::ZERO);
    assert_eq!(view.next(Answer::Silence), Next::Wait);
    view.watch.note(&mut step("a", Turn::Other), Duration::ZERO);
    assert_eq!(view.next(Answer::Silence), overdue);
    assert_eq!(view.next(Answer::Event(&row, seconds(0))), Next::Take, "what waits comes first");
}

fn failed_with(reason: &str) -> Next {
    Next::End(Outcome::new(Status::Failed, reason.into()))
}

/// Code of a method can replace the connection only while it runs. Another library may do what it likes.
#[test]
fn another_connection_and_a_child_that_does_not_end_are_seen_first() {
    let record = record(&["a", "b"]);
    let event = step("a", Turn::Other);
    let replaced = failed("has replaced its connection while running a");
    let stuck = failed("does not answer while running a");
    let begins = [read(), step("a", Turn::Prepare)];
    let late = Some(LAST_GRACE + Duration::from_millis(1));
    for (events, has_other_connection, asked, expected) in [
        (&begins[..1], true, None, Next::Take),
        (&begins, false, None, Next::Take),
        (&begins, true, None, replaced),
        (&begins, false, Some(LAST_GRACE), Next::Take),
        (&begins, true, late, stuck),
    ] {
        let View { watch, collector } = View::after(&record, events);
        let answer = Answer::Event(&event, Duration::ZERO);
        let sight = Sight { answer, has_other_connection, asked };
        assert_eq!(next(&sight, &watch, &collector, TIMEOUT), expected);
    }
}

#[test]
fn the_step_tells_which_cells_end_with_the_child() {
    let record = record(&["a", "b"]);
    let begin = GroupKey { device: None, threads: None, ..GroupKey::from(&cell("b")) };
    let duel = Event::Step(Step::Duel(vec![cell("a"), cell("b")]));
    let both = || Consequence::EndCells(vec![cell("a"), cell("b")]);
    let only = |name| Consequence::EndCells(vec![cell(name)]);
    let load = || Event::Step(Step::Load);
    for (events, is_harmless, is_used, ends, expected) in [
        (vec![], false, false, 0, Consequence::Again),
        (vec![], false, false, TRIES, Consequence::GiveUp),
        (vec![load()], false, false, 0, Consequence::GiveUp),
        // The matrix was read before, or another one may have left something.
        (vec![load()], true, false, 0, Consequence::Again),
        (vec![load()], false, true, 0, Consequence::Again),
        (vec![load()], true, false, TRIES, both()),
        (vec![Event::Step(Step::Begin(begin))], false, false, 0, only("b")),
        (vec![Event::Step(Step::Order(Order::Natural))], false, false, 0, both()),
        (vec![step("a", Turn::Prepare)], false, false, 0, only("a")),
        (vec![duel.clone()], false, false, 0, Consequence::Again),
        (vec![duel], false, false, TRIES, both()),
        (group("a").to_vec(), false, false, 0, Consequence::Again),
        ([&group("a")[..], &[step("a", Turn::Other)]].concat(), false, false, 0, Consequence::GiveUp),
    ] {
        let View { collector, .. } = View::after(&record, &events);
        let mut watch = Watch::begin(is_harmless, is_used);
        events.clone().iter_mut().for_each(|event| watch.note(event, Duration::ZERO));
        let found = consequence(&watch, collector.open(), ends);
        assert_eq!(found, expected, "{events:?} {is_harmless} {is_used} {ends}");
    }
}
