//! Which connections are served when there are more than the server serves at a time.
//!
//! Goes in: the address of each peer, and when its connection waits for the peer or works for it. Comes out: a place for each new connection,
//! or a refusal. Never: a new connection that waits behind an old one which only waits for its own peer.
//!
//! A peer that opens many connections and sends nothing costs itself its oldest ones: the newest connection gets the place of the one that
//! has waited for its peer for the longest time. A connection whose request is being answered keeps its place.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ghost_shell::{Cancel, CancelSignal};

/// The most connections at a time: far below the files that a process may open, and few enough that a body of 1 MB for each fits into memory.
pub(super) const MAX_CONNECTIONS: usize = 1_024;

/// The most connections of one peer at a time. One peer may be a proxy for all others, so it gets a quarter.
pub(super) const MAX_PER_PEER: usize = 256;

/// How many connections there may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) total: usize,
    pub(super) per_peer: usize,
}

/// Knows every connection that is open.
#[derive(Debug, Clone)]
pub(super) struct Admission {
    limits: Limits,
    book: Arc<Mutex<Book>>,
}

#[derive(Debug, Default)]
struct Book {
    /// Counts connections and changes of their state, so that a smaller number is an older one.
    next: u64,
    places: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    peer: IpAddr,
    /// Since when the connection waits for its peer; `None` while it works for it.
    waiting_since: Option<u64>,
    evict: Cancel,
}

/// The place of one connection; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    admission: Admission,
    number: u64,
}

impl Admission {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, book: Arc::default() }
    }

    /// Gives a new connection a place, and a signal that tells when it has to leave it to another one. `None` if every connection of this
    /// peer, or of all peers, is at work.
    pub(super) fn admit(&self, address: IpAddr) -> Option<(Arc<Place>, CancelSignal)> {
        let peer = network(address);
        let mut book = self.lock();
        let of_peer = book.places.values().filter(|entry| entry.peer == peer).count();
        if of_peer >= self.limits.per_peer {
            book.evict_from(peer)?;
        } else if book.places.len() >= self.limits.total {
            let busiest = book.busiest_peer()?;
            book.evict_from(busiest)?;
        }
        let number = book.tick();
        let (evict, evicted) = Cancel::new();
        book.places.insert(number, Entry { peer, waiting_since: Some(number), evict });
        drop(book);
        Some((Arc::new(Place { admission: self.clone(), number }), evicted))
    }

    /// Returns how many connections there are.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().places.len()
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Ends the connection of a peer that has waited for it for the longest time.
    fn evict_from(&mut self, peer: IpAddr) -> Option<()> {
        let waiting = self.places.iter().filter(|(_, entry)| entry.peer == peer);
        let oldest = waiting.filter_map(|(number, entry)| Some((entry.waiting_since?, *number))).min();
        let entry = self.places.remove(&oldest?.1)?;
        entry.evict.cancel();
        Some(())
    }

    /// Returns the peer with the most connections that wait for it.
    fn busiest_peer(&self) -> Option<IpAddr> {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for entry in self.places.values().filter(|entry| entry.waiting_since.is_some()) {
            *counts.entry(entry.peer).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(peer, _)| peer)
    }
}

impl Place {
    /// Notes that the whole request is here and is being answered: the connection keeps its place until then.
    pub(super) fn working(&self) {
        self.set(|_| None);
    }

    /// Notes that the next step is the peer's.
    pub(super) fn waiting(&self) {
        self.set(|book| Some(book.tick()));
    }

    fn set(&self, state: impl FnOnce(&mut Book) -> Option<u64>) {
        let mut book = self.admission.lock();
        let state = state(&mut book);
        if let Some(entry) = book.places.get_mut(&self.number) {
            entry.waiting_since = state;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.lock().places.remove(&self.number);
    }
}

/// Returns the part of an address by which a peer is known: one machine can use every address of its /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { total: 4, per_peer: 2 };

    fn peer(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    #[test]
    fn the_newest_connection_of_a_peer_takes_the_place_of_its_oldest() {
        let admission = Admission::new(LIMITS);
        let (first, second) = (admission.admit(peer(1)).unwrap(), admission.admit(peer(1)).unwrap());
        let third = admission.admit(peer(1)).unwrap();
        assert!(first.1.is_canceled());
        assert!(!second.1.is_canceled() && !third.1.is_canceled());
        assert_eq!(admission.len(), 2);
        drop(first);
        assert_eq!(admission.len(), 2, "a place that was given away is not freed again");
    }

    #[test]
    fn a_connection_at_work_keeps_its_place() {
        let admission = Admission::new(LIMITS);
        let (first, second) = (admission.admit(peer(1)).unwrap(), admission.admit(peer(1)).unwrap());
        first.0.working();
        let third = admission.admit(peer(1)).unwrap();
        assert!(!first.1.is_canceled());
        assert!(second.1.is_canceled());
        third.0.working();
        assert!(admission.admit(peer(1)).is_none(), "both work");
        first.0.waiting();
        assert!(admission.admit(peer(1)).is_some());
        assert!(first.1.is_canceled());
    }

    #[test]
    fn a_peer_with_many_connections_makes_room_for_another() {
        let admission = Admission::new(LIMITS);
        let _few = admission.admit(peer(1)).unwrap();
        let many = [admission.admit(peer(2)).unwrap(), admission.admit(peer(2)).unwrap()];
        let _last = admission.admit(peer(3)).unwrap();
        let newcomer = admission.admit(peer(4)).unwrap();
        assert!(many[0].1.is_canceled());
        assert!(!newcomer.1.is_canceled());
        assert_eq!(admission.len(), 4);
    }

    #[test]
    fn a_place_is_free_when_its_connection_ends() {
        let admission = Admission::new(LIMITS);
        drop(admission.admit(peer(1)).unwrap());
        assert_eq!(admission.len(), 0);
    }

    #[test]
    fn the_addresses_of_one_machine_are_one_peer() {
        let parse = |text: &str| network(text.parse().unwrap());
        assert_eq!(parse("2001:db8:0:1::5"), parse("2001:db8:0:1:ffff::9"));
        assert_ne!(parse("2001:db8:0:1::5"), parse("2001:db8:0:2::5"));
        assert_eq!(parse("::ffff:192.0.2.1"), parse("192.0.2.1"));
        assert_ne!(parse("192.0.2.1"), parse("192.0.2.2"));
    }
}
