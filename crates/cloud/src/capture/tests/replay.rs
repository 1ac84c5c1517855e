//! A task is made again from its order and what came of its commands, as whoever has a ledger of its own does it.

use proptest::prelude::*;

use super::trust::{Fate, answered, fate};
use super::world::{World, analysis, task};
use crate::capture::{Analysis, CaptureStep, CaptureTask, CommandOutcome, NextStep};
use ghost_base::Timestamp;

/// What a ledger holds of a task.
#[derive(Debug, Clone)]
enum Event {
    Began(String, Timestamp),
    Heard(CommandOutcome, Timestamp),
    Verified(Result<(u64, bool), String>, Timestamp),
    /// The analysis as it is written down.
    Analyzed(String),
    Said(Fate),
}

fn say(task: &mut CaptureTask, fate: Fate) -> bool {
    match fate {
        Fate::Stop => task.stop(),
        Fate::Cancel => task.cancel(),
        Fate::CleanUp => task.clean_up(),
        Fate::Resume => task.resume(),
        Fate::Fine
        | Fate::Denied(_)
        | Fate::NotRun
        | Fate::Fails(..)
        | Fate::CutOff(_)
        | Fate::Garbage
        | Fate::Dies(_)
        | Fate::Twice => return false,
    }
    true
}

/// Makes the task again.
fn replayed(mut task: CaptureTask, ledger: &[Event]) -> CaptureTask {
    let mut under_way: Option<Box<CaptureStep>> = None;
    for event in ledger {
        match event {
            Event::Began(command, now) => {
                let NextStep::Run(step) = task.next(*now) else { panic!("{command} is not next: {task:#?}") };
                assert_eq!(&step.command(), command);
                assert!(task.begin(&step));
                under_way = Some(step);
            }
            Event::Heard(answer, now) => {
                let step = under_way.take().unwrap();
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
            Event::Said(fate) => assert!(say(&mut task, *fate)),
        }
    }
    task
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_answers_and_their_times_make_the_same_task(
        two in any::<bool>(),
        fates in prop::collection::vec(fate(), 0..60),
        cut in 0_usize..200,
    ) {
        let machines: &[&str] = if two { &["tf-source-vm", "tf-dest-vm"] } else { &["tf-dest-vm"] };
        let (mut world, fresh) = (World::new(), task(machines));
        let (mut task, mut ledger, mut moments) = (fresh.clone(), Vec::new(), Vec::new());
        let mut fates = fates.into_iter();
        for _ in 0..300 {
            moments.push((ledger.len(), task.clone()));
            match task.next(world.now) {
                NextStep::Run(step) => {
                    let fate = fates.next().unwrap_or(Fate::Fine);
                    if say(&mut task, fate) {
                        ledger.push(Event::Said(fate));
                        continue;
                    }
                    ledger.push(Event::Began(step.command(), world.now));
                    prop_assert!(task.begin(&step));
                    world.now = world.now.plus(std::time::Duration::from_millis(700));
                    if let Some(answer) = answered(&mut world, &step, fate) {
                        task.on_result(&step.what, step.end, &answer, world.now);
                        ledger.push(Event::Heard(answer, world.now));
                    }
                }
                NextStep::Verify { end, .. } => {
                    let bad = matches!(fates.next(), Some(Fate::Garbage | Fate::CutOff(_)));
                    let read = if bad { Err("it is empty".to_owned()) } else { Ok((3, false)) };
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
