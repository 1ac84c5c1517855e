//! A process that is killed in the middle, and what the next one finds.

use ghost_base::{SystemClock, Timestamp};
use ghost_cloud::meter::run::{Run, State, carry_out};

use super::place::{Human, Lab, Table, ask, document, measured};

#[tokio::test]
async fn what_a_killed_process_left_is_ended_by_the_next_one_and_what_it_measured_is_kept() {
    let lab = Lab::up("simulated");
    for (at, dies_at) in
        ["start servers", "measure latency", "iteration 2", "read what the server", "end the servers"]
            .into_iter()
            .enumerate()
    {
        let session = format!("pmeter_killed_{at}");
        let az = lab.az.clone();
        let table = Table { dies_at: Some(dies_at), ..Table::new(&lab, &session, Human::default(), &az) };
        let store = lab.store();
        let mut run = Run::new(ask(&session, &store).check().unwrap(), Timestamp::from_millis(0));
        tokio::select! {
            _ = carry_out(&mut run, &table, &store, &SystemClock) => panic!("it went on behind {dies_at}"),
            () = table.dead.notified() => {}
        }
        let left = lab.listeners("tf-dest-vm");
        assert_eq!(left > 0, at > 0, "killed at {dies_at}: {left}");
        if at > 2 {
            let raw = document(&store, &session, "raw");
            assert!(!raw["latency_samples_us"].as_array().unwrap().is_empty(), "{raw:#}");
        }
        let next = format!("pmeter_next_{at}");
        let (run, asked) = measured(&lab, ask(&next, &store), Human::default()).await;
        assert_eq!((run.state(), asked.len()), (State::Success, 1), "{:?}", run.trouble());
        assert_eq!(lab.listeners("tf-dest-vm"), 0);
    }
    let history = lab.store().history().unwrap();
    assert_eq!(history.iter().filter(|past| past.whole).count(), 5);
    assert_eq!(history.len(), 10);
}

#[tokio::test]
async fn servers_that_nobody_ends_end_by_themselves() {
    let lab = Lab::up("simulated");
    let lifetime =
        lab.guest("tf-dest-vm", "setsid timeout -s KILL 600 iperf -s -p 5001 > /tmp/log 2>&1 < /dev/null &");
    assert!(lifetime.contains("succeeded"));
    assert_eq!(lab.listeners("tf-dest-vm"), 1);
    lab.guest("tf-dest-vm", "sleep 601");
    assert_eq!(lab.listeners("tf-dest-vm"), 0);
}
