//! One command that reads.

use super::answer::Answer;
use super::port::{Carried, Errand, Next, Order};
use super::trouble::{Patience, Trouble, printed};
use ghost_base::Timestamp;

/// One command that reads; where the platform says later, it waits and asks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    order: Order,
    doing: String,
    patience: Patience,
    until: Option<(Timestamp, String)>,
    result: Option<Result<String, Trouble>>,
}

impl Reading {
    /// Begins with an order; `doing` begins the sentence about what went wrong: "looking at web-1".
    #[must_use]
    pub fn new(order: Order, doing: impl Into<String>) -> Self {
        Self { order, doing: doing.into(), patience: Patience::default(), until: None, result: None }
    }

    /// Says whether it changes anything: then it is never tried again.
    fn reads(&self) -> bool {
        match &self.order.what {
            Carried::Line(line) => !line.changes(),
            Carried::Script { .. } => true,
        }
    }
}

impl Errand for Reading {
    type Result = Result<String, Trouble>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        match (&self.result, &self.until) {
            (Some(result), _) => Next::Over(result.clone()),
            (None, Some((until, why))) if *until > now => Next::Wait { until: *until, why: why.clone() },
            (None, _) => Next::Run(Box::new(self.order.clone())),
        }
    }

    fn heard(&mut self, answer: &Answer, now: Timestamp) {
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

    fn ran(exit: i32, stdout: &str, stderr: &str) -> Answer {
        Answer::Ran { exit: Some(exit), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
    }

    fn reading() -> Reading {
        Reading::new(Order::line(line::signed_in(), "who are we?"), "asking who we are")
    }

    #[test]
    fn a_throttled_read_waits_and_is_run_again() {
        let (mut reading, now) = (reading(), Timestamp::from_millis(0));
        reading.heard(&ran(1, "", "ERROR: (TooManyRequests) The request is being throttled."), now);
        let Next::Wait { until, why } = reading.next(now) else { panic!("no wait") };
        assert!(why.contains("once more in 20 s"), "{why}");
        assert!(matches!(reading.next(until), Next::Run(_)));
        reading.heard(&ran(0, "{}", ""), until);
        assert_eq!(reading.next(until), Next::Over(Ok("{}".to_owned())));
    }

    #[test]
    fn what_will_not_change_is_over_at_once() {
        let (mut reading, now) = (reading(), Timestamp::from_millis(0));
        reading.heard(&ran(1, "", "ERROR: Please run 'az login' to setup account."), now);
        assert!(matches!(reading.next(now), Next::Over(Err(_))));
    }
}
