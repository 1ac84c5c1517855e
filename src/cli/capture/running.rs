//! Captures that run, or ran.

use serde_json::Value;

use super::command::One;
use super::summary::{document, finish, over, row, summary};
use super::terminal::Terminal;
use ghost_cloud::capture::{CaptureTask, Instruction, TaskStore};
use ghost_tools::list::ListForm;
use ghost_tools::print::{Hinted, line, note};
use ghost_tools::setup::Setup;
use ghost_tools::wait::drive;

/// Says how far a capture is.
pub(super) fn status(one: &One, setup: &Setup) -> anyhow::Result<u8> {
    let task = load(&TaskStore::open(setup.data()?)?, &one.id)?;
    line(&if one.common.json { document(&task).to_string() } else { summary(&task, setup) })?;
    Ok(over(&task, &one.common))
}

/// Goes on with it.
pub(super) fn wait(one: &One, setup: &Setup) -> anyhow::Result<u8> {
    with(one, setup, CaptureTask::resume)
}

/// Ends it early.
pub(super) fn stop(one: &One, setup: &Setup) -> anyhow::Result<u8> {
    let store = TaskStore::open(setup.data()?)?;
    let task = load(&store, &one.id)?;
    if !task.state().is_over() && store.hold(&one.id)?.is_none() {
        store.leave(&one.id, Instruction::Stop)?;
        note("Another process waits for it: that one ends it now, and asks there.");
        line(&if one.common.json { document(&task).to_string() } else { summary(&task, setup) })?;
        return Ok(0);
    }
    with(one, setup, CaptureTask::stop)
}

/// Removes what is left of it.
pub(super) fn clean_up(one: &One, setup: &Setup) -> anyhow::Result<u8> {
    with(one, setup, |task| {
        if !task.state().is_over() {
            task.cancel();
        }
        task.clean_up();
    })
}

/// Lists captures.
pub(super) fn list(form: ListForm, setup: &Setup) -> anyhow::Result<u8> {
    let (tasks, problems) = TaskStore::open(setup.data()?)?.all()?;
    for problem in problems {
        note(&format!("warning: {problem}"));
    }
    if form == ListForm::Json {
        line(&Value::Array(tasks.iter().map(document).collect()).to_string())?;
        return Ok(0);
    }
    if tasks.is_empty() {
        line("There is no capture. `ghost capture start` begins one.")?;
    }
    let rows: Vec<Vec<String>> = tasks.iter().map(row).collect();
    form.lines(&["ID", "STATE", "BEGUN", "GROUP", "MACHINES"], &rows)
        .iter()
        .try_for_each(|text| line(text))?;
    Ok(0)
}

fn with(one: &One, setup: &Setup, change: impl FnOnce(&mut CaptureTask)) -> anyhow::Result<u8> {
    let store = TaskStore::open(setup.data()?)?;
    drop(load(&store, &one.id)?);
    let Some(_held) = store.hold(&one.id)? else {
        let error = anyhow::anyhow!("another process works on {}", one.id);
        return Err(Hinted::new(error, "wait for it, or end the capture with `ghost capture stop`").into());
    };
    // What another process changed until it let go is in there now.
    let mut task = load(&store, &one.id)?;
    task.order.folder = setup.config.capture.folder.display().to_string();
    change(&mut task);
    let ended = drive(|| async {
        let terminal = Terminal::new(setup, &store, &task, &one.common, false)?;
        terminal.drive(&mut task).await
    })??;
    finish(&task, ended, &one.common, setup)
}

fn load(store: &TaskStore, id: &str) -> anyhow::Result<CaptureTask> {
    Ok(store.load(id).map_err(|error| Hinted::new(error, "`ghost capture list` tells the ids"))?)
}
