//! Facts about lists that run without a shell, with real processes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{TestFolder, ends, text};
use crate::exec::run;
use crate::{
    Cancel, CancelSignal, ExecError, Fill, List, Output, Permit, Pipeline, Profile, Ruling, Stage, Stderr,
    Stdout, Verdict, When,
};

/// Reads `a b | c 2>&1 && d >/dev/null <( e )`, parted by blanks alone; `sh:TEXT` is `sh -c TEXT` with `_` for a blank.
fn list(text: &str) -> List {
    read_list(&mut text.split(' '))
}

fn read_list(words: &mut dyn Iterator<Item = &str>) -> List {
    let mut pipelines = vec![Pipeline { when: When::Always, stages: vec![stage()] }];
    while let Some(word) = words.next().filter(|word| *word != ")") {
        let when = match word {
            ";" => Some(When::Always),
            "&&" => Some(When::Succeeded),
            "||" => Some(When::Failed),
            _ => None,
        };
        if let Some(when) = when {
            pipelines.push(Pipeline { when, stages: vec![stage()] });
            continue;
        }
        let stages = &mut pipelines.last_mut().unwrap().stages;
        let last = stages.last_mut().unwrap();
        match word {
            "|" => stages.push(stage()),
            "<(" => {
                last.fills.insert(last.argv.len(), Fill::Output(read_list(words)));
                last.argv.push("<( )".to_owned());
            }
            "2>&1" => last.stderr = Stderr::Next,
            "2>/dev/null" => last.stderr = Stderr::Null,
            ">/dev/null" => last.stdout = Stdout::Null,
            _ => match word.strip_prefix("sh:") {
                Some(text) => last.argv.extend(["sh".to_owned(), "-c".to_owned(), text.replace('_', " ")]),
                None => last.argv.push(word.to_owned()),
            },
        }
    }
    List { pipelines }
}

fn stage() -> Stage {
    let helpers = ["cat", "head", "sleep", "yes", "ls", "echo", "true"].map(str::to_owned).to_vec();
    let profile = Profile { helpers: helpers.into(), ..Profile::default() };
    Stage { argv: Vec::new(), profile, stdout: Stdout::Next, stderr: Stderr::Errors, fills: BTreeMap::new() }
}

fn permit(text: &str) -> Permit {
    let ruling = Ruling { verdict: Verdict::Safe, list: Some(list(text)), ..Ruling::default() };
    Permit::for_safe(&ruling).unwrap()
}

async fn outcome(place: &TestFolder, text: &str) -> Result<Output, ExecError> {
    run(permit(text), &place.setting, CancelSignal::never()).await
}

async fn output(text: &str) -> Output {
    outcome(&TestFolder::new(), text).await.unwrap()
}

#[track_caller]
fn check(output: &Output, code: i32, stdout: &str, stderr: &str) {
    let found = (output.exit_code, text(&output.stdout), text(&output.stderr));
    assert_eq!(found, (Some(code), stdout, stderr));
}

#[tokio::test]
async fn stages_are_connected_by_pipes() {
    check(&output("echo b a | tr b c | cat -n").await, 0, "     1\tc a", "");
}

#[tokio::test]
async fn the_end_of_a_pipeline_is_that_of_its_last_stage() {
    check(&output("true | false").await, 1, "", "");
    check(&output("false | true").await, 0, "", "");
}

#[tokio::test]
async fn links_follow_the_last_end_as_in_a_shell() {
    check(&output("true && echo a || echo b ; echo c").await, 0, "a\nc", "");
    check(&output("false && echo a || echo b").await, 0, "b", "");
    check(&output("true || echo a && echo b").await, 0, "b", "");
    check(&output("false && echo a").await, 1, "", "");
    check(&output("true || false").await, 0, "", "");
    check(&output("false ; true | false && echo no").await, 1, "", "");
}

#[tokio::test]
async fn errors_go_where_the_stage_says() {
    const BOTH: &str = "sh:echo_out;echo_err>&2";
    check(&output(BOTH).await, 0, "out", "err");
    check(&output(&format!("{BOTH} 2>/dev/null")).await, 0, "out", "");
    check(&output(&format!("{BOTH} >/dev/null")).await, 0, "", "err");
    check(&output(&format!("{BOTH} 2>&1")).await, 0, "out\nerr", "");
    check(&output(&format!("{BOTH} 2>&1 | tr a-z A-Z")).await, 0, "OUT\nERR", "");
    check(&output(&format!("{BOTH} | tr a-z A-Z")).await, 0, "OUT", "err");
    check(&output(&format!("{BOTH} >/dev/null 2>&1 | tr a-z A-Z")).await, 0, "ERR", "");
    check(&output(&format!("{BOTH} >/dev/null 2>/dev/null | cat")).await, 0, "", "");
}

#[tokio::test]
async fn the_first_stage_has_nothing_to_read() {
    check(&output("cat | cat").await, 0, "", "");
    check(&output("cat ; cat").await, 0, "", "");
}

