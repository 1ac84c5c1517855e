//! Which part of the cloud may be looked at: a fence around what a command names.
//!
//! What a command does not name is not inside: a listing without a group shows other people's groups.

use serde::{Deserialize, Serialize};

use super::allow::without_sudo;
use super::cloud::is_az;
use super::list::words;
use super::path::base;
use crate::policy::Policy;
use crate::text::{self, Need, Script};
use crate::{Profile, Ruling, Tier, Verdict};

/// A part of the cloud. An empty list is no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Subscriptions, by id or by name.
    pub subscriptions: Vec<String>,
    /// The resource groups that commands may name.
    pub resource_groups: Vec<String>,
}

/// What stands in front of `NAME resource group`.
/// How an id begins.
const IDS: &str = "/subscriptions/";
const LEADS: [&str; 6] = ["the", "in", "our", "of", "from", "my"];

/// Returns a word without the marks around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|char: char| !char.is_ascii_alphanumeric())
}

/// Tells a name from a word of a language: it holds a digit, or parts that are joined.
fn is_name(word: &str) -> bool {
    let joined = word.contains(['-', '_', '.']) && !matches!(word, "resource-group" | "--resource-group");
    joined || word.contains(|char: char| char.is_ascii_digit())
}

/// Commands that name no group and show nothing of one.
const NEUTRAL: [&[&str]; 9] = [
    &["version"],
    &["account", "show"],
    &["account", "list-locations"],
    &["cloud", "show"],
    &["network", "list-service-tags"],
    &["network", "list-usages"],
    // Where there is a watcher; captures are made through it.
    &["network", "watcher", "list"],
    &["provider", "show"],
    &["vm", "list-sizes"],
];

/// Commands on captures: but for `create` they take a place and a name, and the name is ours.
const BY_LOCATION: &[&str] = &["network", "watcher", "packet-capture"];

/// What lists the flow logs of a region: it takes a place, and shows what is logged where, and no flow.
const FLOW_LOGS: &[&str] = &["network", "watcher", "flow-log", "list"];

/// Commands on blobs of flow logs: they take the account's name. An account that no listing inside the scope showed is asked about.
const BLOBS: [&[&str]; 2] = [&["storage", "blob", "list"], &["storage", "blob", "download"]];
/// The container of flow logs.
const FLOW_LOG_BLOBS: &str = "insights-logs-flowlogflowevent";

/// Commands on one file in a storage account: they take the account's name, and no group. A listing is one only of a whole name, so that
/// nobody sees through it what other channels captured.
const BY_ACCOUNT: [&[&str]; 6] = [
    &["storage", "blob", "list"],
    &["storage", "container", "exists"],
    &["storage", "blob", "exists"],
    &["storage", "blob", "show"],
    &["storage", "blob", "download"],
    &["storage", "blob", "delete"],
];

impl Policy {
    /// Judges one command line as [`Policy::classify`] does; what reaches beyond a scope is BLOCKED.
    #[must_use]
    pub fn classify_within(&self, command: &str, scope: Option<&Scope>) -> Ruling {
        let ruling = self.classify(command);
        let is_captures_account =
            self.captures_account.as_deref().is_some_and(|account| self.is_on(command, &ruling, account));
        let outside = scope.filter(|_| !is_captures_account).and_then(|scope| scope.outside(command));
        let outside = outside.or_else(|| self.beyond(command, &ruling));
        outside.map_or(ruling.clone(), |what| blocked(ruling, what))
    }

    /// Says which subscription a command that only reads names, where whoever reads does not keep to it. What names none goes to the
    /// one that is signed in to.
    pub(crate) fn beyond(&self, command: &str, ruling: &Ruling) -> Option<String> {
        let reads = ruling.verdict == Verdict::Safe || ruling.only_reads();
        if self.kept_to.is_empty() || !reads {
            return None;
        }
        let own = Scope { subscriptions: self.kept_to.clone(), resource_groups: Vec::new() };
        let script = text::read_without_shell(command);
        let lists = || script.commands.iter().map(words);
        let named = lists().flat_map(|words| values(&words, "", "--subscription")).collect::<Vec<_>>();
        let mut named = named.into_iter();
        let is_outside = named.any(|name| own.outside_list(&own.subscriptions, name, "").is_some())
            || own.outside_ids(&command.replace("/subscriptions/{subscriptionId}", "")).is_some();
        is_outside.then(|| {
            let all = self.kept_to.join(", ");
            format!(
                "it names another subscription than {all}, to which whoever reads is kept; see [azure.reader]"
            )
        })
    }

