//! What a growing capture is read from, and how one waits for more of it: by looking a few times a second, and no longer than wanted.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Often enough for eyes, seldom enough to cost nothing: inotify would tell sooner, and knows nothing of files on a network.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
const CHUNK_BYTES: usize = 64 * 1024;
/// How many chunks wait between the two threads.
const MAX_WAITING_CHUNKS: usize = 16;

/// What reading gave.
#[derive(Debug)]
pub(super) enum Got {
    /// So many bytes.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// There will be no more.
    Over,
    /// There may be more, but not here.
    Lost(String),
}

/// Something that grows.
pub(super) trait Growing {
    /// Puts what has come into some room.
    fn more(&mut self, room: &mut [u8]) -> io::Result<Got>;

    /// Waits for a moment; says whether more is wanted.
    fn wait(&mut self) -> bool;
}

/// How long somebody wants to wait: until a time, or until Ctrl-C.
#[derive(Debug)]
pub(super) struct Patience {
    stop: Arc<AtomicBool>,
    until: Option<Instant>,
}

impl Patience {
    /// Begins to wait. A first Ctrl-C ends the waiting, a second one the program.
    pub(super) fn new(most: Option<Duration>) -> anyhow::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag down, and raises it.
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
                .and_then(|_| flag::register(signal, Arc::clone(&stop)))
                .context("waiting for Ctrl-C")?;
        }
        Ok(Self { stop, until: most.and_then(|most| Instant::now().checked_add(most)) })
    }

    /// Returns how long to wait for now, nothing where that is over.
    fn next(&self) -> Option<Duration> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let left = self.until.map_or(POLL_INTERVAL, |until| until.saturating_duration_since(Instant::now()));
        (!left.is_zero()).then(|| left.min(POLL_INTERVAL))
    }
}

/// A file that grows.
#[derive(Debug)]
pub(super) struct Tail {
    file: File,
    path: PathBuf,
    read: u64,
    patience: Patience,
}

impl Tail {
    /// Begins at the beginning of a file.
    pub(super) fn new(file: File, path: &Path, patience: Patience) -> Self {
        Self { file, path: path.to_owned(), read: 0, patience }
    }
}

impl Growing for Tail {
    fn more(&mut self, room: &mut [u8]) -> io::Result<Got> {
        // Whoever writes faster than this reads must not keep it from ending.
        if self.patience.next().is_none() {
            return Ok(Got::Over);
        }
        let count = self.file.read(room)?;
        self.read += count as u64;
        if count > 0 {
            return Ok(Got::Bytes(count));
        }
        let own = self.file.metadata()?;
        if own.is_file() && own.len() < self.read {
            return Ok(Got::Lost(format!("the file was shortened to {} bytes", own.len())));
        }
        match fs::metadata(&self.path) {
            Ok(there) if (there.dev(), there.ino()) == (own.dev(), own.ino()) => Ok(Got::Nothing),
            Ok(_) => Ok(Got::Lost("another file took its place".to_owned())),
            Err(error) => Ok(Got::Lost(format!("the file is gone ({error})"))),
        }
    }

    fn wait(&mut self) -> bool {
        self.patience.next().inspect(|time| std::thread::sleep(*time)).is_some()
    }
}

/// Standard input, read by a thread of its own: a read that waits cannot be called off.
#[derive(Debug)]
pub(super) struct Pipe {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    used: usize,
    over: bool,
    failed: Option<io::Error>,
    patience: Patience,
}

impl Pipe {
    /// Begins to read standard input. The thread ends with it, or with the program.
    pub(super) fn new(patience: Patience) -> Self {
        let (sender, chunks) = sync_channel(MAX_WAITING_CHUNKS);
        std::thread::spawn(move || {
            let mut input = io::stdin().lock();
            loop {
                let mut chunk = vec![0; CHUNK_BYTES];
                let read = match input.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Ok(0) => return,
                    read => read,
                };
                let read = read.map(|count| {
                    chunk.truncate(count);
                    chunk
                });
                let last = read.is_err();
                if sender.send(read).is_err() || last {
                    return;
                }
            }
        });
        Self { chunks, chunk: Vec::new(), used: 0, over: false, failed: None, patience }
    }

    fn take(&mut self, time: Duration) {
        if self.used < self.chunk.len() || self.failed.is_some() {
            return;
        }
        match self.chunks.recv_timeout(time) {
            Ok(Ok(chunk)) => {
                self.chunk = chunk;
                self.used = 0;
            }
            Ok(Err(error)) => self.failed = Some(error),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.over = true,
        }
    }
}

impl Growing for Pipe {
    fn more(&mut self, room: &mut [u8]) -> io::Result<Got> {
        if self.patience.next().is_none() {
            return Ok(Got::Over);
        }
        self.take(Duration::ZERO);
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let rest = self.chunk.get(self.used..).unwrap_or_default();
        let count = rest.len().min(room.len());
        if let (Some(into), Some(from)) = (room.get_mut(..count), rest.get(..count)) {
            into.copy_from_slice(from);
        }
        self.used += count;
        Ok(match count {
            0 if self.over => Got::Over,
            0 => Got::Nothing,
            count => Got::Bytes(count),
        })
    }

    fn wait(&mut self) -> bool {
        let Some(time) = self.patience.next() else {
            return false;
        };
        self.take(time);
        true
    }
}
