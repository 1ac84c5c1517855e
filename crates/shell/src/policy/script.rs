//! Scripts that tools bring themselves: declared with a verdict, bound by a digest, filled with typed values.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::Deserialize;

use super::kind::Kind;
use super::{Files, Policy, PolicyError, RuleSummary};
use crate::judge::blocked;
use crate::{Impact, Profile, Ruling, Scope, Socket, Tier, Verdict};
use ghost_base::Digest;

const TEXTS: [(&str, &str); 11] = [
    ("guest-firewall", include_str!("script/guest-firewall.sh")),
    ("guest-names", include_str!("script/guest-names.sh")),
    ("guest-network", include_str!("script/guest-network.sh")),
    ("guest-page", include_str!("script/guest-page.sh")),
    ("guest-qdisc", include_str!("script/guest-qdisc.sh")),
    ("guest-resolve", include_str!("script/guest-resolve.sh")),
    ("guest-state", include_str!("script/guest-state.sh")),
    ("host-capture", include_str!("script/host-capture.sh")),
    ("host-state", include_str!("script/host-state.sh")),
    ("meter-look", include_str!("script/meter-look.sh")),
    ("meter-report", include_str!("script/meter-report.sh")),
];

/// The one program beside `az` that carries scripts to other machines.
const SSH: &str = "ssh";
/// The words that run a script on this machine.
const HERE: [&str; 2] = ["sh", "-c"];

/// A declared script.
#[derive(Debug, Clone)]
pub struct Script {
    id: String,
    why: String,
    text: String,
    digest: Digest,
    verdict: Verdict,
    impact: Option<Impact>,
    variables: BTreeMap<String, Kind>,
    here: Option<Profile>,
}

/// A declared script whose variables have values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledScript {
    id: String,
    why: String,
    digest: Digest,
    verdict: Verdict,
    /// What it does to the world, where a human is asked.
    impact: Option<Impact>,
    text: String,
    /// What it needs from the sandbox where it runs on this machine; nothing where it may not.
    here: Option<Profile>,
}

/// Why a script could not be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The policy declares no such script.
    #[error("the policy declares no script `{script}`")]
    Undeclared {
        /// Its name.
        script: String,
    },
    /// A variable has no value.
    #[error("the script `{script}` needs a value for `{variable}`")]
    Missing {
        /// The name of the declared script.
        script: String,
        /// The variable that has no value, or a wrong one.
        variable: String,
    },
    /// A value is not of the variable's kind, or names no variable.
    #[error("the script `{script}` does not take `{value}` for `{variable}`")]
    Value {
        /// The name of the declared script.
        script: String,
        /// The variable that has no value, or a wrong one.
        variable: String,
        /// The value that does not fit.
        value: String,
    },
    /// The line that was shown is not the one that would run.
    #[error("the script `{script}` is not the one that was proposed")]
    Other {
        /// Its name.
        script: String,
    },
}

/// The declarations as they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    script: Vec<Raw>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    id: String,
    why: String,
    digest: String,
    verdict: Declared,
    impact: Option<Impact>,
    #[serde(default)]
    variables: BTreeMap<String, String>,
    here: Option<RawHere>,
}

/// What a script needs from the sandbox of this machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHere {
    /// Everything that it starts.
    programs: Vec<String>,
    sockets: Vec<Socket>,
    net_admin: bool,
    log: bool,
    socket_owners: bool,
}

