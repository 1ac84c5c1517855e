//! What cannot be taken apart: how far it reaches, and how that is reported.

use super::reader::{ReadStep, ReaderState};

/// A damaged place that is being passed over.
#[derive(Debug)]
pub(super) struct Damage {
    /// Where it begins in the file.
    from: u64,
    what: String,
}

/// Whether something can be the beginning of a record.
pub(super) enum Guess {
    /// Everything fits.
    Yes,
    /// Something does not.
    No,
    /// More bytes would tell.
    Open,
}

impl Damage {
    /// Begins to pass over the record at a place of the file.
    pub(super) fn begin(account: &mut ReaderState, from: u64, what: &str) -> ReadStep {
        account.damage = Some(Self { from, what: what.to_owned() });
        ReadStep::Skip(1)
    }

    /// Searches for the next place that a record can begin at.
    pub(super) fn search(
        account: &mut ReaderState,
        held: &[u8],
        offset: u64,
        record: &str,
        guess: impl Fn(&[u8]) -> Guess,
    ) -> ReadStep {
        let mut found = held.len();
        for at in 0..held.len() {
            match guess(held.get(at..).unwrap_or_default()) {
                Guess::Open if account.last => {}
                Guess::No => {}
                Guess::Open if at == 0 => return ReadStep::Wait,
                Guess::Open => return ReadStep::Skip(at),
                Guess::Yes => {
                    found = at;
                    break;
                }
            }
        }
        if found == held.len() && !account.last {
            return if found == 0 { ReadStep::Wait } else { ReadStep::Skip(found) };
        }
        let Some(Self { from, what }) = account.damage.take() else {
            return ReadStep::Again;
        };
        let to = offset + found as u64;
        account.ending.skipped += to - from;
        let (place, number) = (account.place(from), account.number);
        let begin = format!("the {record} at {place}, behind frame {number}, is damaged ({what})");
        if found < held.len() {
            let next = account.place(to);
            account.warn(format!("{begin}: {} bytes up to {next} were passed over", to - from));
        } else {
            account.ending.cut_off = true;
            account.warn(format!("{begin}: nothing in the {} bytes behind it was read", to - from));
        }
        ReadStep::Skip(found)
    }
}
