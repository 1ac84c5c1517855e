//! Bounds of a whole text: what is SAFE in parts and not in sum asks, and says the sum.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use ghost_shell::{Policy, Verdict};

const IN_A_GUEST: &str = "az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts";

/// Returns a setting of the test run, empty if it is not given.
#[expect(clippy::disallowed_methods, reason = "tests have no configuration but the environment")]
fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// A small generator (xorshift64*) whose seed the test prints.
struct Random(u64);

impl Random {
    #[expect(clippy::print_stdout, reason = "a failure is repeated from its seed")]
    fn new(test: &str) -> Self {
        let seed: u64 = setting("GHOST_TEST_SEED").parse().unwrap_or(20_261_129);
        println!("{test}: GHOST_TEST_SEED={seed}");
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        least + (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % (most - least + 1)
    }
}

fn rounds() -> u64 {
    if setting("GHOST_LONG") == "1" { 40_000 } else { 1_500 }
}

/// Judges a text; the reason stands beside the verdict.
fn judged(text: &str) -> (Verdict, String) {
    let ruling = Policy::builtin().unwrap().classify(text);
    (ruling.verdict, format!("{} ({})", ruling.reason, ruling.rule))
}

#[track_caller]
fn check(text: &str, verdict: Verdict) {
    let (found, why) = judged(text);
    assert_eq!(found, verdict, "{text:.200}: {why}");
}

/// A text beyond a sum asks by the rule of sums, and its reason holds the number.
#[track_caller]
fn asks(text: &str, number: &str) {
    let (found, why) = judged(text);
    assert_eq!(found, Verdict::Risky, "{text:.200}: {why}");
    assert!(why.contains(number) && why.contains("(text.sum)"), "{text:.200}: {why}");
}

/// One command for a guest, and the seconds that it may take.
fn timed(random: &mut Random) -> (String, u64) {
    let (count, each) = (random.between(1, 8), random.between(1, 6));
    match random.between(0, 15) {
        0 => (format!("ping -c {count} 10.0.0.4"), count),
        1 => (format!("ping -i {each} -c{count} 10.0.0.4"), count * each),
        2 => (format!("ping -c {count} -W {each} 10.0.0.4"), count + each),
        3 => (format!("ping -c {count} -w {} 10.0.0.4", count + each), count + each),
        4 => (format!("vmstat {each} {count}"), count * each),
        5 => (format!("sar -n DEV {each} {count}"), count * each),
        6 => (format!("iostat -x {each} {count}"), count * each),
        7 => (format!("mpstat -P ALL {each} {count}"), count * each),
        8 => (format!("top -b -n {count} -d {each}"), count * each),
        9 => (format!("top -bn{count}"), count * 3),
        10 => (format!("mtr -rn -c {count} -i {each} 10.0.0.4"), count * each),
        11 => (format!("free -s {each} -c {count}"), count * each),
        12 => (format!("timeout {each} tail -f /var/log/syslog"), each),
        13 => (format!("nc -z -w {each} 10.0.0.4 8001-800{count}"), count * each),
        14 => (format!("curl -m {each} http://10.0.0.4/ http://10.0.0.5/"), 2 * each),
        _ => (format!("dig +time={each} +tries={count} a.example MX"), count * each),
    }
}

#[test]
fn the_seconds_of_a_guest_are_a_bound_of_the_whole_text() {
    let mut random = Random::new("the_seconds_of_a_guest_are_a_bound_of_the_whole_text");
    let (mut safe, mut beyond) = (0, 0);
    for _ in 0..rounds() {
        let commands: Vec<(String, u64)> = (0..random.between(1, 9)).map(|_| timed(&mut random)).collect();
        if commands.iter().any(|(text, _)| text.contains("8001") && judged(text).0 != Verdict::Safe) {
            continue;
        }
        let seconds: u64 = commands.iter().map(|(_, seconds)| seconds).sum();
        let ports: u64 = commands.iter().filter(|(text, _)| text.starts_with("nc")).count() as u64 * 8;
        let parts: Vec<&str> = commands.iter().map(|(text, _)| text.as_str()).collect();
        let (text, times) = match random.between(0, 4) {
            0 => (format!("{IN_A_GUEST} '{}'", parts.join("; ")), 1),
            1 => (format!("{IN_A_GUEST} '{}'", parts.join("' '")), 1),
            2 => (format!("{IN_A_GUEST} '{}'", parts.join(" && ")), 1),
            3 => (format!("{IN_A_GUEST} 'for i in a b; do {}; done'", parts.join("; ")), 2),
            _ => {
                (parts.iter().map(|part| format!("{IN_A_GUEST} '{part}'")).collect::<Vec<_>>().join("; "), 1)
            }
        };
        let urls = commands.iter().filter(|(text, _)| text.starts_with("curl")).count() as u64 * 2 * times;
        if urls > 16 || ports * times > 100 {
            continue;
        }
        let expected = if seconds * times <= 60 { Verdict::Safe } else { Verdict::Risky };
        check(&text, expected);
        if expected == Verdict::Risky {
            beyond += 1;
            // A part that is too long by itself says so, too.
            asks(&text, "seconds");
        } else {
            safe += 1;
        }
    }
    assert!(safe > rounds() / 10 && beyond > rounds() / 10, "{safe} safe, {beyond} beyond");
}

#[test]
fn the_connections_of_ranges_loops_and_machines_are_a_bound_of_the_whole_text() {
    let mut random =
        Random::new("the_connections_of_ranges_loops_and_machines_are_a_bound_of_the_whole_text");
    for _ in 0..rounds() {
        let mut connections = 0;
        let mut commands = Vec::new();
        for _ in 0..random.between(1, 6) {
            let (first, ports) = (random.between(1, 900), random.between(2, 40));
            let range = format!("{first}-{}", first + ports - 1);
            match random.between(0, 3) {
                0 => {
                    let words = random.between(1, 3);
                    let hosts: Vec<String> = (1..=words).map(|host| format!("10.0.0.{host}")).collect();
                    commands.push(format!("for h in {}; do nc -z -w 1 $h {range}; done", hosts.join(" ")));
                    connections += words * ports;
                }
                1 => {
                    commands.push(format!("for p in 22 80; do nc -zw1 10.0.0.4 $p {range}; done"));
                    connections += 2 * (ports + 1);
                }
                2 => {
                    commands.push(format!("nc -z -w 1 10.0.0.4 22 {range} 443"));
                    connections += ports;
                }
                _ => commands.push("nc -z -w 1 10.0.0.4 22 80 443; dig a.example".to_owned()),
            }
        }
        let text = commands.join("; ");
        check(&text, if connections <= 100 { Verdict::Safe } else { Verdict::Risky });
        if connections > 100 {
            asks(&text, &format!("{connections} connections"));
        }
    }
    let on = |ids: &str| {
        format!(
            "az vm run-command invoke --ids {ids} --command-id RunShellScript --scripts 'nc -z -w 1 10.0.0.4 1-40'"
        )
    };
    check(&on("/a"), Verdict::Safe);
    asks(&on("/a /b /c"), "120 connections");
}

#[test]
fn the_texts_that_showed_the_hole_ask() {
    let scan: Vec<String> =
        (0..654).map(|part| format!("nc -z -w 1 10.0.0.9 {}-{}", part * 100 + 1, part * 100 + 100)).collect();
    asks(&scan.join("; "), "654 commands");
    asks(&scan[..12].join("; "), "1,200 connections");
    asks(&scan[..12].join(" | "), "1,200 connections");
    let urls: Vec<String> = (1..255).map(|host| format!("http://10.0.0.{host}/")).collect();
    asks(&format!("curl -s {}", urls.join(" ")), "254 URLs");
    asks(&format!("curl -s {} --url {}", urls[..16].join(" "), urls[16]), "17 URLs");
    check(&format!("curl -s {}", urls[..16].join(" ")), Verdict::Safe);
    let each: Vec<String> = urls[..17].iter().map(|url| format!("curl -s {url}")).collect();
    asks(&each.join("; "), "17 URLs");
    asks(&format!("{IN_A_GUEST} {}", "'ping -c 60 10.0.0.4' ".repeat(60)), "3,600 seconds");
    asks(&format!("{IN_A_GUEST} {}", "'ping -c 60 10.0.0.4' ".repeat(90)), "90 commands");
    asks(&"ip a\n".repeat(17_000), "17,000 commands");
    asks(&"ip a\n".repeat(65), "65 commands");
    check(&"ip a\n".repeat(64), Verdict::Safe);
    asks(&format!("{IN_A_GUEST} {}", "'ip a' ".repeat(65)), "65 commands");
    asks(&format!("echo {}", "a ".repeat(8_190)), "16,385 bytes");
    check(&format!("echo {}", "a ".repeat(8_189)), Verdict::Safe);
    for script in [
        "ping -c 999999999 10.0.0.4",
        "ping -i 3600 -c 999999 10.0.0.4",
        "mtr -c 999999 10.0.0.4",
        "vmstat 1 999999",
        "top -b -n 100000",
        "timeout 1d tail -f /var/log/syslog",
        "curl -m 3600 http://10.0.0.4/",
        "dig +time=900 a.example",
        "dig +ti=9 +ret=9 a.example",
        "host -W 900 a.example",
        "traceroute -w 900 10.0.0.4",
        "traceroute -m 255 -q 10 10.0.0.4",
        "nslookup -timeout=900 a.example",
        "nc -z 10.0.0.4 1-100",
    ] {
        asks(&format!("{IN_A_GUEST} '{script}'"), "seconds");
        check(script, if script.starts_with("timeout") { Verdict::Safe } else { judged(script).0 });
    }
}

#[test]
fn a_bound_that_a_program_does_not_keep_is_none_in_a_guest() {
    for script in [
        "curl -m 0 http://10.0.0.4/",
        "curl --retry 5 http://10.0.0.4/",
        "ping -c 3 -W 0 10.0.0.4",
        "free -s 1",
        "kubectl rollout status deployment/web",
        "traceroute -z 10 10.0.0.4",
    ] {
        let (found, why) = judged(&format!("{IN_A_GUEST} '{script}'"));
        assert!(found == Verdict::Risky && why.contains("until it is stopped"), "{script}: {why}");
        check(&format!("{IN_A_GUEST} 'timeout 10 {script}'"), Verdict::Safe);
    }
}
