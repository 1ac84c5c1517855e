//! What travels in names: many long labels below one domain, and text in the answers.

use std::net::IpAddr;

use super::message::Question;
use crate::hash::Map;

/// How many domains are distinguished.
const MAX_DOMAINS: usize = 4096;
const MAX_EVIDENCE_FRAMES: usize = 5;
/// A label that holds so much is seldom typed.
pub(crate) const MIN_LONG_LABEL: usize = 45;
const NULL: u16 = 10;
const TEXT: u16 = 16;

/// What is known of a domain.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParentDomain {
    /// Its name, escaped.
    pub(crate) name: String,
    /// Questions for names below it.
    pub(crate) queries: u64,
    /// Of those the ones for text or raw bytes.
    pub(crate) text: u64,
    /// Questions for text or raw bytes, or with a long label.
    pub(crate) odd: u64,
    /// The lengths of the longest labels of those.
    pub(crate) labels: u64,
    /// Bytes in the names of those, the domain's own left out.
    pub(crate) up: u64,
    /// Bytes of the answers to those.
    pub(crate) down: u64,
    /// Who asked first.
    pub(crate) client: Option<IpAddr>,
    /// The first frames.
    pub(crate) frames: Vec<u64>,
    /// Which of 1024 places names fell into.
    places: [u64; 16],
}

/// All domains.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParentDomains {
    /// By a mark of their name.
    pub(crate) all: Map<u64, ParentDomain>,
    /// Questions below domains for which there was no room.
    pub(crate) left_out: u64,
}

impl ParentDomains {
    /// Takes a question.
    pub(crate) fn asked(&mut self, question: &Question<'_>, client: IpAddr, frame: u64) {
        let Some(split) = Split::of(question) else {
            return;
        };
        if self.all.len() >= MAX_DOMAINS && !self.all.contains_key(&split.parent) {
            self.left_out += 1;
            return;
        }
        let parent = self.all.entry(split.parent).or_default();
        if parent.name.is_empty() {
            let skipped = question.labels().count().saturating_sub(split.kept);
            parent.name = question.text_from(skipped).to_ascii_lowercase();
        }
        parent.queries += 1;
        parent.text += u64::from(matches!(question.kind, NULL | TEXT));
        if split.odd {
            parent.odd += 1;
            parent.labels += split.longest as u64;
            parent.up += split.size as u64;
            parent.client.get_or_insert(client);
            if parent.frames.len() < MAX_EVIDENCE_FRAMES {
                parent.frames.push(frame);
            }
            let place = split.mark.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
            if let Some(places) = parent.places.get_mut(place as usize / 64) {
                *places |= 1 << (place % 64);
            }
        }
    }

    /// Takes the answer to a question.
    pub(crate) fn answered(&mut self, question: &Question<'_>, size: usize) {
        if let Some(split) = Split::of(question).filter(|split| split.odd)
            && let Some(parent) = self.all.get_mut(&split.parent)
        {
            parent.down += size as u64;
        }
    }
}

impl ParentDomain {
    /// Returns about how many different odd names there were: exact for a few, within a tenth for thousands.
    pub(crate) fn distinct(&self) -> u64 {
        let free: u32 = self.places.iter().map(|places| places.count_zeros()).sum();
        let free = f64::from(free.max(1)) / 1024.0;
        ((-1024.0 * free.ln()).round() as u64).min(self.odd)
    }

    /// Returns the mean length of the longest labels.
    pub(crate) fn mean(&self) -> f64 {
        if self.odd == 0 { 0.0 } else { self.labels as f64 / self.odd as f64 }
    }
}

/// A name, divided into a domain and what is below it.
struct Split {
    parent: u64,
    mark: u64,
    kept: usize,
    longest: usize,
    size: usize,
    odd: bool,
}

impl Split {
    /// Divides a name; nothing where it is the domain itself, or made by the rules of services and addresses.
    fn of(question: &Question<'_>) -> Option<Self> {
        let count = question.labels().count();
        let ruled = |label: &[u8]| label.starts_with(b"_") || label.eq_ignore_ascii_case(b"arpa");
        if count < 3 || question.labels().any(ruled) {
            return None;
        }
        let mut ends = question.labels().skip(count - 2).map(<[u8]>::len);
        // Many countries sell names below a short label of their own.
        let country = ends.next().is_some_and(|second| second <= 3) && ends.next() == Some(2);
        let kept = if country { 3 } else { 2 };
        if count <= kept {
            return None;
        }
        let below = question.labels().take(count - kept);
        let longest = below.clone().map(<[u8]>::len).max().unwrap_or(0);
        let hash = |labels: &mut dyn Iterator<Item = &[u8]>| {
            labels.flat_map(|label| label.iter().chain(b".")).fold(0xcbf2_9ce4_8422_2325_u64, |mark, byte| {
                (mark ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
            })
        };
        Some(Self {
            parent: hash(&mut question.labels().skip(count - kept)),
            mark: hash(&mut below.clone()),
            kept,
            longest,
            size: below.map(|label| label.len() + 1).sum(),
            odd: matches!(question.kind, NULL | TEXT) || longest >= MIN_LONG_LABEL,
        })
    }
}
