//! The line itself: pure, with the time as a value.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

/// Who goes first. The order of the variants is the order in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Somebody waits for it, or a card has to change because somebody decided.
    Approval,
    /// What an investigation came to.
    Report,
    /// Everything else.
    Other,
    /// What only shows how far it is; a newer one replaces it.
    Board,
}

impl Priority {
    /// Returns how much of a rule it may use, in tenths: some is kept free for those who go first.
    fn share(self) -> usize {
        match self {
            Self::Approval => 10,
            Self::Report => 9,
            Self::Other => 8,
            Self::Board => 6,
        }
    }
}

/// A call that wants its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRequest {
    /// Its place.
    pub priority: Priority,
    pub method: String,
    /// The channel, where it is about one.
    pub channel: Option<String>,
    /// What it changes, the name of a message for instance. Calls with the same method and name go one after the other, and a
    /// board that waits is replaced by a later one.
    pub name: Option<String>,
}

impl CallRequest {
    /// Makes an ask without a name: nothing replaces it.
    #[must_use]
    pub fn new(priority: Priority, method: &str, channel: Option<&str>) -> Self {
        Self { priority, method: method.to_owned(), channel: channel.map(str::to_owned), name: None }
    }

    /// Tells whether a call of its name is running.
    fn is_flying(&self, running: &HashSet<(String, String)>) -> bool {
        self.name.as_ref().is_some_and(|name| running.contains(&(self.method.clone(), name.clone())))
    }

    fn is_namesake(&self, other: &Self) -> bool {
        self.name.is_some() && self.name == other.name && self.method == other.method
    }

    /// The name under which its calls are counted.
    fn key(&self) -> String {
        match &self.channel {
            Some(channel) if Rule::of(&self.method).by_channel => format!("{} {channel}", self.method),
            Some(_) | None => self.method.clone(),
        }
    }
}

/// Names a call in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// A place in line: by priority first, by arrival then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QueuePosition {
    priority: Priority,
    rank: u64,
}

/// What was called lately under one key, and until when Slack wants to be left alone.
#[derive(Debug, Default)]
struct RecentCalls {
    calls: VecDeque<Duration>,
    closed_until: Duration,
}

/// The queue. Moments are durations since its beginning.
#[derive(Debug, Default)]
pub struct Pace {
    waiting: BTreeMap<QueuePosition, (Ticket, CallRequest)>,
    recent: HashMap<String, RecentCalls>,
    /// Methods and names of the calls that went and are not over.
    running: HashSet<(String, String)>,
    next: u64,
    /// How many times the rules may be used; none counts as one.
    times: usize,
}

impl Pace {
    /// Makes a line for a workspace that allows so many times what is published.
    #[must_use]
    pub fn times(times: usize) -> Self {
        Self { times, ..Self::default() }
    }

    /// Puts a call in line; returns its ticket, and the board that it replaces.
    pub fn enqueue(&mut self, ask: CallRequest) -> (Ticket, Option<Ticket>) {
        self.next += 1;
        let ticket = Ticket(self.next);
        let mut position = QueuePosition { priority: ask.priority, rank: ticket.0 };
        let mut replaced = None;
        let namesakes: Vec<QueuePosition> = self
            .waiting
            .iter()
            .filter(|(_, (_, other))| other.is_namesake(&ask))
            .map(|(position, _)| *position)
            .collect();
        for known in namesakes {
            let Some((other, waiting)) = self.waiting.remove(&known) else { continue };
            if waiting.priority == Priority::Board {
                // Whoever replaces another takes its place, so that a board that changes all the time is shown, too.
                position = position.min(known);
                replaced = Some(other);
            } else {
                // What is older must not come later, or it would undo what is newer.
                let lifted = QueuePosition { priority: known.priority.min(ask.priority), rank: known.rank };
                self.waiting.insert(lifted, (other, waiting));
            }
        }
        self.waiting.insert(position, (ticket, ask));
        (ticket, replaced)
    }

    /// Puts a call in line again that Slack refused with 429, before all that came later. A board for which a newer one waits is
    /// replaced by it: then `false` is returned.
    pub fn requeue(
        &mut self,
        ticket: Ticket,
        ask: CallRequest,
        now: Duration,
        retry_after: Duration,
    ) -> bool {
        let recent = self.recent.entry(ask.key()).or_default();
        recent.closed_until = recent.closed_until.max(now.saturating_add(retry_after));
        self.finished(&ask);
        let overtaken = self.waiting.values().any(|(_, other)| other.is_namesake(&ask));
        if ask.priority == Priority::Board && overtaken {
            return false;
        }
        self.waiting.insert(QueuePosition { priority: ask.priority, rank: ticket.0 }, (ticket, ask));
        true
    }