    /// Judges a line that claims to be a declared script and is none: it never runs, as whatever else.
    #[must_use]
    pub fn classify_as_refused(&self, command: &str, why: &str) -> Ruling {
        refused(self.classify(command), why)
    }
}

impl Policy {
    /// Tells whether a text is about what lies in that account, and about nothing else: a command, or a list that only reads.
    fn is_on(&self, command: &str, ruling: &Ruling, account: &str) -> bool {
        let (script, _) = self.read(command);
        let az = |words: &[&str]| words.first().is_some_and(|program| is_az(program));
        let mut commands = script
            .commands
            .iter()
            .map(words)
            .filter(|words| az(words) || words.iter().any(|word| says_az(word)));
        let readable = script.is_plain() || ruling.list.is_some();
        readable
            && script.commands.iter().any(|command| az(&words(command)))
            && commands.all(|words| az(&words) && is_about(words.get(1..).unwrap_or_default(), account))
    }
}

/// Tells whether the words behind `az` are about what lies in that account.
fn is_about(rest: &[&str], account: &str) -> bool {
    let named = values(rest, "", "--account-name");
    BY_ACCOUNT.iter().any(|path| rest.starts_with(path))
        && !rest.iter().any(|word| word.to_ascii_lowercase().contains("/subscriptions/"))
        && values(rest, "-g", "--resource-group").is_empty()
        && (!rest.starts_with(&["storage", "blob", "list"]) || lists_one(rest))
        && !named.is_empty()
        && named.iter().all(|name| name.eq_ignore_ascii_case(account))
}

/// Tells whether a listing is one of a single file.
fn lists_one(rest: &[&str]) -> bool {
    matches!(values(rest, "", "--prefix").as_slice(), [name] if name.len() > ".cap".len() && name.ends_with(".cap"))
}

/// Makes a ruling of a line that must not run because it is not what it is said to be.
pub(crate) fn refused(ruling: Ruling, why: &str) -> Ruling {
    let (rule, reason) = ("script.other".into(), why.to_owned().into());
    Ruling { verdict: Verdict::Blocked, tier: Tier::Blocked, rule, reason, ..without_use(ruling) }
}

pub(crate) fn blocked(ruling: Ruling, what: String) -> Ruling {
    if ruling.verdict == Verdict::Blocked {
        return ruling;
    }
    Ruling {
        verdict: Verdict::Blocked,
        tier: Tier::Blocked,
        rule: "scope.outside".into(),
        reason: what.into(),
        ..without_use(ruling)
    }
}

/// Drops what only a ruling can use by which something may run.
fn without_use(ruling: Ruling) -> Ruling {
    Ruling { impact: None, list: None, destinations: Vec::new(), profile: Profile::default(), ..ruling }
}

