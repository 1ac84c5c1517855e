//! Events in the file.

use async_trait::async_trait;
use redb::{ReadableTable as _, WriteTransaction};

use crate::embedded::claim::forget;
use crate::embedded::open::Store;
use crate::embedded::shared_state::take_down;
use crate::embedded::table::{
    APPROVALS, EVENTS, HEADS, Head, ITEMS, NUMBERS, PENDING, SEEN, broken, head, name, parse, set_head,
    set_work,
};
use crate::{Approval, Lease, Ledger, StoreError, settings};
use ghost_base::{SessionId, Timestamp};

#[async_trait]
impl Ledger for Store {
    async fn append(
        &self,
        lease: &Lease,
        expected: u64,
        events: &[String],
        drained: u64,
    ) -> Result<u64, StoreError> {
        settings::fits(events.iter().map(String::as_str))?;
        let (lease, events) = (lease.clone(), events.to_vec());
        self.write(move |write, now| {
            let mut head = head(write, &lease.session)?;
            head.check(&lease, now)?;
            if head.length != expected {
                return Err(StoreError::LengthMismatch { length: head.length });
            }
            let held = head.next - head.first;
            if drained > held {
                return Err(StoreError::InboxTooShort { held });
            }
            add(write, &lease.session, &mut head, &events)?;
            let session = lease.session.as_str();
            let mut items = write.open_table(ITEMS).map_err(broken)?;
            for number in head.first..head.first + drained {
                items.remove((session, number)).map_err(broken)?;
            }
            head.first += drained;
            set_head(write, &lease.session, &head)?;
            Ok(head.length)
        })
        .await
    }

    async fn read(&self, session: &SessionId, from: u64) -> Result<Vec<String>, StoreError> {
        let session = session.clone();
        self.look(move |read| {
            let events = read.open_table(EVENTS).map_err(broken)?;
            let range = (session.as_str(), from)..=(session.as_str(), u64::MAX);
            let lines = events.range(range).map_err(broken)?;
            lines.map(|row| row.map(|(_, line)| line.value().to_owned()).map_err(broken)).collect()
        })
        .await
    }

    async fn length(&self, session: &SessionId) -> Result<u64, StoreError> {
        let session = session.clone();
        self.look(move |read| {
            let heads = read.open_table(HEADS).map_err(broken)?;
            let text = heads.get(session.as_str()).map_err(broken)?;
            text.map_or(Ok(0), |text| Ok(parse::<Head>(text.value())?.length))
        })
        .await
    }

    async fn list(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionId>, StoreError> {
        // A name that ends in the smallest character follows its own name and precedes every other.
        let from = after.map_or_else(String::new, |after| format!("{after}\0"));
        self.look(move |read| {
            let heads = read.open_table(HEADS).map_err(broken)?;
            let rows = heads.range(from.as_str()..).map_err(broken)?;
            rows.take(limit).map(|row| row.map_err(broken).and_then(|(key, _)| name(key.value()))).collect()
        })
        .await
    }

    async fn erase(&self, session: &SessionId, keep: &[String]) -> Result<(), StoreError> {
        settings::fits(keep.iter().map(String::as_str))?;
        let (session, keep) = (session.clone(), keep.to_vec());
        self.write(move |write, _| {
            erase(write, &session)?;
            if keep.is_empty() {
                return Ok(());
            }
            let mut head = Head::default();
            add(write, &session, &mut head, &keep)?;
            set_head(write, &session, &head)
        })
        .await
    }

    async fn expire(&self, session: &SessionId, at: Timestamp) -> Result<(), StoreError> {
        let session = session.clone();
        self.write(move |write, _| {
            let head = Head { expires: Some(at.as_millis()), ..head(write, &session)? };
            set_head(write, &session, &head)
        })
        .await
    }

    async fn erase_expired(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        self.write(move |write, clock| {
            let mut due = Vec::new();
            for row in write.open_table(HEADS).map_err(broken)?.iter().map_err(broken)? {
                let (key, text) = row.map_err(broken)?;
                let head: Head = parse(text.value())?;
                if head.expires.is_some_and(|at| at <= now.as_millis()) && !head.is_owned(clock) {
                    due.push(name(key.value())?);
                }
            }
            for session in &due {
                erase(write, session)?;
            }
            forget(write, clock)?;
            Ok(due)
        })
        .await
    }
}

/// Adds lines to a ledger, and counts them.
fn add(
    write: &WriteTransaction,
    session: &SessionId,
    head: &mut Head,
    events: &[String],
) -> Result<(), StoreError> {
    let mut table = write.open_table(EVENTS).map_err(broken)?;
    for event in events {
        table.insert((session.as_str(), head.length), event.as_str()).map_err(broken)?;
        head.length += 1;
    }
    Ok(())
}

/// Takes every row of a session away. Epochs come from one counter of the file, so that none comes back.
fn erase(write: &WriteTransaction, session: &SessionId) -> Result<(), StoreError> {
    let text = session.as_str();
    for table in [EVENTS, ITEMS] {
        let mut table = write.open_table(table).map_err(broken)?;
        table.retain_in((text, 0)..=(text, u64::MAX), |_, _| false).map_err(broken)?;
    }
    let mut seen = write.open_table(SEEN).map_err(broken)?;
    // No character of a name follows `~`, and none is `\0`: the range holds the keys of this session alone.
    let end = format!("{text}\0");
    seen.retain_in((text, "")..(end.as_str(), ""), |_, _| false).map_err(broken)?;
    let mut approvals = write.open_table(APPROVALS).map_err(broken)?;
    let mut pending = write.open_table(PENDING).map_err(broken)?;
    let mut gone = Vec::new();
    for row in approvals.iter().map_err(broken)? {
        let (key, approval) = row.map_err(broken)?;
        if parse::<Approval>(approval.value())?.record.session == *session {
            gone.push(key.value().to_owned());
        }
    }
    for id in &gone {
        approvals.remove(id.as_str()).map_err(broken)?;
        pending.remove(id.as_str()).map_err(broken)?;
    }
    take_down(write, session)?;
    write.open_table(HEADS).map_err(broken)?.remove(text).map_err(broken)?;
    set_work(write, session, None)
}

/// Returns an epoch that was never given before.
pub(super) fn next_epoch(write: &WriteTransaction) -> Result<u64, StoreError> {
    let mut numbers = write.open_table(NUMBERS).map_err(broken)?;
    let epoch = numbers.get("epoch").map_err(broken)?.map_or(0, |epoch| epoch.value()) + 1;
    numbers.insert("epoch", epoch).map_err(broken)?;
    Ok(epoch)
}
