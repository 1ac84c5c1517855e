//! A session whose Redis server is killed and started again at every call, while the worker lives on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ghost_investigate::event::{Recorded, StepId};
use ghost_investigate::state::State;
use ghost_session::Observer;

use super::child::open;
use super::mortal::{Answer, Mortal, Point, When};
use super::plot::{engine, observed, play};
use super::proof::End;
use crate::random::{Random, is_long, seed};
use crate::store::server::Server;

/// How many points the short run takes, and the long one.
const SAMPLE: [usize; 2] = [8, 40];
const TTL: Duration = Duration::from_millis(1500);
const PATIENCE: Duration = Duration::from_secs(120);

/// Hears of an outage, and starts the server again only then.
struct Keeper {
    server: Arc<Mutex<Option<Server>>>,
    notices: Mutex<Vec<String>>,
}

impl Observer for Keeper {
    fn recorded(&self, _state: &State, _event: &Recorded) {}
    fn words(&self, _words: &str) {}
    fn trouble(&self, what: &str) {
        self.notices.lock().unwrap().push(what.to_owned());
        restart(&self.server);
    }
    fn running(&self, _state: &State, _step: StepId, _since: Duration) {}
}

fn restart(server: &Mutex<Option<Server>>) {
    let mut held = server.lock().unwrap();
    let server = held.as_mut().unwrap();
    if !server.say("PING").starts_with("+PONG") {
        server.restart();
    }
}

#[tokio::test]
async fn a_server_that_is_killed_at_any_call_pauses_the_session_and_loses_nothing() {
    let Some(server) = Server::start() else { return };
    let server = Arc::new(Mutex::new(Some(server)));
    let (whole, calls, _) = through(&server, "whole", None).await;
    whole.prove("unbroken", &whole);
    let mut points: Vec<Point> =
        (0..calls).flat_map(|call| [(call, When::Before), (call, When::After)]).collect();
    let (mut random, most) = (Random::new(seed("outage")), SAMPLE[usize::from(is_long())]);
    while points.len() > most {
        points.swap_remove(random.below(points.len()));
    }
    for point in points {
        let at = format!("call {} {:?}", point.0, point.1);
        let (end, _, notices) = through(&server, &format!("p{}{:?}", point.0, point.1), Some(point)).await;
        end.prove(&at, &whole);
        assert_eq!(end.state.unknown_steps().count(), 0, "{at}: the worker was there all the time");
        assert!(notices.iter().all(|what| what.contains("nothing is lost")), "{at}: {notices:?}");
    }
}

/// Plays the session; the server is killed at the point, before it receives a call or before its answer arrives.
async fn through(
    server: &Arc<Mutex<Option<Server>>>,
    prefix: &str,
    point: Option<Point>,
) -> (End, usize, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let url = server.lock().unwrap().as_ref().unwrap().url();
    let inner = open(&format!("{url} {prefix}")).await;
    let killer = Arc::clone(server);
    let store = Arc::new(Mortal::new(inner, move |here| {
        if Some(here) != point {
            return Answer::Delivered;
        }
        killer.lock().unwrap().as_mut().unwrap().kill();
        if here.1 == When::After { Answer::Lost } else { Answer::Delivered }
    }));
    let keeper = Arc::new(Keeper { server: Arc::clone(server), notices: Mutex::default() });
    let worker = observed(engine(folder.path(), store.clone(), "worker", TTL), keeper.clone());
    // A human's own calls fail too, and nobody starts the server for those.
    let nurse = async {
        loop {
            tokio::time::sleep(Duration::from_millis(700)).await;
            restart(server);
        }
    };
    tokio::select! {
        () = play(&worker, folder.path()) => {}
        () = nurse => {}
        () = tokio::time::sleep(PATIENCE) => panic!("{prefix}: it does not end"),
    }
    restart(server);
    let end = End::read(folder.path(), store.as_ref()).await;
    let notices = keeper.notices.lock().unwrap().clone();
    (end, store.calls(), notices)
}
