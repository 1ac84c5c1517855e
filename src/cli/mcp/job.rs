//! Work that goes on whether or not anybody listens: investigations, captures, commands that wait for consent.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::call::Call;
use ghost_shell::{Cancel, CancelSignal};
use ghost_tools::print::Hinted;

/// So many jobs of a client go on at once.
const MAX_RUNNING: usize = 16;

/// So many that ended are remembered, the latest.
const MAX_ENDED: usize = 64;

/// So many lines wait for whoever listens slowly; older ones are lost to it.
const MAX_LINES: usize = 256;

/// How long a job may take to pause once the client is gone.
const PAUSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Says what happens in a job to whoever listens.
#[derive(Clone)]
pub(super) struct Speaker(broadcast::Sender<String>);

impl Speaker {
    /// Says something. Whether anybody listens does not matter.
    pub(super) fn say(&self, line: impl Into<String>) {
        drop(self.0.send(line.into()));
    }
}

/// Jobs of one client, by name.
pub(super) struct Jobs<T>(Mutex<Inner<T>>);

struct Inner<T> {
    next: u64,
    all: BTreeMap<String, Entry<T>>,
    tasks: JoinSet<()>,
    closed: bool,
}

struct Entry<T> {
    number: u64,
    lines: broadcast::Sender<String>,
    ended: watch::Receiver<Option<T>>,
    pause: Cancel,
}

/// What somebody who listens hears of a job.
pub(super) struct Attendance<T> {
    lines: broadcast::Receiver<String>,
    ended: watch::Receiver<Option<T>>,
}

impl<T> Default for Jobs<T> {
    fn default() -> Self {
        Self(Mutex::new(Inner { next: 0, all: BTreeMap::new(), tasks: JoinSet::new(), closed: false }))
    }
}

