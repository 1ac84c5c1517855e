//! How long one classification takes, beside a list of patterns, and how it grows with the text.
#![expect(clippy::print_stdout, reason = "a benchmark is there to be read")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use ghost_shell::Policy;
use regex::Regex;

/// What an investigation types, what it should not, and what an attacker would.
const COMMANDS: [&str; 46] = [
    "ss -s",
    "ss -tin state established",
    "ip route",
    "ip -s link show eth0",
    "ip route get 10.0.1.5",
    "ping -c 3 10.0.1.5",
    "ping -c 20 -i 0.5 -W 2 vm1.internal.example.com",
    "traceroute -n 10.0.1.5",
    "mtr -r -c 10 10.0.1.5",
    "dig +short example.com",
    "dig @10.0.0.2 -t AAAA vm1.example.com +tcp",
    "host example.com",
    "nc -zv -w 3 10.0.1.5 5432",
    "curl -sv --connect-timeout 5 https://10.0.1.5/health",
    "curl -sI -H 'Accept: text/plain' http://vm1.example.com:8080/",
    "iptables -L INPUT -n -v --line-numbers",
    "iptables-save -t nat",
    "nft -j list ruleset",
    "conntrack -L -p tcp --dport 443",
    "ethtool -S eth0",
    "tc -s qdisc show dev eth0",
    "sysctl net.ipv4.ip_forward net.core.somaxconn",
    "cat /proc/net/dev",
    "tail -n 50 /proc/net/nf_conntrack",
    "tcpdump -r /tmp/captures/a.pcap -n 'tcp port 443 and host 10.0.1.5'",
    "tshark -r /tmp/captures/a.pcap -q -z conv,tcp",
    "timeout 5 ping -c 3 10.0.1.5",
    "az network nsg rule list -g rg1 --nsg-name nsg1 -o table",
    "az network nic show-effective-route-table -g rg1 -n nic1",
    "az network watcher test-ip-flow --vm vm1 -g rg1 --direction Inbound --protocol TCP --local 10.0.1.5:22 --remote 1.2.3.4:60000",
    "az vm list -g rg1 --query \"[?powerState=='VM running'].{n:name,ip:privateIps}\" -o tsv",
    "az monitor metrics list --resource /subscriptions/0/resourceGroups/rg/providers/Microsoft.Network/lb --metric Pct",
    "az vm run-command invoke -g rg1 -n vm1 --command-id RunShellScript --scripts 'ss -tin' 'ip route' 'sudo iptables -S | grep 5001'",
    "az vm run-command invoke -g rg1 -n vm1 --command-id RunShellScript --scripts 'tc qdisc show; nft -j list ruleset 2>/dev/null'",
    "az vm run-command invoke -g rg1 -n vm1 --command-id RunShellScript --scripts 'systemctl restart sshd'",
    "az account get-access-token",
    "az network nsg rule delete -g rg1 --nsg-name nsg1 -n r1",
    "ss -tin | grep 5001 | sort | uniq -c",
    "ip route; ip addr; iptables -S && echo done",
    "sudo systemctl restart networking",
    "ssh -p 2222 ops@10.0.1.4 'ss -tlnp; cat /etc/resolv.conf'",
    "sudo rm -rf /var",
    "bash -c \"bash -c 'rm -rf /'\"",
    "r''m -r\"f\" $HOME/../../etc",
    ":(){ :|:& };:",
    "curl -s http://169.254.169.254/metadata/identity/oauth2/token | tee /tmp/x | base64 -d",
];

/// The word that a list of patterns would forbid, anywhere a shell could start a command.
const FORBIDDEN: [&str; 34] = [
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    r"init\s+[016]",
    r"telinit\s+[016]",
    r"kexec\s+-e",
    r"systemctl\s+(\S+\s+)*(reboot|poweroff|halt)",
    r"rm\s+(-\w+\s+)*-\w*[rR]\w*\s+(-\w+\s+)*/(\s|$|\*)",
    r"rm\s+(-\w+\s+)*-\w*[rR]\w*\s+(\S+\s+)*/(bin|boot|dev|etc|home|lib|opt|proc|root|sbin|srv|sys|usr|var)/?(\s|$)",
    r"find\s+/\s.*(-delete|-exec\s+rm)",
    r"chmod\s+.*-R\s.*\s/\S*",
    r"chown\s+.*-R\s.*\s/\S*",
    r"mv\s+/\w+\s",
    r"dd\s+.*of=/dev/",
    r"mkfs(\.\w+)?\s",
    "mkswap",
    "wipefs",
    r"sgdisk\s+.*-[Zzod]",
    r"parted\s.*(mklabel|mkpart|rm)",
    r"cryptsetup\s+(luksFormat|luksErase|erase)",
    r"kill\s+(-\w+\s+)*(1|-1)(\s|$)",
    "printenv",
    r"env\s*$",
    r"tee\s.*/dev/sd",
    r"az\s.*list-keys",
    r"az\s.*get-access-token",
    r"az\s.*list-credentials",
    r"az\s.*show-connection-string",
    r"az\s+keyvault\s+secret\s+(show|download)",
    r"az\s.*(delete|create|update|set|start|stop|restart)\b",
    "sudo",
    "su",
    "eval",
];

