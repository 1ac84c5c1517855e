//! The arguments, and the loop between the session and whoever sits at the terminal.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum as _};
use tokio::sync::mpsc;

use crate::cli::engine::{engine_for, limits, owner};
use crate::cli::investigate::again;
#[cfg(feature = "lab")]
use crate::cli::investigate::case;
use crate::cli::investigate::clusters::{clusters, with_nodes};
use crate::cli::investigate::hosts::{configured_hosts, knows_cloud, machines, recorded};
use crate::cli::investigate::investigator::{InvestigatorKind, investigator};
use crate::cli::investigate::question::{QuestionOutcome, ask, rule};
use crate::cli::investigate::reports::Reports;
use crate::cli::investigate::screen::{Screen, ScreenKind};
use crate::cli::investigate::words::{Input, Keyboard, read as parse_input};
use ghost_base::SessionId;
use ghost_investigate::Outcome;
use ghost_investigate::complaint::{Request, request};
use ghost_investigate::event::{HumanMessage, Opened, Origin, SessionCluster, SessionHost, read};
use ghost_investigate::memory::Memory;
use ghost_investigate::model::Model;
use ghost_investigate::recheck::possible;
use ghost_investigate::report::{Recorded, UNANSWERED, follow_up};
use ghost_investigate::runbook::naming;
use ghost_investigate::state::State;
use ghost_investigate::symptom_text::names;
use ghost_session::{DriveControl, DriveOutcome, Engine, InboxMessage};
use ghost_shell::Cancel;
use ghost_store::Store;
use ghost_tools::consent::{Consent, human, is_plain};
use ghost_tools::host::SshArguments;
use ghost_tools::name::{new_session, random};
use ghost_tools::print::{Hinted, harmless, note};
use ghost_tools::runbooks;
use ghost_tools::setup::Setup;
use ghost_tools::wait::{drive, interrupted};

/// Whoever says more has a report, no symptom.
const MAX_SYMPTOM_BYTES: usize = 20_000;

/// A fault was found.
const BAD_NEWS: u8 = 3;

/// What was seen decides nothing.
const INCONCLUSIVE: u8 = 4;

