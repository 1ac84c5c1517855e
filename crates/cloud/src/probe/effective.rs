//! What the platform's routes and rules come to at interfaces.

use super::interfaces::{Interface, Interfaces};
use super::resource::document;
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup, line};
use ghost_base::Timestamp;
use ghost_inspect::effective;

/// Whose interfaces are asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterfaceScope {
    /// A machine's.
    Machine(Name),
    /// This one alone.
    Interface(Name),
    /// These alone.
    Interfaces(Vec<Name>),
    /// Those in a virtual network.
    Network(Name),
}

/// What is asked about each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectiveQuery {
    Routes,
    /// Its security rules.
    Rules,
    /// The interface itself: its addresses.
    Itself,
}

impl EffectiveQuery {
    const fn word(self) -> &'static str {
        match self {
            Self::Routes => "the effective routes",
            Self::Rules => "the effective rules",
            Self::Itself => "the addresses",
        }
    }
}

/// What `az` printed about an interface; `None` where it was not asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceResult {
    pub interface: Interface,
    pub routes: Option<Result<String, Issue>>,
    pub rules: Option<Result<String, Issue>>,
    /// The interface itself.
    pub itself: Option<Result<String, Issue>>,
}

/// Asks about interfaces, one after the other. One that cannot be read does not hide the others.
#[derive(Debug)]
pub struct Effective {
    find: Option<Interfaces>,
    only: Option<Name>,
    first: bool,
    what: Vec<EffectiveQuery>,
    looked: Vec<InterfaceResult>,
    at: usize,
    reading: Option<(EffectiveQuery, ReadOperation)>,
    failed: Option<Issue>,
}

impl Effective {
    /// Asks about all interfaces in a scope.
    #[must_use]
    pub fn all(place: &ResourceGroup, scope: &InterfaceScope, what: &[EffectiveQuery]) -> Self {
        let mut operation = Self {
            find: None,
            only: None,
            first: false,
            what: what.to_vec(),
            looked: Vec::new(),
            at: 0,
            reading: None,
            failed: None,
        };
        match scope {
            InterfaceScope::Machine(name) => operation.find = Some(Interfaces::of_machine(place, name)),
            InterfaceScope::Network(name) => operation.find = Some(Interfaces::of_network(place, name)),
            InterfaceScope::Interface(name) => operation.begin(named(place, std::slice::from_ref(name))),
            InterfaceScope::Interfaces(names) => operation.begin(named(place, names)),
        }
        operation
    }

    /// Asks about one interface of a machine: the named one, else the primary one.
    #[must_use]
    pub fn of_machine(
        place: &ResourceGroup,
        machine: &Name,
        interface: Option<&Name>,
        what: &[EffectiveQuery],
    ) -> Self {
        let operation = Self::all(place, &InterfaceScope::Machine(machine.clone()), what);
        Self { only: interface.cloned(), first: true, ..operation }
    }

    fn begin(&mut self, found: Vec<Interface>) {
        let mut found = found;
        if let Some(only) = &self.only {
            let names: Vec<String> = found.iter().map(|one| one.name.to_string()).collect();
            found.retain(|one| one.name.as_str().eq_ignore_ascii_case(only.as_str()));
            if found.is_empty() {
                let hint = format!("it has {}", names.join(", "));
                self.failed = Some(Issue::hinted(format!("the machine has no interface {only}"), hint));
            }
        }
        if self.first {
            // One that does not say which is its primary one is asked for a name.
            if found.len() > 1 && !found.iter().any(|one| one.primary) {
                let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
                let hint = format!("name one with --nic: {}", names.join(", "));
                self.failed =
                    Some(Issue::hinted("none of the machine's interfaces is its primary one", hint));
            }
            found.truncate(1);
        }
        let looked = |interface| InterfaceResult { interface, routes: None, rules: None, itself: None };
        self.looked = found.into_iter().map(looked).collect();
        self.go_on();
    }

    /// Begins with the next thing to ask.
    fn go_on(&mut self) {
        let asked = self.reading.take().map(|(what, _)| what);
        let next = match asked {
            Some(asked) => self.what.iter().skip_while(|what| **what != asked).nth(1),
            None => self.what.first(),
        };
        let next = match next {
            Some(next) => Some(*next),
            None => {
                self.at += 1;
                self.what.first().copied()
            }
        };
        let (Some(what), Some(looked)) = (next, self.looked.get(self.at)) else { return };
        let doing = format!("looking at {} of {}", what.word(), looked.interface.name);
        self.reading = Some((what, ReadOperation::new(request(&looked.interface, what), doing)));
    }
}

fn named(place: &ResourceGroup, names: &[Name]) -> Vec<Interface> {
    let one = |name: &Name| Interface { place: place.clone(), name: name.clone(), primary: false };
    names.iter().map(one).collect()
}

