//! What a snapshot is made of: the answers, what they are about, and its name.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::place::SnapshotFolder;
use super::text::flat;
use crate::input;
use crate::print::Hinted;
use ghost_base::{Clock as _, Digest, SessionId, SystemClock, Timestamp};
use ghost_cloud::probe::effective::{self as probe, EffectiveQuery};
use ghost_inspect::effective::{Answer, Bundle, Error, Scope, Side, Snapshot, Taken};

/// A sealed file may have this many bytes.
pub(super) const MAX_INPUT_BYTES: usize = 64 << 20;

/// A bundle may have fewer, so that its snapshot can be read again.
const MAX_BUNDLE_BYTES: usize = 32 << 20;

/// What is asked about each interface.
const WHAT: [EffectiveQuery; 2] = [EffectiveQuery::Routes, EffectiveQuery::Rules];

/// How to come by the answers.
const HOW: &str = "run `az network nic show-effective-route-table -n NIC -g GROUP -o json > routes.json` and `az network nic list-effective-nsg -n NIC -g GROUP -o json > nsg.json`, then give `--answers NIC routes.json nsg.json`, or a bundle with --from";

/// What a snapshot is made of.
#[derive(Debug, Args)]
pub(super) struct EffectiveInput {
    /// The raw answers as a bundle, `{"nics":[{"nic","routes","nsg","error"}]}`; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "answers")]
    from: Option<PathBuf>,
    /// The raw answers for one network interface: its name, and the files with what the two `az` commands printed. Can be repeated.
    #[arg(long, num_args = 3, value_names = ["NIC", "ROUTES", "NSG"])]
    answers: Vec<String>,
    /// The virtual machine that it is about.
    #[arg(long, visible_alias = "vm", value_name = "NAME", conflicts_with_all = ["nic", "vnet_id"])]
    vm_name: Option<String>,
    /// The network interface that it is about.
    #[arg(long, value_name = "NAME", conflicts_with = "vnet_id")]
    nic: Option<String>,
    /// The virtual network that it is about.
    #[arg(long, visible_alias = "vnet", value_name = "NAME")]
    vnet_id: Option<String>,
    /// The resource group that it is about.
    #[arg(short = 'g', long, value_name = "NAME")]
    resource_group: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, alias = "subscription-id", value_name = "ID")]
    subscription: Option<String>,
    /// Print every command that it would run, with its verdict, and run none.
    #[arg(long, requires = "resource_group", conflicts_with_all = ["from", "answers"])]
    plan: bool,
    /// What it is about.
    #[arg(long, value_enum)]
    scope: Option<Kind>,
    /// The snapshot's name; else one is made up.
    #[arg(long, value_name = "S")]
    session_id: Option<SessionId>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Vm,
    Nic,
    Vnet,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Vm => "vm",
            Self::Nic => "nic",
            Self::Vnet => "vnet",
        }
    }
}

impl EffectiveInput {
    /// Seals the answers. Nothing is written yet.
    pub(super) fn seal(&self, place: &SnapshotFolder, baseline: bool) -> anyhow::Result<(String, Snapshot)> {
        let (bundle, at) = (self.bundle(place)?, SystemClock.now());
        let files = self.from.iter().map(PathBuf::as_path);
        let answers = self.answers.chunks_exact(3).flat_map(|words| words.iter().skip(1).map(Path::new));
        let taken = Taken {
            session: self.session_id.clone().map_or_else(|| made_up(at, &bundle), Ok)?,
            baseline,
            scope: self.scope(),
            at,
            answers_at: files.chain(answers).filter_map(written_at).min(),
            by: place.who.clone(),
            tool: super::place::TOOL.to_owned(),
        };
        let nothing = "without --is-baseline the answers are kept, and it tells what could not be read";
        Snapshot::seal(&bundle, taken).map_err(|error| {
            let is_nothing = matches!(error, Error::NothingRead);
            if is_nothing { Hinted::new(error, nothing).into() } else { error.into() }
        })
    }

    fn bundle(&self, place: &SnapshotFolder) -> anyhow::Result<Bundle> {
        if let Some(path) = &self.from {
            let text = input::text(path, MAX_BUNDLE_BYTES)?;
            return Bundle::parse(&text)
                .map_err(|error| Hinted::new(harmless_error(error, path), HOW).into());
        }
        if self.answers.is_empty() {
            return self.ask(place);
        }
        let mut bundle = Bundle::default();
        let mut words = self.answers.iter();
        while let (Some(nic), Some(routes), Some(nsg)) = (words.next(), words.next(), words.next()) {
            let (routes, nsg) = (
                input::text(Path::new(routes), MAX_BUNDLE_BYTES)?,
                input::text(Path::new(nsg), MAX_BUNDLE_BYTES)?,
            );
            bundle.nics.push(Answer::printed(nic, &routes, &nsg));
        }
        Ok(bundle)
    }

