//! `ghost lab az`: the commands of `az`, for machines that have none.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::place::{gone, record};
use ghost_base::{SystemClock, private_dir, write_private};
use ghost_lab::az::{Client, Profile, az};
use ghost_lab::control::Record;
use ghost_tools::config::Environment;
use ghost_tools::global::Global;

/// A larger file of the configuration folder counts as missing.
const MAX_ANSWER_BYTES: u64 = 4 << 20;

/// The arguments of `ghost lab az`.
#[derive(Debug, Args)]
#[command(
    after_help = "It knows account, cloud, login, group, resource, rest, vm, network, monitor activity-log and storage, with the options, \
        the output and the exit codes of az 2.91.0: `ghost lab az -- --help` lists the commands, `ghost lab az -- vm show --help` the \
        options of one. -o takes json, table, tsv and none, --query takes JMESPath. It speaks with the lab and with nobody else. \
        It leaves out yaml, colors, progress bars, extensions, --next-token, and uploads above 256 MB.\n\n\
        The profile (subscription, cloud, defaults) is that of $AZURE_CONFIG_DIR, else that of the lab; AZURE_DEFAULTS_GROUP, \
        AZURE_DEFAULTS_LOCATION, AZURE_CORE_OUTPUT and AZURE_STORAGE_… count as they do for the real one.\n\n\
        Examples:\n  ghost lab az -- vm list -d -o table\n  \
        ghost lab az -- network nsg rule list -g nw-forensics-rg --nsg-name tf-dest-vm-nsg --query '[].name' -o tsv\n  \
        ghost lab az -- vm run-command invoke -g nw-forensics-rg -n tf-dest-vm --command-id RunShellScript --scripts 'iptables-save'\n  \
        ghost lab --lab /tmp/other/lab.json az -- account show"
)]
pub(in crate::cli) struct Arguments {
    /// The command line of `az`, without that word.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    words: Vec<String>,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, lab: Option<&Path>, global: &Global) -> anyhow::Result<u8> {
    let path = record(lab, global)?;
    let lab = Record::find(&path).map_err(|error| gone(error.into(), &path))?;
    let authority = lab.folder.join("ca.pem");
    let authority = std::fs::read(&authority).with_context(|| format!("reading {}", authority.display()))?;
    let mut client = Client::new(&lab.url, &authority, Arc::new(SystemClock))?;

    let environment = Environment::read();
    let folder = environment.path("AZURE_CONFIG_DIR").unwrap_or_else(|| lab.folder.join("az"));
    let text =
        |(name, value): (&String, &std::ffi::OsString)| Some((name.clone(), value.to_str()?.to_owned()));
    let variables: BTreeMap<String, String> = environment.all().iter().filter_map(text).collect();
    let mut profile = Profile::read(variables, |name| read(&folder.join(name)));
    // Whoever may read the lab's file may speak with it.
    profile.hold(&lab.token);
    let before = profile.files();
    let printed = az(&mut client, &mut profile, &arguments.words);
    keep(&folder, &before, &profile)?;

    // Nobody is left to tell when standard error is gone.
    drop(std::io::stderr().write_all(printed.err.as_bytes()));
    let mut out = std::io::stdout().lock();
    out.write_all(&printed.out).and_then(|()| out.flush())?;
    Ok(printed.exit)
}

fn read(path: &Path) -> Option<String> {
    let small = std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= MAX_ANSWER_BYTES);
    small.then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// Writes the files of the profile that changed.
fn keep(folder: &Path, before: &[(&'static str, String)], profile: &Profile) -> anyhow::Result<()> {
    let changed = profile.files().into_iter().filter(|file| !before.contains(file));
    for (name, text) in changed {
        private_dir(folder).with_context(|| format!("making {}", folder.display()))?;
        let path = folder.join(name);
        write_private(&path, text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}
