//! Whoever drives a capture dies, at every moment at which it is kept, before and after: somebody else goes on, and begins nothing twice.

use ghost_cloud::capture::{DriveError, Ended, Instruction, SaveError, State};

use super::stage::{ONE, PAIR, Stage};
use crate::random::{Random, is_long, seed};

/// So many deaths are died in the short run.
const SAMPLE: usize = 6;

/// What happens besides.
#[derive(Debug, Clone, Copy)]
enum Plot {
    One,
    Pair,
    Stopped,
    Canceled,
}

impl Plot {
    const ALL: [Self; 4] = [Self::One, Self::Pair, Self::Stopped, Self::Canceled];

    fn machines(self) -> &'static [&'static str] {
        match self {
            Self::Pair => &PAIR,
            Self::One | Self::Stopped | Self::Canceled => &ONE,
        }
    }

    fn word(self) -> Option<Instruction> {
        match self {
            Self::One | Self::Pair => None,
            Self::Stopped => Some(Instruction::Stop),
            Self::Canceled => Some(Instruction::Cancel),
        }
    }

    fn end(self) -> State {
        match self {
            Self::One | Self::Pair | Self::Stopped => State::Done,
            Self::Canceled => State::Canceled,
        }
    }
}

/// Dies at a save, goes on as somebody else does; `None` where there is no such save.
async fn dies(plot: Plot, at: usize, written: bool) -> Option<()> {
    let stage = Stage::up(None).await;
    let first = stage.executor("");
    *first.saves.lock().unwrap() = (0, Some((at, written)));
    first.says.lock().unwrap().extend(plot.word().map(|word| (State::Recording, word)));
    let mut task = stage.task(plot.machines());
    let ended = first.drive(&mut task).await;
    if ended == Ok(Ended::Over) {
        stage.down().await;
        return None;
    }
    assert_eq!(ended, Err(DriveError::Keep(SaveError("dead".to_owned()))));
    let second = stage.executor("");
    // An instruction that was lost with its receiver is given again.
    let unsent = plot.word().filter(|_| first.count("packet-capture stop") == 0);
    second.says.lock().unwrap().extend(unsent.map(|word| (State::Recording, word)));
    let mut kept = match stage.store().load("s1-1") {
        Ok(kept) => kept,
        // It died before there was anything: nothing was begun.
        Err(_) => {
            assert_eq!(first.ran.lock().unwrap().len(), 0);
            stage.down().await;
            return Some(());
        }
    };
    kept.resume();
    let mut task = second.end(kept).await;
    if task.state() == State::NeedsCleanup {
        // Where nobody knows whether a removal took effect, this is reported; a person asks again.
        task.clean_up();
        task = second.end(task).await;
    }
    let about = || format!("{plot:?}, save {at}, written {written}: {task:#?}");
    let created = first.count("packet-capture create") + second.count("packet-capture create");
    let failed = task.state() == State::Failed && (created == 0 || !matches!(plot, Plot::Canceled));
    // Where it died between being begun and the command, there is nothing to go on with, and that is what is said.
    assert!(task.state() == plot.end() || failed, "{}", about());
    assert!(
        created <= plot.machines().len() && (created > 0 || failed || plot.word().is_some()),
        "{}",
        about()
    );
    assert_eq!(stage.there().await, Vec::<String>::new(), "{}", about());
    for end in &task.ends {
        assert!(!stage.stored(&end.file()).await, "{}", about());
    }
    stage.down().await;
    Some(())
}

#[tokio::test]
async fn whenever_somebody_dies_somebody_else_goes_on() {
    let mut random = Random::new(seed("whenever_somebody_dies_somebody_else_goes_on"));
    if !is_long() {
        for _ in 0..SAMPLE {
            let (plot, at, written) = (*random.pick(&Plot::ALL), 1 + random.below(30), random.below(2) == 0);
            dies(plot, at, written).await;
        }
        return;
    }
    for plot in Plot::ALL {
        for written in [true, false] {
            let mut at = 1;
            while dies(plot, at, written).await.is_some() {
                at += 1;
            }
            assert!(at > 25, "{plot:?} has {at} saves");
        }
    }
}

/// It dies between the record that it begins and the command: whatever somebody says then, nothing began, and that is reported.
#[tokio::test]
async fn what_was_cut_off_before_it_began_has_failed_whether_it_is_stopped_or_canceled() {
    for plot in [Plot::One, Plot::Stopped, Plot::Canceled] {
        assert!(dies(plot, 16, true).await.is_some(), "{plot:?}");
    }
}
