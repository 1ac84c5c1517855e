//! Fills in the facts of protocols above TCP and UDP.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::facts::Summary;
use super::protocol_facts::{
    AlertFacts, DhcpFacts, DhcpServerFacts, HttpFacts, HttpServerFacts, NtpFacts, NtpServerFacts, QuicFacts,
    QuicServerFacts, TlsFacts, TlsServerFacts, UdpFacts,
};
use super::write::{Choice, moment};
use crate::flow::Percentiles;
use crate::protocol::{self, alert_name, cipher_name, quic_version, version_name};

/// Writes the account of TLS.
pub(super) fn tls(tally: &protocol::TlsStats, (most, focus): Choice) -> TlsFacts {
    let sum = |of: fn(&protocol::TlsServer) -> u64| tally.servers.iter().map(of).sum();
    let mut versions: BTreeMap<String, u64> = BTreeMap::new();
    for (version, times) in tally.servers.iter().flat_map(|server| &server.versions) {
        *versions.entry(version_name(*version)).or_default() += times.count;
    }
    let mut servers: Vec<&protocol::TlsServer> =
        tally.servers.iter().filter(|server| focus.is_none_or(|focus| focus.meets(server.server))).collect();
    servers.sort_by_key(|server| Reverse((server.failed(), server.hellos)));
    TlsFacts {
        client_hellos: sum(|server| server.hellos),
        server_hellos: sum(|server| server.answered),
        finished: sum(|server| server.finished),
        unanswered: sum(|server| server.unanswered.count),
        aborted: sum(|server| server.aborted.count + server.hidden.count),
        alerts: sum(|server| {
            let alerts = server.alerts.iter().filter(|(alert, _)| alert.trouble());
            alerts.map(|(_, times)| times.count).sum()
        }),
        versions,
        servers: servers.into_iter().take(most).map(tls_server).collect(),
    }
}

fn tls_server(server: &protocol::TlsServer) -> TlsServerFacts {
    let alert = |(alert, times): (&protocol::Alert, &protocol::Occurrences)| AlertFacts {
        description: alert_name(alert.what),
        level: if alert.fatal { "fatal" } else { "warning" },
        from: if alert.server { "server" } else { "client" },
        count: times.count,
        first_frame: times.frames.first().copied().unwrap_or(0),
    };
    TlsServerFacts {
        server: server.server,
        name: server.name.clone(),
        hellos: server.hellos,
        answered: server.answered,
        finished: server.finished,
        unanswered: server.unanswered.count,
        aborted: server.aborted.count + server.hidden.count,
        versions: server
            .versions
            .iter()
            .map(|(version, times)| (version_name(*version), times.count))
            .collect(),
        ciphers: server
            .ciphers
            .iter()
            .map(|(cipher, count)| (cipher_name(*cipher), *count))
            .take(4)
            .collect(),
        protocols: server.protocols.iter().take(4).cloned().collect(),
        alerts: server.alerts.iter().map(alert).take(4).collect(),
        not_after: server
            .not_after
            .and_then(|until| u64::try_from(until).ok())
            .map(|until| moment(until * 1_000_000_000)),
        hello_ms: Percentiles::of(&server.latency),
    }
}

/// Writes the account of HTTP/1.
pub(super) fn http(tally: &protocol::HttpStats, (most, focus): Choice) -> HttpFacts {
    let sum = |of: fn(&protocol::HttpServer) -> u64| tally.servers.iter().map(of).sum();
    let classes = (1..=5_u16)
        .map(|first| {
            (format!("{first}xx"), tally.servers.iter().map(|server| server.class(first)).sum::<u64>())
        })
        .filter(|(_, count)| *count > 0)
        .collect();
    let mut servers: Vec<&protocol::HttpServer> =
        tally.servers.iter().filter(|server| focus.is_none_or(|focus| focus.meets(server.server))).collect();
    servers.sort_by_key(|server| Reverse((server.class(5) + server.unanswered.count, server.requests)));
    let facts = |server: &protocol::HttpServer| {
        let mut codes: Vec<_> = server.codes.iter().collect();
        codes.sort_by_key(|(_, count)| Reverse(**count));
        HttpServerFacts {
            server: server.server,
            hosts: server.hosts.iter().take(4).cloned().collect(),
            requests: server.requests,
            responses: server.responses,
            unanswered: server.unanswered.count,
            methods: server.methods.clone(),
            codes: codes.into_iter().take(10).map(|(code, count)| (code.to_string(), *count)).collect(),
            latency_ms: Percentiles::of(&server.latency),
        }
    };
    HttpFacts {
        requests: sum(|server| server.requests),
        responses: sum(|server| server.responses),
        unanswered: sum(|server| server.unanswered.count),
        classes,
        servers: servers.into_iter().take(most).map(facts).collect(),
    }
}

