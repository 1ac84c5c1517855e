//! A network that is up in one terminal, and what another one asks of it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::command::named;
use ghost_base::private_dir;
use ghost_lab::host::net::{Net, Outcome, Session, SshAccess, Topology, take_service_name};
use ghost_tools::print::{Hinted, line, note};
use ghost_tools::wait::{drive, interrupted};

/// Where the network that is up is asked.
const SOCKET: &str = "control";
/// A machine that does not answer keeps `check` so long.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(180);

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Request {
    Inject { fault: String },
    Check,
    Reset,
    Down,
}

fn folder(data: &Path) -> PathBuf {
    data.join("lab-net")
}

/// Builds a network and does what is asked until Ctrl-C or `down`.
pub(super) fn serve(data: &Path, topology: Topology, seed: u64) -> anyhow::Result<()> {
    let folder = folder(data);
    private_dir(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let path = folder.join(SOCKET);
    if UnixStream::connect(&path).is_ok() {
        let error = anyhow::anyhow!("a network is up already");
        return Err(Hinted::new(error, "take it down with `ghost lab net down`").into());
    }
    // Whoever left it is gone.
    drop(std::fs::remove_file(&path));
    let ghost = std::env::current_exe().context("finding this program")?;
    take_service_name();
    let mut session = Session::open(topology, seed, &ghost, &folder).map_err(|error| {
        Hinted::new(
            error,
            "it takes root, iproute2, nftables, iptables and dnsmasq-base; nginx-light where it is there",
        )
    })?;
    let listener = UnixListener::bind(&path).with_context(|| format!("listening on {}", path.display()))?;
    for (name, space) in session.net().machines() {
        line(&format!("{name:<4} ip netns exec {space} ghost host"))?;
    }
    line(&format!("\"a\" calls {}", session.net().fill("{b}:80")))?;
    // A computer without OpenSSH has networks all the same.
    let access = SshAccess::open(&session.net().machines(), &folder);
    match &access {
        Ok(access) => line(&format!(
            "by ssh: ghost host --inventory {} --known-hosts {} --host a",
            access.inventory().display(),
            access.known().display()
        ))?,
        Err(error) => note(&format!("no ssh to its machines: {error}")),
    }
    line("# ready")?;
    let (over, ended) = mpsc::channel();
    let stop = over.clone();
    std::thread::Builder::new().name("lab-net-signal".to_owned()).spawn(move || {
        drop(drive(interrupted));
        drop(stop.send(None));
    })?;
    std::thread::Builder::new().name("lab-net-accept".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            if over.send(Some(stream)).is_err() {
                return;
            }
        }
    })?;
    while let Ok(Some(stream)) = ended.recv() {
        if answer(&mut session, &ghost, &stream) {
            break;
        }
    }
    drop(std::fs::remove_file(&path));
    Ok(())
}

/// Does what is asked; returns whether that was to end.
fn answer(session: &mut Session, ghost: &Path, stream: &UnixStream) -> bool {
    let mut text = String::new();
    let asked = BufReader::new(stream).read_line(&mut text).map_err(anyhow::Error::from);
    let asked = asked.and_then(|_| Ok(serde_json::from_str::<Request>(&text)?));
    let ends = matches!(asked, Ok(Request::Down));
    let answer = asked.and_then(|request| carry_out(session, ghost, &request));
    let answer = answer.unwrap_or_else(|error| json!({"error": format!("{error:#}")}));
    let mut stream = stream;
    // Whoever asked may be gone.
    drop(stream.write_all(format!("{answer}\n").as_bytes()));
    ends
}

fn carry_out(session: &mut Session, ghost: &Path, request: &Request) -> anyhow::Result<Value> {
    Ok(match request {
        Request::Inject { fault } => {
            session.inject(named(fault)?)?;
            json!({"injected": fault, "text": format!("{fault} is in the network")})
        }
        Request::Check => {
            let outcome = session.check(ghost)?;
            json!({"agrees": outcome.truth == outcome.said, "f1": outcome.f1(), "truth": outcome.truth, "said": outcome.said,
                "traces": outcome.traces.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "seconds": outcome.gathered_in.as_secs_f64(), "text": words(&outcome)})
        }
        Request::Reset => {
            let is_restored = session.reset()?;
            let text =
                if is_restored { "the network is as it was" } else { "the network differs from how it was" };
            json!({"restored": is_restored, "text": text})
        }
        Request::Down => json!({"down": true, "text": "the network is gone"}),
    })
}

fn words(outcome: &Outcome) -> String {
    let mut lines = Vec::new();
    for pair in outcome.truth.intersection(&outcome.said) {
        lines.push(format!("said, and right:  {pair}"));
    }
    for pair in outcome.truth.difference(&outcome.said) {
        lines.push(format!("not said:         {pair}"));
    }
    for pair in outcome.said.difference(&outcome.truth) {
        lines.push(format!("wrongly said:     {pair}"));
    }
    for trace in &outcome.traces {
        lines.push(format!("given away:       {trace}"));
    }
    if lines.is_empty() {
        lines.push("nothing is wrong, and nothing was said".to_owned());
    }
    lines.push(format!("F1 {:.2}, gathered in {:.1} s", outcome.f1(), outcome.gathered_in.as_secs_f64()));
    lines.join("\n")
}

/// Removes what a network left whose `up` was killed; nothing where nothing is left.
fn left_behind(folder: &Path) -> anyhow::Result<Option<Value>> {
    let hint = "whoever started that network may remove it: run the command as root";
    let left = Net::clear(folder).map_err(|error| Hinted::new(error, hint))?;
    Ok((!left.is_empty()).then(|| {
        let text = format!("no network was up; removed what a killed one had left: {}", left.join(", "));
        json!({"down": true, "text": text})
    }))
}

/// Asks the network that is up.
pub(super) fn ask(data: &Path, request: &Request) -> anyhow::Result<Value> {
    let folder = folder(data);
    let Ok(mut stream) = UnixStream::connect(folder.join(SOCKET)) else {
        if matches!(request, Request::Down)
            && let Some(answer) = left_behind(&folder)?
        {
            return Ok(answer);
        }
        let hint = "start one in another terminal: `ghost lab net up TOPOLOGY`";
        return Err(Hinted::new(anyhow::anyhow!("no network is up"), hint).into());
    };
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.write_all(format!("{}\n", serde_json::to_string(request)?).as_bytes())?;
    let mut text = String::new();
    BufReader::new(stream).read_line(&mut text).context("waiting for the network's answer")?;
    let answer: Value = serde_json::from_str(&text).context("reading the network's answer")?;
    match answer.get("error").and_then(Value::as_str) {
        Some(error) => Err(anyhow::anyhow!("{}", ghost_tools::print::harmless(error))),
        None => Ok(answer),
    }
}
