//! The runner: answers what has a request of its own, and leaves the rest to `az`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{Clock as _, SystemClock};
use ghost_shell::{CancelSignal, ExecError, Output, Permit, Runner, Setting, quote, redact};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::account::Subscription;
use super::cache::{Kept, Key, TurnCache, is_good, is_small};
use super::client::Client;
use super::failure::Failure;
use super::log::RequestLog;
use super::memory;
use super::perform::Reading;
use super::place::Place;
use super::print;
use super::request::{Format, Left, Request};
use super::table::Read;
use super::token::Tokens;
use crate::sign_in::{Account, SignInMethod};

/// What stands in the place of a program's file.
const BY: &str = "(the native reader)";

/// How long the list of subscriptions is remembered.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// The variable by which `az` knows as whom it runs.
const FOLDER: &str = "AZURE_CONFIG_DIR";

/// What is read as one identity without `az`.
struct Reader {
    client: Client,
    /// The folder in which that identity would be signed in to `az`: what runs with another one runs as somebody else.
    folder: PathBuf,
    method: SignInMethod,
    /// Who it is, without a secret.
    identity: Arc<str>,
    pinned: Option<String>,
    /// How many changes have begun or ended in this process, whoever asked for them.
    changes: AtomicU64,
    subscriptions: Mutex<Option<(Instant, Vec<Subscription>)>>,
}

/// Reads by itself what it can, as one identity, and leaves everything else to another runner.
#[derive(Clone)]
pub struct NativeReader {
    reader: Arc<Reader>,
    cache: Arc<TurnCache>,
    other: Arc<dyn Runner>,
}

/// Counts a change when it begins and when it ends, however it ends: what was read before or meanwhile is not given again.
struct Changing<'a>(&'a AtomicU64);