impl<T: Clone + Send + Sync + 'static> Jobs<T> {
    /// Listens to a job that goes on.
    pub(super) fn running(&self, name: &str) -> Option<Attendance<T>> {
        let inner = self.lock();
        inner.all.get(name).filter(|entry| entry.ended.borrow().is_none()).map(Entry::listen)
    }

    /// Lets a job pause, where it goes on.
    pub(super) fn pause(&self, name: &str) {
        if let Some(entry) = self.lock().all.get(name) {
            entry.pause.cancel();
        }
    }

    /// Returns how a job ended, where it did and is remembered.
    pub(super) fn ended(&self, name: &str) -> Option<T> {
        self.lock().all.get(name).and_then(|entry| entry.ended.borrow().clone())
    }

    /// Listens to the job of this name, which is begun where none goes on.
    ///
    /// # Errors
    /// Fails where too many go on, or the client is gone.
    pub(super) fn attend<F>(
        &self,
        name: &str,
        start: impl FnOnce(Speaker, CancelSignal) -> F,
    ) -> anyhow::Result<Attendance<T>>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut inner = self.lock();
        // Of two calls that come at once, one is the first.
        if let Some(entry) = inner.all.get(name).filter(|entry| entry.ended.borrow().is_none()) {
            return Ok(entry.listen());
        }
        if inner.closed {
            anyhow::bail!("the client is gone");
        }
        inner.forget();
        let running = inner.all.values().filter(|entry| entry.ended.borrow().is_none()).count();
        if running >= MAX_RUNNING {
            let error = anyhow::anyhow!("{MAX_RUNNING} things that this client began go on already");
            return Err(Hinted::new(error, "wait until one of them is over").into());
        }
        let (lines, receiver) = broadcast::channel(MAX_LINES);
        let (pause, paused) = Cancel::new();
        let (tell, ended) = watch::channel(None);
        let work = start(Speaker(lines.clone()), paused);
        inner.tasks.spawn(async move {
            let how = work.await;
            tell.send_replace(Some(how));
        });
        let number = inner.next;
        inner.next += 1;
        let entry = Entry { number, lines, ended: ended.clone(), pause };
        inner.all.insert(name.to_owned(), entry);
        Ok(Attendance { lines: receiver, ended })
    }

    /// Lets everything pause, and waits a while until it did.
    pub(super) async fn leave(&self) {
        let mut tasks = {
            let mut inner = self.lock();
            inner.closed = true;
            inner.all.values().for_each(|entry| entry.pause.cancel());
            std::mem::take(&mut inner.tasks)
        };
        let all = async { while tasks.join_next().await.is_some() {} };
        drop(tokio::time::timeout(PAUSE_TIMEOUT, all).await);
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Inner<T> {
    /// Forgets the oldest of those that ended.
    fn forget(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        let ended = self.all.iter().filter(|(_, entry)| entry.ended.borrow().is_some());
        let mut ended: Vec<_> = ended.map(|(name, entry)| (entry.number, name.clone())).collect();
        ended.sort_unstable();
        let more = ended.len().saturating_sub(MAX_ENDED);
        for (_, name) in ended.into_iter().take(more) {
            self.all.remove(&name);
        }
    }
}

impl<T> Entry<T> {
    fn listen(&self) -> Attendance<T> {
        Attendance { lines: self.lines.subscribe(), ended: self.ended.clone() }
    }
}

/// Passes on what happens in a job until it is over, nobody listens any more, or the time is; returns how it ended, if it did.
pub(super) async fn listened<T: Clone>(
    attendance: Attendance<T>,
    call: &mut Call,
    wait: Duration,
) -> Option<T> {
    let Attendance { mut lines, mut ended } = attendance;
    let until = Instant::now().checked_add(wait);
    let over = async {
        match until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over);
    let mut is_open = true;
    loop {
        tokio::select! {
            biased;
            () = call.cancel.canceled() => return None,
            line = lines.recv(), if is_open => match line {
                Ok(line) => call.progress.tell(line),
                Err(RecvError::Lagged(lost)) => call.progress.tell(format!("… {lost} lines were left out")),
                Err(RecvError::Closed) => is_open = false,
            },
            known = ended.wait_for(Option::is_some) => {
                while let Ok(line) = lines.try_recv() {
                    call.progress.tell(line);
                }
                return known.ok().and_then(|known| known.clone());
            }
            () = &mut over => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_job_goes_on_unheard_and_its_end_is_found_again() {
        let jobs = Jobs::default();
        let (open, mut opened) = watch::channel(false);
        let attendance = jobs
            .attend("a", |speaker, _| async move {
                speaker.say("begun");
                drop(opened.wait_for(|open| *open).await);
                7
            })
            .unwrap();
        drop(attendance);
        assert!(jobs.running("a").is_some() && jobs.ended("a").is_none());
        // The same name is the same job.
        let mut again = jobs.attend("a", |_, _| async { 8 }).unwrap();
        open.send_replace(true);
        assert_eq!(*again.ended.wait_for(Option::is_some).await.unwrap(), Some(7));
        assert!(jobs.running("a").is_none());
        assert_eq!(jobs.ended("a"), Some(7));
    }

    #[tokio::test]
    async fn so_many_go_on_and_no_more_and_all_pause_when_the_client_is_gone() {
        let jobs = Jobs::default();
        let forever = |_: Speaker, mut paused: CancelSignal| async move { paused.canceled().await };
        for number in 0..MAX_RUNNING {
            jobs.attend(&number.to_string(), forever).unwrap();
        }
        assert!(jobs.attend("more", forever).is_err());
        jobs.leave().await;
        assert_eq!(jobs.ended("0"), Some(()));
        assert!(jobs.attend("later", forever).is_err());
    }

    #[tokio::test]
    async fn the_oldest_that_ended_are_forgotten() {
        let jobs = Jobs::default();
        for number in 0..MAX_ENDED + 5 {
            let mut there = jobs.attend(&number.to_string(), |_, _| async move { number }).unwrap();
            there.ended.wait_for(Option::is_some).await.unwrap();
        }
        assert!(jobs.ended("0").is_none() && jobs.ended(&(MAX_ENDED + 4).to_string()).is_some());
    }
}
