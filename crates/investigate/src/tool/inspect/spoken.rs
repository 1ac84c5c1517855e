//! Names and addresses that people wrote, and what has to be read before it is known what they mean.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::estate_reader::{ANY_PORT, EstateReader};
use super::inspector::Unfinished;
use crate::complaint;
use crate::tool::call_replay::CallReplay;
use ghost_base::Limit;
use ghost_cloud::probe::Wanted;
use ghost_inspect::path;

/// How many names that people wrote are looked for in private zones.
const SPOKEN: Limit = Limit::new("path.spoken", 16);

impl EstateReader<'_> {
    /// Reads what is known about names, where people wrote one of a service or one that a private zone may hold.
    pub(super) fn listen(&mut self, text: &str, replay: &mut CallReplay<'_, '_>) -> Result<(), Unfinished> {
        self.listen_for_sites(text, replay)?;
        let is_name_char = |char: char| char.is_ascii_alphanumeric() || "-._".contains(char);
        let words = text.split(|char: char| !is_name_char(char)).map(|word| word.trim_matches('.'));
        let fits = |word: &&str| word.matches('.').count() >= 2 && word.parse::<IpAddr>().is_err();
        let mut names: Vec<String> = Vec::new();
        for word in words.filter(fits) {
            let word = word.to_ascii_lowercase();
            if !names.contains(&word) {
                names.push(word);
            }
        }
        self.leave(SPOKEN.cut(&mut names), "names in the words");
        let is_service = |name: &String| path::service_port(name).is_some();
        // A name of a machine has a meaning of its own.
        names.retain(|name| {
            let label = name.split('.').next().unwrap_or_default();
            is_service(name) || self.estate().addresses_of(label).is_empty()
        });
        // Whoever speaks of a private link and names an account means its files.
        let lower = text.to_lowercase();
        if ["private endpoint", "private link", "privatelink"].iter().any(|word| lower.contains(word)) {
            let accounts = complaint::read(text).accounts.into_iter();
            let all = accounts.map(|account| format!("{account}.blob.core.windows.net"));
            names.extend(all.filter(|name| !lower.contains(name.as_str())));
        }
        if names.is_empty() {
            return Ok(());
        }
        self.fetch(Wanted::Names, replay)?;
        let source =
            self.estate().machines().find_map(|name| self.estate().addresses_of(name).first().copied());
        names.retain(|name| {
            let port = Some(ANY_PORT);
            source.is_some_and(|source| {
                self.estate().flow_to_name(source, name, path::Protocol::Tcp, port).is_some()
            })
        });
        self.spoken = names;
        Ok(())
    }

    /// Reads what gateways lead to, where people wrote an address that nobody has and a gateway leads on.
    fn listen_for_sites(&mut self, text: &str, replay: &mut CallReplay<'_, '_>) -> Result<(), Unfinished> {
        let words = text.split(|char: char| !(char.is_ascii_digit() || char == '.'));
        let all: BTreeSet<IpAddr> = words.filter_map(|word| word.trim_matches('.').parse().ok()).collect();
        let may_be = |address: &IpAddr| self.estate().may_be_elsewhere(*address);
        if !all.iter().any(may_be) {
            return Ok(());
        }
        self.fetch(Wanted::Gateways, replay)?;
        self.elsewhere = all.into_iter().filter(|address| self.estate().is_elsewhere(*address)).collect();
        Ok(())
    }

    /// Tells whether an address is that of a name that people wrote: the flow by that name is judged in its place.
    pub(super) fn is_spoken(&self, to: IpAddr, port: Option<u16>) -> bool {
        let source =
            self.estate().machines().find_map(|name| self.estate().addresses_of(name).first().copied());
        self.spoken.iter().any(|name| {
            let flow = source.and_then(|source| {
                self.estate().flow_to_name(source, name, path::Protocol::Tcp, port.or(Some(ANY_PORT)))
            });
            flow.is_some_and(|flow| flow.dst == to)
        })
    }
}
