//! The runner: answers what has a request of its own, and leaves the rest to `az`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ghost_shell::{CancelSignal, ExecError, Output, Permit, Runner, Setting};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::client::Client;
use super::failure::Failure;
use super::log::RequestLog;
use super::perform::Reading;
use super::place::Place;
use super::print;
use super::request::{Left, Request};
use super::token::Tokens;
use crate::sign_in::Account;

/// What stands in the place of a program's file.
const BY: &str = "(the native reader)";

/// How long the list of subscriptions is remembered.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// The variable by which `az` knows as whom it runs.
const FOLDER: &str = "AZURE_CONFIG_DIR";

/// A subscription that the identity sees.
#[derive(Debug, Clone)]
struct Subscription {
    id: String,
    name: String,
    enabled: bool,
}

/// What is read as one identity without `az`.
struct Reader {
    client: Client,
    /// The folder in which that identity would be signed in to `az`: what runs with another one runs as somebody else.
    folder: PathBuf,
    pinned: Option<String>,
    subscriptions: Mutex<Option<(Instant, Vec<Subscription>)>>,
}

/// Reads by itself what it can, as one identity, and leaves everything else to another runner.
#[derive(Clone)]
pub struct NativeReader {
    reader: Arc<Reader>,
    other: Arc<dyn Runner>,
}

impl NativeReader {
    /// Reads as somebody whose sign-in to `az` would lie in `folder`; nothing for whom no token can be had without `az`.
    #[must_use]
    pub fn new(account: &Account, folder: PathBuf, place: Place, other: Arc<dyn Runner>) -> Option<Self> {
        let client = Client::new(place, Tokens::of(&account.method)?);
        let pinned = account.subscription.clone();
        Some(Self {
            reader: Arc::new(Reader { client, folder, pinned, subscriptions: Mutex::default() }),
            other,
        })
    }

    /// The same reader, with its token and its patience, in front of another runner.
    #[must_use]
    pub fn before(&self, other: Arc<dyn Runner>) -> Self {
        Self { reader: Arc::clone(&self.reader), other }
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

    async fn run(
        &self,
        permit: Permit,
        setting: &Setting,
        mut cancel: CancelSignal,
    ) -> Result<Output, ExecError> {
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
        let work = timeout(setting.limits.timeout, self.reader.read(&log, &request));
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
    async fn read(&self, log: &RequestLog, request: &Request) -> Result<String, Failure> {
        let subscription = self.subscription(log, request.subscription.as_deref()).await?;
        let reading = Reading { client: &self.client, log, request, subscription: &subscription };
        let document = reading.document().await?;
        let picked = match &request.query {
            Some(query) => {
                let wrong = |why: String| {
                    Failure::new(format!("Invalid jmespath query supplied for `--query`: {why}"))
                };
                query.ask(document).map_err(wrong)?
            }
            None => document,
        };
        Ok(print::text(&picked))
    }

    /// Returns the id of the subscription that a line means: the one that it names, the pinned one, the first.
    async fn subscription(&self, log: &RequestLog, named: Option<&str>) -> Result<String, Failure> {
        let pinned = self.pinned.as_deref();
        if let Some(pinned) =
            pinned.filter(|pinned| named.is_none_or(|named| named.eq_ignore_ascii_case(pinned)))
        {
            return Ok(pinned.to_owned());
        }
        let mut known = self.subscriptions.lock().await;
        let fresh =
            known.as_ref().filter(|(read, _)| read.elapsed() < REMEMBERED).map(|(_, all)| all.clone());
        let all = match fresh {
            Some(all) => all,
            None => {
                let found =
                    self.client.list(log, "/subscriptions", &[("api-version", "2022-12-01")], None).await?;
                let all: Vec<Subscription> = found.iter().filter_map(Subscription::read).collect();
                *known = Some((Instant::now(), all.clone()));
                all
            }
        };
        let is = |one: &&Subscription, name: &str| {
            one.id.eq_ignore_ascii_case(name) || one.name.eq_ignore_ascii_case(name)
        };
        let found = match named {
            Some(name) => all.iter().find(|one| is(one, name)),
            None => all.iter().find(|one| one.enabled).or(all.first()),
        };
        let none = || match named {
            Some(name) => Failure::no_subscription(name),
            None => Failure::token("the identity sees no subscription"),
        };
        found.map(|found| found.id.clone()).ok_or_else(none)
    }
}

impl Subscription {
    fn read(document: &Value) -> Option<Self> {
        let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = text("subscriptionId");
        let plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        plain.then(|| Self { id, name: text("displayName"), enabled: text("state") == "Enabled" })
    }
}
