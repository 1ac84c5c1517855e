//! DNS per client: names that do not exist unless the next one in the search list does, generated names, failed names.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use super::message::{Message, Question};
use super::name_score::{MIN_GENERATED_SCORE, NameScore};
use crate::hash::Map;

/// Maximum number of tracked clients.
const MAX_CLIENTS: usize = 16_384;
/// How many answers wait for what comes after them, and how many names that exist are remembered.
const MAX_PENDING_ANSWERS: usize = 16_384;
/// How many odd names of one client are kept, and of all.
const MAX_NAMES_PER_CLIENT: usize = 64;
const MAX_NAMES: usize = 4096;
/// How many labels of a name are compared.
const MAX_LABELS: usize = 8;
/// So soon the next name in a search list is asked for, in nanoseconds.
const SEARCH_LIST_INTERVAL: u64 = 5_000_000_000;
/// Answers are counted over this time.
const COUNTING_WINDOW: u64 = 10_000_000_000;

/// Marks of the first label of a name, of the first two, and so on; the last is that of the whole name.
type Marks = [u64; MAX_LABELS];

#[derive(Debug, Clone)]
struct Answer {
    time: u64,
    frame: u64,
    client: IpAddr,
    nonexistent: bool,
    marks: Marks,
    odd: Option<Box<(String, NameScore)>>,
}

/// A name that seems generated.
#[derive(Debug, Clone)]
pub(crate) struct GeneratedName {
    pub(crate) score_parts: NameScore,
    /// How often it was said that it does not exist.
    pub(crate) count: u64,
    /// Where first.
    pub(crate) frame: u64,
}

/// What is known of a client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    /// Answers to it.
    pub(crate) answers: u64,
    /// Answers that a name does not exist, when no name of the same host did.
    pub(crate) nonexistent: u64,
    /// Others, of a search list that found the host in the end.
    pub(crate) excused: u64,
    /// The most names within ten seconds that do not exist, and how many answers there were then.
    pub(crate) worst: (u64, u64),
    /// The first frames of those ten seconds.
    pub(crate) frames: Vec<u64>,
    /// Names that look made up.
    pub(crate) odd: BTreeMap<String, GeneratedName>,
    /// Questions for everything there is.
    pub(crate) any: u64,
    /// Where they are.
    pub(crate) any_frames: Vec<u64>,
    /// Answers to no question that was seen, and their bytes.
    pub(crate) unasked: (u64, u64),
    /// Where they are.
    pub(crate) unasked_frames: Vec<u64>,
    window: (u64, u64, u64),
    current: Vec<u64>,
}

/// All clients.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clients {
    /// By address.
    pub(crate) all: Map<IpAddr, Client>,
    /// Messages of clients, and odd names, for which there was no room.
    pub(crate) left_out: u64,
    waiting: VecDeque<Answer>,
    found: Map<(IpAddr, u64), u64>,
    names: usize,
}

impl Clients {
    /// Takes an answer to a client: whether the name exists, as far as that was said.
    pub(crate) fn answered(&mut self, client: IpAddr, question: &Question<'_>, rcode: u8, at: (u64, u64)) {
        let (frame, time) = at;
        self.settle_before(time);
        let (marks, count) = marks(question);
        let nonexistent = rcode == 3;
        if rcode == 0 {
            let whole = marks.get(count.saturating_sub(1)).copied().unwrap_or(0);
            self.exists(client, whole, time);
            if let Some(first) = marks.first().filter(|_| !common(question)) {
                self.exists(client, *first, time);
            }
        }
        let odd = if nonexistent { odd(question).map(Box::new) } else { None };
        self.waiting.push_back(Answer { time, frame, client, nonexistent, marks, odd });
        while self.waiting.len() > MAX_PENDING_ANSWERS {
            self.settle_oldest();
        }
    }

    /// Returns a client that a message is counted for.
    pub(crate) fn client(&mut self, client: IpAddr) -> Option<&mut Client> {
        if self.all.len() >= MAX_CLIENTS && !self.all.contains_key(&client) {
            self.left_out += 1;
            return None;
        }
        Some(self.all.entry(client).or_default())
    }

    /// Settles all pending answers.
    pub(crate) fn finish(&mut self) {
        while !self.waiting.is_empty() {
            self.settle_oldest();
        }
    }

    fn exists(&mut self, client: IpAddr, mark: u64, time: u64) {
        if self.found.len() >= MAX_PENDING_ANSWERS {
            self.found.retain(|_, found| *found + SEARCH_LIST_INTERVAL >= time);
            // Else each of the next ones would look through all of them.
            if self.found.len() >= MAX_PENDING_ANSWERS / 2 {
                self.found.clear();
            }
        }
        self.found.insert((client, mark), time);
    }

    fn settle_before(&mut self, now: u64) {
        while self.waiting.front().is_some_and(|answer| answer.time + SEARCH_LIST_INTERVAL < now) {
            self.settle_oldest();
        }
    }