/// The arguments of `ghost investigate`.
#[derive(Debug, Args)]
#[command(
    after_help = "While it works, type to steer it: any words reach the investigation; `status`, `report`, `stop` and `help` are \
orders. Ctrl-C pauses; --resume goes on exactly there. Behind the report, questions about it are answered from what was recorded.\n\nExamples:\n  ghost investigate 'iperf to web-1:5001 hangs since the \
hardening run' --brain scripted --script turns.jsonl\n  ghost investigate --resume ghost-1f0c9a2b7e --brain scripted --script \
turns.jsonl\n  ghost investigate 'DNS is slow' --brain scripted --script turns.jsonl --json | jq -r .kind\n  ghost investigate 'dns is slow on this host'\n  ghost investigate 'web-1 cannot reach db-1 on port 5432' --host web-1 --host ops@db-1\n  ghost investigate 'names fail on web-1' --inventory hosts.yml\n  ghost investigate --recheck ghost-1f0c9a2b7e\n\nMachines that are named with --host or stand in [hosts] of the configuration are read themselves, by one script that only reads. So is \
this machine where the words say so, or where no cloud is configured."
)]
pub(in crate::cli) struct Arguments {
    /// What is wrong, in plain words.
    #[cfg_attr(feature = "lab", arg(required_unless_present_any = ["resume", "recheck", "case"]))]
    #[cfg_attr(not(feature = "lab"), arg(required_unless_present_any = ["resume", "recheck"]))]
    symptom: Option<String>,
    /// Investigate a case that comes with the program (see `ghost lab cases`) in a cloud of this process; what the person in the case says is
    /// the symptom, unless one is given.
    #[cfg(feature = "lab")]
    #[arg(long, value_name = "ID", value_parser = crate::cli::demo::case_name, conflicts_with_all = ["resume", "recheck"])]
    case: Option<String>,
    /// What investigates; `[model] brain` of the configuration unless said, else the playbook.
    #[arg(long, value_enum)]
    brain: Option<InvestigatorKind>,
    /// The turns of the scripted investigator: JSONL, `{"text", "calls": [{"tool", "arguments"}]}` a line.
    #[arg(long, value_name = "FILE", required_if_eq("brain", "scripted"))]
    script: Option<PathBuf>,
    /// Go on with a session that was paused or cut off.
    #[arg(long, value_name = "ID")]
    resume: Option<SessionId>,
    /// What a session reported is fixed: repeat the checks that had shown the faults, and nothing else. Exit code 0 where all of
    /// it is verified fixed, 3 where something is still broken, 4 where that is undecided.
    #[arg(long, value_name = "ID", conflicts_with_all = ["resume", "symptom", "brain", "script"])]
    recheck: Option<SessionId>,
    /// A machine that is read itself, by ssh: a name or an address, or a name of `[hosts]`; repeatable.
    #[arg(long, value_name = "[USER@]HOST")]
    host: Vec<String>,
    /// Machines that are read themselves, from a file: an ssh configuration, an inventory of Ansible (INI or YAML), or a CSV. Those that
    /// the words or --host name; all of them, where none is named.
    #[arg(long, value_name = "FILE")]
    inventory: Option<PathBuf>,
    /// A Kubernetes cluster whose inside is read, with `kubectl`: one of `[clusters]`, or a context; repeatable. Those of `[clusters]`, where
    /// none is named.
    #[arg(long, value_name = "NAME")]
    cluster: Vec<String>,
    /// What to do when a human has to be asked.
    #[arg(long, value_enum, default_value_t = Consent::Ask)]
    approve: Consent,
    /// Print the events, a line of JSON each.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where a fault was found (CONFIRMED or LIKELY), with 4 where the investigation is INCONCLUSIVE.
    #[arg(long)]
    exit_code: bool,
    /// Print lines only, no board that is drawn again.
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    ssh: SshArguments,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, setup: Setup) -> anyhow::Result<u8> {
    if arguments.symptom.as_deref().is_some_and(|symptom| symptom.trim().is_empty()) {
        return Err(
            Hinted::new(anyhow::anyhow!("the symptom is empty"), "say in plain words what is wrong").into()
        );
    }
    if arguments.symptom.as_deref().is_some_and(|symptom| symptom.len() > MAX_SYMPTOM_BYTES) {
        let error = anyhow::anyhow!("the symptom is longer than {MAX_SYMPTOM_BYTES} bytes");
        return Err(
            Hinted::new(error, "say what is wrong in a few sentences; details can be typed later").into()
        );
    }
    let setup = Arc::new(setup);
    drive(|| investigate(arguments, &setup))?
}

async fn investigate(arguments: &Arguments, setup: &Arc<Setup>) -> anyhow::Result<u8> {
    let live = !arguments.plain && std::io::stderr().is_terminal() && !is_plain(setup);
    let kind = match (arguments.json, live) {
        (true, _) => ScreenKind::Json,
        (false, true) => ScreenKind::Live,
        (false, false) => ScreenKind::Plain,
    };
    let screen = Arc::new(Screen::new(kind));
    let store = setup.store().await?;
    let before = match arguments.resume.as_ref().or(arguments.recheck.as_ref()) {
        Some(session) => known(store.as_ref(), session).await?,
        None => None,
    };
    #[cfg(feature = "lab")]
    before.as_ref().map_or(Ok(()), case::refuse_elsewhere)?;
    let model = match &arguments.recheck {
        Some(session) => {
            again::ask(store.as_ref(), session, before.as_ref(), human(setup)).await?;
            again::nobody()
        }
        None => investigator(setup, arguments.brain, arguments.script.as_deref())?,
    };
    let own = setup;
    #[cfg(feature = "lab")]
    let stage = match &arguments.case {
        Some(name) => Some(case::CaseStage::up(name, own).await?),
        None => None,
    };
    #[cfg(feature = "lab")]
    let setup = stage.as_ref().map_or(own, |stage| &stage.setup);
    let clusters = arguments.clusters(own)?;
    let hosts = arguments.hosts(before.as_ref(), &clusters, own)?;
    let builder = engine_for(setup, store, Arc::clone(&model), &hosts)?
        .delivery(Arc::new(Reports::new(setup.data()?)))
        .observer(screen.clone());
    #[cfg(feature = "lab")]
    let builder = if stage.is_some() { builder.lease_ttl(case::LEASE) } else { builder };
    let engine = builder.build(owner("terminal")?);
    let session = match arguments.resume.as_ref().or(arguments.recheck.as_ref()) {
        Some(session) => session.clone(),
        None => {
            let mut opened =
                opening(arguments.symptom.as_deref().unwrap_or_default(), setup, model.as_ref())?;
            opened.cloud_too = knows_cloud(own)
                && if hosts.is_empty() { !clusters.is_empty() } else { SessionHost::may_be_of_cloud(&hosts) };
            (opened.requester, opened.hosts, opened.clusters) = (human(own), hosts, clusters);
            #[cfg(feature = "lab")]
            if let Some(stage) = &stage {
                (opened.origin.place, opened.scope) = (stage.place.clone(), Some(case::scope()));
                opened.clusters.clone_from(&stage.clusters);
                opened.cloud_too = !stage.clusters.is_empty();
                if arguments.symptom.is_none() {
                    opened.symptom.clone_from(&stage.prompt);
                }
            }
            open(&engine, opened).await?
        }
    };
    let terminal = Terminal {
        arguments,
        setup: own,
        engine: &engine,
        screen: &screen,
        session: &session,
        keyboard: Keyboard::default(),
    };
    let attending = terminal.attend();
    let attending = crate::cli::capture::beside(
        setup,
        |left| {
            screen.clear();
            note(&left);
        },
        attending,
    );
    attending.await
}