    /// Says that a call which went is over, so that the next one of its name may go.
    pub fn finished(&mut self, ask: &CallRequest) {
        if let Some(name) = &ask.name {
            self.running.remove(&(ask.method.clone(), name.clone()));
        }
    }

    /// Takes a call out of line whose caller went away.
    pub fn leave(&mut self, ticket: Ticket) {
        self.waiting.retain(|_, (waiting, _)| *waiting != ticket);
    }

    /// Returns how many wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns who may go now, in order; they are counted as gone.
    pub fn ready(&mut self, now: Duration) -> Vec<Ticket> {
        let mut ready = Vec::new();
        for (position, (_, ask)) in &self.waiting {
            if ask.is_flying(&self.running) {
                continue;
            }
            let recent = self.recent.entry(ask.key()).or_default();
            let rule = Rule::of(&ask.method);
            while recent.calls.front().is_some_and(|call| *call + rule.within <= now) {
                recent.calls.pop_front();
            }
            if recent.free(rule, ask.priority, self.times) <= now {
                recent.calls.push_back(now);
                if let Some(name) = &ask.name {
                    self.running.insert((ask.method.clone(), name.clone()));
                }
                ready.push(*position);
            }
        }
        let gone = ready
            .iter()
            .filter_map(|position| self.waiting.remove(position))
            .map(|(ticket, _)| ticket)
            .collect();
        // What has been quiet needs no memory.
        let rests = |key: &str| Rule::of(key.split(' ').next().unwrap_or_default()).within;
        self.recent.retain(|key, recent| {
            recent.closed_until > now || recent.calls.back().is_some_and(|call| *call + rests(key) > now)
        });
        gone
    }

    /// Returns when somebody may go next, where anybody waits for anything but a running call.
    #[must_use]
    pub fn next(&self, now: Duration) -> Option<Duration> {
        let when = |(position, (_, ask)): (&QueuePosition, &(Ticket, CallRequest))| {
            let Some(recent) = self.recent.get(&ask.key()) else { return now };
            let rule = Rule::of(&ask.method);
            recent.free(rule, position.priority, self.times).max(now)
        };
        self.waiting.iter().filter(|(_, (_, ask))| !ask.is_flying(&self.running)).map(when).min()
    }
}

impl RecentCalls {
    /// Returns from when on a priority may go.
    fn free(&self, rule: Rule, priority: Priority, times: usize) -> Duration {
        let room = room(rule, priority, times);
        let above = self.calls.len().checked_sub(room);
        let full = above.and_then(|above| self.calls.get(above)).map(|call| *call + rule.within);
        // Boards that used up their share at once would then stand still until the first of it comes back.
        let spread =
            self.calls.back().filter(|_| priority == Priority::Board && self.calls.len() >= room / 3);
        let spread = spread.map(|last| *last + rule.within * 3 / u32::try_from(2 * room).unwrap_or(u32::MAX));
        full.into_iter().chain(spread).fold(self.closed_until, Duration::max)
    }
}

/// How many calls of a rule a priority may use; at least one.
fn room(rule: Rule, priority: Priority, times: usize) -> usize {
    (rule.most * times.max(1) * priority.share() / 10).max(1)
}

const MINUTE: Duration = Duration::from_secs(60);

/// So many calls in such a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// How many.
    pub most: usize,
    /// In what time.
    pub within: Duration,
    /// Whether every channel is counted by itself.
    pub by_channel: bool,
}

impl Rule {
    /// Returns the rule of a method. What is not listed has the rule of most that write.
    #[must_use]
    pub fn of(method: &str) -> Self {
        match method {
            // One a second and channel, and some at once.
            "chat.postMessage" => Self { most: 5, within: Duration::from_secs(5), by_channel: true },
            "chat.startStream"
            | "chat.stopStream"
            | "usergroups.list"
            | "usergroups.users.list"
            | "users.list"
            | "conversations.list"
            | "reactions.remove"
            | "apps.connections.open" => Self::a_minute(20),
            "auth.test"
            | "chat.appendStream"
            | "chat.getPermalink"
            | "chat.postEphemeral"
            | "conversations.members"
            | "files.completeUploadExternal"
            | "files.getUploadURLExternal"
            | "files.info"
            | "users.info"
            | "users.profile.get"
            | "views.open"
            | "views.publish"
            | "views.push"
            | "views.update"
            | "assistant.threads.setSuggestedPrompts"
            | "assistant.threads.setTitle" => Self::a_minute(100),
            _ => Self::a_minute(50),
        }
    }