/// Patterns over the whole text, and what such a list lets pass.
const PATTERNS: [&str; 34] = [
    r":\(\)\s*\{",
    r">\s*/dev/(sd|nvme|vd|xvd)",
    r"/etc/g?shadow",
    r"\.ssh/id_\w+",
    r"(^|[\s/=@])\.env(\.\w+)?(\s|$)",
    r"\.aws/credentials",
    r"\.kube/config",
    r"\.azure/",
    r"\.netrc",
    r"169\.254\.169\.254",
    r"metadata\.google\.internal",
    r"/proc/\S+/environ",
    r"\$\(",
    "`",
    r"\$\{?\w+",
    r"[;&|<>]",
    r"\|\s*(sh|bash|zsh)\b",
    r"base64\s+(-d|--decode)",
    r"^\s*ss\s+-[a-z]+",
    r"^\s*ip\s+(-\w+\s+)*(addr|route|link|neigh|rule)(\s+(show|get|list))?",
    r"^\s*ping\s",
    r"^\s*traceroute\s",
    r"^\s*mtr\s",
    r"^\s*(dig|host|nslookup)\s",
    r"^\s*curl\s+(-\w+\s+)*https?://",
    r"^\s*iptables(-save)?\s+-[LSnvt]",
    r"^\s*nft\s+(-\w\s+)*list",
    r"^\s*(tcpdump|tshark)\s+-r\s",
    r"^\s*cat\s+/proc/net/",
    r"^\s*az\s+.*\b(list|show|exists|wait|version|check)\b",
    r"^\s*az\s+vm\s+run-command\s+invoke\s",
    r"^\s*ethtool\s",
    r"^\s*sysctl\s+[a-z.]+",
    r"^\s*(uname|uptime|date|id|whoami|hostname)\b",
];

/// A gate as it is usually built: every pattern is tried on every part of the text.
struct Patterns(Vec<Regex>);

impl Patterns {
    fn new() -> Self {
        let start = r"(?:^|[;&|(`]\s*|\b(?:sudo|env|nohup|xargs|timeout\s+\d+)\s+)";
        let forbidden = FORBIDDEN.iter().map(|word| format!(r"{start}(?:/\S*/)?(?:{word})\b"));
        let all = forbidden.chain(PATTERNS.iter().map(|pattern| (*pattern).to_owned()));
        Self(all.map(|pattern| Regex::new(&pattern).unwrap()).collect())
    }

    fn classify(&self, text: &str) -> usize {
        // The verdict is the strictest match, so none may be left out.
        self.0.iter().filter(|pattern| pattern.is_match(text)).count()
    }
}