impl<'a> Changing<'a> {
    fn begin(changes: &'a AtomicU64) -> Self {
        changes.fetch_add(1, Ordering::SeqCst);
        Self(changes)
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl NativeReader {
    /// Reads as somebody whose sign-in to `az` would lie in `folder`; nothing for whom no token can be had without `az`.
    ///
    /// A process with a reader holds tokens in its memory: it leaves no core file behind from then on.
    #[must_use]
    pub fn new(account: &Account, folder: PathBuf, place: Place, other: Arc<dyn Runner>) -> Option<Self> {
        let client = Client::new(place, Tokens::of(&account.method)?);
        memory::keep_private();
        let reader = Reader {
            client,
            folder,
            method: account.method.clone(),
            identity: account.describe().into(),
            pinned: account.subscription.clone(),
            changes: AtomicU64::new(0),
            subscriptions: Mutex::default(),
        };
        Some(Self { reader: Arc::new(reader), cache: Arc::default(), other })
    }

    /// The same reader, with its token and its patience, in front of another runner; what that one reads in a turn is its own.
    #[must_use]
    pub fn before(&self, other: Arc<dyn Runner>) -> Self {
        Self { reader: Arc::clone(&self.reader), cache: Arc::default(), other }
    }

    /// Reads what a permit asks for, or says why it is left to the other one.
    fn request(&self, permit: &Permit, setting: &Setting) -> Result<Request, Left> {
        let words = permit.words().filter(|_| permit.is_confined()).ok_or(Left::Other)?;
        let folder = setting.environment.get(FOLDER).map(OsString::as_os_str);
        if folder != Some(self.reader.folder.as_os_str()) {
            return Err(Left::Other);
        }
        Request::read(words, &setting.environment)
    }
}

#[async_trait]
impl Runner for NativeReader {
    fn starts_processes(&self) -> bool {
        self.other.starts_processes()
    }

    fn brings_identity(&self, permit: &Permit, setting: &Setting) -> bool {
        self.request(permit, setting).is_ok() || self.other.brings_identity(permit, setting)
    }

    fn begin_turn(&self, turn: Option<u64>) {
        self.cache.begin(turn);
        self.other.begin_turn(turn);
    }

    async fn run(
        &self,
        permit: Permit,
        setting: &Setting,
        mut cancel: CancelSignal,
    ) -> Result<Output, ExecError> {
        let _changing = (!permit.is_confined()).then(|| Changing::begin(&self.reader.changes));
        let request = match self.request(&permit, setting) {
            Ok(request) => request,
            Err(left) => {
                let mut output = self.other.run(permit, setting, cancel).await?;
                if left != Left::Other {
                    output.confinement.limits.push(format!("left to az by the native reader: {left}"));
                }
                return Ok(output);
            }
        };
        let (begun, log) = (Instant::now(), RequestLog::default());
        let words = permit.words().unwrap_or_default().iter().map(|word| quote(word));
        // It stands in the record of another line, too.
        let line = redact(&words.collect::<Vec<_>>().join(" ")).into_string();
        let work = timeout(setting.limits.timeout, self.reader.read(&log, &request, (&self.cache, &line)));
        let done = tokio::select! {
            biased;
            () = cancel.canceled() => None,
            done = work => Some(done),
        };
        let (mut stopped, mut late) = (false, false);
        let (exit, out, err) = match done {
            Some(Ok(Ok(text))) => (0, text, String::new()),
            Some(Ok(Err(failure))) => (failure.exit, String::new(), failure.text),
            Some(Err(_)) => {
                late = true;
                (1, String::new(), String::new())
            }
            None => {
                stopped = true;
                (1, String::new(), String::new())
            }
        };
        let mut output = Output::answered(exit, out.into_bytes(), err.into_bytes(), begun.elapsed(), BY);
        (output.canceled, output.timed_out) = (stopped, late);
        if stopped || late {
            output.exit_code = None;
        }
        let limit = setting.limits.output;
        output.stdout_truncated = output.stdout.len() > limit;
        output.stdout.truncate(limit);
        output.confinement.limits = vec!["read within this process, nothing was started".to_owned()];
        output.confinement.limits.extend(log.entries());
        Ok(output)
    }
}

impl Reader {
    /// Returns what `az` would print.
    async fn read(
        &self,
        log: &RequestLog,
        request: &Request,
        known: (&TurnCache, &str),
    ) -> Result<String, Failure> {
        let subscription = self.subscription(log, request.subscription.as_deref()).await?;
        let document = if matches!(request.row.read, Read::Account | Read::Accounts) {
            self.accounts(log, request, &subscription).await?.into()
        } else {
            self.document(log, request, &subscription, known).await?
        };
        let document = Arc::unwrap_or_clone(document);
        let picked = match &request.query {
            Some(query) => {
                let wrong = |why: String| {
                    Failure::new(format!("Invalid jmespath query supplied for `--query`: {why}"))
                };
                query.ask(document).map_err(wrong)?
            }
            None => document,
        };
        Ok(match request.output {
            Format::Json => print::text(&picked),
            Format::Tsv => print::tsv(&picked),
        })
    }

    /// Returns what `az` remembers of the subscription that is asked, or of all.
    async fn accounts(&self, log: &RequestLog, request: &Request, own: &str) -> Result<Value, Failure> {
        let all = self.subscriptions(log).await?;
        let is_own = |one: &Subscription| one.id.eq_ignore_ascii_case(own);
        let cloud = &self.client.place.name;
        if request.row.read == Read::Account {
            let found = all.iter().find(|one| is_own(one)).ok_or_else(|| Failure::no_subscription(own))?;
            return Ok(found.printed(cloud, &self.method, (true, false)));
        }
        let enabled = all.iter().filter(|one| one.is_enabled());
        Ok(enabled.map(|one| one.printed(cloud, &self.method, (is_own(one), true))).collect())
    }

    /// Returns the subscriptions that the identity sees.
    async fn subscriptions(&self, log: &RequestLog) -> Result<Vec<Subscription>, Failure> {
        let mut known = self.subscriptions.lock().await;
        let fresh = known.as_ref().filter(|(read, _)| read.elapsed() < REMEMBERED);
        if let Some((_, all)) = fresh {
            return Ok(all.clone());
        }
        let found = self.client.list(log, "/subscriptions", &[("api-version", "2022-12-01")], None).await?;
        let all: Vec<Subscription> = found.iter().filter_map(Subscription::read).collect();
        *known = Some((Instant::now(), all.clone()));
        Ok(all)
    }

    /// Returns a document: what this turn has read already, or what the platform says.
    async fn document(
        &self,
        log: &RequestLog,
        request: &Request,
        subscription: &str,
        (cache, line): (&TurnCache, &str),
    ) -> Result<Arc<Value>, Failure> {
        let reading = Reading { client: &self.client, log, request, subscription };
        let slot = if request.row.is_live { None } else { cache.slot(Key::of(request, subscription)) };
        let Some(slot) = slot else { return reading.document().await.map(Arc::new) };
        // Whoever wants the same meanwhile waits for it here. A failure leaves nothing behind, so that the next one tries by itself.
        let mut kept = slot.lock().await;
        let changes = self.changes.load(Ordering::SeqCst);
        if let Some(known) = kept.as_ref().filter(|known| is_good(known, changes)) {
            let Kept { identity, line, at, .. } = known;
            log.note_known(format!(
                "known in this turn, nothing was asked: read at {at} as {identity} for `{line}`"
            ));
            return Ok(Arc::clone(&known.document));
        }
        let (at, since) = (SystemClock.now(), Instant::now());
        let document = Arc::new(reading.document().await?);
        *kept = is_small(log.bytes()).then(|| Kept {
            document: Arc::clone(&document),
            identity: Arc::clone(&self.identity),
            line: line.to_owned(),
            at,
            since,
            changes,
        });
        Ok(document)
    }

    /// Returns the id of the subscription that a line means: the one that it names, the pinned one, the first.
    async fn subscription(&self, log: &RequestLog, named: Option<&str>) -> Result<String, Failure> {
        let pinned = self.pinned.as_deref();
        if let Some(pinned) =
            pinned.filter(|pinned| named.is_none_or(|named| named.eq_ignore_ascii_case(pinned)))
        {
            return Ok(pinned.to_owned());
        }
        let all = self.subscriptions(log).await?;
        let is = |one: &&Subscription, name: &str| {
            one.id.eq_ignore_ascii_case(name) || one.name.eq_ignore_ascii_case(name)
        };
        let found = match named {
            Some(name) => all.iter().find(|one| is(one, name)),
            None => all.iter().find(|one| one.is_enabled()).or(all.first()),
        };
        let none = || match named {
            Some(name) => Failure::no_subscription(name),
            None => Failure::token("the identity sees no subscription"),
        };
        found.map(|found| found.id.clone()).ok_or_else(none)
    }
}
