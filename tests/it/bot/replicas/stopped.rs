//! A replica that is stopped in the middle of an approved command for longer than its lease, and then goes on.

use std::time::Duration;

use ghost_investigate::state::State;
use rustix::process::Signal;

use super::held::{asks_again, command, deny, lines, press, runs, when};
use super::people::{Talk, card};
use super::stage::Stage;

/// Lets somebody approve, and waits until the command runs; returns which replica runs it.
async fn approved(stage: &Stage, talk: &Talk) -> usize {
    press(stage, talk).await;
    when(stage, "the approved command runs", || lines(stage, "ran", talk) == 1).await;
    stage.holder(&talk.session).await
}

#[tokio::test]
async fn whoever_was_stopped_in_the_middle_of_a_command_is_fenced_and_it_does_not_run_twice() {
    let Some(mut stage) = Stage::start_with(1, 0, Duration::ZERO, command).await else { return };
    // The command goes on while its owner is stopped: once it still runs when the owner wakes up, once it ended meanwhile.
    for (number, ends) in [(0, false), (1, true)] {
        let hold = stage.folder.path().join(format!("hold-{number}"));
        std::fs::write(&hold, "").unwrap();
        let talks = stage.mention(number..number + 1, true).await;
        let talk = talks.first().unwrap();
        stage.all(&talks, "a card asks", |state| card(state).is_some()).await;
        let first = approved(&stage, talk).await;
        stage.signal(first, Signal::STOP);
        stage.all(&talks, "another replica asks what became of it", asks_again).await;
        assert!(runs(&stage, talk), "the command goes on without its owner");
        if ends {
            std::fs::remove_file(&hold).unwrap();
            when(&stage, "the command ends by itself", || lines(&stage, "ended", talk) == 1).await;
        }
        stage.signal(first, Signal::CONT);
        when(&stage, "the first owner notices", || stage.log(first).contains("another owner drives")).await;
        when(&stage, "its command is ended", || !runs(&stage, talk)).await;
        assert_eq!(lines(&stage, "ended", talk), usize::from(ends));
        // Nothing of what the first owner knows is on record.
        let state = stage.state(talk).await.unwrap();
        assert!(asks_again(&state), "{:?}", state.steps);
        deny(&stage, &state).await;
        stage.all(&talks, "the session ends", State::is_reported).await;
        stage.at_rest(talk).await;
        stage.prove(talk, &stage.ran()).await;
        assert_eq!((lines(&stage, "ran", talk), lines(&stage, "ended", talk)), (1, usize::from(ends)));
        let events = stage.recorded(talk).await;
        let times = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
        assert_eq!((times("executing"), times("unknown"), times("done")), (1, 1, 1), "{talk:?}");
    }
}
