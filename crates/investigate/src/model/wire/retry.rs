//! Asking again: with jitter, after the pause that was asked for, a bounded number of times.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use tokio::time::Instant;

use crate::model::wire::status::{Again, Failed};
use crate::model::{Listener, ModelError};

/// How often and for how long a request is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// The most requests for one answer, the first included; zero counts as one.
    pub attempts: u32,
    /// The first pause, about; each further one is twice as long, and up to as much again is added by chance.
    pub pause: Duration,
    /// No request begins later than this after the first one began.
    pub total: Duration,
}

/// Four requests within three minutes.
impl Default for Retries {
    fn default() -> Self {
        Self { attempts: 4, pause: Duration::from_secs(1), total: Duration::from_secs(180) }
    }
}

/// The longest pause of our own choice.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Asks until there is an answer or no use in asking again.
///
/// # Errors
/// Fails with the error of the last request.
pub(crate) async fn attempts<T, Asking>(
    retries: Retries,
    listener: &dyn Listener,
    ask: impl FnMut() -> Asking,
) -> Result<T, ModelError>
where
    Asking: Future<Output = Result<T, Failed>>,
{
    let began = Instant::now();
    let backoff = ExponentialBuilder::new()
        .with_jitter()
        .with_min_delay(retries.pause)
        .with_max_delay(MAX_PAUSE)
        .with_max_times(usize::try_from(retries.attempts.saturating_sub(1)).unwrap_or(usize::MAX));
    let adjust = |failed: &Failed, pause: Option<Duration>| {
        let pause = match failed.again {
            Again::No => return None,
            Again::Soon => pause?,
            // A little is added by chance, so that many sessions do not come back in the same moment.
            Again::After(least) => least.saturating_add(pause? / 4),
        };
        (began.elapsed().saturating_add(pause) <= retries.total).then_some(pause)
    };
    ask.retry(backoff)
        .sleep(tokio::time::sleep)
        .when(|failed| failed.again != Again::No)
        .adjust(adjust)
        .notify(|failed, pause| listener.retry(&failed.error, pause))
        .await
        .map_err(|failed| failed.error)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::model::wire::status::Class;

    /// Notes what it hears.
    #[derive(Default)]
    struct RecordingListener(Mutex<Vec<Duration>>);

    impl Listener for RecordingListener {
        fn text(&self, _words: &str) {}
        fn retry(&self, _error: &ModelError, after: Duration) {
            self.0.lock().unwrap().push(after);
        }
    }

    fn fail(class: Class, pause: Option<u64>) -> Failed {
        class.failed("openai", "x".to_owned(), pause.map(Duration::from_secs))
    }

    /// Asks for what a list answers; returns the answer, the pauses and the time that passed.
    async fn asked(
        retries: Retries,
        mut answers: Vec<Result<u32, Failed>>,
    ) -> (Result<u32, ModelError>, Vec<Duration>, Duration) {
        let (pauses, began) = (RecordingListener::default(), Instant::now());
        answers.reverse();
        let answers = Mutex::new(answers);
        let next = || {
            let answer = answers.lock().unwrap().pop().unwrap();
            async { answer }
        };
        let answer = attempts(retries, &pauses, next).await;
        assert!(answers.lock().unwrap().is_empty(), "asked less often than expected");
        (answer, pauses.0.into_inner().unwrap(), began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_asked_again() {
        let answers = vec![
            Err(fail(Class::Unavailable, None)),
            Err(fail(Class::RateLimited, None)),
            Err(fail(Class::Unavailable, None)),
            Ok(7),
        ];
        let (answer, pauses, took) = asked(Retries::default(), answers).await;
        assert_eq!(answer, Ok(7));
        assert_eq!(pauses.len(), 3);
        assert!(took >= pauses.iter().sum::<Duration>());
        for (pause, least) in pauses.iter().zip([1, 2, 4].map(Duration::from_secs)) {
            assert!((least..=least * 2).contains(pause), "{pause:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_stays_is_not_asked_again() {
        for class in [Class::Unauthorized, Class::TooLong, Class::Rejected, Class::Unreadable] {
            let (answer, pauses, _) = asked(Retries::default(), vec![Err(fail(class, None))]).await;
            assert!(answer.is_err() && pauses.is_empty(), "{class:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_number_of_requests_is_bounded() {
        let answers = vec![Err(fail(Class::Unavailable, None)); 4];
        let (answer, pauses, _) = asked(Retries::default(), answers).await;
        assert_eq!(answer, Err(fail(Class::Unavailable, None).error));
        assert_eq!(pauses.len(), 3);
        for attempts in [0, 1] {
            let once = Retries { attempts, ..Retries::default() };
            let (answer, pauses, _) = asked(once, vec![Err(fail(Class::Unavailable, None))]).await;
            assert!(answer.is_err() && pauses.is_empty());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_comes_back_before_the_provider_said() {
        let answers = vec![Err(fail(Class::RateLimited, Some(40))), Ok(1)];
        let (answer, pauses, _) = asked(Retries::default(), answers).await;
        assert_eq!(answer, Ok(1));
        assert!(pauses.iter().all(|pause| (40..=41).contains(&pause.as_secs())), "{pauses:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_beyond_the_time_that_is_left_is_not_waited_for() {
        let answers = vec![Err(fail(Class::RateLimited, Some(1000)))];
        let (answer, pauses, took) = asked(Retries::default(), answers).await;
        let retry_after = Some(Duration::from_secs(1000));
        assert_eq!(answer, Err(ModelError::RateLimited { provider: "openai".to_owned(), retry_after }));
        assert_eq!((pauses, took), (Vec::new(), Duration::ZERO));
    }
}
