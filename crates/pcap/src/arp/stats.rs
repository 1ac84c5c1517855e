//! Who owns an address, who asks for one, and who claims the same one: ARP, and the same of neighbor discovery.

use std::net::{IpAddr, Ipv4Addr};

use super::message::{FrameContext, NeighborMessage};
use crate::hash::Map;
use crate::layers::Arp;

/// How many addresses are remembered.
const MAX_ADDRESSES: usize = 32_768;
/// How many claimants of one address are.
const MAX_CLAIMS: usize = 8;
const MAX_EVIDENCE_FRAMES: usize = 5;
const SECOND: u64 = 1_000_000_000;
/// Who asks again so soon got no answer; later it may merely have forgotten it.
const MAX_REPEAT_INTERVAL: u64 = 3 * SECOND;
/// An answer so long after the question is one to another question.
const ANSWER_TIMEOUT: u64 = 5 * SECOND;
/// A claimant that is replaced so soon did not give the address up.
const MAX_FLIP_INTERVAL: u64 = 10 * SECOND;
/// Announcements are counted over this time.
const ANNOUNCEMENT_WINDOW: u64 = 10 * SECOND;

/// An address in one LAN.
pub(crate) type LanAddress = (u32, IpAddr);

/// Someone who says that an address is theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Their hardware address.
    pub(crate) mac: [u8; 6],
    /// Where they said so first.
    pub(crate) frame: u64,
}

/// What is known of an address.
#[derive(Debug, Clone, Default)]
pub(crate) struct Address {
    /// Who claims it.
    pub(crate) claims: Vec<Claim>,
    /// How often the claimant changed; changes between routers that share the address are none.
    pub(crate) claimant_changes: u64,
    /// How often it changed again within seconds.
    pub(crate) quick: u64,
    /// How often an answer named another claimant within seconds of what the one before said.
    pub(crate) rival_answers: u64,
    last: Option<([u8; 6], u64)>,
    flipped: Option<u64>,
    /// Questions for it since its last answer.
    pub(crate) waiting: u64,
    /// The most questions that one asker repeated within seconds, since the last sign of life.
    pub(crate) silent: u64,
    /// The first of those.
    pub(crate) silent_frames: Vec<u64>,
    chain: (u64, Vec<u64>),
    asker: Option<IpAddr>,
    asked: Option<u64>,
    /// The most announcements within ten seconds, and the first frames of all.
    pub(crate) announced: u64,
    /// Frames of announcements.
    pub(crate) announced_frames: Vec<u64>,
    window: (u64, u64),
    probe: Option<([u8; 6], u64)>,
    /// Who wanted it when somebody had it already, and where that was said.
    pub(crate) taken: Option<([u8; 6], [u8; 6], u64)>,
}

/// All addresses.
#[derive(Debug, Clone, Default)]
pub(crate) struct NeighborStats {
    /// Questions: operation 1, or solicitations.
    pub(crate) requests: u64,
    /// Answers: operation 2, or advertisements.
    pub(crate) replies: u64,
    /// Announcements: sender and target are the same.
    pub(crate) gratuitous: u64,
    /// Questions whether an address is free.
    pub(crate) probes: u64,
    /// Answers that nobody asked for.
    pub(crate) unasked: u64,
    /// Where they are.
    pub(crate) unasked_frames: Vec<u64>,
    /// Answers more than a second after the last question.
    pub(crate) late: u64,
    pub(crate) addresses: Map<LanAddress, Address>,
    /// Packets about addresses for which there was no room.
    pub(crate) left_out: u64,
}

impl NeighborStats {
    /// Takes an ARP packet.
    pub(crate) fn take(&mut self, arp: &Arp, at: FrameContext) {
        let is_request = match arp.operation {
            1 => true,
            2 => false,
            _ => return,
        };
        let (Some((mac, sender)), Some((_, target))) = (arp.sender, arp.target) else {
            self.requests += u64::from(is_request);
            self.replies += u64::from(!is_request);
            return;
        };
        let (sender, target) = (Ipv4Addr::from(sender), Ipv4Addr::from(target));
        let probe = sender.is_unspecified();
        self.add_message(
            &NeighborMessage {
                is_request,
                is_announcement: sender == target,
                is_probe: probe && is_request,
                sender: (!probe).then_some(IpAddr::V4(sender)),
                target: IpAddr::V4(target),
                mac: Some(mac),
            },
            at,
        );
    }

    /// Takes what somebody says about addresses.
    pub(crate) fn add_message(&mut self, message: &NeighborMessage, at: FrameContext) {
        self.requests += u64::from(message.is_request);
        self.replies += u64::from(!message.is_request);
        self.gratuitous += u64::from(message.is_announcement);
        self.probes += u64::from(message.is_probe);
        // A group address has no owner, yet who claims to be one is worth knowing.
        let mac = message.mac.filter(|mac| *mac != [0; 6] && *mac != [0xff; 6]);
        if let Some((sender, mac)) = message.sender.zip(mac) {
            self.claimed((at.lan, sender), mac, message, at);
        }
        if message.is_probe {
            if let Some((address, mac)) = self.address((at.lan, message.target)).zip(mac) {
                address.probe = Some((mac, at.time));
            }
        } else if message.is_request && !message.is_announcement {
            // Nobody has to answer an announcement, and nobody should answer a probe.
            let asker = message.sender;
            if let Some(address) = self.address((at.lan, message.target)) {
                address.asked(asker, at);
            }
        }
    }

