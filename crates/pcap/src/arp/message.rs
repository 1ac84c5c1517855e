//! Messages of ARP and neighbor discovery in one form.

use std::net::IpAddr;

use crate::layers::View;

/// Where something was said, and when.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FrameContext {
    /// In which LAN: addresses of different ones have nothing to do with each other.
    pub(crate) lan: u32,
    /// In which frame.
    pub(crate) frame: u64,
    /// When.
    pub(crate) time: u64,
}

/// A question, an answer, an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NeighborMessage {
    /// It asks, else it answers.
    pub(crate) is_request: bool,
    /// Nobody was asked, and nobody needs to answer.
    pub(crate) is_announcement: bool,
    /// It asks whether an address is free.
    pub(crate) is_probe: bool,
    /// Whose address it is that the hardware address belongs to.
    pub(crate) sender: Option<IpAddr>,
    /// The address that it is about.
    pub(crate) target: IpAddr,
    /// The hardware address that it names.
    pub(crate) mac: Option<[u8; 6]>,
}

impl NeighborMessage {
    /// Reads a solicitation or an advertisement of neighbor discovery, from its type on.
    pub(crate) fn neighbor(view: View<'_>, source: IpAddr) -> Option<Self> {
        let kind = view.u8(0)?;
        let target = IpAddr::from(view.bytes::<16>(8)?);
        match kind {
            135 => {
                let is_probe = source.is_unspecified();
                let mac = option(view, 1);
                Some(Self {
                    is_request: true,
                    is_announcement: false,
                    is_probe,
                    sender: (!is_probe).then_some(source),
                    target,
                    mac,
                })
            }
            136 => {
                let flags = view.u8(4)?;
                // Without the override flag it changes nothing that is known: a proxy, or one of several that share it.
                let mac = if flags & 0x20 != 0 { option(view, 2) } else { None };
                let solicited = flags & 0x40 != 0;
                Some(Self {
                    is_request: false,
                    is_announcement: !solicited,
                    is_probe: false,
                    sender: Some(target),
                    target,
                    mac,
                })
            }
            _ => None,
        }
    }
}

/// Returns the hardware address in an option.
fn option(view: View<'_>, wanted: u8) -> Option<[u8; 6]> {
    let mut at = 24;
    loop {
        let (kind, length) = (view.u8(at)?, usize::from(view.u8(at + 1)?) * 8);
        if kind == wanted && length == 8 {
            return view.bytes(at + 2);
        }
        if length == 0 {
            return None;
        }
        at += length;
    }
}
