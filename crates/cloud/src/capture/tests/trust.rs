//! Whatever is answered, in whatever order, however often the program dies: what a task says of the cloud is true.

use proptest::prelude::*;

use super::world::{BROKEN, FORBIDDEN, THROTTLED, World, analysis, denied, failed, printed, task};
use crate::capture::{CaptureStep, CaptureTask, CommandOutcome, FileProblem, NextStep, State, StepKind};

/// What happens to a command.
#[derive(Debug, Clone, Copy)]
pub(super) enum CommandFault {
    Fine,
    Denied(bool),
    NotRun,
    Fails(usize, bool),
    CutOff(bool),
    Garbage,
    Dies(bool),
    Twice,
    Stop,
    Cancel,
    CleanUp,
    Resume,
}

pub(super) fn fault() -> impl Strategy<Value = CommandFault> {
    prop_oneof![
        12 => Just(CommandFault::Fine),
        1 => any::<bool>().prop_map(CommandFault::Denied),
        1 => Just(CommandFault::NotRun),
        2 => (0_usize..3, any::<bool>()).prop_map(|(which, effect)| CommandFault::Fails(which, effect)),
        2 => any::<bool>().prop_map(CommandFault::CutOff),
        1 => Just(CommandFault::Garbage),
        2 => any::<bool>().prop_map(CommandFault::Dies),
        1 => Just(CommandFault::Twice),
        1 => prop_oneof![Just(CommandFault::Stop), Just(CommandFault::Cancel), Just(CommandFault::CleanUp), Just(CommandFault::Resume)],
    ]
}

/// Returns the answer; `None` where the program dies before it hears one.
pub(super) fn answered(world: &mut World, step: &CaptureStep, fault: CommandFault) -> Option<CommandOutcome> {
    let effect = |world: &mut World, takes: bool| {
        if takes || !step.line.changes() {
            drop(world.run(step));
        }
    };
    Some(match fault {
        CommandFault::Denied(all) if step.line.changes() => denied(all),
        CommandFault::NotRun => CommandOutcome::NotRun { reason: "no disk".to_owned() },
        CommandFault::Fails(which, takes) => {
            effect(world, takes);
            failed([THROTTLED, BROKEN, FORBIDDEN][which])
        }
        CommandFault::CutOff(takes) => {
            effect(world, takes);
            CommandOutcome::Unknown { reason: "it took too long".to_owned() }
        }
        CommandFault::Garbage => {
            effect(world, true);
            printed("{\"cut of")
        }
        CommandFault::Dies(takes) => {
            effect(world, takes);
            return None;
        }
        CommandFault::Fine
        | CommandFault::Denied(_)
        | CommandFault::Twice
        | CommandFault::Stop
        | CommandFault::Cancel
        | CommandFault::CleanUp
        | CommandFault::Resume => world.run(step),
    })
}

fn truthful(task: &CaptureTask, world: &World) {
    let state = task.state();
    let over = matches!(state, State::Done | State::Failed | State::Canceled);
    assert!(!over || !world.holds_ours(), "{state:?}, and something is left: {task:#?}");
    assert!(world.created.values().all(|times| *times <= 1), "it was begun twice");
    assert!(
        world.captures.contains_key("nightly") && world.blobs.contains("nightly.cap"),
        "what is not ours is gone"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_answer_and_no_crash_makes_it_lie(
        two in any::<bool>(),
        writes in any::<bool>(),
        faults in prop::collection::vec(fault(), 0..80),
    ) {
        let machines: &[&str] = if two { &["tf-source-vm", "tf-dest-vm"] } else { &["tf-dest-vm"] };
        let (mut world, mut task) = (World::new(), task(machines));
        world.writes = writes;
        let (mut faults, mut on_result) = (faults.into_iter(), Vec::<(StepKind, usize, CommandOutcome)>::new());
        let mut saved = task.to_json();
        for _ in 0..400 {
            truthful(&task, &world);
            match task.next(world.now) {
                NextStep::Run(step) => {
                    let fault = faults.next().unwrap_or(CommandFault::Fine);
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
                        | CommandFault::Twice => {
                            prop_assert!(task.begin(&step));
                            prop_assert!(!step.line.changes() || !task.begin(&step), "it may not run twice");
                            saved = task.to_json();
                            match answered(&mut world, &step, fault) {
                                None => task = CaptureTask::from_json(&saved).unwrap(),
                                Some(answer) => {
                                    task.on_result(&step.what, step.end, &answer, world.now);
                                    on_result.push((step.what.clone(), step.end, answer));
                                }
                            }
                            if let (CommandFault::Twice, Some((what, end, answer))) = (fault, on_result.last()) {
                                task.on_result(what, *end, answer, world.now);
                            }
                        }
                    }
                }
                NextStep::Verify { end, .. } => {
                    let good = !matches!(faults.next(), Some(CommandFault::Garbage | CommandFault::CutOff(_)));
                    let read = if good { Ok((3, false)) } else { Err(FileProblem("it is empty".to_owned())) };
                    task.verified(end, read, world.now);
                }
                NextStep::Analyze(_) => task.analyzed(analysis(Vec::new())),
                NextStep::Wait { until, .. } => {
                    prop_assert!(until > world.now);
                    world.now = until;
                }
                NextStep::Over => match faults.next() {
                    None => break,
                    Some(CommandFault::Resume | CommandFault::Twice) => task.resume(),
                    Some(_) => task.clean_up(),
                },
            }
        }
        truthful(&task, &world);
        prop_assert!(task.state().is_over(), "it never ends: {:?}", task.state());
        // As soon as the cloud answers again, and a human agrees, nothing is left.
        task.clean_up();
        world.drive(&mut task, &mut |_, _| None);
        truthful(&task, &world);
        prop_assert!(task.state() != State::NeedsCleanup && !saved.is_empty());
    }
}