impl Arguments {
    /// Returns the machines that are read themselves. A session that goes on has its own in its record, and reaches them as before.
    fn hosts(
        &self,
        before: Option<&State>,
        clusters: &[SessionCluster],
        setup: &Setup,
    ) -> anyhow::Result<Vec<SessionHost>> {
        #[cfg(feature = "lab")]
        if self.case.is_some() {
            return Ok(Vec::new());
        }
        let symptom = self.symptom.as_deref().unwrap_or_default();
        match before {
            Some(before) => recorded(before),
            // Whoever names a cluster, and no machine, means no machine.
            None if !clusters.is_empty() && self.host.is_empty() && self.inventory.is_none() => {
                let mut named = setup.config.hosts.keys().filter(|name| names(symptom, name));
                match named.next() {
                    Some(_) => machines(&[], None, symptom, &self.ssh, setup),
                    None => Ok(Vec::new()),
                }
            }
            None => machines(&self.host, self.inventory.as_deref(), symptom, &self.ssh, setup),
        }
    }

    /// Returns the clusters whose inside is read.
    fn clusters(&self, setup: &Setup) -> anyhow::Result<Vec<SessionCluster>> {
        #[cfg(feature = "lab")]
        if self.case.is_some() {
            return Ok(Vec::new());
        }
        let found = clusters(&self.cluster, &setup.config)?;
        Ok(if found.is_empty() { found } else { with_nodes(found, &configured_hosts(setup)) })
    }
}

/// Finds a session that is to be resumed; nothing where it has not begun.
async fn known(store: &dyn Store, session: &SessionId) -> anyhow::Result<Option<State>> {
    let lines = store.read(session, 0).await?;
    if lines.is_empty() && store.inbox(session).await?.is_empty() {
        let error = anyhow::anyhow!("there is no session {session}");
        return Err(Hinted::new(error, "`ghost sessions list` shows those that there are").into());
    }
    if lines.is_empty() {
        return Ok(None);
    }
    Ok(Some(State::fold(session, &read(session, lines.iter().map(String::as_str))?)?))
}

/// Puts the incident into the inbox of a new session.
async fn open(engine: &Engine, opened: Opened) -> anyhow::Result<SessionId> {
    let session = new_session("ghost")?;
    let message = serde_json::to_string(&InboxMessage::Open(Box::new(opened)))?;
    engine.store.deliver(&session, "open", &message).await?;
    Ok(session)
}

