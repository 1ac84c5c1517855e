//! Scripts in hostile combination: reads and filters, with what could start or write something planted in every position.

use crate::random::Random;

/// Commands that only read. Every program here is one of the place's.
const READS: &[&str] = &[
    "ss -tn",
    "ss -s",
    "ip a",
    "ip r",
    "ip route get 10.0.1.5",
    "uname -a",
    "uptime",
    "ping -c 1 10.0.0.4",
    "netstat -tn",
    "df -h",
    "sudo ss -tlnp",
    "sudo -n ip r",
    "timeout 5 ss -s",
    "nproc",
    "whoami",
    "id -un",
    "cat /proc/net/dev",
    "free -m",
    "dig a.example",
    "echo -e 'a[$(touch MARKER)]'",
    "printf '%d\\n' 'a[$(touch MARKER)]'",
    "printf -- '-v %s' b",
    "type -a ss",
];

const FILTERS: &[&str] = &[
    "grep 5001",
    "grep -i 'a b'",
    "head -n 3",
    "tail -5",
    "sort -rn",
    "uniq -c",
    "wc -l",
    "cut -d: -f1",
    "tr -s ' '",
    "column -t",
    "awk '{print $1}'",
    "awk '/x/{print $2, \"`id`\"}'",
    "sed -n '1,5p'",
    "sed 's/a/$(id)/'",
    "cat",
    "tac",
    "rev",
    "nl",
    "grep -e x",
];

/// What must not be started, in whatever disguise.
const PLANTS: &[&str] = &[
    "touch MARKER",
    "id > MARKER",
    "tee MARKER",
    "echo x >> MARKER",
    "sh -c 'touch MARKER'",
    "eval touch MARKER",
    "> MARKER",
    "ss -s > MARKER",
    "sed -n 'w MARKER'",
    "sed '1e touch MARKER'",
    "awk '{print > \"MARKER\"}'",
    "awk '{system(\"touch MARKER\")}'",
    "sort -o MARKER",
    "uniq - MARKER",
    "xargs touch",
    "env touch MARKER",
    "az vm list --query `touch MARKER`",
    "printf -v 'a[$(touch MARKER)]' x",
    "printf -va\\[\\$\\(touch\\ MARKER\\)\\] x",
    "sudo touch MARKER",
    "timeout 5 touch MARKER",
    "ss -s 2> MARKER",
    "ss -s &> MARKER",
    "ss -s >| MARKER",
    "ss -s <> MARKER",
];

/// Frames around a planted command.
const FRAMES: &[(&str, &str)] = &[
    ("", ""),
    ("$(", ")"),
    ("`", "`"),
    ("\"$(", ")\""),
    ("\"`", "`\""),
    ("'`", "`'"),
    ("'$(", ")'"),
    ("\\`", "\\`"),
    ("\\$(", ")"),
    ("<(", ")"),
    ("${x:-$(", ")}"),
    ("\"${x:-`", "`}\""),
    ("$((1+$(", ")))"),
    ("\"$\\\n(", ")\""),
    ("$\\\n(", ")"),
    ("--query `", "`"),
    ("--query \"`", "`\""),
    ("az --query \"`", "`\""),
    ("# ", ""),
    ("'#' ", ""),
    ("{ ", "; }"),
    ("( ", ")"),
    ("f() { ", "; }; f"),
    ("<<X\n", "\nX"),
    ("<<'X'\n", "\nX"),
    ("<<-X\n$(", ")\nX"),
    ("<<< \"$(", ")\""),
    ("if true; then ", "; fi"),
    ("! ", ""),
    ("$'", "'"),
    ("$\"", "\""),
    ("\"", "\""),
    ("'", "'"),
    ("\\\n", ""),
    ("{fd}", ""),
    ("2>&1 ", ""),
    ("a=`", "`"),
    ("{a,$(", ")}"),
];

const LINKS: &[&str] = &[
    " | ", " | ", " | ", "; ", " && ", " || ", "\n", " |\n", " &&\n\n", "|", ";", "&&", " & ", " |& ", ";;",
    "\\\n", " \\\n ", "&\\\n&", "|\\\n|", "\r\n", "\t;\t", " \n", "<", ">",
];

const TAILS: &[&str] = &[
    "",
    "",
    "",
    "",
    " 2>/dev/null",
    " 2>&1",
    " >/dev/null 2>&1",
    " </dev/null",
    " 2> /dev/null",
    " 2>&1 >/dev/null",
    " >MARKER",
    " >>/dev/null",
    " &>/dev/null",
    " 2>&-",
    " >\\\n>MARKER",
    " 2>&1x",
    " \"\"",
    " ''",
    " '; touch MARKER'",
    " \"| id\"",
    " \\; id",
    " \\| id",
    " \\`id\\`",
    " a\\\nb",
    " #",
    " 'a",
    " \"a",
    " \\",
    " ?",
    " *",
    " [a]",
    " ~",
    " $x",
    " {a}",
    " {a,b}",
    " é",
    "`id`",
];

fn planted(random: &mut Random) -> String {
    let (open, close) = *random.pick(FRAMES);
    format!("{open}{}{close}", random.pick(PLANTS))
}

/// Breaks a word's spelling without changing the word.
fn disguised(command: &str, random: &mut Random) -> String {
    let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
    let (first, others) = program.split_at(1);
    let program = match random.below(10) {
        0 => format!("\\{first}{others}"),
        1 => format!("{first}''{others}"),
        2 => format!("\"{program}\""),
        3 => format!("{first}\\\n{others}"),
        _ => program.to_owned(),
    };
    if rest.is_empty() { program } else { format!("{program} {rest}") }
}

fn command(behind_pipe: bool, random: &mut Random) -> String {
    let base = if behind_pipe && random.below(5) != 0 { random.pick(FILTERS) } else { random.pick(READS) };
    let mut text = disguised(base, random);
    if random.below(4) == 0 {
        let tail: &&str = random.pick(TAILS);
        text.push_str(tail);
    }
    match random.below(14) {
        0 => text = planted(random),
        1 => {
            text.push(' ');
            text.push_str(&planted(random));
        }
        2 => {
            let boundary = random.below(text.len() + 1);
            let at = (0..=boundary).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            text.insert_str(at, &planted(random));
        }
        _ => {}
    }
    text
}

/// Makes one script.
pub(super) fn script(random: &mut Random) -> String {
    let mut text = command(false, random);
    for _ in 0..random.below(4) {
        let quiet = random.below(3) != 0;
        let links = if quiet { LINKS.get(..11).unwrap() } else { LINKS };
        let link = *random.pick(links);
        text.push_str(link);
        text.push_str(&command(link.contains('|') && !link.contains("||"), random));
    }
    if random.below(20) == 0 {
        let end = *random.pick(&["\n", ";", " |", " &&", "\n\n", " ;;", "\\\n"]);
        text.push_str(end);
    }
    text
}
