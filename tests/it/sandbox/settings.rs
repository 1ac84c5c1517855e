//! No SAFE command searches for anybody's settings: not in `$HOME`, not in the home of the passwd entry, not where it runs.
//!
//! Files of settings lie in all of these places, but what counts is stronger than that none is read: every call that names a
//! file there is a violation, whether the file is there or not, so that no list of names can be too short.
//!
//! The commands run through the gate as the library has it, many in one traced process.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ghost_shell::{Known, Limits, Policy, Shell, Surroundings};

use super::corpus::{self, Case};
use super::place::{Place, lacking, setting, trace_reads};
use super::proof;
use super::trace::{Call, of_the_command, of_those_started};

const SHORT: usize = 320;
const LONG: usize = 20_000;
const BATCH: usize = 40;
/// Most of the time a command waits for an answer that never comes.
const WORKERS: usize = 8;
const TIMEOUT: Duration = Duration::from_secs(1);

const LIST: &str = "GHOST_TEST_BATCH";
const DATA: &str = "GHOST_TEST_BATCH_DATA";
/// A look at this path, followed by a number, says in the trace which command comes next.
const MARK: &str = "/ghost-test-command/";

/// The folders in which nothing may be looked for, beside the one where commands run.
const HOMES: [&str; 3] = ["home", "passwd-home", "xdg"];

/// What programs are known to search for; some of it would make them do more than the command says.
const PLANTED: [(&str, &str); 22] = [
    (".curlrc", "url = \"http://127.0.0.1:8080/planted\"\ndata = \"@/etc/hosts\"\n"),
    (".digrc", "+tcp @127.0.0.1\n"),
    (".jq", "def planted: input_filename;\n"),
    (".magic", "0 string x planted\n"),
    (".toprc", "planted\n"),
    (".nslookuprc", "set debug\n"),
    (".mtrrc", "planted\n"),
    (".ncrc", "planted\n"),
    (".lsof_root", "planted\n"),
    (".lesskey", "planted\n"),
    (".inputrc", "planted\n"),
    (".netrc", "default login a password b\n"),
    (".terminfo/d/dumb", "planted\n"),
    (".wireshark/init.lua", "os.execute('touch planted')\n"),
    (".config/wireshark/init.lua", "os.execute('touch planted')\n"),
    (".config/wireshark/preferences", "tcp.desegment_tcp_streams: FALSE\n"),
    (".config/procps/toprc", "planted\n"),
    (".config/terminal-colors.d/dmesg.enable", ""),
    (".docker/config.json", "{\"credsStore\": \"planted\"}\n"),
    (
        ".kube/config",
        "{\"current-context\": \"x\", \"contexts\": [{\"name\": \"x\", \"context\": {\"cluster\": \"c\", \"user\": \"u\"}}], \
          \"clusters\": [{\"name\": \"c\", \"cluster\": {\"server\": \"http://127.0.0.1:8080\"}}], \
          \"users\": [{\"name\": \"u\", \"user\": {\"exec\": {\"apiVersion\": \"client.authentication.k8s.io/v1\", \
          \"interactiveMode\": \"Never\", \"command\": \"/bin/touch\", \"args\": [\"planted\"]}}}]}\n",
    ),
    ("openssl.cnf", "planted\n"),
    ("wireshark/init.lua", "os.execute('touch planted')\n"),
];

/// A place whose user has another home than `$HOME` says, with settings in both and where commands run.
fn furnished() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (home, (name, text)) in
        HOMES.iter().chain(&["work"]).flat_map(|home| PLANTED.map(|file| (home, file)))
    {
        let path = at(home).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let entries = fs::read_to_string("/etc/passwd").unwrap();
    let moved = entries.lines().map(|line| {
        let mut fields: Vec<&str> = line.split(':').collect();
        let home = at("passwd-home");
        if let Some(field) = fields.get_mut(5) {
            *field = home.to_str().unwrap();
        }
        fields.join(":") + "\n"
    });
    fs::write(at("passwd"), moved.collect::<String>()).unwrap();
    Place::with(folder, "mount --bind \"$1/passwd\" /etc/passwd")
}

impl Place {
    fn at_home(&self, program: &mut Command) {
        program.env("HOME", self.path("home")).env("XDG_CONFIG_HOME", self.path("xdg"));
    }
}

