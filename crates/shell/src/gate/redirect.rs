//! `curl -L`: the gate follows, and every place that a server names is judged as if it had been proposed.

use std::time::Instant;

use super::record::Case;
use super::response::{Action, Response, Status};
use super::run::Shell;
use crate::judge::Redirects;
use crate::{CancelSignal, Permit, Verdict};

/// What a server said to a request.
enum Answer {
    /// It is the last one.
    Stay,
    /// It names another place, which may be asked.
    On(String),
    /// It names another place, which is not asked for this reason.
    Refused(String),
    /// The question could not be asked to its end.
    Failed(Box<Response>),
}

impl Shell {
    /// Runs a SAFE request that may be sent on: asks where it leads as often as it may, and then for what is there.
    pub(super) async fn follow(&self, case: Case, cancel: CancelSignal) -> Response {
        let Some(redirects) = case.ruling.argv.as_deref().and_then(|argv| self.policy.redirects(argv)) else {
            return self.deny(case, Action::UserAbandoned, "it cannot be followed").await;
        };
        let mut place = redirects.address.clone();
        let (started, mut hint) = (Instant::now(), None);
        for _ in 0..redirects.most {
            if started.elapsed() >= self.setting.limits.timeout {
                hint = Some("it was sent on for longer than a command may take, and no further".to_owned());
                break;
            }
            match self.next(&redirects, &place, &case, cancel.clone()).await {
                Answer::Stay => break,
                Answer::On(next) => place = next,
                Answer::Refused(why) => {
                    hint = Some(why);
                    break;
                }
                Answer::Failed(response) => return *response,
            }
        }
        let mut response = self.ask_for(&redirects.request(&place), &case, cancel).await;
        response.hint = response.hint.or(hint);
        response
    }

    /// Asks where a place sends us, and judges that.
    async fn next(&self, redirects: &Redirects, place: &str, case: &Case, cancel: CancelSignal) -> Answer {
        let response = self.ask_for(&redirects.question(place), case, cancel).await;
        if response.status != Status::Completed {
            return Answer::Failed(Box::new(response));
        }
        let named =
            self.mask.as_ref().map_or_else(|| response.output.clone(), |mask| mask.unmask(&response.output));
        let named = named.trim();
        // What did not answer is asked once more, and says so itself.
        if named.is_empty() || response.exit_code != Some(0) {
            return Answer::Stay;
        }
        let refused = |why: &str| {
            let named = crate::redact(named);
            Answer::Refused(format!(
                "the server sends on to `{}`, which was not followed: {why}",
                named.as_str()
            ))
        };
        // The same options to that place, judged from the start.
        let ruling = self.resolve_names(self.judge(&redirects.question(named))).await;
        if ruling.verdict == Verdict::Safe { Answer::On(named.to_owned()) } else { refused(&ruling.reason) }
    }

    /// Judges a request for a place and runs it, held to the addresses that were found for its name.
    async fn ask_for(&self, line: &str, case: &Case, cancel: CancelSignal) -> Response {
        let ruling = self.resolve_names(self.judge(line)).await;
        let permit = Permit::for_safe(&ruling);
        let next = Case { plan: case.plan, round: case.round, ..Case::new(line, &case.reasoning, ruling) };
        match permit {
            Some(permit) => self.execute(next, permit, cancel).await,
            None => self.deny(next, Action::UserAbandoned, "it is not SAFE by itself").await,
        }
    }
}
