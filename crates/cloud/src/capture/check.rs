//! The reads before anything is changed.

use std::time::Duration;

use ghost_base::Timestamp;

use super::document::{Account, Exists, Extension, ListedCapture, Machine, Status, Watcher, read};
use super::name::Origin;
use super::target::{Check, Phase};
use super::task::{CaptureTask, StorageCheck};
use crate::operation::{CommandError, CommandOutcome, Issue, printed};
use crate::{FailureClass, Name};

/// How many other captures of a machine are looked at.
const MAX_RUNNING_CAPTURES: usize = 5;

/// Ends a check for good.
fn no(trouble: Issue) -> CommandError {
    CommandError { class: None, trouble }
}

impl CaptureTask {
    pub(super) fn on_machine(&mut self, at: usize, answer: &CommandOutcome) -> Result<(), CommandError> {
        let Some(end) = self.ends.get_mut(at) else { return Ok(()) };
        let doing = format!("looking at {}", end.machine);
        let machine: Machine = read(printed(answer, &doing)?, &doing)?;
        let place = machine.location.unwrap_or_default().replace(' ', "").to_ascii_lowercase();
        let region = Name::parse(&place)
            .map_err(|_| no(Issue::new(format!("{doing}: its region is not reported"))))?;
        match machine.power_state.as_deref() {
            Some("VM running") => {}
            Some(other) => {
                let hint = format!(
                    "start it: az vm start --name {} --resource-group {}",
                    end.machine, self.order.group.name
                );
                return Err(no(Issue::hinted(format!("{} does not run: {other}", end.machine), hint)));
            }
            None => end.note(format!("whether {} runs is not reported", end.machine)),
        }
        end.region = Some(region);
        self.passed(at, Check::Extensions);
        Ok(())
    }

    pub(super) fn on_extensions(&mut self, at: usize, answer: &CommandOutcome) -> Result<(), CommandError> {
        let Some(end) = self.ends.get_mut(at) else { return Ok(()) };
        let doing = format!("looking at the extensions of {}", end.machine);
        let all: Vec<Extension> = read(printed(answer, &doing)?, &doing)?;
        let is_ours = |extension: &&Extension| {
            let publisher = extension.publisher.as_deref().unwrap_or_default();
            let kind = extension.type_properties_type.as_deref().unwrap_or("NetworkWatcherAgent");
            publisher.eq_ignore_ascii_case("Microsoft.Azure.NetworkWatcher")
                && kind.starts_with("NetworkWatcherAgent")
        };
        let Some(agent) = all.iter().find(is_ours) else {
            let text = format!("{} lacks the extension that records packets", end.machine);
            let hint = format!(
                "install it: az vm extension set --publisher Microsoft.Azure.NetworkWatcher --name NetworkWatcherAgentLinux --vm-name {} --resource-group {}",
                end.machine, self.order.group.name
            );
            return Err(no(Issue::hinted(text, hint)));
        };
        if let Some(state) = agent.provisioning_state.as_deref().filter(|state| *state != "Succeeded") {
            end.note(format!(
                "the extension that records packets on {} is in the state {state}",
                end.machine
            ));
        }
        self.passed(at, Check::Captures);
        Ok(())
    }

    pub(super) fn on_watchers(&mut self, answer: &CommandOutcome, now: Timestamp) {
        if self.regions.is_some() {
            return;
        }
        let doing = "looking for network watchers";
        match printed(answer, doing).and_then(|text| read::<Vec<Watcher>>(text, doing)) {
            Ok(watchers) => {
                let regions = watchers.into_iter().filter_map(|watcher| watcher.location);
                self.regions = Some(regions.map(|region| region.to_ascii_lowercase()).collect());
                self.shared_again(None);
            }
            Err(setback) => self.shared_stumble(&setback, now),
        }
    }

    pub(super) fn on_captures(&mut self, at: usize, answer: &CommandOutcome) -> Result<(), CommandError> {
        let group = self.order.group.name.clone();
        let watched = self.regions.clone().unwrap_or_default();
        let Some(end) = self.ends.get_mut(at) else { return Ok(()) };
        let region = end.region.as_ref().map(ToString::to_string).unwrap_or_default();
        if !watched.contains(&region) {
            let text = format!("no network watcher watches {region}, where {} is", end.machine);
            return Err(no(Issue { text, hint: FailureClass::NoWatcher.hint().map(str::to_owned) }));
        }
        let doing = format!("listing the captures of {region}");
        let all: Vec<ListedCapture> = read(printed(answer, &doing)?, &doing)?;
        if all.iter().any(|listed| listed.name.eq_ignore_ascii_case(end.name.as_str())) {
            return Err(no(taken(&format!("a capture named {}", end.name))));
        }
        let rivals = all.into_iter().filter(|listed| listed.is_of(group.as_str(), end.machine.as_str()));
        let names: Vec<String> =
            rivals.map(|listed| listed.name).filter(|name| Name::parse(name).is_ok()).collect();
        if names.len() > MAX_RUNNING_CAPTURES {
            end.note(format!(
                "{} captures of {} are listed; {MAX_RUNNING_CAPTURES} were looked at",
                names.len(),
                end.machine
            ));
        }
        let names: Vec<String> = names.into_iter().take(MAX_RUNNING_CAPTURES).collect();
        self.passed(at, if names.is_empty() { Check::Taken } else { Check::Rivals(names) });
        Ok(())
    }