    /// Asks the cloud.
    fn ask(&self, place: &SnapshotFolder) -> anyhow::Result<Bundle> {
        let Some((group, scope)) = self.live()? else {
            let hint = format!("--vm-name NAME -g GROUP asks the cloud; or {HOW}");
            return Err(Hinted::new(anyhow::anyhow!("neither answers nor a machine are named"), hint).into());
        };
        let live = crate::live::Live::open(place.setup()?, "effective", None, None)?;
        let looked = live.drive(probe::Effective::all(&group, &scope, &WHAT))?;
        Ok(probe::bundle(&crate::live::or_fail(looked)?))
    }

    /// Prints what would be asked, where that is wanted; says whether it was.
    pub(super) fn planned(&self, place: &SnapshotFolder, json: bool) -> anyhow::Result<bool> {
        use crate::live::{foreseen, plan};
        use ghost_cloud::operation::CommandRequest;
        use ghost_cloud::{Name, line};
        let Some((group, scope)) = self.live()?.filter(|_| self.plan) else { return Ok(false) };
        let (first, nic) = match &scope {
            probe::InterfaceScope::Machine(name) => (Some(line::machine(&group, name)), None),
            probe::InterfaceScope::Network(name) => (Some(line::network(&group, name)), None),
            probe::InterfaceScope::Interface(name) => (None, Some(name.clone())),
            probe::InterfaceScope::Interfaces(_) => (None, None),
        };
        let mut orders: Vec<CommandRequest> =
            first.into_iter().map(|line| CommandRequest::line(line, "find the interfaces")).collect();
        let nic = nic.or_else(|| Name::parse("INTERFACE").ok());
        orders.extend(nic.iter().flat_map(|nic| foreseen(&group, nic, &WHAT)));
        plan(place.setup()?, None, &orders, json)?;
        Ok(true)
    }

    /// Returns whom the cloud is asked about, where no answers are given.
    fn live(&self) -> anyhow::Result<Option<(ghost_cloud::ResourceGroup, probe::InterfaceScope)>> {
        use ghost_cloud::Name;
        let Some(group) =
            self.resource_group.as_deref().filter(|_| self.from.is_none() && self.answers.is_empty())
        else {
            return Ok(None);
        };
        // A network may be named by its whole identifier.
        let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
        let scope = match (&self.vm_name, &self.nic, &self.vnet_id) {
            (Some(vm), _, _) => probe::InterfaceScope::Machine(Name::parse(vm)?),
            (_, Some(nic), _) => probe::InterfaceScope::Interface(Name::parse(nic)?),
            (_, _, Some(network)) => probe::InterfaceScope::Network(Name::parse(&last(network))?),
            (None, None, None) => return Ok(None),
        };
        Ok(Some((crate::guest::place(group, self.subscription.as_deref())?, scope)))
    }

    fn scope(&self) -> Scope {
        let named = [(&self.vm_name, Kind::Vm), (&self.nic, Kind::Nic), (&self.vnet_id, Kind::Vnet)];
        let named = named.into_iter().find_map(|(name, kind)| Some((name.clone()?, kind)));
        let kind = self.scope.or(named.as_ref().map(|(_, kind)| *kind));
        Scope {
            kind: kind.map(|kind| kind.as_str().to_owned()),
            name: named.map(|(name, _)| name),
            resource_group: self.resource_group.clone(),
        }
    }
}

/// Says when a file was written; standard input does not say.
fn written_at(path: &Path) -> Option<Timestamp> {
    let since = std::fs::metadata(path).ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp::from_millis)
}

/// Makes up a name that sorts by time.
fn made_up(at: Timestamp, bundle: &Bundle) -> anyhow::Result<SessionId> {
    let digits: String = at.to_string().chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, time) = digits.split_at_checked(8).unwrap_or((&digits, ""));
    let drawn = SessionId::drawn(&Digest::of(format!("{at} {bundle:?}")));
    let letters: String = drawn.as_str().chars().rev().take(4).collect();
    Ok(format!("eni-{day}-{time}-{letters}").parse::<SessionId>()?)
}

/// Reads a snapshot or a bundle.
pub(super) fn side(path: &Path) -> anyhow::Result<Side> {
    let text = input::text(path, MAX_INPUT_BYTES)?;
    Side::parse(&text).map_err(|error| refused(error, path))
}

/// Tells of a file that is refused, and what to do about it.
pub(super) fn refused(error: Error, path: &Path) -> anyhow::Error {
    let hint = if matches!(error, Error::Unsealed | Error::Changed { .. } | Error::Contradiction { .. }) {
        "take the file from where it was first written; what was changed proves nothing"
    } else if matches!(error, Error::Version { .. }) {
        "read it with the program that wrote it"
    } else {
        "give a snapshot that `ghost effective snapshot` wrote, or a bundle {\"nics\":[{\"nic\",\"routes\",\"nsg\",\"error\"}]}"
    };
    Hinted::new(harmless_error(error, path), hint).into()
}

/// Words an error without what a hostile document put into it to steer the terminal.
pub(super) fn harmless_error(error: Error, path: &Path) -> anyhow::Error {
    let whole = anyhow::Error::from(error).context(reading(path));
    anyhow::anyhow!(flat(&format!("{whole:#}")))
}

pub(super) fn reading(path: &Path) -> String {
    format!("reading {}", path.display())
}