/// The name of a shape, and how to make a text of it that is about so long.
type Shape = (&'static str, fn(usize) -> String);

/// Texts that grow, by the name of what is repeated in them.
fn growing() -> Vec<Shape> {
    fn nested(open: &str, inside: &str, close: &str, length: usize) -> String {
        let depth = length / (open.len() + close.len());
        format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
    }
    fn run(piece: &str, length: usize) -> String {
        piece.repeat(length / piece.len())
    }
    fn backticks(length: usize) -> String {
        // Every level escapes the one inside it, so few levels fill any length.
        let mut text = "x".to_owned();
        while text.len() * 2 < length {
            text = format!("echo `{}`", text.replace('\\', r"\\").replace('`', r"\`"));
        }
        text
    }
    vec![
        ("sudo sudo", |n| run("sudo ", n)),
        ("$( nested", |n| nested("$(", "x", ")", n)),
        ("$( open", |n| run("$(", n)),
        ("double quotes", |n| run("\"a\" ", n)),
        ("single quotes", |n| run("'a'", n)),
        ("\"$(\"$(", |n| run("\"$(", n)),
        ("find -exec", |n| run("find / -exec ", n)),
        ("${ open", |n| run("${", n)),
        ("${a:-${", |n| nested("${a:-", "x", "}", n)),
        ("eval eval", |n| run("eval ", n)),
        ("eval 'eval", |n| run("eval '", n)),
        ("a=b a=b", |n| run("a=b ", n)),
        ("sudo a=b", |n| format!("sudo {}", run("a=b ", n))),
        ("((a)&)&", |n| nested("(", "a", ")&", n)),
        ("{a,b}", |n| run("{a,b}", n)),
        ("{a,b} words", |n| run("{a,b} ", n)),
        ("{a,{a,", |n| nested("{a,", "b", "}", n)),
        ("/{a,b} path", |n| format!("cat /etc/{}", run("{a,b}", n))),
        ("backslashes", |n| run("\\", n)),
        ("backticks", backticks),
        ("` ` pairs", |n| run("`a` ", n)),
        ("ssh h ssh h", |n| run("ssh h ", n)),
        ("ssh h 'ssh h", |n| run("ssh h ';", n)),
        ("watch watch", |n| run("watch ", n)),
        ("watch x; y", |n| run("watch \\; ", n)),
        ("bash -c bash -c", |n| run("bash -c ", n)),
        ("find -exec ;", |n| run("find / -exec a \\; ", n)),
        ("env -S env -S", |n| run("env -S ", n)),
        ("ionice -c", |n| run("ionice -c ", n)),
        ("sudo --x", |n| run("sudo --x ", n)),
        ("a | sh", |n| run("echo a | sh | ", n)),
        ("az --query `", |n| format!("az vm list --query {}", run("`a` --query ", n))),
        ("f() { f; }", |n| run("f() { f & }; ", n)),
        ("g1() { g2", |n| (0..n / 20).map(|at| format!("g{at}() {{ g{} & }}; ", at + 1)).collect()),
        ("; ; ;", |n| run("a;", n)),
        ("( ( ( blanks", |n| run("a (   ", n)),
        ("$IFS", |n| run("a$IFS", n)),
        ("${IFS}", |n| run("a${IFS}", n)),
        (".env .env", |n| run("ssh -i .env ", n)),
        ("a/../a", |n| format!("cat {}", run("a/../", n))),
        ("su --x a", |n| run("su --x a ", n)),
        ("watch --x a;", |n| format!("watch {}", run("--x a\\; ", n))),
        ("x --query `", |n| run("x --query `a` ", n)),
        ("{a{b..c}", |n| format!("{{a{}", run("{b..c}", n))),
        ("a=:~:~", |n| format!("q {}={}", run("a", n / 2), run(":~", n / 2))),
        ("one long word", |n| run("a", n)),
        ("curl urls", |n| format!("curl {}", run("http://169.254.169.254/x ", n))),
        ("az scripts", |n| format!("az vm run-command invoke --scripts {}", run("'ss -s' ", n))),
    ]
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Measures one call: the median of some rounds.
fn time(rounds: usize, calls: u32, mut call: impl FnMut()) -> Duration {
    let round = |_| {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        start.elapsed() / calls
    };
    median((0..rounds).map(round).collect())
}

/// Says how the median command fares, and which ones take longest.
fn compare(policy: &Policy, patterns: &Patterns) {
    let mut rows: Vec<(Duration, Duration, &str)> = COMMANDS
        .iter()
        .map(|command| {
            let ours = time(15, 400, || drop(black_box(policy.classify(black_box(command)))));
            let theirs = time(15, 100, || {
                black_box(patterns.classify(black_box(command)));
            });
            (ours, theirs, *command)
        })
        .collect();
    let (ours, theirs) =
        (median(rows.iter().map(|row| row.0).collect()), median(rows.iter().map(|row| row.1).collect()));
    println!(
        "{} commands: median {ours:?}, {} patterns {theirs:?}, ratio {:.1}",
        rows.len(),
        patterns.0.len(),
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
    rows.sort();
    for (ours, theirs, command) in rows.iter().rev().take(5) {
        println!("  slowest: {ours:>10.2?} (patterns {theirs:>10.2?})  {command}");
    }
}

/// Says how the time grows from 1 kB to 10 kB to 100 kB, for every shape of text.
fn grow(policy: &Policy) {
    println!("{:<18} {:>12} {:>12} {:>12}  growth over tenfold text", "shape", "1 kB", "10 kB", "100 kB");
    for (name, make) in growing() {
        let times = [1_000, 10_000, 100_000].map(|length| {
            let text = make(length);
            time(5, 3, || drop(black_box(policy.classify(black_box(&text)))))
        });
        let [small, middle, large] = times;
        println!(
            "{name:<18} {small:>12.1?} {middle:>12.1?} {large:>12.1?}  {:.1} {:.1}",
            middle.as_secs_f64() / small.as_secs_f64(),
            large.as_secs_f64() / middle.as_secs_f64()
        );
    }
}

fn main() {
    let policy = Policy::builtin().unwrap();
    let patterns = Patterns::new();
    compare(policy, &patterns);
    grow(policy);

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("classify");
    group.throughput(Throughput::Elements(COMMANDS.len() as u64));
    group.bench_function(BenchmarkId::new("judge", COMMANDS.len()), |bench| {
        bench.iter(|| {
            COMMANDS.iter().for_each(|command| drop(black_box(policy.classify(black_box(command)))))
        });
    });
    group.bench_function(BenchmarkId::new("patterns", COMMANDS.len()), |bench| {
        bench.iter(|| {
            COMMANDS.iter().for_each(|command| {
                black_box(patterns.classify(black_box(command)));
            });
        });
    });
    group.finish();
    criterion.final_summary();
}
