//! The cloud as a whole.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use serde_json::{Value, json};

use super::access::{self, Grant};
use super::blob::{OPERATOR, Role, Store};
use super::estate::{Description, Estate, EstateError};
use super::fault::Faults;
use super::job::Job;
use super::operation::Operations;
use super::refusal::Refusal;
use super::request::{Answer, Request};
use super::target::Target;
use super::watch::capture::Capture;
use super::{activity, arm, identity};
use ghost_base::Timestamp;

/// The cloud: what is there, what it is doing, and what it was asked to spoil.
#[derive(Debug, Clone)]
pub struct Cloud {
    pub(super) estate: Estate,
    pub(super) about: Description,
    pub(super) operations: Operations,
    /// Machines on which a script runs, in lower case, and its operation.
    pub(super) busy: BTreeMap<String, String>,
    /// What was changed, the latest last.
    pub(super) activity: VecDeque<Value>,
    /// Captures that were begun, by identifier in lower case.
    pub(super) captures: BTreeMap<String, Capture>,
    /// Captures that were removed before their files were stored.
    pub(super) removed_captures: BTreeMap<String, Capture>,
    /// How many captures fit, where it is not the usual number.
    pub(super) most_captures: Option<usize>,
    /// How many entries a page of a list has.
    pub(super) page: Option<usize>,
    pub(super) faults: Faults,
    /// Connections that somebody tries, by operation, and what the configuration says of them.
    pub(super) dials: BTreeMap<String, Value>,
    /// Whether there are machines that answer for themselves.
    pub(super) guests: bool,
    /// How often keys of storage accounts were made anew.
    pub(super) rotations: BTreeMap<(String, &'static str), u32>,
    /// What lies in the accounts.
    pub(super) store: Store,
    /// Where whoever works with the lab is on its Internet.
    pub(super) operator: IpAddr,
    /// What whoever is signed in may do with blobs.
    pub(super) blob_role: Role,
    /// Whether a request without a token is refused.
    pub(super) demands_tokens: bool,
    /// What a token has to have been asked for with.
    pub(super) demanded_claims: Option<String>,
    /// What somebody may do, by object id in lower case; everything for whoever is not here.
    pub(super) grants: BTreeMap<String, Vec<Grant>>,
    /// The account that is there whatever estate is described, with its container.
    pub(super) standing: Option<(String, String)>,
}

impl Cloud {
    /// Makes a cloud in which a described estate is.
    ///
    /// # Errors
    /// Names the first part of the description that is wrong.
    pub fn new(mut about: Description) -> Result<Self, EstateError> {
        let estate = about.estate()?;
        about.instance_views = about.views(&estate);
        Ok(Self {
            store: Store::of(&about, &estate),
            estate,
            about,
            operations: Operations::default(),
            busy: BTreeMap::new(),
            activity: VecDeque::new(),
            captures: BTreeMap::new(),
            removed_captures: BTreeMap::new(),
            most_captures: None,
            page: None,
            faults: Faults::default(),
            dials: BTreeMap::new(),
            guests: false,
            rotations: BTreeMap::new(),
            operator: OPERATOR,
            blob_role: Role::default(),
            demands_tokens: false,
            demanded_claims: None,
            grants: BTreeMap::new(),
            standing: None,
        })
    }

    /// Makes a cloud with an account beside those of the description, like the first of them, and an empty container in it. The account
    /// is there as well in every estate that takes the place of this one.
    ///
    /// # Errors
    /// Names the first part of the description that is wrong.
    pub fn with_account(
        mut about: Description,
        (account, container): (&str, &str),
        now: Timestamp,
    ) -> Result<Self, EstateError> {
        about.resources.extend(like_the_first_account(&about.resources, account));
        let mut cloud = Self::new(about)?;
        cloud.container(account, container, now);
        cloud.standing = Some((account.to_owned(), container.to_owned()));
        Ok(cloud)
    }