impl Scope {
    /// Tells whether it limits nothing.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.subscriptions.is_empty() && self.resource_groups.is_empty()
    }

    /// Says what of a command lies outside, if anything does.
    #[must_use]
    pub fn outside(&self, command: &str) -> Option<String> {
        if self.is_open() {
            return None;
        }
        if let Some(what) = self.outside_ids(command) {
            return Some(what);
        }
        let script = text::read_without_shell(command);
        // What a pattern becomes is known only where it is expanded.
        let is_understood = script.list().is_some() && !script.needs.has(Need::Glob);
        if !script.is_plain() && !is_understood {
            return names_az(&script)
                .then(|| "an `az` command inside a shell text cannot be held against the scope".to_owned());
        }
        script.commands.iter().find_map(|command| self.outside_words_of(&words(command)))
    }

    /// Says what of one plain command lies outside.
    fn outside_words_of(&self, words: &[&str]) -> Option<String> {
        match without_sudo(words).split_first() {
            Some((program, rest)) if is_az(program) => self.outside_az(rest),
            _ if words.iter().any(|word| says_az(word)) => {
                Some("an `az` command inside another one cannot be held against the scope".to_owned())
            }
            _ => None,
        }
    }

    /// Says what of a question lies outside, if it names anything that does.
    #[must_use]
    pub fn outside_words(&self, words: &str) -> Option<String> {
        if self.is_open() {
            return None;
        }
        let lower = words.to_ascii_lowercase();
        let words: Vec<&str> = lower
            .split(|char: char| char.is_whitespace() || matches!(char, ':' | '=' | ',' | ';'))
            .filter(|word| !word.is_empty())
            .collect();
        self.outside_ids(&lower).or_else(|| (0..words.len()).find_map(|at| self.outside_at(&words, at)))
    }

    /// Says what lies outside of what the words name from here on: `resource group NAME`, `NAME resource group`, `-g NAME`.
    fn outside_at(&self, words: &[&str], at: usize) -> Option<String> {
        let word = |at: usize| words.get(at).map_or("", |word| bare(word));
        let (list, what, behind) = match (words.get(at).copied().unwrap_or_default(), word(at), word(at + 1))
        {
            (_, "resource", "group") => (&self.resource_groups, "resource group", at + 2),
            ("-g" | "--resource-group", _, _) | (_, "resource-group" | "resourcegroup" | "rg", _) => {
                (&self.resource_groups, "resource group", at + 1)
            }
            (_, "subscription", _) => (&self.subscriptions, "subscription", at + 1),
            _ => return None,
        };
        // `the NAME resource group`; without the word in front of it the name may be anything's.
        let leads = at.checked_sub(2).is_some_and(|at| LEADS.contains(&word(at)));
        let before = at.checked_sub(1).filter(|_| leads && what == "resource group").map_or("", word);
        let named = [word(behind), before].into_iter().find(|name| is_name(name))?;
        self.outside_list(list, named, what)
    }

    /// Holds `/subscriptions/ID/resourceGroups/NAME` against the lists, wherever it stands.
    fn outside_ids(&self, text: &str) -> Option<String> {
        let lower = text.to_ascii_lowercase().replace("%2f", "/");
        lower.split("/subscriptions/").skip(1).find_map(|rest| {
            let mut parts = rest.split(['/', '?', ' ', '"', '\'', ',', '&', ')']);
            let subscription = parts.next().unwrap_or_default();
            let group = (parts.next() == Some("resourcegroups")).then(|| parts.next().unwrap_or_default());
            let outside = self.outside_list(&self.subscriptions, subscription, "subscription");
            outside.or_else(|| {
                group.and_then(|name| self.outside_list(&self.resource_groups, name, "resource group"))
            })
        })
    }

    fn outside_list(&self, list: &[String], name: &str, what: &str) -> Option<String> {
        let inside = list.is_empty() || list.iter().any(|known| known.eq_ignore_ascii_case(name));
        (!inside).then(|| format!("the {what} {name:?} is outside what this channel may look at"))
    }

    fn outside_az(&self, rest: &[&str]) -> Option<String> {
        let path: Vec<&str> = rest.iter().take_while(|word| !word.starts_with('-')).copied().collect();
        if rest.iter().any(|word| matches!(*word, "--help" | "-h")) || path.is_empty() {
            return None;
        }
        let (groups, subscriptions) =
            (values(rest, "-g", "--resource-group"), values(rest, "", "--subscription"));
        let named =
            groups.iter().find_map(|name| self.outside_list(&self.resource_groups, name, "resource group"));
        let named = named.or_else(|| {
            subscriptions.iter().find_map(|name| self.outside_list(&self.subscriptions, name, "subscription"))
        });
        let by_id = rest.iter().any(|word| word.to_ascii_lowercase().contains("/subscriptions/"));
        if named.is_some() || by_id || NEUTRAL.contains(&path.as_slice()) {
            return named;
        }
        if is_of_flow_logs(&path, rest) {
            return None;
        }
        let is_placed = path.starts_with(BY_LOCATION) || path == FLOW_LOGS;
        let placed = is_placed && !values(rest, "-l", "--location").is_empty();
        if !self.resource_groups.is_empty() && groups.is_empty() && !placed {
            return Some("it names no resource group; this channel may look at some only: name one with --resource-group".to_owned());
        }
        if !self.subscriptions.is_empty() && subscriptions.is_empty() {
            return Some(
                "it names no subscription; this channel may look at some only: name one with --subscription"
                    .to_owned(),
            );
        }
        None
    }
}

