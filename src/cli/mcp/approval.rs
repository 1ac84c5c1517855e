//! Who is asked about what needs consent, and what waits for them. Whoever drives a client is never asked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use ghost_base::{SessionId, private_dir, write_private};
use ghost_investigate::event::Impact;
use ghost_session::outside::{About, Client, OutsideAnswer, OutsideApprover, OutsideKind, OutsideRequest};
use ghost_shell::{Approver, CancelSignal, Choice, Decision, DenyAll, Request};
use ghost_tools::hook::NobodyAsked;
use ghost_tools::print::Hinted;
use ghost_tools::reach::{Reach, machine};

/// The folder below the data folder in which it stands what this client asked for.
const FOLDER: &str = "approvals";

/// How much longer than an approval lasts its answer is waited for.
const GRACE: Duration = Duration::from_secs(60);

/// How long it may take until a request has a name.
const NAMING_TIMEOUT: Duration = Duration::from_secs(10);

/// So many names are remembered; they stand on the disk, too.
const MAX_PENDING: usize = 1_024;

/// Who is asked.
#[derive(Clone)]
pub(in crate::cli) struct Approvals(Whom);

#[derive(Clone)]
enum Whom {
    /// Nobody: what needs consent does not run.
    Nobody,
    /// People in Slack, through the bot.
    Slack(Reach),
}

/// Which request a job waits for, by the name of the job.
#[derive(Clone, Default)]
pub(super) struct Pending(Arc<PendingInner>);

#[derive(Default)]
struct PendingInner {
    all: Mutex<BTreeMap<String, SessionId>>,
    changed: Notify,
}

impl Pending {
    /// Returns the request of a job, where one was made.
    pub(super) fn known(&self, job: &str) -> Option<SessionId> {
        self.0.all.lock().unwrap_or_else(PoisonError::into_inner).get(job).cloned()
    }

    /// Returns it, and waits a moment where it is being made.
    pub(super) async fn named(&self, job: &str) -> Option<SessionId> {
        let found = async {
            loop {
                let changed = self.0.changed.notified();
                if let Some(id) = self.known(job) {
                    return id;
                }
                changed.await;
            }
        };
        tokio::time::timeout(NAMING_TIMEOUT, found).await.ok()
    }

    /// Forgets what a job of this name waited for before.
    pub(super) fn forget(&self, job: &str) {
        self.0.all.lock().unwrap_or_else(PoisonError::into_inner).remove(job);
    }

    fn note(&self, job: &str, id: &SessionId) {
        let mut all = self.0.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_PENDING {
            all.clear();
        }
        all.insert(job.to_owned(), id.clone());
        drop(all);
        self.0.changed.notify_waiters();
    }
}

/// What a client asked for, as it is kept: whoever asks for its state later has to have asked for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Asked {
    /// The whole text that was asked about.
    pub(super) text: String,
    /// Why, in the client's words.
    pub(super) reasoning: String,
    /// Names the job that waits for the answer, if there is one.
    pub(super) job: String,
}

/// Whose request it is, and who hears of it.
pub(super) struct Asker {
    /// The client, by the name that people see.
    pub(super) agent: String,
    /// Where it works.
    pub(super) folder: PathBuf,
    /// The data folder of the client.
    pub(super) data: PathBuf,
    /// The client's own name of the conversation.
    pub(super) conversation: String,
    /// How long an approval lasts.
    pub(super) patience: Duration,
    /// Names the job that waits.
    pub(super) job: String,
    /// Where it stands which request a job waits for.
    pub(super) pending: Pending,
    /// Hears that a human is asked.
    pub(super) tell: Box<dyn Fn(String) + Send + Sync>,
    /// Comes once nobody waits for the answer any more.
    pub(super) leave: CancelSignal,
}

impl Approvals {
    /// Nobody is asked.
    pub(in crate::cli) fn nobody() -> Self {
        Self(Whom::Nobody)
    }

    /// People in Slack are asked.
    pub(in crate::cli) fn slack(reach: Reach) -> Self {
        Self(Whom::Slack(reach))
    }

    /// Returns the approver of one call.
    pub(super) fn approver(&self, asker: Asker) -> Arc<dyn Approver> {
        match &self.0 {
            Whom::Nobody => Arc::new(NobodyAsked),
            Whom::Slack(reach) => {
                Arc::new(AsksInSlack { reach: reach.clone(), asker, approver: Mutex::default() })
            }
        }
    }

    /// Returns that of one client, whose open requests are kept below its own data folder.
    pub(super) fn of_client(&self, data: &Path) -> Self {
        Self(match &self.0 {
            Whom::Nobody => Whom::Nobody,
            Whom::Slack(reach) => Whom::Slack(reach.clone().keeping_below(data)),
        })
    }

    /// Returns an approver for what nobody has to be asked about, or can be.
    pub(super) fn nobody_waits(&self) -> Arc<dyn Approver> {
        Arc::new(NobodyAsked)
    }

    /// Tells whether anybody can be asked.
    pub(super) fn asks(&self) -> bool {
        matches!(self.0, Whom::Slack(_))
    }

