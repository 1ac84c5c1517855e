//! The session as a whole: how it begins, what people write, how it ends.

use serde::{Deserialize, Serialize};

use crate::event::{Alert, Finding, ObservationId, Outside, text};
use crate::finding::FaultCode;
use crate::model::Investigator;
use crate::suspect::Looked;
use crate::{Confidence, HypothesisState, Limits, Outcome};
use ghost_base::Digest;
use ghost_shell::{Scope, Surroundings};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// What is wrong, in the words of whoever asks.
    pub symptom: String,
    pub requester: String,
    /// Where: `terminal`, or a channel and a thread.
    pub origin: Origin,
    /// What the symptom was put together from; empty where somebody wrote all of it.
    #[serde(default, skip_serializing_if = "is_unmixed")]
    pub gathered: Box<Gathered>,
    /// What was said before, as quotes; data and no orders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
    /// Marks quoted text; nobody outside can guess it.
    pub nonce: String,
    #[serde(rename = "brain")]
    pub investigator: Investigator,
    /// What may be spent.
    pub limits: Limits,
    /// Which part of the cloud may be read; everything, where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The machines that are read themselves, by the words that carry a script there; none where the cloud is looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<SessionHost>,
    /// Whether the cloud is looked at, too, where it knows one of these machines: then their inside is read by these words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cloud_too: bool,
    /// The Kubernetes clusters whose inside may be read; none in earlier ledgers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<SessionCluster>,
    /// To which destinations commands may send something before anybody wrote a word; absent in earlier ledgers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Surroundings>,
    /// Whether a program wrote the symptom, as an alert: then its words are no words of people.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_program: bool,
    /// The request that it was opened for, where an agent made one that no session drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<Box<Outside>>,
    /// The alert that opened it by itself, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<Box<Alert>>,
    pub version: String,
}

/// A machine that a session reads itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHost {
    /// How findings name it.
    pub name: String,
    /// The words before the text of a script.
    pub carrier: Vec<String>,
}

/// A Kubernetes cluster whose inside a session may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCluster {
    /// How findings name it.
    pub name: String,
    /// The context of `kubectl` that leads to it.
    pub context: String,
    /// Machines that may be nodes of it, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<SessionHost>,
}

impl SessionHost {
    /// Tells whether some machines may be the cloud's: one that is reached by ssh may, the one that the program runs on is read here.
    #[must_use]
    pub fn may_be_of_cloud(hosts: &[Self]) -> bool {
        hosts.iter().any(|host| host.carrier.first().is_some_and(|word| word == "ssh"))
    }
}

/// Where a session takes place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// `terminal` or the name of a messenger.
    pub place: String,
    /// The workspace, where the messenger has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// What a symptom was put together from, and what could not be read for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gathered {
    /// The most important one first. Data of other people and programs, except what stands in the mention itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<Passage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

fn is_unmixed(gathered: &Gathered) -> bool {
    gathered.is_empty()
}

impl Gathered {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.passages.is_empty() && self.unread.is_empty()
    }
}

/// Something of a thread that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Unread {
    /// Pictures are never read.
    Picture { name: String },
    /// The messenger lets the program read no files; `scope` would.
    Scope { name: String, scope: String, is_begun: bool },
    /// A text file of more bytes than are read.
    Large { name: String },
    /// A file that holds no text.
    Kind { name: String },
    /// A file of another organization.
    Elsewhere { name: String },
    /// It could not be fetched.
    Failed { name: String },
    /// Messages of the thread beyond those that are read.
    Older { messages: u64 },
}

/// A part of a thread that a symptom was put together from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    pub place: PassagePlace,
    /// The name of whoever wrote it, or of the program.
    pub who: String,
    /// When, RFC 3339; absent if the messenger does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    pub text: String,
    /// Whether a program wrote it: then its words make no destination known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_program: bool,
}

/// Where a passage stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassagePlace {
    /// The words that asked for the investigation.
    Mention,
    /// A message that was forwarded with them.
    Forwarded,
    /// A message that they link to.
    Linked,
    /// A table that was pasted.
    Table,
    /// A file, or as much of it as is shown.
    File,
    /// The message at the top of the thread.
    Root,
    /// An answer in the thread.
    Reply,
    /// A message of the channel, right before.
    Channel,
}

/// The words of a complaint were replaced: their author edited them, or said what was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reworded {
    pub who: String,
    /// What is wrong, from now on.
    pub symptom: String,
    #[serde(default, skip_serializing_if = "Gathered::is_empty")]
    pub gathered: Gathered,
}

/// What somebody said before the session began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    pub who: String,
    pub text: String,
}

impl Delivered {
    /// What a report is called.
    pub const REPORT: &'static str = "report";