impl RawHere {
    fn profile(self) -> Profile {
        Profile {
            sockets: self.sockets.into(),
            helpers: self.programs.into(),
            programs: vec![HERE[0].to_owned()],
            net_admin: self.net_admin,
            log: self.log,
            socket_owners: self.socket_owners,
            script: true,
            ..Profile::default()
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Declared {
    Safe,
    Risky,
}

/// Reads the declarations; a text that is not the one that was declared is an error.
pub(super) fn declared(table: Table) -> Result<Vec<Script>, PolicyError> {
    let wrong = |what: String| PolicyError::Entry { file: "script", what };
    let read = |raw: Raw| {
        let text = TEXTS
            .iter()
            .find(|(id, _)| *id == raw.id)
            .map(|(_, text)| *text)
            .ok_or_else(|| wrong(format!("no text for `{}`", raw.id)))?;
        let digest = Digest::of(text);
        if digest.to_string() != raw.digest {
            return Err(wrong(format!(
                "the text of `{}` has the digest {digest}, not the declared one",
                raw.id
            )));
        }
        let kind = |(name, kind): (String, String)| {
            Kind::parse(&kind).map(|kind| (name, kind)).ok_or_else(|| wrong(format!("no kind `{kind}`")))
        };
        let variables = raw.variables.into_iter().map(kind).collect::<Result<_, _>>()?;
        let verdict = match raw.verdict {
            Declared::Safe => Verdict::Safe,
            Declared::Risky => Verdict::Risky,
        };
        let (here, impact) = (raw.here.map(RawHere::profile), raw.impact);
        Ok(Script {
            id: raw.id,
            why: raw.why,
            text: text.to_owned(),
            digest,
            verdict,
            impact,
            variables,
            here,
        })
    };
    table.script.into_iter().map(read).collect()
}

impl Script {
    /// Returns the script's name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Describes the script as a rule.
    pub(super) fn summary(&self) -> RuleSummary {
        let what = format!("{} (declared script, sha256 {})", self.why, self.digest);
        RuleSummary {
            id: format!("script.{}", self.id),
            verdict: self.verdict,
            programs: Vec::new(),
            what,
            manual: None,
        }
    }

    /// Returns the digest of the text before it is filled.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Puts values in the place of the variables.
    ///
    /// # Errors
    /// Fails where a value is missing, is not of its kind, or could mean anything to a shell.
    pub fn fill(&self, values: &[(&str, &str)]) -> Result<FilledScript, ScriptError> {
        let value_error = |(variable, value): &(&str, &str)| ScriptError::Value {
            script: self.id.clone(),
            variable: (*variable).to_owned(),
            value: (*value).to_owned(),
        };
        let fits = |(variable, value): &&(&str, &str)| {
            let plain = value
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b':' | b'/'));
            plain
                && !value.starts_with('-')
                && self.variables.get(*variable).is_some_and(|kind| kind.accepts(value, &Files::default()))
        };
        if let Some(wrong) = values.iter().find(|pair| !fits(pair)) {
            return Err(value_error(wrong));
        }
        let mut text = self.text.clone();
        for variable in self.variables.keys() {
            let Some((_, value)) = values.iter().find(|(name, _)| name == variable) else {
                return Err(ScriptError::Missing { script: self.id.clone(), variable: variable.clone() });
            };
            text = text.replace(&format!("{{{{{variable}}}}}"), value);
        }
        Ok(FilledScript {
            id: self.id.clone(),
            why: self.why.clone(),
            digest: self.digest,
            verdict: self.verdict,
            impact: self.impact,
            text,
            here: self.here.clone(),
        })
    }
}

impl FilledScript {
    /// Returns the text that runs.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns all words: those that carry it, and the text. Over ssh a shell of the guest takes one layer of quotes off.
    pub(crate) fn behind(&self, carrier: &[String]) -> Vec<String> {
        let ssh = carrier.first().is_some_and(|word| word == SSH);
        let text = if ssh { quote(&self.text) } else { self.text.clone() };
        carrier.iter().cloned().chain([text]).collect()
    }

    /// Returns the whole line, each word quoted.
    #[must_use]
    pub fn line(&self, carrier: &[String]) -> String {
        line(&self.behind(carrier))
    }
}

impl Policy {
    /// Returns a declared script by its name.
    #[must_use]
    pub fn script(&self, id: &str) -> Option<&Script> {
        self.scripts.iter().find(|script| script.id == id)
    }

    /// Says which words of ssh carry declared scripts to hosts that the configuration names, or the person at the terminal.
    #[must_use]
    pub fn carried_by(mut self, carriers: impl IntoIterator<Item = Vec<String>>) -> Self {
        self.carriers
            .extend(carriers.into_iter().filter(|words| words.first().is_some_and(|word| word == SSH)));
        self
    }