    pub(super) fn on_rival(&mut self, at: usize, name: &str, answer: &CommandOutcome, now: Timestamp) {
        let Some(end) = self.ends.get_mut(at) else { return };
        let Phase::Checking { check: Check::Rivals(names) } = &end.phase else { return };
        if names.first().is_none_or(|first| first != name) {
            return;
        }
        let left: Vec<String> = names.iter().skip(1).cloned().collect();
        let doing = format!("asking how {name} is");
        match printed(answer, &doing).and_then(|text| read::<Status>(text, &doing)) {
            Ok(status) => {
                let word = status.packet_capture_status.unwrap_or_default();
                if matches!(word.as_str(), "Running" | "NotStarted") {
                    let text = format!(
                        "{name} records on {} already, and a machine has one capture at a time",
                        end.machine
                    );
                    let ours = Origin::of(name).is_some();
                    let hint = if ours {
                        "wait for it; `ghost capture list` and `ghost capture orphans` tell whose it is"
                    } else {
                        "wait until it is over, or ask who began it"
                    };
                    end.fail(Issue::hinted(text, hint));
                    return;
                }
            }
            Err(setback) if setback.is(FailureClass::NotFound) => {}
            Err(setback) => {
                if let Some(seconds) = end.patience.again(&setback) {
                    end.wait(now.plus(Duration::from_secs(seconds)));
                    return;
                }
                end.note(setback.trouble.text);
            }
        }
        self.passed(at, if left.is_empty() { Check::Taken } else { Check::Rivals(left) });
    }

    pub(super) fn on_account(&mut self, answer: &CommandOutcome, now: Timestamp) {
        if self.shelf != StorageCheck::Account {
            return;
        }
        let account = &self.order.storage.account;
        let doing = format!("looking at the storage account {account}");
        let seen = printed(answer, &doing).and_then(|text| read::<Account>(text, &doing));
        match seen.and_then(|seen| usable(&seen, account.as_str())) {
            Ok(()) => self.shared_again(Some(StorageCheck::Container)),
            Err(mut setback) => {
                if setback.is(FailureClass::NotFound) && self.order.storage.group.is_none() {
                    let hint = "where it lies in another group than the machines, name that: [capture] storage_group";
                    setback.trouble.hint = Some(hint.to_owned());
                }
                self.shared_stumble(&setback, now);
            }
        }
    }

    pub(super) fn on_container(&mut self, answer: &CommandOutcome, now: Timestamp) {
        if self.shelf != StorageCheck::Container {
            return;
        }
        let storage = &self.order.storage;
        let doing = format!("looking for the container {}/{}", storage.account, storage.container);
        match printed(answer, &doing).and_then(|text| read::<Exists>(text, &doing)) {
            Ok(Exists { exists: true }) => self.shared_again(Some(StorageCheck::Good)),
            Ok(Exists { exists: false }) => {
                let text = format!("there is no container {} in {}", storage.container, storage.account);
                let hint = format!(
                    "make it: az storage container create --name {} --account-name {} --auth-mode login",
                    storage.container, storage.account
                );
                self.fail_checks(&Issue::hinted(text, hint));
            }
            Err(setback) => self.shared_stumble(&setback, now),
        }
    }

    pub(super) fn on_taken(&mut self, at: usize, answer: &CommandOutcome) -> Result<(), CommandError> {
        let Some(end) = self.ends.get_mut(at) else { return Ok(()) };
        let doing = format!("looking whether the name {} is free", end.file());
        let Exists { exists } = read(printed(answer, &doing)?, &doing)?;
        if exists {
            return Err(no(taken(&format!("a file named {}", end.file()))));
        }
        self.passed(at, Check::Passed);
        Ok(())
    }

    fn shared_again(&mut self, shelf: Option<StorageCheck>) {
        if let Some(shelf) = shelf {
            self.shelf = shelf;
        }
        self.patience = crate::operation::RetryPolicy::default();
        self.not_before = None;
    }

    /// What all ends need failed: it is waited where that may help.
    fn shared_stumble(&mut self, setback: &CommandError, now: Timestamp) {
        match self.patience.again(setback) {
            Some(seconds) => self.not_before = Some(now.plus(Duration::from_secs(seconds))),
            None => self.fail_checks(&setback.trouble),
        }
    }
}

/// Tells whether the platform can write captures to an account.
fn usable(account: &Account, name: &str) -> Result<(), CommandError> {
    if account.allow_shared_key_access == Some(false) {
        let hint =
            "the platform writes captures with a signature made of a key: name an account that allows keys";
        return Err(no(Issue::hinted(format!("the storage account {name} allows no keys"), hint)));
    }
    let Some(rules) = &account.network_rule_set else { return Ok(()) };
    let denies = rules.default_action.as_deref() == Some("Deny");
    let trusts = rules.bypass.as_deref().is_some_and(|bypass| bypass.contains("AzureServices"));
    if denies && !trusts {
        let text = format!("the network rules of the storage account {name} keep the platform out");
        return Err(no(Issue::hinted(
            text,
            "let trusted services of the platform in, or name another account",
        )));
    }
    Ok(())
}

fn taken(what: &str) -> Issue {
    Issue::hinted(format!("{what} is there already, and it is not this task's"), "take another session id")
}