    /// What the message is called that the thread of an alert hangs on.
    pub const ALERT: &'static str = "alert";

    /// What a board is called.
    pub const BOARD: &'static str = "board";

    /// Returns what the card of a question is called.
    #[must_use]
    pub fn card_of(approval: &str) -> String {
        format!("card {approval}")
    }

    /// Returns the question, where it is a card.
    #[must_use]
    pub fn card(&self) -> Option<&str> {
        self.what.strip_prefix("card ")
    }

    /// Tells whether it is a report.
    #[must_use]
    pub fn is_report(&self) -> bool {
        self.what == Self::REPORT
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HypothesisSet {
    /// Its name, such as `H1`.
    pub id: String,
    /// What is supposed; absent where only the state changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What is held of it now.
    pub state: HypothesisState,
    /// Who set it: `model` or `code`.
    pub by: String,
    /// Why, where it is not the model's own judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HumanMessage {
    pub who: String,
    pub text: String,
    #[serde(rename = "wish")]
    pub instruction: Instruction,
}

/// What a human asks of a running session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instruction {
    /// The investigation should take it into account.
    Steer,
    /// It should end now.
    Stop,
    /// It should report what it has, and end.
    Report,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noted {
    /// What the model reads.
    pub text: String,
    pub reason: Note,
}

/// Why the code speaks to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// The turn called nothing.
    NoCalls,
    /// The turn ran into its limit.
    CutOff,
    /// The turn was refused.
    Refused,
    /// The turn was malformed.
    Malformed,
    /// A budget is nearly spent.
    BudgetLow,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discarded {
    /// Why it says nothing.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetSpent {
    /// Which: `turns`, `commands`, `minutes`, `captured bytes`, `tokens`, `cost`.
    pub what: String,
    /// How much was used.
    pub used: u64,
    /// How much there was.
    pub limit: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// The fencing number of the new owner.
    pub epoch: u64,
    /// How many events before this one the store had lost and the owner wrote back; none in ledgers of before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restored: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Concluded {
    /// What came of it; computed.
    pub outcome: Outcome,
    /// How sure; follows from the outcome.
    pub confidence: Confidence,
    /// How sure the model claims to be; the report shows it, and it counts for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Confidence>,
    /// What the model claims.
    pub summary: String,
    /// What should be done, in order.
    pub actions: Vec<String>,
    /// What would settle what is open.
    pub open_questions: Vec<String>,
    /// What was not inspected, and why not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived: Vec<Waived>,
    /// Who ended it: `model`, `human`, `budget` or `code`.
    pub by: String,
    /// The faults of the report before and now, where they were checked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recheck: Vec<Rechecked>,
    /// What came of each complaint, where flows were judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<ComplaintOutcome>,
    /// What a later look came to that left the report before it as it was; all else here is then of that report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands: Option<String>,
    /// The findings of the report before that observations since then contradict. They are findings no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replaced>,
}

/// A finding of an earlier report that later observations contradict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// The fault.
    pub code: FaultCode,
    /// What was at fault.
    pub object: String,
    /// Which observations contradict it.
    pub why: String,
}

impl Replaced {
    /// Tells whether it is this finding.
    #[must_use]
    pub fn is(&self, finding: &Finding) -> bool {
        self.code == finding.code && self.object == finding.object
    }
}

/// What came of one complaint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComplaintOutcome {
    /// What it is about: its flows, its machines, or the names that nobody here has.
    pub about: String,
    /// What came of it; computed.
    pub outcome: Outcome,
    /// What explains it, or what is not known.
    pub why: String,
}

/// A layer that was not inspected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waived {
    #[serde(flatten)]
    pub what: Looked,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reopened {
    /// Who wants it.
    pub who: String,
    /// What they say.
    pub text: String,
    /// Whether the findings are to be checked again, and nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recheck: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delivered {
    /// What: `report`, `board`, or `card` and the name of its question.
    pub what: String,
    pub place: String,
    #[serde(with = "text")]
    pub digest: Digest,
}

/// The provider that is recorded where code alone decided what runs.
pub const RECHECK_PROVIDER: &str = "recheck";

/// A fault before and now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rechecked {
    pub code: FaultCode,
    pub object: String,
    /// What was seen when it was reported; empty where it was not there then.
    pub before: String,
    /// What was seen now, or why nothing was.
    pub after: String,
    /// What it came to.
    pub now: Now,
    /// What was observed now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<ObservationId>,
}

/// What a fault is like now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Now {
    /// The same inspection was repeated completely and does not show it any more.
    Fixed,
    /// Nobody can tell.
    Unknown,
    /// It is still there.
    Broken,
    /// It was not there before.
    New,
}
