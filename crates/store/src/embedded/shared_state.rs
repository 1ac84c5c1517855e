//! Flags, and a line about each session, in the file.

use async_trait::async_trait;
use redb::{ReadableTable as _, ReadableTableMetadata as _, WriteTransaction};

use crate::embedded::open::Store;
use crate::embedded::table::{FLAGS, JOURNAL, LINES, WALL, broken, name, parse, print};
use crate::{SharedState, StoreError, settings};
use ghost_base::{SessionId, Timestamp};

#[async_trait]
impl SharedState for Store {
    async fn flag(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        self.look(move |read| {
            let flags = read.open_table(FLAGS).map_err(broken)?;
            Ok(flags.get(name).map_err(broken)?.map(|value| value.value().to_owned()))
        })
        .await
    }

    async fn set_flag(&self, name: &'static str, value: Option<&str>) -> Result<(), StoreError> {
        settings::fits(value)?;
        let value = value.map(str::to_owned);
        self.write(move |write, _| {
            let mut flags = write.open_table(FLAGS).map_err(broken)?;
            match value {
                Some(value) => flags.insert(name, value.as_str()).map(drop).map_err(broken),
                None => flags.remove(name).map(drop).map_err(broken),
            }
        })
        .await
    }

    async fn post(&self, session: &SessionId, line: &str, at: Timestamp) -> Result<(), StoreError> {
        settings::fits([line])?;
        let (session, line) = (session.clone(), line.to_owned());
        self.write(move |write, _| {
            take_down(write, &session)?;
            let at = at.as_millis();
            write.open_table(WALL).map_err(broken)?.insert((at, session.as_str()), ()).map_err(broken)?;
            let row = print(&(at, line))?;
            let mut lines = write.open_table(LINES).map_err(broken)?;
            lines.insert(session.as_str(), row.as_str()).map(drop).map_err(broken)
        })
        .await
    }

    async fn note(&self, expected: u64, line: &str) -> Result<(), StoreError> {
        settings::fits([line])?;
        let line = line.to_owned();
        self.write(move |write, _| {
            let mut journal = write.open_table(JOURNAL).map_err(broken)?;
            match journal.len().map_err(broken)? {
                length if length == expected => {
                    journal.insert(expected, line.as_str()).map(drop).map_err(broken)
                }
                length => Err(StoreError::LengthMismatch { length }),
            }
        })
        .await
    }

    async fn notes(&self, limit: usize) -> Result<(u64, Vec<String>), StoreError> {
        self.look(move |read| {
            let journal = read.open_table(JOURNAL).map_err(broken)?;
            let length = journal.len().map_err(broken)?;
            let first = length.saturating_sub(u64::try_from(limit).unwrap_or(u64::MAX));
            let rows = journal.range(first..).map_err(broken)?;
            let lines = rows.map(|row| Ok(row.map_err(broken)?.1.value().to_owned()));
            Ok((length, lines.collect::<Result<_, StoreError>>()?))
        })
        .await
    }

    async fn posted(&self, limit: usize) -> Result<Vec<(SessionId, String)>, StoreError> {
        self.look(move |read| {
            let (wall, lines) =
                (read.open_table(WALL).map_err(broken)?, read.open_table(LINES).map_err(broken)?);
            let mut found = Vec::new();
            for row in wall.iter().map_err(broken)?.rev().take(limit) {
                let (key, _) = row.map_err(broken)?;
                let (_, session) = key.value();
                let Some(row) = lines.get(session).map_err(broken)? else { continue };
                let (_, line): (i64, String) = parse(row.value())?;
                found.push((name(session)?, line));
            }
            Ok(found)
        })
        .await
    }
}

/// Takes the line about a session down.
pub(super) fn take_down(write: &WriteTransaction, session: &SessionId) -> Result<(), StoreError> {
    let mut lines = write.open_table(LINES).map_err(broken)?;
    let Some(row) = lines.remove(session.as_str()).map_err(broken)? else { return Ok(()) };
    let (at, _): (i64, String) = parse(row.value())?;
    write.open_table(WALL).map_err(broken)?.remove((at, session.as_str())).map(drop).map_err(broken)
}