#[test]
fn no_safe_command_searches_for_settings() {
    if let Some(reason) = lacking(&["strace", "unshare", "nsenter", "ip"]) {
        println!("skipped: {reason}");
        return;
    }
    let wanted = if setting("GHOST_LONG").is_empty() { SHORT } else { LONG };
    let seed = super::place::seed();
    println!("GHOST_TEST_SEED={seed}");
    let corpus = corpus::make_with_pipes(seed, wanted);
    let place = furnished();
    place.serve(8080);
    let before = place.settings();
    let (next, found_calls) = (AtomicUsize::new(0), Mutex::new(Found::default()));
    let batches: Vec<&[Case]> = corpus.cases.chunks(BATCH).collect();
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (next, found_calls, batches, place) = (&next, &found_calls, &batches, &place);
            scope.spawn(move || {
                while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = run(place, batch, worker);
                    found_calls.lock().unwrap().add(found);
                }
            });
        }
    });
    let Found { ran, programs, wrong } = found_calls.into_inner().unwrap();
    println!(
        "{} SAFE commands, {ran} of them ran, of {} programs: {programs:?}",
        corpus.cases.len(),
        programs.len()
    );
    println!("missing programs, with their SAFE commands: {:?}", corpus.missing);
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(
        before,
        place.settings(),
        "settings, or the folder where commands ran, are not what they were"
    );
    assert!(ran * 100 > corpus.cases.len() * 95, "only {ran} of {} ran", corpus.cases.len());
    assert!(programs.len() > 40, "too few programs for the run to mean anything");
}

#[derive(Default)]
struct Found {
    ran: usize,
    programs: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Found {
    fn add(&mut self, other: Self) {
        self.ran += other.ran;
        self.wrong.extend(other.wrong);
        other.programs.into_iter().for_each(|(name, count)| *self.programs.entry(name).or_default() += count);
    }
}

/// Runs a batch in one process and says what each command did.
fn run(place: &Place, batch: &[Case], worker: usize) -> Found {
    let (list, data) = (place.path(&format!("list-{worker}")), place.path(&format!("batch-{worker}")));
    let commands: Vec<&str> = batch.iter().map(|case| case.command.as_str()).collect();
    fs::write(&list, serde_json::to_vec(&commands).unwrap()).unwrap();
    #[expect(clippy::disallowed_methods, reason = "only a process of its own can be traced")]
    let mut program = Command::new(std::env::current_exe().unwrap());
    let test = "sandbox::settings::a_batch_that_the_other_test_starts";
    program.args(["--exact", test, "--test-threads=1", "--nocapture"]).env(LIST, &list).env(DATA, &data);
    place.at_home(&mut program);
    let (output, calls) = trace_reads(place, &program, &place.path(&format!("logs/batch-{worker}")));
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut found_calls = Found::default();
    if !output.status.success() {
        found_calls
            .wrong
            .push(format!("a batch failed: {stdout}{}", String::from_utf8_lossy(&output.stderr)));
    }
    let slices = by_command(&calls);
    for (at, case) in batch.iter().enumerate() {
        let inside = slices.get(&at).map(|calls| of_those_started(calls)).unwrap_or_default();
        if inside.is_empty() {
            continue;
        }
        found_calls.ran += 1;
        *found_calls.programs.entry(case.program.clone()).or_default() += 1;
        let (reads, changes): (Vec<&Call>, Vec<&Call>) = inside.into_iter().partition(|call| call.reads());
        let mut wrong = proof::violations(&case.profiles, &data.join("scratch"), &changes);
        wrong.extend(
            reads
                .iter()
                .chain(&changes)
                .filter(|call| place.searches(call, &case.command))
                .map(|call| call.line()),
        );
        wrong.dedup();
        found_calls.wrong.extend(
            wrong.into_iter().take(4).map(|line| format!("{}\n  rule {}\n  {line}", case.command, case.rule)),
        );
    }
    found_calls
}

/// Parts the calls of a traced process by the command that it was running.
fn by_command(calls: &[Call]) -> HashMap<usize, &[Call]> {
    let marks = calls.iter().enumerate().filter_map(|(at, call)| {
        let (_, rest) = call.arguments.split_once(MARK)?;
        Some((at, rest.split('"').next()?.parse::<usize>().ok()?))
    });
    let marks: Vec<(usize, usize)> = marks.collect();
    let ends = marks.iter().skip(1).map(|(at, _)| *at).chain([calls.len()]);
    marks
        .iter()
        .zip(ends)
        .filter_map(|((start, number), end)| Some((*number, calls.get(*start..end)?)))
        .collect()
}

impl Place {
    /// Describes every folder with settings.
    fn settings(&self) -> String {
        const LOOK: &str = "find \"$@\" -printf '%p %s %m %U %T@\\n' | sort";
        #[expect(clippy::disallowed_methods, reason = "the proof starts real programs")]
        let mut find = Command::new("sh");
        find.args(["-c", LOOK, "sh"]).args(HOMES.map(|name| self.path(name))).arg(self.path("work"));
        String::from_utf8(self.inside(&find).output().unwrap().stdout).unwrap()
    }