/// Writes the account of QUIC.
pub(super) fn quic(tally: &protocol::QuicStats, (most, focus): Choice) -> QuicFacts {
    let sum = |of: fn(&protocol::QuicServer) -> u64| tally.servers.values().map(of).sum();
    let mut versions: BTreeMap<String, u64> = BTreeMap::new();
    for (version, count) in tally.servers.values().flat_map(|server| &server.versions) {
        *versions.entry(quic_version(*version)).or_default() += count;
    }
    let mut servers: Vec<(&SocketAddr, &protocol::QuicServer)> =
        tally.servers.iter().filter(|(server, _)| focus.is_none_or(|focus| focus.meets(**server))).collect();
    servers.sort_by_key(|(server, known)| (Reverse((known.unanswered, known.connections)), **server));
    let facts = |(server, known): (&SocketAddr, &protocol::QuicServer)| QuicServerFacts {
        server: *server,
        connections: known.connections,
        initials: known.initials,
        unanswered: known.unanswered,
        versions: known.versions.iter().map(|(version, count)| (quic_version(*version), *count)).collect(),
    };
    QuicFacts {
        connections: sum(|server| server.connections),
        initials: sum(|server| server.initials),
        unanswered: sum(|server| server.unanswered),
        negotiations: sum(|server| server.negotiations),
        versions: versions.into_iter().take(10).collect(),
        servers: servers.into_iter().take(most).map(facts).collect(),
    }
}

/// Writes the account of DHCP.
pub(super) fn dhcp(tally: &protocol::DhcpStats, end: u64, (most, focus): Choice) -> DhcpFacts {
    let meant = |server: IpAddr| focus.is_none_or(|focus| focus.is(server));
    let mut servers: Vec<_> =
        tally.servers.iter().filter(|(server, _)| meant(IpAddr::V4(**server))).collect();
    servers.sort_by_key(|(_, known)| Reverse((known.naks.count, known.offers)));
    let facts = servers.into_iter().take(most).map(|(server, known)| DhcpServerFacts {
        server: *server,
        offers: known.offers,
        acks: known.acks,
        naks: known.naks.count,
        router: known.router,
        resolver: known.resolver,
    });
    DhcpFacts {
        messages: tally.messages.clone(),
        messages_v6: tally.v6.clone(),
        unanswered: tally.unanswered(end).questions,
        unanswered_v6: tally.v6_unanswered(end).questions,
        servers: facts.collect(),
    }
}

/// Writes the account of NTP.
pub(super) fn ntp(tally: &protocol::NtpStats, (most, focus): Choice) -> NtpFacts {
    let sum = |of: fn(&protocol::NtpServer) -> u64| tally.servers.values().map(of).sum();
    let mut servers: Vec<_> =
        tally.servers.iter().filter(|(server, _)| focus.is_none_or(|focus| focus.is(**server))).collect();
    servers.sort_by_key(|(_, known)| {
        Reverse((known.kisses.count + known.unset.count + known.unanswered.count, known.requests))
    });
    let facts = servers.into_iter().take(most).map(|(server, known)| NtpServerFacts {
        server: *server,
        requests: known.requests,
        responses: known.responses,
        unanswered: known.unanswered.count,
        stratum: known.stratum,
        unset: known.unset.count,
        kisses: known.codes.clone(),
        latency_ms: Percentiles::of(&known.latency),
    });
    NtpFacts {
        requests: sum(|server| server.requests),
        responses: sum(|server| server.responses),
        unanswered: sum(|server| server.unanswered.count),
        servers: facts.collect(),
    }
}

/// Writes the account of datagrams.
pub(super) fn udp(overview: &mut protocol::UdpStats, full: bool) -> UdpFacts {
    UdpFacts {
        streams: overview.streams,
        unidirectional: overview.unidirectional,
        evicted: overview.evicted,
        flows: overview.listed(full),
    }
}

/// Takes the last entry of the first list of servers that can spare one.
pub(super) fn shorten(summary: &mut Summary, fewest: usize) -> bool {
    let spare = |length: usize| length > fewest;
    if spare(summary.http.servers.len()) {
        summary.http.servers.pop().is_some()
    } else if spare(summary.tls.servers.len()) {
        summary.tls.servers.pop().is_some()
    } else if spare(summary.quic.servers.len()) {
        summary.quic.servers.pop().is_some()
    } else if spare(summary.ntp.servers.len()) {
        summary.ntp.servers.pop().is_some()
    } else {
        spare(summary.dhcp.servers.len()) && summary.dhcp.servers.pop().is_some()
    }
}
