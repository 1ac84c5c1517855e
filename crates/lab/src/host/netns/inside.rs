//! Work of this process inside a namespace: a thread that has moved there, with a runtime of its own.
//!
//! Sockets belong to the namespace in which they were made, so that listeners and traffic need no program: they end with this
//! process, however it ends, and no crash leaves one behind.

use std::fs::File;
use std::future::Future;
use std::os::fd::AsFd as _;
use std::pin::Pin;
use std::thread::{Builder, JoinHandle};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::name::Namespace;
use super::program::failed;
use crate::host::port::HostError;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A thread in a namespace. Dropped, it ends, and everything that it does with it.
#[derive(Debug)]
pub(in crate::host) struct NamespaceThread {
    work: Option<mpsc::UnboundedSender<Work>>,
    thread: Option<JoinHandle<()>>,
}

impl NamespaceThread {
    /// Moves a new thread into a namespace.
    pub(in crate::host) fn enter(space: &Namespace) -> Result<Self, HostError> {
        let what = "entering a namespace";
        let file = File::open(space.path()).map_err(|error| failed(what, error))?;
        let (work, mut orders) = mpsc::unbounded_channel::<Work>();
        let (entered, answer) = std::sync::mpsc::channel();
        let body = move || {
            let moved = move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network));
            let runtime = moved
                .map_err(std::io::Error::from)
                .and_then(|()| runtime::Builder::new_current_thread().enable_all().build());
            match runtime {
                Ok(runtime) => {
                    drop(entered.send(Ok(())));
                    runtime.block_on(async move {
                        let mut all = JoinSet::new();
                        loop {
                            tokio::select! {
                                next = orders.recv() => match next {
                                    Some(work) => drop(all.spawn(work)),
                                    None => break,
                                },
                                Some(_) = all.join_next() => {}
                            }
                        }
                    });
                }
                Err(error) => drop(entered.send(Err(error))),
            }
        };
        let thread =
            Builder::new().name("lab-inside".to_owned()).spawn(body).map_err(|error| failed(what, error))?;
        let inside = Self { work: Some(work), thread: Some(thread) };
        match answer.recv() {
            Ok(Ok(())) => Ok(inside),
            Ok(Err(error)) => Err(failed(what, error)),
            Err(error) => Err(failed(what, error)),
        }
    }

    /// Does something inside, for as long as this lives.
    pub(in crate::host) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(sender) = &self.work {
            // A thread that is gone does nothing more.
            drop(sender.send(Box::pin(work)));
        }
    }

    /// Does something inside and blocks until it is done.
    pub(in crate::host) fn block<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = std::sync::mpsc::channel();
        self.spawn(async move {
            drop(answer.send(work.await));
        });
        answered.recv().ok()
    }
}

impl Drop for NamespaceThread {
    fn drop(&mut self) {
        drop(self.work.take());
        drop(self.thread.take().map(JoinHandle::join));
    }
}