    /// Lets those declared scripts run on this machine that say what they need there.
    #[must_use]
    pub fn carried_here(mut self) -> Self {
        self.carriers.push(HERE.map(str::to_owned).to_vec());
        self
    }

    /// Says into which storage account captures are written: what lies there may be looked at whatever the scope.
    #[must_use]
    pub fn captures_into(mut self, account: Option<String>) -> Self {
        self.captures_account = account;
        self
    }

    /// Says which subscriptions alone are read, by their ids; any, where none is said.
    #[must_use]
    pub fn keeping_to(mut self, subscriptions: Vec<String>) -> Self {
        self.kept_to = subscriptions;
        self
    }

    /// Says into which folder captures are fetched; `/tmp/captures` unless said. What is no plain path changes nothing.
    #[must_use]
    pub fn captures_in(mut self, folder: &Path) -> Self {
        let plain = folder.is_absolute()
            && folder.components().skip(1).all(|part| matches!(part, Component::Normal(_)))
            && folder.components().count() > 1;
        match folder.to_str().filter(|_| plain) {
            Some(folder) if !folder.contains(char::is_control) => self.files.captures_in(folder),
            Some(_) | None => {}
        }
        self
    }

    /// Judges a declared script behind the words that carry it to a guest, such as `az vm run-command invoke … --scripts`.
    ///
    /// The words have to be SAFE with a script that does nothing, or ssh to a host that is known by exactly these words; tier 0 is
    /// hunted for in the script all the same.
    #[must_use]
    pub fn classify_script(&self, carrier: &[String], script: &FilledScript) -> Ruling {
        let typed = self.classify(&line(&script.behind(carrier)));
        let is_known = self.carriers.iter().any(|known| known == carrier);
        let bare = match (is_known && carrier == HERE, is_known) {
            (true, _) => here(&typed, script),
            (false, true) => over_ssh(&typed),
            (false, false) => self.classify(&line(&[carrier, &["true".to_owned()]].concat())),
        };
        let reason = format!("{} (declared script {}, sha256 {})", script.why, script.id, script.digest);
        if typed.verdict == Verdict::Blocked
            || bare.verdict != Verdict::Safe
            || script.verdict == Verdict::Risky
        {
            let is_carried = bare.verdict == Verdict::Safe || (is_known && carrier == HERE);
            let is_declared = typed.verdict == Verdict::Risky && is_carried;
            if is_declared && let Some(impact) = script.impact {
                let rule = format!("script.{}", script.id).into();
                return Ruling { rule, reason: reason.into(), impact: Some(impact), ..typed };
            }
            return if bare.verdict == Verdict::Safe || typed.verdict == Verdict::Blocked {
                typed
            } else {
                bare
            };
        }
        Ruling {
            tier: Tier::Program,
            rule: format!("script.{}", script.id).into(),
            reason: reason.into(),
            argv: Some(script.behind(carrier)),
            ..bare
        }
    }

    /// Judges a declared script as [`Policy::classify_script`] does, within a scope.
    #[must_use]
    pub fn classify_script_within(
        &self,
        carrier: &[String],
        script: &FilledScript,
        scope: Option<&Scope>,
    ) -> Ruling {
        let ruling = self.classify_script(carrier, script);
        let line = script.line(carrier);
        let outside = scope.and_then(|scope| scope.outside(&line)).or_else(|| self.beyond(&line, &ruling));
        outside.map_or(ruling.clone(), |what| blocked(ruling, what))
    }

