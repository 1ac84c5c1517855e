//! The store: one list of facts, held by every backend, and what only one of them can go through.

mod approval;
pub(crate) mod cluster;
mod command;
mod embedded;
mod erase;
mod fact;
mod full;
mod outage;
mod process;
mod proxy;
mod redis;
mod rollout;
pub(crate) mod sentinel;
pub(crate) mod server;
mod shared_state;

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ghost_base::SessionId;
use ghost_store::{Delivered, Lease, Settings, Store};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(150);
const PATIENCE: Duration = Duration::from_secs(20);

/// A store to ask, and what has to live as long.
struct World {
    store: Arc<dyn Store>,
    _keep: Box<dyn Any>,
}

impl World {
    async fn lease(&self, session: &str) -> Lease {
        self.store.acquire(&id(session), "worker-a", LONG).await.unwrap().unwrap()
    }

    async fn deliver(&self, session: &str, item: &str) {
        assert_eq!(self.store.deliver(&id(session), item, item).await.unwrap(), Delivered::New);
    }
}

/// Settings that let a test see a claim end.
fn quick() -> Settings {
    Settings { claim: SHORT, poll: Duration::from_millis(10), ..Settings::default() }
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Asks again until there is an answer, and gives up in the end.
async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Makes a test of every fact, for one kind of store.
macro_rules! holds {
    ($world:path: $($module:ident::{$($fact:ident),* $(,)?}),* $(,)?) => {
        $($(
            #[tokio::test]
            async fn $fact() {
                let Some(world) = $world().await else { return };
                crate::store::$module::$fact(&world).await;
            }
        )*)*
    };
}

/// Makes one test of all facts, for a kind of store that takes long to start.
macro_rules! together {
    ($start:path, $world:path: $($module:ident::{$($fact:ident),* $(,)?}),* $(,)?) => {
        #[tokio::test]
        async fn every_fact_holds() {
            let Some(servers) = $start() else { return };
            $($(
                println!("{}", stringify!($fact));
                let world = $world(servers.url(), stringify!($fact)).await;
                crate::store::$module::$fact(&world).await;
            )*)*
        }
    };
}

/// The facts.
macro_rules! every_fact {
    ($how:ident, $($world:path),+) => {
        crate::store::$how! { $($world),+:
            fact::{
                events_come_back_in_order, an_append_at_another_length_writes_nothing,
                an_append_takes_what_it_used_out_of_the_inbox, an_append_cannot_use_up_more_than_there_is,
                a_lease_says_whether_another_owner_went_away_before, a_stale_owner_writes_nothing, a_lease_that_ended_writes_nothing_even_if_nobody_followed,
                an_epoch_is_never_given_twice, a_renewed_lease_outlives_its_first_end,
                a_released_session_is_free_at_once, of_many_owners_one_gets_the_lease,
                of_many_appends_at_one_length_one_is_written,
                a_delivery_is_taken_once, of_many_equal_deliveries_one_is_new,
                the_same_key_in_two_sessions_is_two_deliveries,
                what_was_delivered_comes_up_for_work, an_owned_session_does_not_come_up_until_it_is_released,
                a_dead_owner_is_followed_once_its_lease_ended, a_worker_that_died_before_the_lease_is_followed,
                a_drained_and_released_session_is_no_work,
                a_session_that_is_handed_over_comes_up_at_once_and_no_owner_was_lost,
                a_session_that_pauses_comes_up_by_itself_and_sooner_where_something_arrives, work_is_handed_out_in_the_order_it_came,
                a_dead_owner_is_followed_even_if_nothing_was_ever_delivered,
                nothing_is_left_behind_between_many_senders_and_workers,
                two_workers_get_different_sessions, a_delivery_wakes_a_waiting_worker,
                sessions_are_listed_in_pages, a_line_that_is_too_long_is_refused,
            },
            erase::{
                an_erased_session_is_gone_and_its_owner_fenced,
                what_is_kept_of_an_erased_session_is_read_and_is_no_work,
                what_was_kept_can_be_worked_on_and_erased_again,
                a_line_too_long_to_keep_erases_nothing,
                what_may_expire_is_erased_when_its_moment_came,
            },
            approval::{
                an_approval_waits_and_is_found, a_question_is_opened_once,
                the_decision_reaches_the_inbox_and_wakes_the_session, of_many_decisions_exactly_one_wins,
                of_two_approvers_the_second_vote_is_the_decision, the_same_reviewer_cannot_vote_twice,
                a_vote_that_is_too_late_expires_it_once, a_sweep_expires_what_is_over_and_says_so_once,
                looking_at_an_approval_that_is_over_expires_it, an_approval_is_used_once,
                a_stale_owner_uses_no_approval, an_unknown_approval_is_unknown,
                an_erased_session_has_no_approvals, a_repeated_click_learns_that_it_counted,
            },
            shared_state::{
                of_all_who_claim_a_name_one_has_it, a_claim_replaces_only_what_its_caller_knew,
                a_claim_ends_with_its_time, a_flag_is_what_was_set_last, lines_about_sessions_come_latest_first,
                the_line_about_an_erased_session_is_gone, what_is_too_long_is_not_put_up,
                notes_of_many_at_once_are_each_written_behind_what_was_read,
                the_journal_grows_by_one_line_at_a_time, the_backlog_tells_of_work_and_of_questions,
            },
        }
    };
}

use {every_fact, holds, together};