/// Tells whether a command is about blobs of flow logs in one account and about nothing else.
fn is_of_flow_logs(path: &[&str], rest: &[&str]) -> bool {
    let one = |short, long| match values(rest, short, long).as_slice() {
        [value] => Some(*value),
        _ => None,
    };
    BLOBS.contains(&path)
        && one("-c", "--container-name") == Some(FLOW_LOG_BLOBS)
        && one("", "--account-name").is_some()
        && values(rest, "-f", "--file").is_empty()
}

/// Tells whether any word, or a word inside a word, is `az`. The inside of backticks counts.
fn names_az(script: &Script) -> bool {
    let words = script.commands.iter().flat_map(|command| &command.words);
    words.map(|word| &word.text).chain(&script.inner).any(|word| says_az(word))
}

fn says_az(word: &str) -> bool {
    let mut parts = word.split(|char: char| char.is_whitespace() || ";|&()`$\"'".contains(char));
    parts.any(|part| base(part).eq_ignore_ascii_case("az"))
}

/// Returns the values of an option, written in any form that `az` takes.
///
/// `--resource ID` is an option of its own, whose id is held against the lists as every id is, and not a group cut short.
fn values<'w>(words: &[&'w str], short: &str, long: &str) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (name, attached) =
            word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        let is_long = name.len() > 4 && name.starts_with("--") && long.starts_with(name);
        if is_long || (!short.is_empty() && name == short) {
            let value = attached.or_else(|| rest.next().copied()).unwrap_or_default();
            let begins = value.get(..IDS.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(IDS));
            if name != "--resource" || !begins {
                found.push(value);
            }
        } else if !short.is_empty() && !word.starts_with("--") {
            found.extend(word.strip_prefix(short).filter(|value| !value.is_empty()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "/subscriptions/s-1/resourceGroups/rg-web/providers/Microsoft.Network/x";

    fn scope(subscriptions: &[&str], groups: &[&str]) -> Scope {
        let owned = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        Scope { subscriptions: owned(subscriptions), resource_groups: owned(groups) }
    }

    #[track_caller]
    fn inside(scope: &Scope, command: &str) {
        assert_eq!(scope.outside(command), None, "{command}");
    }

    #[track_caller]
    fn outside(scope: &Scope, command: &str, part: &str) {
        let what = scope.outside(command).unwrap_or_else(|| panic!("{command} is inside"));
        assert!(what.contains(part), "{command}: {what}");
    }

    #[test]
    fn what_only_reads_keeps_to_the_subscriptions_of_the_reader() {
        let (own, other) = ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002");
        let kept = Policy::builtin().unwrap().clone().keeping_to(vec![own.to_owned()]);
        let verdict = |command: &str| kept.classify_within(command, None).verdict;
        let group = format!("/subscriptions/{other}/resourceGroups/rg");
        for command in [
            format!("az vm list -g rg --subscription {other}"),
            format!("az vm list -g rg --subscription={other}"),
            format!("az vm list -g a; az vm list -g b --subscription {other}"),
            format!("az vm show --ids {group}/providers/Microsoft.Compute/virtualMachines/v"),
            "az vm list -g rg --subscription hub".to_owned(),
        ] {
            assert_eq!(verdict(&command), Verdict::Blocked, "{command}");
        }
        let health = "/subscriptions/{subscriptionId}/providers/Microsoft.ResourceHealth/events?api-version=2022-10-01";
        for command in [
            "az vm list -g rg".to_owned(),
            format!("az vm list -g rg --subscription {own}"),
            format!("az rest --method get --url '{health}' --subscription {own}"),
            "ip -br addr".to_owned(),
        ] {
            assert_eq!(verdict(&command), Verdict::Safe, "{command}");
        }
        // What changes something is decided by a person, who sees where.
        assert_eq!(verdict(&format!("az vm start -g rg -n v --subscription {other}")), Verdict::Risky);
        let any = Policy::builtin().unwrap();
        assert_eq!(
            any.classify_within(&format!("az vm list --subscription {other}"), None).verdict,
            Verdict::Safe
        );
    }

    #[test]
    fn what_lies_in_the_account_of_captures_is_inside_file_by_file() {
        let policy = Policy::builtin().unwrap().clone().captures_into(Some("store1".to_owned()));
        let web = scope(&[], &["rg-web"]);
        let is_blocked = |command: &str| {
            let ruling = policy.classify_within(command, Some(&web));
            ruling.rule == "scope.outside"
        };
        let of = "--account-name store1 --container-name captures --auth-mode login";
        for command in [
            format!("az storage blob show {of} --name a.cap"),
            format!("az storage blob list {of} --prefix ghost-1.cap"),
            format!("az storage blob delete {of} --name a.cap"),
            "az storage container exists --name captures --account-name store1".to_owned(),
        ] {
            assert!(!is_blocked(&command), "{command}");
        }
        for command in [
            format!("az storage blob list {of}"),
            format!("az storage blob list {of} --prefix g"),
            format!("az storage blob upload {of} --file /etc/hosts --name a.cap"),
            "az storage blob show --account-name other --container-name captures --name a.cap".to_owned(),
            format!("az storage blob show {of} --name a.cap --account-name other"),
            format!("az storage blob show {of} --name a.cap | tee x"),
            "az storage account keys list --account-name store1".to_owned(),
        ] {
            let ruling = policy.classify_within(&command, Some(&web));
            assert_eq!(ruling.verdict, Verdict::Blocked, "{command}");
        }
    }

    #[test]
    fn a_scope_that_lists_nothing_limits_nothing() {
        inside(&Scope::default(), "az vm list");
        inside(&Scope::default(), "az vm list -g anything --subscription other");
    }

    #[test]
    fn a_group_in_the_list_is_inside_however_it_is_written() {
        let web = scope(&[], &["rg-web"]);
        for command in [
            "az vm list -g rg-web",
            "az vm list -grg-web",
            "az vm list -g=rg-web",
            "az vm list --resource-group RG-WEB",
            "az vm list --resource-group=rg-web",
            "az vm list --resource-g rg-web",
            &format!("az network nic show --ids {ID}"),
            &format!("az monitor metrics list --resource {ID} --metrics x"),
            "az version",
            "az vm list --help",
            "az network watcher packet-capture stop -l westeurope -n ghost-1",
            "az network watcher flow-log list -l westeurope",
            "az storage blob list --account-name a1 --container-name insights-logs-flowlogflowevent --prefix flowLogResourceID=/x/ --auth-mode login",
            "az storage blob download --account-name a1 -c insights-logs-flowlogflowevent -n x --auth-mode login",
            "ping -c 1 10.0.0.4",
        ] {
            inside(&web, command);
        }
    }

    #[test]
    fn another_group_is_outside_however_it_is_written() {
        let web = scope(&[], &["rg-web"]);
        for command in [
            "az vm list -g rg-db",
            "az vm list -grg-db",
            "az vm list --resource-group=rg-db",
            "az vm list --res rg-db",
            "az vm list -g rg-web -g rg-db",
            "az network nic show --ids /subscriptions/s-1/resourceGroups/rg-db/providers/x",
            "az monitor metrics list --resource /subscriptions/s-1/resourceGroups/rg-db/providers/x",
            "az monitor metrics list --resource rg-db",
            "az network nic show -g rg-web --vnet /SUBSCRIPTIONS/s-1/RESOURCEGROUPS/rg-db/x",
            "curl https://management.azure.com/subscriptions/s-1/resourcegroups/rg-db",
        ] {
            outside(&web, command, "rg-db");
        }
    }

    #[test]
    fn what_names_no_group_is_outside() {
        let web = scope(&[], &["rg-web"]);
        for command in ["az vm list", "az graph query -q Resources", "az network nsg list"] {
            outside(&web, command, "--resource-group");
        }
        outside(&scope(&["s-1"], &[]), "az vm list -g rg-db", "--subscription");
        inside(&scope(&["s-1"], &[]), "az vm list -g rg-db --subscription S-1");
        outside(&scope(&["s-1"], &[]), "az vm list --subscription s-2", "s-2");
    }

    #[test]
    fn what_hides_an_az_is_outside() {
        let web = scope(&[], &["rg-web"]);
        for command in [
            "timeout 5 az vm list -g rg-web",
            "az vm list -g rg-web > x",
            "ss -s | xargs az vm list -g rg-web",
            "ss -s; bash -c 'az vm list -g rg-web'",
            "echo `az vm list -g rg-web`",
            "bash -c 'az vm list -g rg-db'",
            "echo $(az vm list -g rg-db)",
            "/usr/bin/env az vm list",
        ] {
            outside(&web, command, "cannot be held");
        }
    }

    #[test]
    fn every_command_of_a_list_is_held_against_the_scope() {
        let web = scope(&[], &["rg-web"]);
        for command in [
            "az vm list -g rg-web | grep x",
            "az vm list -g rg-web 2>/dev/null | head -n 3",
            "az vm list -g rg-web --query '[?a==`b`]' | jq .",
            "ss -s; az vm list -g rg-web && az version",
        ] {
            inside(&web, command);
        }
        outside(&web, "az vm list -g rg-web | az vm list -g rg-db", "rg-db");
        outside(&web, "az version; az vm list", "--resource-group");
        outside(&web, "ss -s || az vm list -g rg-db 2>&1", "rg-db");
    }

    #[test]
    fn what_is_blocked_keeps_nothing_by_which_it_could_run() {
        let policy = Policy::builtin().unwrap();
        let web = scope(&[], &["rg-web"]);
        for command in ["az vm list -g rg-db | head", "az vm delete -g rg-db -n x", "ss -s; az vm list"] {
            let ruling = policy.classify_within(command, Some(&web));
            assert_eq!(
                (ruling.verdict, ruling.impact, ruling.list),
                (Verdict::Blocked, None, None),
                "{command}"
            );
        }
        let refused = policy.classify_as_refused("ss -s | cat", "it is another script");
        assert_eq!((refused.verdict, refused.impact, refused.list), (Verdict::Blocked, None, None));
    }

    #[test]
    fn a_question_that_names_another_group_is_outside() {
        let web = scope(&["11111111-0000-0000-0000-000000000000"], &["rg-web"]);
        for words in [
            "web-1 in resource group rg-db is slow",
            "look at -g rg-db, please",
            "why is /subscriptions/22222222-0000-0000-0000-000000000000 down",
            "subscription 22222222-0000-0000-0000-000000000000 is slow",
            "web-1 in the rg-db resource group is slow",
            "resource group: rg-db",
            "it is in rg rg-db",
            "--resource-group=rg-db",
            "the resource-group 'RG-DB' is slow",
        ] {
            assert!(web.outside_words(words).is_some(), "{words}");
        }
        for words in [
            "web-1 is slow",
            "resource group rg-web: web-1 is slow",
            "web-1 in the rg-web resource group is slow",
            "web-1: resource group unknown",
            "the resource group is slow",
            "our subscription is slow",
            "resource group",
            "",
        ] {
            assert_eq!(web.outside_words(words), None, "{words}");
        }
    }
}