    /// Makes a cloud with another estate: how it behaves, what is asked of whoever calls it and its standing account stay as they are.
    ///
    /// # Errors
    /// Names the first part of the description that is wrong.
    pub fn with_estate(&self, about: Description, now: Timestamp) -> Result<Self, EstateError> {
        let standing =
            self.standing.as_ref().map(|(account, container)| (account.as_str(), container.as_str()));
        let mut cloud = match standing {
            Some(standing) => Self::with_account(about, standing, now)?,
            None => Self::new(about)?,
        };
        cloud.operations.polls = self.operations.polls;
        cloud.operations.lasts = self.operations.lasts;
        cloud.demanded_claims = self.demanded_claims.clone();
        cloud.most_captures = self.most_captures;
        cloud.page = self.page;
        cloud.guests = self.guests;
        cloud.operator = self.operator;
        cloud.blob_role = self.blob_role;
        cloud.demands_tokens = self.demands_tokens;
        cloud.grants = self.grants.clone();
        Ok(cloud)
    }

    /// Makes the cloud of the use cases.
    ///
    /// # Errors
    /// Never fails in a program that passed its tests.
    pub fn usual() -> Result<Self, EstateError> {
        Self::new(Description::usual()?)
    }

    /// Answers a request to the resource manager.
    pub fn answer(&mut self, request: &Request, now: Timestamp) -> (Answer, Option<Job>) {
        self.operations.now = now;
        if let Some(spoiled) = self.faults.hit(request) {
            return (spoiled, None);
        }
        if let Some(signed) = identity::answer(self, request, now) {
            return (signed.unwrap_or_else(|refusal| refusal.answer()), None);
        }
        let who = match identity::signed_in(self, request, now) {
            Ok(who) => who,
            Err(refusal) => return (refusal.answer(), None),
        };
        if let Some(refusal) = access::refuse(self, request, who.as_ref()) {
            return (refusal.answer(), None);
        }
        if let Some(denied) = access::answer(self, request, who.as_ref()) {
            return (denied.unwrap_or_else(|refusal| refusal.answer()), None);
        }
        let done = arm::answer(self, request, now).unwrap_or_else(|refusal| (refusal.answer(), None));
        activity::note(self, request, &done.0, who.as_ref(), now);
        done
    }

    /// A request to the resource manager needs a token from now on, or no longer. A token that is sent has to be good in any case.
    pub fn demand_tokens(&mut self, demanded: bool) {
        self.demands_tokens = demanded;
    }

    /// Returns everything that is there, in the resource manager's form.
    #[must_use]
    pub fn documents(&self) -> Vec<Value> {
        self.estate.all().cloned().collect()
    }

    /// Returns what can be made to go wrong.
    pub fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// Whoever is signed in has no role in these subscriptions from now on.
    pub fn close(&mut self, subscriptions: &[String]) {
        self.about.closed = subscriptions.to_vec();
    }

    /// Lists come in pages of so many entries from now on.
    pub fn page(&mut self, entries: Option<usize>) {
        self.page = entries;
    }

    /// How many captures fit from now on.
    pub fn captures(&mut self, most: Option<usize>) {
        self.most_captures = most;
    }

    /// A machine is in this state from now on: `running`, `stopped`, `deallocated`.
    pub fn power(&mut self, machine: &str, state: &str) {
        let view = self.about.instance_views.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(machine));
        let statuses = view.and_then(|(_, view)| view.get_mut("statuses")).and_then(Value::as_array_mut);
        for status in statuses.into_iter().flatten() {
            let power = status
                .get("code")
                .and_then(Value::as_str)
                .is_some_and(|code| code.starts_with("PowerState/"));
            if let (true, Some(map)) = (power, status.as_object_mut()) {
                map.insert("code".to_owned(), json!(format!("PowerState/{state}")));
                map.insert("displayStatus".to_owned(), json!(format!("VM {state}")));
            }
        }
    }

    /// A script runs on a machine, and nobody ends it.
    pub fn busy(&mut self, machine: &str) {
        self.busy.insert(machine.to_ascii_lowercase(), String::new());
    }

    /// Takes something out, whoever needs it.
    pub fn take_out(&mut self, id: &str) -> bool {
        Target::parse(id).is_some_and(|target| self.estate.remove(&target).is_some())
    }

    /// How many polls find each operation at work from now on.
    pub fn polls(&mut self, polls: u32) {
        self.operations.polls = polls;
    }

    /// How long each operation takes from now on.
    pub fn operations_last(&mut self, time: Duration) {
        self.operations.lasts = time;
    }

