//! The file itself: continued under its lock, one synced record at a time.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::audit::chain::{Broken, Chain, LineEffect};
use crate::audit::line::{self, FORMAT, REPAIRED, Record, Repair, Torn};
use crate::audit::{Entry, Error, open};
use ghost_base::{Digest, SessionId, Timestamp};

/// How much of a long file is read where only its end is checked, in bytes: some dozens of records.
const END_BYTES: u64 = 128 << 10;

/// The audit log of one session, open for appending. Several may be open for one session, in any process.
#[derive(Debug)]
pub struct Log {
    session: SessionId,
    path: PathBuf,
    file: File,
    /// What of the file was read and found good.
    chain: Chain,
    /// How long the file was when it was last looked at.
    length: u64,
}

/// Proof that a record is on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Names the command that the record belongs to: the session, and the number of the command's first record.
    pub audit_id: String,
    /// The record's own number.
    pub seq: u64,
    /// The record's hash, and so the head of the chain.
    pub head: Digest,
}

impl Log {
    /// Opens `folder/SESSION.jsonl`, making both where they are missing, and reads it through.
    ///
    /// A line that a crash cut short is left to the next append to repair.
    ///
    /// # Errors
    /// Fails where the file cannot be opened or locked, is a link, or was tampered with.
    pub fn open(folder: &Path, session: SessionId) -> Result<Self, Error> {
        let path = folder.join(format!("{session}.jsonl"));
        let file = open::for_appending(&path)?;
        let mut log = Self { chain: Chain::of(&session), session, path, file, length: 0 };
        log.locked(Log::catch_up)?;
        Ok(log)
    }

    /// Opens the file as [`Log::open`] does, but of a long one checks only the last records: for a process that writes a few and ends, so that
    /// it takes no longer the longer a session lasts. What stands before them is left to [`verify()`](crate::audit::verify()).
    ///
    /// # Errors
    /// Fails where [`Log::open`] does.
    pub fn open_end(folder: &Path, session: SessionId) -> Result<Self, Error> {
        let path = folder.join(format!("{session}.jsonl"));
        let file = open::for_appending(&path)?;
        let mut log = Self { chain: Chain::of(&session), session: session.clone(), path, file, length: 0 };
        let joined = log.locked(|log| {
            let Some(offset) = line_near_end(&log.file).map_err(Error::io("reading", &log.path))? else {
                return log.catch_up();
            };
            log.chain = Chain::joining(&log.session, offset);
            log.catch_up()
        });
        match joined {
            Ok(()) => Ok(log),
            // Torn bytes may stand just there: only the whole file tells whether it is good.
            Err(_) => Self::open(folder, session),
        }
    }

    /// Writes one record and waits until it is on the disk; reads what other processes added first, and repairs a
    /// line that a crash cut short.
    ///
    /// After an error nothing may run. The log stays usable: the next append accounts for whatever the failed one left
    /// behind, which may be the whole record.
    ///
    /// # Errors
    /// Fails where the file cannot be locked, read or written, was tampered with, or the entry is too long.
    pub fn append(&mut self, at: Timestamp, entry: &Entry) -> Result<Receipt, Error> {
        self.locked(|log| {
            log.catch_up()?;
            if !log.chain.torn().is_empty() {
                log.repair(at)?;
            }
            log.write(at, entry.audit_id.as_deref(), entry)
        })
    }

    /// Returns the hash of the last record that this log has seen; for an empty log, what its first will follow from.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.chain.last().head
    }

    /// Returns how many records this log has seen.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.chain.last().records
    }

    /// Returns the session.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns where the file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn locked<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        open::lock_for_writing(&self.file, &self.path)?;
        let done = work(self);
        let unlocked = self.file.unlock().map_err(Error::io("unlocking", &self.path));
        done.and_then(|value| unlocked.map(|()| value))
    }

    /// Reads on from the record before the last one that was seen, so that the last one is checked again.
    fn catch_up(&mut self) -> Result<(), Error> {
        let io = |doing| Error::io(doing, &self.path);
        if !open::same_file(&self.file, &self.path).map_err(io("looking at"))? {
            return Err(Error::Replaced { path: self.path.clone() });
        }
        let length = self.file.metadata().map_err(io("looking at"))?.len();
        if length < self.length {
            return Err(Error::Shrank { path: self.path.clone(), was: self.length, is: length });
        }
        let known = self.chain.last();
        let mut chain = self.chain.clone();
        chain.rewind();
        (&self.file).seek(SeekFrom::Start(chain.last().offset)).map_err(io("reading"))?;
        let mut reader = BufReader::new(&self.file);
        let mut line = Vec::new();
        loop {
            let step = chain.step(&mut reader, &mut line).map_err(io("reading"))?;
            let here = chain.last();
            match step {
                LineEffect::Record if here.records == known.records && here.head != known.head => {
                    return Err(self.tampered(here.records, Broken::Altered));
                }
                LineEffect::Record | LineEffect::Torn => {}
                LineEffect::Broken(broken) => return Err(self.tampered(here.records + 1, broken)),
                LineEffect::End => break,
            }
        }
        if chain.last().records < known.records {
            return Err(self.tampered(known.records, Broken::Unrepaired));
        }
        self.chain = chain;
        self.length = length;
        Ok(())
    }

    /// Accounts for the bytes behind the last good record.
    fn repair(&mut self, at: Timestamp) -> Result<(), Error> {
        let mut torn = self.chain.clone();
        torn.close();
        let repair = Repair {
            kind: REPAIRED,
            torn: Torn {
                bytes: torn.torn().len() as u64,
                sha256: Digest::of(torn.torn()).to_string().into(),
            },
        };
        self.write(at, None, &repair).map(drop)
    }

    fn write(
        &mut self,
        at: Timestamp,
        audit_id: Option<&str>,
        body: &impl Serialize,
    ) -> Result<Receipt, Error> {
        let seq = self.chain.last().records + 1;
        let audit_id = audit_id.map_or_else(|| format!("{}-{seq:04}", self.session), str::to_owned);
        let record = Record {
            format: FORMAT,
            session: self.session.as_str(),
            seq,
            at: at.to_string(),
            prev: self.chain.last().head.to_string(),
            audit_id: audit_id.clone(),
            body,
        };
        let mut line = line::seal(&record).map_err(|error| Error::io("writing", &self.path)(error.into()))?;
        line.push(b'\n');
        let mut chain = self.chain.clone();
        let mut bytes = chain.close().to_vec();
        // The reader judges the record before it is written: what it would refuse must never stand in the file.
        chain.take(&line).map_err(|broken| Error::Unwritable { broken })?;
        bytes.append(&mut line);
        (&self.file).write_all(&bytes).map_err(Error::io("writing", &self.path))?;
        self.file.sync_all().map_err(Error::io("syncing", &self.path))?;
        self.chain = chain;
        self.length = self.chain.last().offset;
        Ok(Receipt { audit_id, seq, head: self.head() })
    }

    fn tampered(&self, record: u64, broken: Broken) -> Error {
        Error::Tampered { path: self.path.clone(), record, broken }
    }
}

/// Finds where a line begins near the end of a long file; nothing for a short one, or where its last line is longer than that.
fn line_near_end(mut file: &File) -> io::Result<Option<u64>> {
    let Some(start) = file.metadata()?.len().checked_sub(END_BYTES) else { return Ok(None) };
    file.seek(SeekFrom::Start(start))?;
    let mut skipped = Vec::new();
    BufReader::new(file.take(END_BYTES / 2)).read_until(b'\n', &mut skipped)?;
    Ok(skipped.ends_with(b"\n").then_some(start + skipped.len() as u64))
}