#[tokio::test]
async fn an_endless_producer_ends_when_its_reader_does() {
    let started = Instant::now();
    check(&output("yes | head -n 1").await, 0, "y", "");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn more_than_a_pipe_holds_flows_through_every_stage() {
    let output = output("head -c 5000000 /dev/zero | cat | cat | wc -c").await;
    check(&output, 0, "5000000", "");
}

#[tokio::test]
async fn a_program_that_is_missing_ends_as_in_a_shell_and_the_others_go_on() {
    let output = output("nonexistent-tool | cat ; nonexistent-tool || echo b").await;
    assert_eq!((output.exit_code, text(&output.stdout)), (Some(0), "b"));
    assert_eq!(text(&output.stderr).matches("not installed").count(), 2, "{}", text(&output.stderr));
    check(&self::output("nonexistent-tool 2>/dev/null || echo b").await, 0, "b", "");
    let output = self::output("echo a | nonexistent-tool").await;
    assert_eq!(output.exit_code, Some(127));
    let output = self::output("nonexistent-tool 2>&1 | cat").await;
    assert!(text(&output.stdout).contains("not installed"), "{}", text(&output.stdout));
}

#[tokio::test]
async fn nothing_that_can_start_is_an_error() {
    let place = TestFolder::new();
    let error = outcome(&place, "nonexistent-tool | nonexistent-tool").await.unwrap_err();
    assert_eq!(error.exit_code(), Some(127));
    let empty = Ruling { verdict: Verdict::Safe, list: Some(List::default()), ..Ruling::default() };
    let empty = Permit::for_safe(&empty).unwrap();
    assert!(matches!(run(empty, &place.setting, CancelSignal::never()).await, Err(ExecError::Empty)));
    let nul = outcome(&place, "echo a | echo \0").await;
    assert!(matches!(nul, Err(ExecError::NulCharacter)));
}

#[tokio::test]
async fn the_time_is_one_for_the_whole_list() {
    let place = TestFolder::new().within(Duration::from_millis(700));
    let output = outcome(&place, "echo a ; sleep 0.4 ; sleep 0.4 ; echo b").await.unwrap();
    assert!(output.timed_out, "{output:?}");
    assert_eq!(text(&output.stdout), "a");
    let output = outcome(&place, "sleep 100 | cat || echo b").await.unwrap();
    assert!(output.timed_out && output.stdout.is_empty() && output.duration < Duration::from_secs(5));
}

#[tokio::test]
async fn a_stop_ends_every_stage_and_starts_no_other() {
    let place = TestFolder::new();
    let fifo = place.fifo();
    let (cancel, stop) = Cancel::new();
    let mut list = list("sh: | sleep 100 ; echo b");
    list.pipelines[0].stages[0].argv[2] = format!("exec sleep 100 < {}", fifo.display());
    let ruling = Ruling { verdict: Verdict::Safe, list: Some(list), ..Ruling::default() };
    let running = run(Permit::for_safe(&ruling).unwrap(), &place.setting, stop);
    let path = fifo.clone();
    let begun = tokio::task::spawn_blocking(move || drop(std::fs::OpenOptions::new().write(true).open(path)));
    let canceling = async {
        // The first stage has opened it.
        begun.await.unwrap();
        cancel.cancel();
    };
    let (output, ()) = tokio::join!(running, canceling);
    let output = output.unwrap();
    assert!(output.canceled && output.stdout.is_empty(), "{output:?}");
    assert!(place.scratch_is_empty());
}

#[tokio::test]
async fn the_end_of_the_time_kills_every_stage() {
    let place = TestFolder::new().within(Duration::from_millis(600));
    let output = outcome(&place, "sh:echo_$$>&2;exec_sleep_100 | sh:echo_$$;exec_sleep_100").await.unwrap();
    assert!(output.timed_out);
    ends(text(&output.stdout));
    ends(text(&output.stderr));
}

#[tokio::test]
async fn dropping_the_future_kills_every_stage() {
    let place = TestFolder::new();
    let fifos = [place.fifo(), place.setting.cwd.join("other")];
    mknodat(CWD, &fifos[1], FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut list = list("sh: | sh:");
    for (stage, fifo) in list.pipelines[0].stages.iter_mut().zip(&fifos) {
        stage.argv[2] = format!("exec sleep 100 < {}", fifo.display());
    }
    let ruling = Ruling { verdict: Verdict::Safe, list: Some(list), ..Ruling::default() };
    let running = run(Permit::for_safe(&ruling).unwrap(), &place.setting, CancelSignal::never());
    // A writer of a fifo gets a signal when its last reader is gone.
    let opened = tokio::task::spawn_blocking(move || {
        fifos.map(|path| std::fs::OpenOptions::new().write(true).open(path).unwrap())
    });
    let writers = tokio::select! {
        _ = running => panic!("it ended by itself"),
        writers = opened => writers.unwrap(),
    };
    for writer in writers {
        let patience = Timespec::try_from(Duration::from_secs(10)).unwrap();
        let gone = poll(&mut [PollFd::new(&writer, PollFlags::ERR)], Some(&patience)).unwrap();
        assert_eq!(gone, 1, "a stage is still running");
    }
}

#[tokio::test]
async fn the_output_of_a_list_has_one_limit() {
    let mut place = TestFolder::new();
    place.setting.limits.output = 1000;
    let output = outcome(&place, "head -c 800 /dev/zero ; head -c 800 /dev/zero").await.unwrap();
    assert_eq!((output.stdout.len(), output.stdout_total, output.stdout_truncated), (1000, 1600, true));
}

#[tokio::test]
async fn every_stage_has_a_sandbox_of_its_own_and_all_are_reported() {
    let mut list = list("sh:echo_$HOME;ls_/ | cat");
    list.pipelines[0].stages[0].profile = Profile::default();
    list.pipelines[0].stages[1].profile = Profile::default();
    let place = TestFolder::new();
    let ruling = Ruling { verdict: Verdict::Safe, list: Some(list), ..Ruling::default() };
    let output =
        run(Permit::for_safe(&ruling).unwrap(), &place.setting, CancelSignal::never()).await.unwrap();
    assert!(text(&output.stdout).contains("/scratch/ghost-run-"));
    assert!(text(&output.stderr).contains("ermission denied"), "{}", text(&output.stderr));
    let details = output.sandbox_details();
    assert!(
        details.len() == 2
            && details[0].contains("/sh: Landlock full")
            && details[1].contains("/cat: Landlock")
    );
    assert_eq!(output.sandbox(), output.confinement.summary(), "the same for both");
}

#[tokio::test]
async fn no_stage_holds_a_pipe_of_another() {
    // Whatever whoever started the tests left open is there both times.
    let alone = output("sh:ls_/proc/self/fd").await;
    let between = output("true | sh:ls_/proc/self/fd | cat").await;
    assert_eq!(text(&alone.stdout), text(&between.stdout));
}

#[tokio::test]
async fn a_word_can_be_the_output_of_a_list() {
    check(
        &output("cat <( echo a ; false || echo b ) <( echo c | tr c d ) - <( true )").await,
        0,
        "a\nb\nd",
        "",
    );
    check(&output("cat <( cat <( echo a ) <( echo b ) ) | tr a-z A-Z").await, 0, "A\nB", "");
    check(&output("sh:exit_3 <( echo a ) ; cat <( echo b )").await, 0, "b", "");
    check(
        &output("cat <( head -c 5000000 /dev/zero ) <( head -c 7 /dev/zero ) | wc -c").await,
        0,
        "5000007",
        "",
    );
}

#[tokio::test]
async fn what_feeds_a_word_ends_when_its_reader_does() {
    let started = Instant::now();
    check(&output("head -n 1 <( yes )").await, 0, "y", "");
    check(&output("true <( sleep 100 ; echo a )").await, 0, "", "");
    check(
        &output("nonexistent-tool <( sleep 100 ) || echo b").await,
        0,
        "b",
        "`nonexistent-tool` is not installed",
    );
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn the_errors_of_what_feeds_a_word_are_those_of_the_list() {
    let output =
        output("cat <( sh:echo_out;echo_err>&2 ; nonexistent-tool ) <( sh:echo_no>&2 2>/dev/null )").await;
    assert_eq!((output.exit_code, text(&output.stdout)), (Some(0), "out"));
    assert_eq!(text(&output.stderr), "err\n`nonexistent-tool` is not installed");
    assert_eq!(output.others.len(), 2, "each program is reported: {:?}", output.sandbox_details());
}

#[tokio::test]
async fn the_end_of_the_time_and_a_stop_end_what_feeds_a_word() {
    let place = TestFolder::new().within(Duration::from_millis(600));
    let output = outcome(&place, "cat <( sh:echo_$$;exec_sleep_100 )").await.unwrap();
    assert!(output.timed_out);
    ends(text(&output.stdout));
    let place = TestFolder::new();
    let fifo = place.fifo();
    let (cancel, stop) = Cancel::new();
    let list = list(&format!("cat <( sh:exec_sleep_100_<_{} )", fifo.display()));
    let ruling = Ruling { verdict: Verdict::Safe, list: Some(list), ..Ruling::default() };
    let running = run(Permit::for_safe(&ruling).unwrap(), &place.setting, stop);
    let begun =
        tokio::task::spawn_blocking(move || std::fs::OpenOptions::new().write(true).open(fifo).unwrap());
    let canceling = async {
        let writer = begun.await.unwrap();
        cancel.cancel();
        writer
    };
    let (output, writer) = tokio::join!(running, canceling);
    assert!(output.unwrap().canceled);
    let patience = Timespec::try_from(Duration::from_secs(10)).unwrap();
    assert_eq!(
        poll(&mut [PollFd::new(&writer, PollFlags::ERR)], Some(&patience)).unwrap(),
        1,
        "it still runs"
    );
    assert!(place.scratch_is_empty());
}

#[tokio::test]
async fn no_child_inherits_the_pipe_of_another_word() {
    let alone = output("sh:ls_/proc/self/fd").await;
    let fed = output("cat <( sh:ls_/proc/self/fd ) <( true )").await;
    assert_eq!(text(&alone.stdout), text(&fed.stdout));
}