/// Asks one thing about an interface.
fn request(interface: &Interface, what: EffectiveQuery) -> CommandRequest {
    let Interface { place, name, .. } = interface;
    let line = match what {
        EffectiveQuery::Routes => line::effective_routes(place, name),
        EffectiveQuery::Rules => line::effective_rules(place, name),
        EffectiveQuery::Itself => line::interface(place, name),
    };
    CommandRequest::line(line, format!("look at {} of {name}", what.word()))
}

impl Operation for Effective {
    type Result = Result<Vec<InterfaceResult>, Issue>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        if let Some(trouble) = &self.failed {
            return Next::Over(Err(trouble.clone()));
        }
        if let Some(find) = &self.find {
            return find.next(now).map(|found| found.map(|_| Vec::new()));
        }
        match &self.reading {
            Some((_, reading)) => reading.next(now).map(|_| Ok(Vec::new())),
            None => Next::Over(Ok(self.looked.clone())),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        if let Some(find) = &mut self.find {
            find.on_result(answer, now);
            if let Next::Over(found) = find.next(now) {
                self.find = None;
                match found {
                    Ok(found) => self.begin(found),
                    Err(trouble) => self.failed = Some(trouble),
                }
            }
            return;
        }
        let Some((what, reading)) = &mut self.reading else { return };
        reading.on_result(answer, now);
        let Next::Over(read) = reading.next(now) else { return };
        if let Some(looked) = self.looked.get_mut(self.at) {
            let slot = match what {
                EffectiveQuery::Routes => &mut looked.routes,
                EffectiveQuery::Rules => &mut looked.rules,
                EffectiveQuery::Itself => &mut looked.itself,
            };
            *slot = Some(read);
        }
        self.go_on();
    }

    fn ahead(&self) -> Vec<CommandRequest> {
        let Some((asked, _)) = &self.reading else { return Vec::new() };
        let of = |interface| self.what.iter().map(move |what| request(interface, *what));
        let mut left = self.looked.iter().skip(self.at).map(|looked| &looked.interface);
        let own = left.next().into_iter().flat_map(of);
        let own = own.zip(&self.what).skip_while(|(_, what)| *what != asked).skip(1).map(|(order, _)| order);
        own.chain(left.flat_map(of)).collect()
    }
}

impl InterfaceResult {
    /// Returns what was printed, or why it was not.
    ///
    /// # Errors
    /// Fails where it was not asked, or could not be read.
    pub fn text(&self, what: EffectiveQuery) -> Result<&str, Issue> {
        let found = match what {
            EffectiveQuery::Routes => &self.routes,
            EffectiveQuery::Rules => &self.rules,
            EffectiveQuery::Itself => &self.itself,
        };
        match found {
            Some(Ok(text)) => Ok(text),
            Some(Err(trouble)) => Err(trouble.clone()),
            None => Err(Issue::new(format!("{} of {} were not asked for", what.word(), self.interface.name))),
        }
    }

    /// Returns the interface's first private address.
    ///
    /// # Errors
    /// Fails where it has none.
    pub fn address(&self) -> Result<std::net::IpAddr, Issue> {
        let name = &self.interface.name;
        let doing = format!("looking at the addresses of {name}");
        let shown: Shown = document(self.text(EffectiveQuery::Itself)?, &doing)?;
        let mut all = shown.ip_configurations;
        all.sort_by_key(|one| one.primary != Some(true));
        let first = all.iter().find_map(|one| one.private_ip_address.as_deref()?.parse().ok());
        first.ok_or_else(|| Issue::new(format!("{doing}: it has no private address")))
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    #[serde(default, deserialize_with = "super::resource::list")]
    ip_configurations: Vec<Configuration>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Configuration {
    #[serde(default)]
    primary: Option<bool>,
    #[serde(default, rename = "privateIPAddress", alias = "privateIpAddress")]
    private_ip_address: Option<String>,
}

/// Makes a bundle of what was printed; what could not be read is there with its trouble.
#[must_use]
pub fn bundle(looked: &[InterfaceResult]) -> effective::Bundle {
    let mut bundle = effective::Bundle::default();
    for one in looked {
        let read = |what| one.text(what);
        let (routes, rules) = (read(EffectiveQuery::Routes), read(EffectiveQuery::Rules));
        let name = one.interface.name.as_str();
        let text = |found: &Result<&str, Issue>| found.as_deref().map_or(String::new(), str::to_owned);
        let mut answer = effective::Answer::printed(name, &text(&routes), &text(&rules));
        // What was not read is nothing, and never an empty table.
        if routes.is_err() {
            answer.routes = serde_json::Value::Null;
        }
        if rules.is_err() {
            answer.nsg = serde_json::Value::Null;
        }
        let troubles: Vec<String> =
            [routes, rules].into_iter().filter_map(Result::err).map(|trouble| trouble.text).collect();
        if !troubles.is_empty() {
            answer.error = Some(troubles.join("; "));
        }
        bundle.nics.push(answer);
    }
    bundle
}