/// Returns how a session begins.
fn opening(symptom: &str, setup: &Setup, model: &dyn Model) -> anyhow::Result<Opened> {
    Ok(Opened {
        symptom: symptom.trim().to_owned(),
        requester: human(setup),
        origin: Origin { place: "terminal".to_owned(), team: None, channel: None, thread: None },
        quotes: Vec::new(),
        nonce: random::<8>()?,
        investigator: model.investigator(),
        limits: limits(setup),
        scope: None,
        hosts: Vec::new(),
        cloud_too: false,
        clusters: Vec::new(),
        surroundings: Some(setup.surroundings()?),
        gathered: Box::default(),
        by_program: false,
        outside: None,
        alert: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Returns the exit code for what an investigation came to.
fn code(outcome: Option<Outcome>) -> u8 {
    match outcome {
        Some(Outcome::Confirmed | Outcome::Likely) => BAD_NEWS,
        Some(Outcome::NoFaultFound) => 0,
        Some(Outcome::Inconclusive) | None => INCONCLUSIVE,
    }
}

/// The session and the terminal that it is attended from.
struct Terminal<'a> {
    arguments: &'a Arguments,
    setup: &'a Setup,
    engine: &'a Engine,
    screen: &'a Screen,
    session: &'a SessionId,
    keyboard: Keyboard,
}

impl Terminal<'_> {
    async fn attend(&self) -> anyhow::Result<u8> {
        let mut lines = self.keyboard.listen();
        let approver = self.arguments.approve.approver(self.setup);
        let mut is_printed = false;
        loop {
            let (pause, signal) = Cancel::new();
            let control = DriveControl { pause: signal, transfers: false };
            let rest = {
                let driving = self.engine.drive(self.session, &control);
                tokio::pin!(driving);
                let mut interrupts = 0_u8;
                loop {
                    tokio::select! {
                        biased;
                        rest = &mut driving => break rest?,
                        () = interrupted() => {
                            interrupts += 1;
                            pause.cancel();
                            if interrupts > 1 {
                                return Err(self.paused("given up in the middle of a command"));
                            }
                        }
                        Some(line) = lines.recv() => if !line.is_empty() { self.hear(&line).await? },
                    }
                }
            };
            match rest {
                DriveOutcome::Over => return self.report(is_printed, &mut lines).await,
                DriveOutcome::Waiting { approval, .. } => {
                    self.screen.clear();
                    let state = self.state().await?;
                    // The answer comes first, then the question whether what is left may go.
                    if state.is_reported() && !is_printed {
                        self.print(&state)?;
                        is_printed = true;
                    }
                    let held = self.keyboard.take().await;
                    let asked = tokio::select! {
                        asked = ask(self.engine, &state, &approval, &approver, rule(self.setup)) => asked?,
                        () = self.until(&state, &approval) => QuestionOutcome::Lost("nobody answered in time; nothing ran".to_owned()),
                        () = interrupted() => return Err(self.paused("paused while a question is open")),
                    };
                    drop(held);
                    if let QuestionOutcome::Lost(why) = asked {
                        note(&why);
                    }
                }
                DriveOutcome::Offered { until } => {
                    return Err(
                        self.paused(&format!("the agent that asked can use the consent until {until}"))
                    );
                }
                DriveOutcome::Paused => return Err(self.paused("paused")),
                DriveOutcome::Stuck { why } => return Err(self.paused(&why)),
                DriveOutcome::Undelivered { why } => {
                    return Err(self.paused(&format!("the report could not be written: {why}")));
                }
                DriveOutcome::Taken => {
                    let error = anyhow::anyhow!("another process drives the session {}", self.session);
                    return Err(Hinted::new(error, "wait for it to end, or until its lease ends").into());
                }
                DriveOutcome::Missing => {
                    return Err(anyhow::anyhow!("the session {} never began", self.session));
                }
            }
        }
    }

    /// Waits until a question runs out.
    async fn until(&self, state: &State, approval: &str) {
        let now = self.engine.clock.now();
        let end = state.approvals.get(approval).map_or(now, |asked| asked.requested.expires_at);
        tokio::time::sleep(end.since(now)).await;
    }

    /// Takes in what was typed while the session works.
    async fn hear(&self, line: &str) -> anyhow::Result<()> {
        match parse_input(line) {
            Input::Status => self.screen.status(&self.state().await?),
            Input::Help => note(
                "Any words steer the investigation. `status`, `report`, `stop` and `help` are orders; Ctrl-C pauses.",
            ),
            Input::Words(instruction, text) => {
                let said = HumanMessage { who: human(self.setup), text, instruction };
                let message = serde_json::to_string(&InboxMessage::Said(said))?;
                self.engine.store.deliver(self.session, &random::<8>()?, &message).await?;
            }
        }
        Ok(())
    }

    async fn state(&self) -> anyhow::Result<State> {
        let lines = self.engine.store.read(self.session, 0).await?;
        Ok(State::fold(self.session, &read(self.session, lines.iter().map(String::as_str))?)?)
    }

    /// Tells whether somebody sits there who reads the report and may ask about it.
    fn is_attended(&self) -> bool {
        !self.arguments.plain
            && std::io::stdin().is_terminal()
            && std::io::stdout().is_terminal()
            && std::io::stderr().is_terminal()
    }

    /// Answers questions about the report from what was recorded, until an empty line.
    async fn answer_questions(
        &self,
        state: &State,
        lines: &mut mpsc::Receiver<String>,
    ) -> anyhow::Result<()> {
        note(
            "Questions? \"show the rule\", \"why not the NSG?\", \"how do I fix it?\" … An empty line ends it.",
        );
        loop {
            let asked = tokio::select! {
                line = lines.recv() => line,
                () = interrupted() => None,
            };
            let Some(question) = asked.filter(|line| !matches!(line.trim(), "" | "exit" | "quit" | "q"))
            else {
                return Ok(());
            };
            let recorded = Recorded {
                state,
                tools: &self.engine.tools,
                evidence: self.engine.evidence.as_ref(),
                approvers: None,
            };
            let known = follow_up(&recorded, &question).map(|answer| answer.text);
            let answer = known.unwrap_or_else(|| match request(&question) {
                Request::Look => {
                    "That is a new request. Begin it with `ghost investigate`; this report stays as it is."
                        .to_owned()
                }
                Request::Question | Request::Remark => {
                    format!("{UNANSWERED} `ghost investigate \"…\"` begins a new look.")
                }
            });
            note(&answer);
        }
    }

    /// Prints the report as it was delivered, unless it was printed before a question below it, and says how it ended.
    async fn report(&self, is_printed: bool, lines: &mut mpsc::Receiver<String>) -> anyhow::Result<u8> {
        self.screen.clear();
        let state = self.state().await?;
        let code = match (&self.arguments.recheck, self.arguments.exit_code) {
            (Some(_), _) => again::code(&state),
            (None, true) => code(state.concluded.as_ref().map(|(_, concluded)| concluded.outcome)),
            (None, false) => 0,
        };
        if !is_printed {
            self.print(&state)?;
        }
        if self.is_attended() && !self.arguments.json {
            self.answer_questions(&state, lines).await?;
        }
        Ok(code)
    }

    fn print(&self, state: &State) -> anyhow::Result<()> {
        if self.arguments.json {
            return Ok(());
        }
        let file = Reports::new(self.setup.data()?).file(self.session);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            // It was delivered elsewhere, or somebody cleared it away.
            Err(_) => ghost_investigate::report::rca(state),
        };
        {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
        }
        self.print_runbooks(state);
        note(&format!("report: {}", file.display()));
        if self.arguments.recheck.is_none() && possible(state).is_ok() {
            note(&format!("once it is fixed: ghost investigate --recheck {}", self.session));
        }
        Ok(())
    }

    /// Names the sections of the site's runbooks that speak of what was found.
    fn print_runbooks(&self, state: &State) {
        let Some(folder) = &self.setup.config.site.runbooks else { return };
        let read = match runbooks::read(folder) {
            Ok(read) => read,
            Err(error) => return note(&format!("runbooks not shown: {error:#}")),
        };
        read.unread.iter().for_each(|file| note(&format!("runbook not read: {file}")));
        for one in naming(&read.notes, &Memory::of(state)) {
            note(&format!("from your runbooks, {} ({}):", harmless(&one.heading), harmless(&one.file)));
            one.shown().lines().for_each(|line| note(&format!("  {}", harmless(line))));
        }
    }

    fn paused(&self, why: &str) -> anyhow::Error {
        self.screen.clear();
        let mut hint = format!("ghost investigate --resume {}", self.session);
        if let Some(data) = self.setup.named_data() {
            hint.push_str(&format!(" --data-dir {}", data.display()));
        }
        if let Some(file) = &self.setup.file {
            hint.push_str(&format!(" --config {}", file.display()));
        }
        if let Some(kind) = self.arguments.brain.and_then(|kind| kind.to_possible_value()) {
            hint.push_str(&format!(" --brain {}", kind.get_name()));
        }
        if let Some(script) = &self.arguments.script {
            hint.push_str(&format!(" --script {}", script.display()));
        }
        Hinted::new(anyhow::anyhow!("session {}: {why}", self.session), hint).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_bad_news_and_what_was_not_decided_is_neither() {
        for (outcome, expected) in [
            (Some(Outcome::Confirmed), 3),
            (Some(Outcome::Likely), 3),
            (Some(Outcome::Inconclusive), 4),
            (Some(Outcome::NoFaultFound), 0),
            (None, 4),
        ] {
            assert_eq!(code(outcome), expected, "{outcome:?}");
        }
    }
}
