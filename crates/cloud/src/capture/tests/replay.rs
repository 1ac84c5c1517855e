//! A task is made again from its order and the result of its commands, as whoever has a ledger of its own does it.

use proptest::prelude::*;

use super::trust::{CommandFault, answered, fault};
use super::world::{World, analysis, task};
use crate::capture::{Analysis, CaptureStep, CaptureTask, CommandOutcome, FileProblem, NextStep};
use ghost_base::Timestamp;

/// What a ledger holds of a task.
#[derive(Debug, Clone)]
enum Event {
    Began(String, Timestamp),
    Answered(CommandOutcome, Timestamp),
    Verified(Result<(u64, bool), FileProblem>, Timestamp),
    /// The analysis as it is written down.
    Analyzed(String),
    Said(CommandFault),
}

fn say(task: &mut CaptureTask, fault: CommandFault) -> bool {
    match fault {
        CommandFault::Stop => task.stop(),
        CommandFault::Cancel => task.cancel(),
        CommandFault::CleanUp => task.clean_up(),
        CommandFault::Resume => task.resume(),
        CommandFault::Fine
        | CommandFault::Denied(_)
        | CommandFault::NotRun
        | CommandFault::Fails(..)
        | CommandFault::CutOff(_)
        | CommandFault::Garbage
        | CommandFault::Dies(_)
        | CommandFault::Twice => return false,
    }
    true
}

/// Makes the task again.
fn replayed(mut task: CaptureTask, ledger: &[Event]) -> CaptureTask {
    let mut in_flight: Option<Box<CaptureStep>> = None;
    for event in ledger {
        match event {
            Event::Began(command, now) => {
                let NextStep::Run(step) = task.next(*now) else { panic!("{command} is not next: {task:#?}") };
                assert_eq!(&step.command(), command);
                assert!(task.begin(&step));
                in_flight = Some(step);
            }
            Event::Answered(answer, now) => {
                let step = in_flight.take().unwrap();
                task.on_result(&step.what, step.end, answer, *now);
            }
            Event::Verified(read, now) => {
                let NextStep::Verify { end, .. } = task.next(*now) else {
                    panic!("no file is next: {task:#?}")
                };
                task.verified(end, read.clone(), *now);
            }
            Event::Analyzed(text) => {
                let analysis: Analysis = serde_json::from_str(text).unwrap();
                task.analyzed(analysis);
            }
            Event::Said(fault) => assert!(say(&mut task, *fault)),
        }
    }
    task
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_answers_and_their_times_make_the_same_task(
        two in any::<bool>(),
        faults in prop::collection::vec(fault(), 0..60),
        cut in 0_usize..200,
    ) {
        let machines: &[&str] = if two { &["tf-source-vm", "tf-dest-vm"] } else { &["tf-dest-vm"] };
        let (mut world, fresh) = (World::new(), task(machines));
        let (mut task, mut ledger, mut moments) = (fresh.clone(), Vec::new(), Vec::new());
        let mut faults = faults.into_iter();
        for _ in 0..300 {
            moments.push((ledger.len(), task.clone()));
            match task.next(world.now) {
                NextStep::Run(step) => {
                    let fault = faults.next().unwrap_or(CommandFault::Fine);
                    if say(&mut task, fault) {
                        ledger.push(Event::Said(fault));
                        continue;
                    }
                    ledger.push(Event::Began(step.command(), world.now));
                    prop_assert!(task.begin(&step));
                    world.now = world.now.plus(std::time::Duration::from_millis(700));
                    if let Some(answer) = answered(&mut world, &step, fault) {
                        task.on_result(&step.what, step.end, &answer, world.now);
                        ledger.push(Event::Answered(answer, world.now));
                    }
                }
                NextStep::Verify { end, .. } => {
                    let bad = matches!(faults.next(), Some(CommandFault::Garbage | CommandFault::CutOff(_)));
                    let read = if bad { Err(FileProblem("it is empty".to_owned())) } else { Ok((3, false)) };
                    task.verified(end, read.clone(), world.now);
                    ledger.push(Event::Verified(read, world.now));
                }
                NextStep::Analyze(work) => {
                    let analysis = analysis(work.into_iter().map(|work| work.name).collect());
                    ledger.push(Event::Analyzed(serde_json::to_string(&analysis).unwrap()));
                    task.analyzed(analysis);
                }
                NextStep::Wait { until, .. } => world.now = until,
                NextStep::Over => break,
            }
        }
        moments.push((ledger.len(), task.clone()));
        prop_assert!(task.state().is_over());
        let (length, expected) = moments.swap_remove(cut % moments.len());
        prop_assert_eq!(replayed(fresh, &ledger[..length]), expected);
    }
}