    fn a_minute(most: usize) -> Self {
        Self { most, within: MINUTE, by_channel: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn post(priority: Priority, channel: &str) -> CallRequest {
        CallRequest::new(priority, "chat.postMessage", Some(channel))
    }

    fn board(ts: &str) -> CallRequest {
        CallRequest {
            name: Some(ts.to_owned()),
            ..CallRequest::new(Priority::Board, "chat.update", Some("C1"))
        }
    }

    #[test]
    fn a_channel_takes_some_at_once_and_then_one_a_second() {
        let mut pace = Pace::default();
        let tickets: Vec<Ticket> = (0..7).map(|_| pace.enqueue(post(Priority::Approval, "C1")).0).collect();
        assert_eq!(pace.ready(at(0)), tickets[..5]);
        assert_eq!((pace.ready(at(4)), pace.next(at(4))), (vec![], Some(at(5))));
        assert_eq!(pace.ready(at(5)), tickets[5..]);
    }

    #[test]
    fn a_workspace_that_allows_more_takes_more() {
        let mut pace = Pace::times(3);
        let tickets: Vec<Ticket> = (0..20).map(|_| pace.enqueue(post(Priority::Approval, "C1")).0).collect();
        assert_eq!(pace.ready(at(0)), tickets[..15]);
        assert_eq!((pace.ready(at(4)), pace.next(at(4))), (vec![], Some(at(5))));
    }

    #[test]
    fn another_channel_does_not_wait() {
        let mut pace = Pace::default();
        for _ in 0..9 {
            pace.enqueue(post(Priority::Approval, "C1"));
        }
        pace.ready(at(0));
        let (other, _) = pace.enqueue(post(Priority::Approval, "C2"));
        assert_eq!(pace.ready(at(0)), [other]);
    }

    #[test]
    fn an_approval_goes_before_a_report_before_the_rest_before_a_board() {
        let mut pace = Pace::default();
        let order = [Priority::Board, Priority::Other, Priority::Report, Priority::Approval];
        let mut tickets: Vec<Ticket> = order.map(|priority| pace.enqueue(post(priority, "C1")).0).into();
        tickets.reverse();
        let mut gone = Vec::new();
        for second in 0..60 {
            gone.extend(pace.ready(at(second)));
        }
        assert_eq!(gone, tickets);
    }

    #[test]
    fn boards_leave_room_for_those_who_go_first() {
        let mut pace = Pace::default();
        for number in 0..100 {
            pace.enqueue(board(&number.to_string()));
        }
        assert_eq!(pace.ready(at(0)).len(), 10, "a third at once");
        let (card, _) = pace.enqueue(CallRequest::new(Priority::Approval, "chat.update", Some("C1")));
        assert_eq!(pace.ready(at(0)), [card]);
    }

    #[test]
    fn boards_go_on_all_the_time_and_never_use_more_than_their_share() {
        let mut pace = Pace::default();
        let mut gone = Vec::new();
        for second in 0..240 {
            pace.enqueue(board(&second.to_string()));
            gone.extend(pace.ready(at(second)).iter().map(|_| second));
        }
        let pause = gone.iter().zip(gone.iter().skip(1)).map(|(one, next)| next - one).max();
        assert_eq!(pause, Some(3));
        let within = |from: u64| gone.iter().filter(|second| (from..from + 60).contains(*second)).count();
        assert!((0..180).all(|from| within(from) <= 30));
    }

    #[test]
    fn a_newer_board_replaces_the_one_that_waits_and_only_that() {
        let mut pace = Pace::default();
        let (one, _) = pace.enqueue(board("1"));
        let (other, none) = pace.enqueue(board("2"));
        let (newer, replaced) = pace.enqueue(board("1"));
        assert_eq!((none, replaced), (None, Some(one)));
        assert_eq!(pace.ready(at(0)), [newer, other]);
        assert_eq!(pace.enqueue(board("1")).1, None);
    }

    #[test]
    fn updates_of_one_message_go_one_after_the_other() {
        let mut pace = Pace::default();
        let (one, _) = pace.enqueue(board("1"));
        assert_eq!(pace.ready(at(0)), [one]);
        let (two, _) = pace.enqueue(board("1"));
        assert_eq!((pace.ready(at(9)), pace.next(at(9))), (vec![], None));
        pace.finished(&board("1"));
        assert_eq!(pace.ready(at(9)), [two]);
    }

    #[test]
    fn what_is_older_never_undoes_what_is_newer() {
        let mut pace = Pace::default();
        let update = |priority| CallRequest { priority, ..board("1") };
        let (other, _) = pace.enqueue(update(Priority::Other));
        let (board_, _) = pace.enqueue(update(Priority::Board));
        let (card, replaced) = pace.enqueue(update(Priority::Approval));
        assert_eq!(replaced, Some(board_));
        assert_eq!(pace.ready(at(0)), [other]);
        pace.finished(&board("1"));
        assert_eq!(pace.ready(at(0)), [card]);
    }

    #[test]
    fn a_refused_board_is_replaced_by_a_newer_one() {
        let mut pace = Pace::default();
        let (one, _) = pace.enqueue(board("1"));
        pace.ready(at(0));
        let (two, _) = pace.enqueue(board("1"));
        assert!(!pace.requeue(one, board("1"), at(0), at(3)));
        assert_eq!((pace.ready(at(0)), pace.ready(at(3))), (vec![], vec![two]));
    }

    #[test]
    fn what_has_no_name_is_never_replaced() {
        let mut pace = Pace::default();
        for _ in 0..3 {
            assert_eq!(pace.enqueue(post(Priority::Other, "C1")).1, None);
        }
        assert_eq!(pace.waiting(), 3);
    }

    #[test]
    fn a_refusal_closes_its_method_and_channel_for_as_long_as_it_says() {
        let mut pace = Pace::default();
        let ask = post(Priority::Approval, "C1");
        let (first, _) = pace.enqueue(ask.clone());
        pace.ready(at(0));
        assert!(pace.requeue(first, ask, at(0), at(30)));
        let (second, _) = pace.enqueue(post(Priority::Approval, "C1"));
        let (other, _) = pace.enqueue(post(Priority::Approval, "C2"));
        assert_eq!(pace.ready(at(0)), [other]);
        assert_eq!(pace.next(at(0)), Some(at(30)));
        assert_eq!(pace.ready(at(29)), []);
        assert_eq!(pace.ready(at(30)), [first, second]);
    }

    #[test]
    fn whoever_goes_away_leaves_no_gap() {
        let mut pace = Pace::default();
        let (gone, _) = pace.enqueue(post(Priority::Other, "C1"));
        pace.leave(gone);
        assert_eq!((pace.waiting(), pace.next(at(0)), pace.ready(at(0))), (0, None, vec![]));
    }

    #[test]
    fn what_has_been_quiet_is_forgotten() {
        let mut pace = Pace::default();
        for number in 0..100 {
            pace.enqueue(post(Priority::Other, &format!("C{number}")));
        }
        pace.ready(at(0));
        pace.ready(at(60));
        assert!(pace.recent.is_empty());
    }

    proptest! {
        #[test]
        fn everybody_goes_once_and_never_more_than_the_rule(asks in prop::collection::vec((0_u8..4, 0_u8..3, 0_u64..20), 1..60)) {
            let mut pace = Pace::default();
            let mut open = std::collections::BTreeMap::new();
            let mut gone = Vec::new();
            let mut asks: Vec<_> = asks;
            asks.sort_by_key(|(_, _, when)| *when);
            let mut asks = asks.into_iter().peekable();
            let mut now = at(0);
            for _ in 0..500 {
                while let Some((priority, channel, _)) = asks.next_if(|(_, _, when)| at(*when) <= now) {
                    let priority = [Priority::Approval, Priority::Report, Priority::Other, Priority::Board][usize::from(priority)];
                    let channel = format!("C{channel}");
                    open.insert(pace.enqueue(post(priority, &channel)).0, channel);
                }
                for ticket in pace.ready(now) {
                    gone.push((now, open.remove(&ticket).unwrap()));
                }
                let coming = asks.peek().map(|(_, _, when)| at(*when));
                let Some(next) = pace.next(now).into_iter().chain(coming).min() else { break };
                // Time moves on, and not past a moment at which somebody may go.
                prop_assert!(next > now || coming == Some(next));
                now = next.max(now);
            }
            prop_assert!(open.is_empty());
            for (moment, channel) in &gone {
                let window = gone.iter().filter(|(other, position)| position == channel && *other <= *moment && *other + at(5) > *moment);
                prop_assert!(window.count() <= 5);
            }
        }
    }
}
