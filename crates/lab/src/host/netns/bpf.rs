//! The filters of a capture, in the words of `tcpdump`.

use std::net::IpAddr;

use crate::host::port::{CaptureFilter, HostError};

/// Writes what the filters describe; empty where they describe everything.
pub(super) fn expression(filters: &[CaptureFilter]) -> Result<String, HostError> {
    let all: Vec<String> = filters.iter().map(one).collect::<Result<_, _>>()?;
    Ok(if all.iter().any(String::is_empty) { String::new() } else { all.join(" or ") })
}

fn one(filter: &CaptureFilter) -> Result<String, HostError> {
    let mut words = Vec::new();
    match filter.protocol.to_ascii_lowercase().as_str() {
        "" | "any" => {}
        "tcp" => words.push("tcp".to_owned()),
        "udp" => words.push("udp".to_owned()),
        _ => return Err(unread("protocol", &filter.protocol)),
    }
    let (own, far) = (&filter.local_address, &filter.remote_address);
    let (own_port, far_port) = (&filter.local_port, &filter.remote_port);
    // A packet goes in one direction or the other.
    let directions = [["src", "dst"], ["dst", "src"]].map(|[local, remote]| {
        let sides = [
            addresses(local, own)?,
            addresses(remote, far)?,
            ports(local, own_port)?,
            ports(remote, far_port)?,
        ];
        let said: Vec<String> = sides.into_iter().flatten().collect();
        Ok::<_, HostError>(said.join(" and "))
    });
    let [sent, got] = directions;
    let (sent, got) = (sent?, got?);
    if !sent.is_empty() {
        words.push(format!("(({sent}) or ({got}))"));
    }
    Ok(if words.is_empty() { String::new() } else { format!("({})", words.join(" and ")) })
}

/// Takes a list apart; nothing stands for anything.
fn list<T>(text: &str, each: impl Fn(&str) -> Option<T>, what: &str) -> Result<Vec<T>, HostError> {
    let items = text.split(';').map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| each(item).ok_or_else(|| unread(what, item))).collect()
}

fn addresses(side: &str, text: &str) -> Result<Option<String>, HostError> {
    let each = |item: &str| match item.split_once('-') {
        None => {
            let is_net = |prefix: &ipnet::IpNet| format!("{side} net {}", prefix.trunc());
            let host = item.parse::<IpAddr>().map(|address| format!("{side} host {address}"));
            host.ok().or_else(|| item.parse().ok().as_ref().map(is_net))
        }
        Some((first, last)) => match (first.trim().parse().ok()?, last.trim().parse().ok()?) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                let at = if side == "src" { 12 } else { 16 };
                let (first, last) = (first.to_bits(), last.to_bits());
                Some(format!("(ip[{at}:4] >= {first} and ip[{at}:4] <= {last})"))
            }
            // No word of a filter compares addresses of this length.
            (IpAddr::V6(_) | IpAddr::V4(_), _) => None,
        },
    };
    Ok(either(&list(text, each, "address")?))
}

fn ports(side: &str, text: &str) -> Result<Option<String>, HostError> {
    let each = |item: &str| match item.split_once('-') {
        None => item.parse::<u16>().ok().map(|port| format!("{side} port {port}")),
        Some((first, last)) => {
            let (first, last) = (first.trim().parse::<u16>().ok()?, last.trim().parse::<u16>().ok()?);
            Some(format!("{side} portrange {first}-{last}"))
        }
    };
    Ok(either(&list(text, each, "port")?))
}

fn either(all: &[String]) -> Option<String> {
    (!all.is_empty()).then(|| format!("({})", all.join(" or ")))
}

fn unread(what: &str, text: &str) -> HostError {
    let short: String = text.chars().take(60).collect();
    HostError::Lacking(format!(
        "the {what} `{short}` of a capture's filter is none that `tcpdump` can look for"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(protocol: &str, own: &str, own_port: &str, far: &str, far_port: &str) -> CaptureFilter {
        let [protocol, local_address, local_port, remote_address, remote_port] =
            [protocol, own, own_port, far, far_port].map(str::to_owned);
        CaptureFilter { protocol, local_address, local_port, remote_address, remote_port }
    }

    #[test]
    fn a_filter_matches_both_directions() {
        let written = expression(&[filter("TCP", "10.0.1.4", "", "10.0.1.5", "80;443")]).unwrap();
        assert_eq!(
            written,
            "(tcp and (((src host 10.0.1.4) and (dst host 10.0.1.5) and (dst port 80 or dst port 443)) or \
             ((dst host 10.0.1.4) and (src host 10.0.1.5) and (src port 80 or src port 443))))"
        );
    }

    #[test]
    fn ranges_are_compared() {
        let written = expression(&[filter("Any", "", "1000-2000", "10.0.0.0-10.0.0.9", "")]).unwrap();
        assert!(written.contains("(ip[16:4] >= 167772160 and ip[16:4] <= 167772169)"), "{written}");
        assert!(written.contains("src portrange 1000-2000"), "{written}");
    }

    #[test]
    fn one_filter_for_everything_is_everything() {
        assert_eq!(expression(&[]).unwrap(), "");
        assert_eq!(expression(&[filter("UDP", "", "", "", ""), CaptureFilter::default()]).unwrap(), "");
        assert_eq!(expression(&[filter("UDP", "", "", "", "")]).unwrap(), "(udp)");
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for (protocol, address, port) in [
            ("GRE", "", ""),
            ("", "x or 1", ""),
            ("", "", "80 or tcp"),
            ("", "fd00::1-fd00::9", ""),
            ("", "", "70000"),
        ] {
            expression(&[filter(protocol, address, port, "", "")]).unwrap_err();
        }
    }
}