    /// A token is taken from now on only if it was asked for with these claims; with none, any is.
    pub fn demand_claims(&mut self, claims: Option<String>) {
        self.demanded_claims = claims;
    }

    /// Returns the identifier of the subscription.
    pub(super) fn subscription(&self) -> &str {
        self.about.subscription.get("subscriptionId").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a subscription by its identifier.
    pub(super) fn described(&self, id: &str) -> Option<&Value> {
        let own = |one: &&Value| {
            one.get("subscriptionId").and_then(Value::as_str).is_some_and(|own| own.eq_ignore_ascii_case(id))
        };
        self.about.subscriptions().find(own)
    }

    /// Returns the identifier of the subscription that a request names, the first one where it names none.
    pub(super) fn subscription_of(&self, request: &Request) -> String {
        let named = Target::parse(&request.path).and_then(|target| target.subscription);
        named.unwrap_or_else(|| self.subscription().to_owned())
    }

    /// Lists something, in pages where pages are wanted.
    pub(super) fn list(&self, request: &Request, entries: Vec<Value>) -> Result<Answer, Refusal> {
        let Some(page) = self.page.filter(|page| entries.len() > *page) else {
            return Ok(Answer::json(200, json!({"value": entries})));
        };
        let skip = request.parameter("$skiptoken").map_or(Ok(0), str::parse::<usize>);
        let skip = skip.map_err(|_| Refusal::new(400, "InvalidSkipToken", "The skip token is invalid."))?;
        let left = entries.len().saturating_sub(skip + page);
        let value: Vec<Value> = entries.into_iter().skip(skip).take(page).collect();
        if left == 0 {
            return Ok(Answer::json(200, json!({"value": value})));
        }
        let query = request.query.iter().filter(|(name, _)| name != "$skiptoken");
        let query: String =
            query.map(|(name, value)| format!("{}={}&", encoded(name), encoded(value))).collect();
        let next = format!("{}{}?{query}%24skiptoken={}", request.base, request.path, skip + page);
        Ok(Answer::json(200, json!({"value": value, "nextLink": next})))
    }
}

/// Makes an account like the first one, beside it: another group would have to be asked for by its subscription.
fn like_the_first_account(resources: &[Value], name: &str) -> Option<Value> {
    // A description may leave types out.
    let kind = "/providers/Microsoft.Storage/storageAccounts";
    let accounts = resources.iter().filter_map(|one| {
        let (folder, own) = one.get("id").and_then(Value::as_str)?.rsplit_once('/')?;
        folder.ends_with(kind).then_some((one, folder, own))
    });
    let accounts: Vec<(&Value, &str, &str)> = accounts.collect();
    let (first, folder, _) = *accounts.first()?;
    if accounts.iter().any(|(_, _, own)| own.eq_ignore_ascii_case(name)) {
        return None;
    }
    let mut account = first.clone();
    let map = account.as_object_mut()?;
    map.insert("name".to_owned(), json!(name));
    map.insert("id".to_owned(), json!(format!("{folder}/{name}")));
    let endpoints = account.pointer_mut("/properties/primaryEndpoints").and_then(Value::as_object_mut);
    for (service, address) in endpoints.into_iter().flatten() {
        *address = json!(format!("https://{name}.{service}.core.windows.net/"));
    }
    Some(account)
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

impl Cloud {
    /// Returns the description from which it was made.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.about
    }

    /// Makes an empty container in an account, for whoever prepares a cloud; says whether it is there now.
    pub fn container(&mut self, account: &str, name: &str, now: Timestamp) -> bool {
        self.store.begin(account, name, now)
    }

    /// Returns the names of the virtual machines.
    #[must_use]
    pub fn machines(&self) -> Vec<String> {
        let found = self.estate.of("Microsoft.Compute/virtualMachines");
        found.filter_map(|machine| machine.get("name").and_then(Value::as_str)).map(str::to_owned).collect()
    }

    /// No script that was only said to run runs on a machine any more.
    pub fn free(&mut self, machine: &str) {
        self.busy.retain(|name, operation| !(operation.is_empty() && name.eq_ignore_ascii_case(machine)));
    }
}