    /// Fills a declared script that was proposed under its name, where the line that was shown is the one that would run.
    ///
    /// # Errors
    /// Says why it is none, or another one.
    pub fn declared(
        &self,
        carrier: &[String],
        script: &str,
        variables: &[(String, String)],
        shown: &str,
    ) -> Result<FilledScript, ScriptError> {
        let filled = fill(self, script, variables)?;
        match filled.line(carrier) == shown {
            true => Ok(filled),
            false => Err(ScriptError::Other { script: script.to_owned() }),
        }
    }
}

/// Returns the whole line that runs a declared script behind the words that carry it.
///
/// # Errors
/// Fails where there is no such script, and where a value is not of its kind.
pub fn script_line(
    carrier: &[String],
    script: &str,
    variables: &[(String, String)],
) -> Result<String, PolicyError> {
    let wrong = |error: ScriptError| PolicyError::Entry { file: "script", what: error.to_string() };
    Ok(fill(Policy::builtin()?, script, variables).map_err(wrong)?.line(carrier))
}

fn fill(policy: &Policy, script: &str, variables: &[(String, String)]) -> Result<FilledScript, ScriptError> {
    let values: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let found = policy.script(script).ok_or_else(|| ScriptError::Undeclared { script: script.to_owned() })?;
    found.fill(&values)
}

/// Returns what ssh to a known host may do: speak with hosts, and start itself through a shell where a bastion lies between.
fn over_ssh(typed: &Ruling) -> Ruling {
    let profile = Profile {
        sockets: vec![Socket::Stream, Socket::Datagram].into(),
        helpers: vec![SSH.to_owned(), "sh".to_owned()].into(),
        programs: vec![SSH.to_owned()],
        ..Profile::default()
    };
    Ruling { verdict: Verdict::Safe, profile, impact: None, ..typed.clone() }
}

/// Returns what a script may do on this machine; as it was typed where it does not say what it needs.
fn here(typed: &Ruling, script: &FilledScript) -> Ruling {
    match &script.here {
        Some(profile) => {
            Ruling { verdict: Verdict::Safe, profile: profile.clone(), impact: None, ..typed.clone() }
        }
        None => typed.clone(),
    }
}

fn line(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell, so that it is read as the one word that it is.
pub fn quote(word: &str) -> String {
    let plain = !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:,@%+".contains(&byte));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carrier() -> Vec<String> {
        "az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts"
            .split(' ')
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn a_declared_script_has_its_declared_verdict_and_the_same_text_typed_asks() {
        let policy = Policy::builtin().unwrap();
        let script = policy.script("guest-network").unwrap().fill(&[("device", "eth0")]).unwrap();
        let ruling = policy.classify_script(&carrier(), &script);
        assert_eq!((ruling.verdict, ruling.rule.as_ref()), (Verdict::Safe, "script.guest-network"));
        assert!(ruling.reason.contains(&script.digest.to_string()) && ruling.profile.cloud);
        let typed: Vec<String> =
            carrier().iter().map(String::as_str).chain([script.text()]).map(quote).collect();
        assert_eq!(policy.classify(&typed.join(" ")).verdict, Verdict::Risky);
    }

    #[test]
    fn a_declared_script_opens_no_other_carrier() {
        let policy = Policy::builtin().unwrap();
        let script = policy.script("guest-network").unwrap().fill(&[("device", "eth0")]).unwrap();
        let elsewhere = ["bash", "-c"].map(str::to_owned);
        assert_eq!(policy.classify_script(&elsewhere, &script).verdict, Verdict::Risky);
    }

    #[test]
    fn a_capture_is_fetched_unasked_into_the_folder_that_is_configured_and_into_no_other() {
        let fetch = |folder: &str| {
            format!(
                "az storage blob download --account-name store1 --container-name c --name b.cap --file {folder}/ghost-s1-1.cap --auth-mode login"
            )
        };
        let usual = Policy::builtin().unwrap().clone();
        let own = usual.clone().captures_in(Path::new("/var/lib/ghost/captures/"));
        let odd = usual.clone().captures_in(Path::new("/var/lib/../etc"));
        for (policy, folder, verdict) in [
            (&usual, "/tmp/captures", Verdict::Safe),
            (&usual, "/var/lib/ghost/captures", Verdict::Risky),
            (&own, "/var/lib/ghost/captures", Verdict::Safe),
            (&own, "/var/lib/ghost/captures/deeper", Verdict::Risky),
            (&own, "/tmp/captures", Verdict::Risky),
            (&odd, "/tmp/captures", Verdict::Safe),
            (&odd, "/var/lib/../etc", Verdict::Risky),
        ] {
            assert_eq!(policy.classify(&fetch(folder)).verdict, verdict, "{folder}");
        }
        let read = |folder: &str| format!("cat {folder}/x_comparison.md");
        assert_eq!(own.classify(&read("/var/lib/ghost/captures")).verdict, Verdict::Safe);
        assert_eq!(own.classify(&read("/tmp/captures")).verdict, Verdict::Risky);
    }

    #[test]
    fn over_ssh_only_the_very_words_of_the_configuration_carry_a_script() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let known = words("ssh -F none -i /home/ops/.ssh/id_ed25519 -l ops -p 22 10.0.0.4 sudo -n sh -c");
        let policy = Policy::builtin().unwrap().clone().carried_by([known.clone(), words("bash -c")]);
        for id in ["guest-network", "guest-firewall", "guest-qdisc", "guest-state", "guest-names"] {
            let values: &[_] = match id {
                "guest-network" => &[("device", "eth0")],
                "guest-firewall" | "guest-qdisc" => &[("counters", "no"), ("from", "0")],
                _ => &[("from", "0")],
            };
            let script = policy.script(id).unwrap().fill(values).unwrap();
            let ruling = policy.classify_script(&known, &script);
            assert_eq!(
                (ruling.verdict, ruling.tier),
                (Verdict::Safe, Tier::Program),
                "{id}: {}",
                ruling.reason
            );
            assert_eq!(ruling.argv.unwrap().last(), Some(&quote(script.text())));
            for other in
                ["ssh -F none -l ops 10.0.0.5 sudo -n sh -c", "ssh -A -F none 10.0.0.4 sh -c", "bash -c"]
            {
                assert_eq!(policy.classify_script(&words(other), &script).verdict, Verdict::Risky, "{other}");
            }
        }
    }

    #[test]
    fn on_this_machine_only_what_says_its_needs_runs_and_only_where_that_was_opened() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (closed, open) = (Policy::builtin().unwrap(), Policy::builtin().unwrap().clone().carried_here());
        let values = [("names", "."), ("to", "none"), ("seconds", "1")];
        let script = open.script("host-state").unwrap().fill(&values).unwrap();
        let ruling = open.classify_script(&words("sh -c"), &script);
        assert_eq!(
            (ruling.verdict, ruling.rule.as_ref()),
            (Verdict::Safe, "script.host-state"),
            "{ruling:?}"
        );
        assert!(ruling.profile.script && ruling.profile.net_admin && !ruling.profile.cloud);
        for (policy, carrier) in [(closed, "sh -c"), (&open, "bash -c"), (&open, "sh -x -c")] {
            assert_eq!(policy.classify_script(&words(carrier), &script).verdict, Verdict::Risky, "{carrier}");
        }
        let other = open.script("guest-network").unwrap().fill(&[("device", "eth0")]).unwrap();
        assert_eq!(open.classify_script(&words("sh -c"), &other).verdict, Verdict::Risky);
        for (name, value) in [("to", "a:1/-oX:2"), ("to", "a:1//b:2"), ("names", "a/-f"), ("names", "")] {
            let values = values.map(|pair| if pair.0 == name { (name, value) } else { pair });
            assert!(open.script("host-state").unwrap().fill(&values).is_err(), "{value}");
        }
    }

    #[test]
    fn a_value_that_could_mean_something_to_a_shell_is_refused() {
        let script = Policy::builtin().unwrap().script("guest-network").unwrap();
        for value in ["eth0; reboot", "$(reboot)", "-x", "eth0\n", "a b", "`x`", "'"] {
            assert!(script.fill(&[("device", value)]).is_err(), "{value}");
        }
        assert!(script.fill(&[]).is_err() && script.fill(&[("device", "eth0"), ("other", "x")]).is_err());
    }
}
