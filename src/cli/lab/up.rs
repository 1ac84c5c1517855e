//! `ghost lab up`: a cloud until Ctrl-C.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::place::{clean, namespaces, record};
use ghost_base::{SystemClock, private_dir};
use ghost_lab::LabClock;
use ghost_lab::azure::{Cloud, Description};
use ghost_lab::case::{self, Cases};
use ghost_lab::control::{Claim, Lab, LabError, RecordError, Running, Settings, exported};
use ghost_lab::host::{Host, Netns, Simulated};
use ghost_tools::global::Global;
use ghost_tools::input::text;
use ghost_tools::print::{Hinted, line};
use ghost_tools::wait::{drive, interrupted};

/// From which all that machines draw follows.
const SEED: u64 = 1;

/// The largest file of an estate.
const MAX_ESTATE_BYTES: usize = 64 << 20;

/// Who plays the machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Hosts {
    /// A deterministic model.
    Simulated,
    /// Network namespaces of this machine, with real packets; root, or the rights of root over networks, are needed.
    Netns,
}

/// The arguments of `ghost lab up`.
#[derive(Debug, Args)]
#[command(
    after_help = "It prints what to export, then `# ready`, and stays until Ctrl-C, SIGTERM or `ghost lab down`; then nothing of it is left. \
        After the exports the real `az` works, signed in, on the lab and on nothing else: whatever is started in that shell reaches no \
        other host through a proxy (`ghost lab state` lists what was refused). For machines without `az` a comment names a folder with \
        one. On every simulated machine somebody listens on 22; whoever wants more starts it there (`iperf -s -D`, `qperf`), or injects a case that \
        has it: anything else is refused, as on a machine that is new. A variable AZURE_STORAGE_… of yours would win over what `az storage` finds itself: unset it.\n\n\
        Examples:\n  ghost lab up > lab.env &\n  until grep -q '# ready' lab.env; do sleep 0.1; done; . ./lab.env\n  \
        az network nsg list -o table\n  ghost lab az -- vm list -o table\n  ghost lab up --port 8443 --estate my-estate.json\n  \
        ghost lab down"
)]
pub(in crate::cli) struct Arguments {
    /// Who plays the machines.
    #[arg(long, value_enum, default_value = "simulated")]
    hosts: Hosts,
    /// The estate, in the resource manager's form; that of the use cases, if none is named.
    #[arg(long, value_name = "FILE")]
    estate: Option<PathBuf>,
    /// The port on the loopback address; a free one, if none is named.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, lab: Option<&Path>, global: &Global) -> anyhow::Result<u8> {
    let record = record(lab, global)?;
    let cloud = cloud(arguments.estate.as_deref())?;
    drive(|| serve(arguments, cloud, record))?.map(|()| 0)
}

/// Reads the estate.
fn cloud(path: Option<&Path>) -> anyhow::Result<Cloud> {
    let Some(path) = path else { return Cloud::usual().context("reading the estate of the use cases") };
    let hint = "an estate is what the resource manager tells, in one file: subscription, principal, resourceGroups, resources";
    let wrong = |error: anyhow::Error| {
        Hinted::new(error.context(format!("reading the estate {}", path.display())), hint)
    };
    let text = text(path, MAX_ESTATE_BYTES)?;
    let about = Description::parse(text.as_bytes()).map_err(|error| wrong(error.into()))?;
    Ok(Cloud::new(about).map_err(|error| wrong(error.into()))?)
}

async fn serve(arguments: &Arguments, cloud: Cloud, record: PathBuf) -> anyhow::Result<()> {
    // Signals are handled from here on: what is made and written is removed in any case.
    let mut stop = std::pin::pin!(interrupted());
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        () = std::future::ready(()) => {}
    }
    let clock = LabClock::new(Arc::new(SystemClock));
    // Whoever holds the place may clean up there: nobody else's lab lives by this file.
    let record = std::path::absolute(&record).context("finding the folder of the lab's file")?;
    let claim = Claim::take(&record).map_err(|error| hinted(error.into()))?;
    clean(&record)?;
    let folder = namespaces(&record);
    let mut lacks = Vec::new();
    let host: Arc<dyn Host> = match arguments.hosts {
        Hosts::Simulated => Arc::new(Simulated::new(cloud.fabric(), SEED, clock.clone())),
        Hosts::Netns => {
            private_dir(&folder).with_context(|| format!("making {}", folder.display()))?;
            let hint = "--hosts simulated needs neither root nor programs";
            let host = Netns::open(folder.clone(), cloud.fabric(), clock.clone()).await;
            let host = host.map_err(|error| Hinted::new(error, hint))?;
            lacks = host.lacks();
            Arc::new(host)
        }
    };
    let done = attend(arguments, (cloud, Arc::clone(&host), clock), claim, &lacks, stop).await;
    // Also where it never came up.
    host.close().await;
    drop(std::fs::remove_dir(&folder));
    done
}

async fn attend(
    arguments: &Arguments,
    (cloud, host, clock): (Cloud, Arc<dyn Host>, LabClock),
    claim: Claim,
    lacks: &[String],
    mut stop: Pin<&mut (impl Future<Output = ()> + Send)>,
) -> anyhow::Result<()> {
    // Journal and baselines lie beside the lab's file, where the tools look for them.
    let data = claim.path().parent().map_or_else(PathBuf::new, Path::to_owned);
    let cases = Cases::new(data.clone(), ghost_capture_files::account);
    let lab = Lab::new(cloud, host, clock, vec![Arc::new(cases)]).context("drawing the lab's secrets")?;
    let program = std::env::current_exe().context("finding this program")?;
    let settings = Settings { port: arguments.port, record: claim.path().to_owned(), program };
    let up = async {
        // The place is this lab's: what a dead one has injected here is gone with it.
        case::clean(&data).context("cleaning up after a lab that is gone")?;
        let running = Running::claimed(settings, claim, lab).await.map_err(hinted)?;
        announce(&running, lacks).map(|()| running)
    };
    let running = tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        up = up => up?,
    };
    running.serve(stop).await.map_err(hinted)
}

/// Prints what to export.
fn announce(running: &Running, lacks: &[String]) -> anyhow::Result<()> {
    let quoted = |value: &str| exported(value).ok_or_else(|| hinted(LabError::Path(value.to_owned())));
    for (name, value) in running.exports() {
        line(&format!("export {name}={}", quoted(&value)?))?;
    }
    let programs = running.programs();
    line(&format!("# no az here? this folder has one: {}", programs.display()))?;
    for lack in lacks {
        line(&format!("# {}", lack.replace('\n', " ")))?;
    }
    line("# ready")?;
    std::io::stdout().flush()?;
    Ok(())
}

fn hinted(error: LabError) -> anyhow::Error {
    let hint = match &error {
        LabError::Port { .. } => "name another port with --port, or none for a free one",
        LabError::Record(RecordError::Taken(_)) => {
            "`ghost lab down` ends it; with --data-dir another one can stand beside it"
        }
        LabError::Record(RecordError::Foreign(_)) => {
            "remove it if it is yours, or name another folder with --data-dir"
        }
        LabError::Path(_) | LabError::Record(_) | LabError::Folder { .. } => {
            "name another folder with --data-dir"
        }
        LabError::Certificate(_) => return error.into(),
    };
    Hinted::new(error, hint).into()
}