    fn settle_oldest(&mut self) {
        let Some(answer) = self.waiting.pop_front() else {
            return;
        };
        let found = |mark: &u64| {
            *mark != 0
                && self
                    .found
                    .get(&(answer.client, *mark))
                    .is_some_and(|time| time.abs_diff(answer.time) <= SEARCH_LIST_INTERVAL)
        };
        let excused = answer.nonexistent && answer.marks.iter().any(found);
        let room = self.names < MAX_NAMES;
        let Some(client) = self.client(answer.client) else {
            return;
        };
        client.count(&answer, excused);
        if let Some((name, score_parts)) = answer.odd.filter(|_| !excused).map(|odd| *odd) {
            if let Some(known) = client.odd.get_mut(&name) {
                known.count += 1;
            } else if room && client.odd.len() < MAX_NAMES_PER_CLIENT {
                client.odd.insert(name, GeneratedName { score_parts, count: 1, frame: answer.frame });
                self.names += 1;
            } else {
                self.left_out += 1;
            }
        }
    }
}

impl Client {
    fn count(&mut self, answer: &Answer, excused: bool) {
        self.answers += 1;
        let nonexistent = answer.nonexistent && !excused;
        self.nonexistent += u64::from(nonexistent);
        self.excused += u64::from(excused);
        let over = answer.time.saturating_sub(self.window.0) > COUNTING_WINDOW;
        if nonexistent && (over || self.window.1 == 0) {
            // The ten seconds begin with a name that does not exist.
            self.window = (answer.time, 0, 0);
            self.current.clear();
        } else if over {
            return;
        }
        self.window.2 += 1;
        if !nonexistent {
            return;
        }
        self.window.1 += 1;
        if self.current.len() < MAX_EVIDENCE_FRAMES {
            self.current.push(answer.frame);
        }
        if self.window.1 > self.worst.0 {
            self.worst = (self.window.1, self.window.2);
            if self.frames != self.current {
                self.frames.clone_from(&self.current);
            }
        }
    }
}

/// Returns the marks of the beginnings of a name, and how many there are. Names that many hosts have say nothing alone.
fn marks(question: &Question<'_>) -> (Marks, usize) {
    let (mut marks, mut count) = ([0; MAX_LABELS], 0);
    let mut mark = 0xcbf2_9ce4_8422_2325_u64;
    for label in question.labels() {
        for byte in label.iter().chain(b".") {
            mark = (mark ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3);
        }
        if let Some(place) = marks.get_mut(count) {
            *place = mark;
            count += 1;
        } else if let Some(last) = marks.last_mut() {
            *last = mark;
        }
    }
    (marks, count)
}

/// Tells whether the first label is one that hosts of all domains have.
fn common(question: &Question<'_>) -> bool {
    question.labels().next().is_none_or(|label| {
        label.eq_ignore_ascii_case(b"www") || label.eq_ignore_ascii_case(b"mail") || label.starts_with(b"_")
    })
}

/// Returns a name and the look of its oddest label, where it seems generated. What browsers ask for to see whether somebody
/// forges answers has one label; names of services and of addresses are made by rule.
fn odd(question: &Question<'_>) -> Option<(String, NameScore)> {
    let count = question.labels().count();
    if count < 2
        || question.labels().any(|label| label.starts_with(b"_") || label.eq_ignore_ascii_case(b"arpa"))
    {
        return None;
    }
    let scores = question.labels().take(count - 1).map(NameScore::of);
    let score_parts = scores.max_by(|one, other| one.score().total_cmp(&other.score()))?;
    (score_parts.score() >= MIN_GENERATED_SCORE).then(|| (question.text().to_ascii_lowercase(), score_parts))
}

/// Maximum number of tracked names.
const MAX_FAILED_NAMES: usize = 2048;
const MAX_EVIDENCE_FRAMES: usize = 5;

/// The result of a name.
#[derive(Debug, Clone, Default)]
pub(crate) struct FailedNames {
    /// How often.
    pub(crate) count: u64,
    /// The first answers that said so.
    pub(crate) frames: Vec<u64>,
    /// Names, with how often each.
    pub(crate) names: BTreeMap<String, u64>,
}

impl FailedNames {
    /// Takes an answer.
    pub(super) fn add(&mut self, message: &Message<'_>, frame: u64) {
        self.count += 1;
        if self.frames.len() < MAX_EVIDENCE_FRAMES {
            self.frames.push(frame);
        }
        let Some(question) = message.question else {
            return;
        };
        // Some resolvers mix the case to make answers hard to forge.
        let name = question.text().to_ascii_lowercase();
        if self.names.len() < MAX_FAILED_NAMES || self.names.contains_key(&name) {
            *self.names.entry(name).or_default() += 1;
        }
    }
}
