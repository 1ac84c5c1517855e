//! One read-only command.

use ghost_base::Timestamp;

use super::issue::{Issue, RetryPolicy, printed};
use super::port::{CommandKind, CommandOutcome, CommandRequest, Next, Operation};

/// One read-only command; where the platform throttles, it waits and retries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOperation {
    order: CommandRequest,
    doing: String,
    patience: RetryPolicy,
    until: Option<(Timestamp, String)>,
    result: Option<Result<String, Issue>>,
}

impl ReadOperation {
    /// Creates the operation; `doing` begins the sentence about what went wrong: "looking at web-1".
    #[must_use]
    pub fn new(order: CommandRequest, doing: impl Into<String>) -> Self {
        Self { order, doing: doing.into(), patience: RetryPolicy::default(), until: None, result: None }
    }

    /// Tells whether it changes anything: then it is never tried again.
    fn reads(&self) -> bool {
        match &self.order.what {
            CommandKind::Line(line) => !line.changes(),
            CommandKind::Script { .. } => true,
        }
    }
}

impl Operation for ReadOperation {
    type Result = Result<String, Issue>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match (&self.result, &self.until) {
            (Some(result), _) => Next::Over(result.clone()),
            (None, Some((until, why))) if *until > now => Next::Wait { until: *until, why: why.clone() },
            (None, _) => Next::Run(Box::new(self.order.clone())),
        }
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.until = None;
        match printed(answer, &self.doing) {
            Ok(text) => self.result = Some(Ok(text.to_owned())),
            Err(setback) => match self.patience.again(&setback).filter(|_| self.reads()) {
                Some(seconds) => {
                    let until = now.plus(std::time::Duration::from_secs(seconds));
                    self.until = Some((until, format!("{}; once more in {seconds} s", setback.trouble.text)));
                }
                None => self.result = Some(Err(setback.trouble)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line;

    fn ran(exit: i32, stdout: &str, stderr: &str) -> CommandOutcome {
        CommandOutcome::Ran { exit: Some(exit), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
    }

    fn reading() -> ReadOperation {
        ReadOperation::new(CommandRequest::line(line::signed_in(), "who are we?"), "asking who we are")
    }

    #[test]
    fn a_throttled_read_waits_and_is_run_again() {
        let (mut reading, now) = (reading(), Timestamp::from_millis(0));
        reading.on_result(&ran(1, "", "ERROR: (TooManyRequests) The request is being throttled."), now);
        let Next::Wait { until, why } = reading.next(now) else { panic!("no wait") };
        assert!(why.contains("once more in 20 s"), "{why}");
        assert!(matches!(reading.next(until), Next::Run(_)));
        reading.on_result(&ran(0, "{}", ""), until);
        assert_eq!(reading.next(until), Next::Over(Ok("{}".to_owned())));
    }

    #[test]
    fn what_will_not_change_is_over_at_once() {
        let (mut reading, now) = (reading(), Timestamp::from_millis(0));
        reading.on_result(&ran(1, "", "ERROR: Please run 'az login' to setup account."), now);
        assert!(matches!(reading.next(now), Next::Over(Err(_))));
    }
}
