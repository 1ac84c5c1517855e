//! The commands by which tools read the cloud and work in it, as the policy judges them.

use std::path::Path;

use anyhow::Context as _;

use ghost_base::Timestamp;
use ghost_cloud::capture::{CaptureRequest, CaptureTask, Group, Limits, Storage};
use ghost_cloud::guest::GuestAccess;
use ghost_cloud::line::{self, Line};
use ghost_cloud::meter::TestType;
use ghost_cloud::meter::run::{AccessMethod, Compare, MeasurementRequest, Run, TestSeconds};
use ghost_cloud::operation::CommandKind;
use ghost_cloud::probe::effective::EffectiveQuery;
use ghost_cloud::probe::{GuestProbe, STATE};
use ghost_cloud::{Account, Container, Name};
use ghost_shell::{Policy, Ruling};

use ghost_tools::guest;
use ghost_tools::live::foreseen;

/// Stands for every name: what is judged is the kind of command.
const SOME: &str = "NAME";

/// Stands for the captures folder, wherever it is.
const FOLDER: &str = "/tmp/captures";

/// Stand for two machines.
const ENDS: [&str; 2] = ["NAME-1", "NAME-2"];

/// The commands by which the routes and rules of an interface are read.
pub(super) fn interface(policy: &Policy) -> anyhow::Result<Vec<Ruling>> {
    let (group, name) = (guest::place(SOME, None)?, Name::parse(SOME)?);
    let all = [EffectiveQuery::Routes, EffectiveQuery::Rules, EffectiveQuery::Itself];
    let requests = foreseen(&group, &name, &all);
    let lines = requests.iter().filter_map(|request| match &request.what {
        CommandKind::Line(line) => Some(line.text()),
        CommandKind::Script { .. } => None,
    });
    let lines = lines.chain([line::machine(&group, &name).text(), line::interfaces(&group).text()]);
    Ok(lines.map(|line| policy.classify(&line)).collect())
}

/// The commands by which an estate is read, its guests included.
pub(super) fn estate(policy: &Policy) -> anyhow::Result<Vec<Ruling>> {
    let (group, name) = (guest::place(SOME, None)?, Name::parse(SOME)?);
    let lists: [Line; 5] = [
        line::machines(&group),
        line::interfaces(&group),
        line::networks(&group),
        line::security_groups(&group),
        line::route_tables(&group),
    ];
    let mut rulings = interface(policy)?;
    rulings.extend(lists.iter().map(|line| policy.classify(&line.text())));
    let probe = GuestProbe::new(GuestAccess::Platform { place: group, machine: name }, &STATE).foreseen();
    rulings.push(ruling(policy, &probe.what)?);
    Ok(rulings)
}

/// The commands of a packet capture of two machines, from the first look to the removal of what it left.
pub(super) fn capture(policy: &Policy) -> anyhow::Result<Vec<Ruling>> {
    let order = CaptureRequest {
        group: Group { subscription: None, name: Name::parse(SOME)? },
        machines: ENDS.map(str::to_owned).to_vec(),
        storage: Storage {
            account: Account::parse("account")?,
            container: Container::parse("container")?,
            group: None,
        },
        folder: FOLDER.to_owned(),
        limits: Limits::default(),
        filters: Vec::new(),
    };
    let task = CaptureTask::new("capture-NAME".parse()?, 1, order.check(&[])?, Timestamp::from_millis(0))?;
    let policy = policy.clone().captures_in(Path::new(FOLDER));
    Ok(task.foreseen().iter().map(|step| policy.classify(&step.command())).collect())
}

/// The commands of a measurement between two machines, those that install what lacks included.
pub(super) fn measurement(policy: &Policy) -> anyhow::Result<Vec<Ruling>> {
    let [source, destination] = ENDS.map(str::to_owned);
    let ask = MeasurementRequest {
        session: "measurement-NAME".parse()?,
        source,
        destination,
        place: Some(guest::place(SOME, None)?),
        access: AccessMethod::Platform,
        test_type: TestType::Both,
        iterations: 1,
        both_directions: true,
        seconds: TestSeconds { latency: 2, throughput: 10 },
        storage: Some((Account::parse("account")?, Container::parse("container")?)),
        folder: FOLDER.to_owned(),
        is_baseline: true,
        compare: Compare::Nothing,
        tolerance: 20.0,
        force: false,
    };
    let run = Run::new(ask, Timestamp::from_millis(0));
    run.foreseen().iter().map(|request| ruling(policy, &request.what)).collect()
}

fn ruling(policy: &Policy, what: &CommandKind) -> anyhow::Result<Ruling> {
    match what {
        CommandKind::Line(line) => Ok(policy.classify(&line.text())),
        CommandKind::Script { carrier, script, variables } => {
            let values: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let script = policy.script(script).context("the policy declares no such script")?;
            Ok(policy.classify_script(carrier.words(), &script.fill(&values)?))
        }
    }
}