    fn claimed(&mut self, place: LanAddress, mac: [u8; 6], message: &NeighborMessage, at: FrameContext) {
        let Some(address) = self.address(place) else {
            return;
        };
        // Who asks lives, though it does not answer.
        address.mark_alive();
        let (mut unasked, mut late) = (false, false);
        if message.is_announcement {
            address.announced(at);
        } else if !message.is_request {
            let since = address.asked.map(|asked| at.time.saturating_sub(asked));
            let probed =
                address.probe.is_some_and(|(_, probe)| at.time.saturating_sub(probe) <= ANSWER_TIMEOUT);
            unasked = !probed && since.is_none_or(|since| since > ANSWER_TIMEOUT);
            late = since.is_some_and(|since| (SECOND..=ANSWER_TIMEOUT).contains(&since));
            address.waiting = 0;
        }
        address.claim(mac, !message.is_request && !message.is_announcement, at);
        self.late += u64::from(late);
        self.unasked += u64::from(unasked);
        if unasked && self.unasked_frames.len() < MAX_EVIDENCE_FRAMES {
            self.unasked_frames.push(at.frame);
        }
    }

    fn address(&mut self, place: LanAddress) -> Option<&mut Address> {
        if self.addresses.len() >= MAX_ADDRESSES && !self.addresses.contains_key(&place) {
            self.left_out += 1;
            return None;
        }
        Some(self.addresses.entry(place).or_default())
    }

    /// Returns how many questions nothing answered.
    pub(crate) fn unanswered(&self) -> u64 {
        self.addresses.values().map(|address| address.waiting).sum()
    }

    /// Returns addresses that more than one claims, in order; those that routers share are left out.
    pub(crate) fn conflicts(&self) -> Vec<(LanAddress, &Address)> {
        self.filtered(|address| address.claims.len() > 1 && address.claimant_changes > 0)
    }

    /// Returns the addresses of which something is true, in order.
    pub(crate) fn filtered(&self, meant: impl Fn(&Address) -> bool) -> Vec<(LanAddress, &Address)> {
        let mut found: Vec<_> = self
            .addresses
            .iter()
            .filter(|(_, address)| meant(address))
            .map(|(place, address)| (*place, address))
            .collect();
        found.sort_by_key(|((lan, ip), _)| (*ip, *lan));
        found
    }
}

impl Address {
    fn claim(&mut self, mac: [u8; 6], answers: bool, at: FrameContext) {
        if self.claims.len() < MAX_CLAIMS && !self.claims.iter().any(|claim| claim.mac == mac) {
            self.claims.push(Claim { mac, frame: at.frame });
        }
        let soon = |time: u64| at.time.saturating_sub(time) <= MAX_FLIP_INTERVAL;
        if let Some((_, time)) = self.last.filter(|(last, _)| *last != mac && !(shared(*last) && shared(mac)))
        {
            self.claimant_changes += 1;
            self.quick += u64::from(self.flipped.is_some_and(soon));
            self.rival_answers += u64::from(answers && soon(time));
            self.flipped = Some(at.time);
        }
        self.last = Some((mac, at.time));
        if let Some((wanted, time)) = self.probe.take()
            && wanted != mac
            && at.time.saturating_sub(time) <= ANSWER_TIMEOUT
            && self.taken.is_none()
        {
            self.taken = Some((wanted, mac, at.frame));
        }
    }

    fn asked(&mut self, asker: Option<IpAddr>, at: FrameContext) {
        self.waiting += 1;
        let soon = self.asked.is_some_and(|asked| at.time.saturating_sub(asked) <= MAX_REPEAT_INTERVAL);
        if soon && self.asker.is_some() && self.asker != asker {
            // Somebody else asks in between.
            return;
        }
        if !soon || self.asker.is_none() {
            self.forget();
        }
        self.asker = asker;
        self.asked = Some(at.time);
        self.chain.0 += 1;
        if self.chain.1.len() < MAX_EVIDENCE_FRAMES {
            self.chain.1.push(at.frame);
        }
        if self.chain.0 > self.silent {
            self.silent = self.chain.0;
            if self.silent_frames != self.chain.1 {
                self.silent_frames.clone_from(&self.chain.1);
            }
        }
    }

    /// Forgets a row of questions; its room stays for the next one.
    fn forget(&mut self) {
        self.chain.0 = 0;
        self.chain.1.clear();
    }

    fn mark_alive(&mut self) {
        self.asker = None;
        self.forget();
        self.silent = 0;
        self.silent_frames.clear();
    }

    fn announced(&mut self, at: FrameContext) {
        let (start, count) = self.window;
        self.window = if at.time.saturating_sub(start) <= ANNOUNCEMENT_WINDOW {
            (start, count + 1)
        } else {
            (at.time, 1)
        };
        self.announced = self.announced.max(self.window.1);
        if self.announced_frames.len() < MAX_EVIDENCE_FRAMES {
            self.announced_frames.push(at.frame);
        }
    }
}

/// Hardware addresses that hosts share on purpose: VRRP and CARP, HSRP of all versions, GLBP, network load balancing.
const SHARED_MAC_PREFIXES: [&[u8]; 7] = [
    &[0, 0, 0x5e, 0],
    &[0, 0, 0x0c, 7, 0xac],
    &[0, 0, 0x0c, 0x9f, 0xf0],
    &[0, 5, 0x73, 0xa0],
    &[0, 7, 0xb4, 0],
    &[2, 0xbf],
    &[3, 0xbf],
];

/// Tells whether hosts share a hardware address on purpose.
pub(crate) fn shared(mac: [u8; 6]) -> bool {
    SHARED_MAC_PREFIXES.iter().any(|prefix| mac.starts_with(prefix))
}