    /// Tells whether a call searches a home, or opens what the command does not name where it runs.
    fn searches(&self, call: &Call, command: &str) -> bool {
        let work = self.path("work");
        named(call, &work).iter().any(|path| {
            let beside = path.strip_prefix(&work).ok().and_then(|rest| rest.components().next());
            // `ls` reads the names here without opening the files; what it opens is folders.
            let opens = ["open", "exec", "access", "readlink"].iter().any(|name| call.name.starts_with(name))
                && !call.arguments.contains("O_DIRECTORY");
            let unnamed =
                beside.is_some_and(|first| !command.contains(&*first.as_os_str().to_string_lossy()));
            // `kubectl` finds clusters there, and nothing else; what its file would start is not started.
            let is_clusters = command.contains("kubectl")
                && (call.reads() || call.arguments.contains("O_RDONLY"))
                && *path == self.path("home").join(".kube/config");
            let at_home = HOMES.iter().any(|home| path.starts_with(self.path(home)));
            (at_home && !is_clusters) || (opens && unnamed)
        })
    }
}

/// Returns the paths that a call names, wherever they are relative to.
fn named(call: &Call, work: &Path) -> Vec<PathBuf> {
    // Words of a started program are no paths, nor is what a link says.
    let alone = ["exec", "readlink"].iter().any(|name| call.name.starts_with(name));
    let count = if alone { 1 } else { usize::MAX };
    let base = match call.arguments.split_once('<') {
        Some((before, rest)) if !before.contains('"') => {
            rest.split_once('>').map_or(work, |(path, _)| Path::new(path))
        }
        _ => work,
    };
    let words = call.arguments.split('"').skip(1).step_by(2).take(count);
    words.map(|word| plain(&base.join(word))).collect()
}

/// Takes `.` and `..` out of a path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Runs what the other test starts this binary for; on its own it does nothing.
#[test]
fn a_batch_that_the_other_test_starts() {
    let (list, data) = (setting(LIST), setting(DATA));
    if list.is_empty() {
        return;
    }
    let commands: Vec<String> = serde_json::from_slice(&fs::read(list).unwrap()).unwrap();
    let environment =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect();
    let policy = Policy::builtin().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let builder = Shell::builder("batch".parse().unwrap(), Path::new(&data)).environment(environment);
        let limits = Limits { timeout: TIMEOUT, ..Limits::default() };
        let mut shell = builder.limits(limits).build().unwrap();
        for (at, command) in commands.iter().enumerate() {
            let places = policy.classify(command).destinations;
            shell.set_known(Known::of(&Surroundings::read(&places, "").unwrap()));
            assert!(fs::metadata(format!("{MARK}{at}")).is_err());
            let response = shell.run(command, "the proof of the sandbox").await;
            println!("{at} {:?} {:?}", response.classification, response.exit_code);
        }
    });
}

/// The control: the same programs, started by somebody else, do look, and every place is one where one of them does.
#[test]
fn programs_that_nobody_confines_look_for_settings() {
    let programs = ["curl", "dig", "jq", "file", "top", "tshark"];
    if let Some(reason) = lacking(&["strace", "unshare", "nsenter", "ip"]).or_else(|| lacking(&programs)) {
        println!("skipped: {reason}");
        return;
    }
    let place = furnished();
    let rows = [
        ("curl -s http://127.0.0.1:1/", "xdg/.curlrc"),
        ("env -u XDG_CONFIG_HOME curl -s http://127.0.0.1:1/", "home/.curlrc"),
        ("env -u HOME -u XDG_CONFIG_HOME curl -s http://127.0.0.1:1/", "passwd-home/.curlrc"),
        ("dig @127.0.0.1 +time=1 +tries=1 a.example", "home/.digrc"),
        ("echo 1 | jq .", "home/.jq"),
        ("file a.pcap", "home/.magic"),
        ("top -b -n 1", "home/.toprc"),
        ("tshark -r a.pcap", "xdg/wireshark"),
        ("tshark -r a.pcap", "work/IOR.txt"),
        ("curl -s -w '%{json}' http://127.0.0.1:1/", "work/ldaprc"),
        ("cat .netrc", "work/.netrc"),
    ];
    for (line, expected) in rows {
        #[expect(clippy::disallowed_methods, reason = "the control starts real programs")]
        let mut program = Command::new("sh");
        program.args(["-c", &format!("{line}; true")]);
        place.at_home(&mut program);
        let (_, calls) = trace_reads(&place, &program, &place.path("logs/control"));
        let work = place.path("work");
        let seen = of_the_command(&calls).into_iter().filter(|call| place.searches(call, "")).any(|call| {
            named(call, &work)
                .iter()
                .any(|path| path.starts_with(place.path(expected)) || *path == place.path(expected))
        });
        assert!(seen, "{line} does not look for {expected}");
    }
}