    /// Returns what asks the bot where a request stands.
    ///
    /// # Errors
    /// Fails where nobody is asked, or the bot cannot be reached.
    pub(super) async fn client(&self) -> anyhow::Result<Client> {
        match &self.0 {
            Whom::Slack(reach) => reach.client().await,
            Whom::Nobody => {
                let error = anyhow::anyhow!("nobody is asked here, so that nothing waits for an answer");
                Err(Hinted::new(error, "whoever runs the server lets it ask in Slack with `--approve slack`")
                    .into())
            }
        }
    }
}

impl Asked {
    /// Finds what a client asked for.
    ///
    /// # Errors
    /// Fails where this client asked for nothing of that name.
    pub(super) fn find(data: &Path, id: &SessionId) -> anyhow::Result<Self> {
        let missing = || {
            let error = anyhow::anyhow!("this client asked for nothing of the name {id}");
            Hinted::new(error, "the `approval.id` of an answer names it")
        };
        let text = fs::read_to_string(path(data, id)).map_err(|_| missing())?;
        Ok(serde_json::from_str(&text).map_err(|_| missing())?)
    }

    fn keep(&self, data: &Path, id: &SessionId) -> anyhow::Result<()> {
        let path = path(data, id);
        private_dir(&data.join(FOLDER))
            .and_then(|()| write_private(&path, serde_json::to_string(self)?.as_bytes()))
            .with_context(|| format!("writing {}", path.display()))
    }
}

fn path(data: &Path, id: &SessionId) -> PathBuf {
    data.join(FOLDER).join(format!("{id}.json"))
}

/// Asks people in Slack. What could not be asked, or was not answered in time, is a no.
struct AsksInSlack {
    reach: Reach,
    asker: Asker,
    /// The one that asked in the first round: it knows what a human put in the place of the text.
    approver: Mutex<Option<Arc<OutsideApprover>>>,
}

impl AsksInSlack {
    fn about(&self, request: &Request) -> About {
        About {
            agent: self.asker.agent.clone(),
            machine: machine(),
            folder: self.asker.folder.display().to_string(),
            conversation: self.asker.conversation.clone(),
            // Several commands that belong together are approved or denied as they are.
            kind: if request.plan.is_empty() { OutsideKind::Command } else { OutsideKind::Call },
            reasoning: request.reasoning.clone(),
        }
    }

    /// Makes the request durable, and says so.
    async fn open(&self, client: &Client, shown: &Request, about: About) -> anyhow::Result<SessionId> {
        let About { agent, machine, folder, conversation, kind, reasoning } = about;
        let request = OutsideRequest {
            agent,
            machine,
            folder,
            conversation,
            kind,
            text: shown.command.clone(),
            reasoning,
            rule: shown.ruling.rule.clone().into_owned(),
            reason: shown.ruling.reason.clone().into_owned(),
            impact: shown.ruling.impact.unwrap_or(Impact::Change),
        };
        let id = client.open(&request).await?;
        let asked = Asked {
            text: shown.command.clone(),
            reasoning: shown.reasoning.clone(),
            job: self.asker.job.clone(),
        };
        asked.keep(&self.asker.data, &id)?;
        self.asker.pending.note(&self.asker.job, &id);
        (self.asker.tell)(format!("a human is asked in Slack: approval {id}"));
        Ok(id)
    }
}

#[async_trait]
impl Approver for AsksInSlack {
    async fn decide(&self, request: &Request) -> Decision {
        if request.round > 1 {
            let asked = self.approver.lock().unwrap_or_else(PoisonError::into_inner).clone();
            return match asked {
                Some(approver) => approver.decide(request).await,
                None => deny(request, "this is not what was approved").await,
            };
        }
        match self.ask(request).await {
            Ok(decision) => decision,
            Err(error) => deny(request, &format!("nobody can be asked in Slack: {error:#}")).await,
        }
    }
}

impl AsksInSlack {
    async fn ask(&self, request: &Request) -> anyhow::Result<Decision> {
        let shown = shown(request);
        let client = self.reach.client().await?;
        let id = self.open(&client, &shown, self.about(request)).await?;
        let patience = self.asker.patience.saturating_add(GRACE);
        let approver = Arc::new(OutsideApprover::new(client.clone(), self.about(request), patience));
        *self.approver.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&approver));
        let mut leave = self.asker.leave.clone();
        let decision = tokio::select! {
            decision = approver.decide(&shown) => decision,
            () = leave.canceled() => {
                client.leave(&id).await;
                deny(request, "nobody waits for the answer any more; a yes that comes later counts once, for exactly the same text").await
            }
        };
        Ok(match (approver.answer(), decision) {
            (Some(OutsideAnswer::Expired { reason }), decision) => {
                let choice = Choice::Deny { reason };
                Decision { choice, ..decision }
            }
            (_, decision) => decision,
        })
    }
}

/// Returns the request as one text that a human can read: of several commands, all of them.
fn shown(request: &Request) -> Request {
    if request.plan.is_empty() {
        return request.clone();
    }
    let commands: Vec<&str> = request.plan.iter().map(|step| step.command.as_str()).collect();
    Request { command: commands.join("\n"), plan: Vec::new(), ..request.clone() }
}

/// Denies it in nobody's name.
async fn deny(request: &Request, reason: &str) -> Decision {
    let Decision { who, .. } = DenyAll.decide(request).await;
    Decision { choice: Choice::Deny { reason: reason.to_owned() }, who }
}
