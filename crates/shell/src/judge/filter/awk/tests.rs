//! Facts about the subset of awk.

use super::check;
use crate::Policy;
use crate::policy::Refusal;

fn read(words: &[&str], ends: bool) -> Result<(), Refusal> {
    let policy = Policy::embedded().unwrap();
    let given = policy.filter("awk").unwrap().grammar.read(words, &policy.files)?;
    check(&given, ends)
}

#[test]
fn a_program_that_picks_counts_and_prints_is_understood() {
    for words in [
        &["{print $1}"][..],
        &["{print}"],
        &["{ print $1, $NF ; }"],
        &["NR>1{print $4}"],
        &["NR > 1 {print $4}"],
        &["/ESTAB/{print $5}"],
        &["$1 == \"tcp\" && $4 ~ /:443$/ {print $4 \" -> \" $5}"],
        &["!/Recv-Q/ || NF>=5{print $0}"],
        &["(NR==1||/x/)&&$2!=\"a\"{print $(NF-1),NR}"],
        &["($3 > 0.5){print $1}"],
        &["-F:", "{print $1}"],
        &["-F", "[ :]", "--", "{print $1}"],
        &["/a\\/b[0-9]/{print \"a | b > c; getline\"}"],
        &["/x/"],
        &["NR==2"],
        &["/a/,/b/"],
        &["!seen[$0]++"],
        &["{s[$1]++} END {for (k in s) print k, s[k]}"],
        &["NR>1 {n++} END {print n}"],
        &[
            "{c[$1, $2] += $3; t = t + $3} END {for (k in c) {split(k, p, SUBSEP); print p[1], p[2], c[k] / t}}",
        ],
        &["BEGIN {FS=\":\"; OFS = \" \"} {$2 = \"x\"; print}"],
        &["{gsub(/[0-9]+/, \"N\"); print}"],
        &["{sub(/:.*/, \"\", $1); c[$1]++} END {for (k in c) print c[k], k}"],
        &["{printf \"%-20s %5.1f%%\\n\", $1, $2 * 100}"],
        &["{printf(\"%s\\n\", substr($1, 2, length($1) - 2))}"],
        &["{if ($9 >= 500) n++; else m++} END {print n + 0, m + 0}"],
        &["{if ($1 in s) next; s[$1]; print toupper($2)}"],
        &["match($0, /id=[0-9]+/) {print substr($0, RSTART, RLENGTH)}"],
        &["-v", "limit=5", "$1 > limit {print int($1 / 2)}"],
        &["-v", "OFS=,", "{print $1, $2}"],
        &["$5 > max {max = $5} END {print max == \"\" ? \"none\" : max}"],
        &["/Mem/ {print $3/$2*100}"],
        &["END {print NR}"],
        &["{a = length; delete b[a]} END {exit 1}"],
        &["{print (1)(2); print ($1, $2)}"],
        &["BEGIN{print}"],
        &["{print $i, $(i + 1), -$1, !x, 2 ^ 10 % 7, 1e3}"],
    ] {
        assert_eq!(read(words, true), Ok(()), "{words:?}");
    }
}

#[test]
fn a_program_that_writes_reads_or_starts_something_asks() {
    for program in [
        "{print > \"/tmp/x\"}",
        "{print $1 > \"x\"}",
        "{print $1 >> \"x\"}",
        "{print ($1) > \"x\"}",
        "{print ($1 > \"x\")}",
        "{printf \"x\" > \"y\"}",
        "{printf(\"x\") > \"y\"}",
        "{if ($1 > 5) print}",
        "{print | \"sh\"}",
        "{print $1 | \"sh\"}",
        "{print |& \"sh\"}",
        "{system(\"id\")}",
        "{print system(\"id\")}",
        "{system (\"id\")}",
        "{\"id\" | getline; print}",
        "\"id\" | getline {print}",
        "\"id\" | getline",
        "{print $1; getline x < \"/etc/passwd\"; print x}",
        "{getline x < \"/etc/passwd\"; print x}",
        "{getline; print}",
        "BEGIN {while ((getline l < \"/etc/passwd\") > 0) print l}",
        "{print}{print > \"x\"}",
        "{print};{system(\"id\")}",
        "BEGIN{print ENVIRON[\"HOME\"]}",
        "BEGIN{for (k in ENVIRON) print k}",
        "BEGIN{ARGV[1] = \"/etc/shadow\"; ARGC = 2} {print}",
        "BEGIN{ARGV[1] = \"/etc/shadow\"}",
        "BEGIN{PROCINFO[\"sorted_in\"] = \"f\"}",
        "BEGIN{SYMTAB[\"ARGC\"] = 2}",
        "BEGIN{OFMT = \"%n\"; CONVFMT = \"%n\"}",
        "{split($0, ARGV)}",
        "{delete ARGV[1]}",
        "@load \"filefuncs\"; {print}",
        "@include \"x\"{print}",
        "{@f()}",
        "{f = \"system\"; @f(\"id\")}",
        "{print $1; close(\"x\")}",
        "{fflush()}",
        "{print $1 $system}",
        "{print $(system(\"id\"))}",
        "function f(){system(\"id\")} {print}",
        "func f(){system(\"id\")} {print}",
        "/[/]{print > \"x\"}/{print}",
        "{print 1 /x > \"f\" /}",
        "{print $1 /x/}",
        "{x++ /x/ 2}",
        "/=/{print > \"x\"}/",
        "/=x/",
        "$1=system(\"id\"){print}",
        "{print $1}#",
        "{print $1}\n{system(\"id\")}",
        "{printf $1}",
        "{printf \"%*d\", 9, 1}",
        "{printf \"%9999d\", 1}",
        "{print sprintf(\"%.9999f\", 1)}",
        "{print f($1)}",
        "{print x (1)}",
    ] {
        assert!(read(&[program], true).is_err(), "{program}");
    }
}

#[test]
fn a_program_that_may_not_end_or_is_no_program_asks() {
    for program in [
        "{while (1) print}",
        "{do print; while (1)}",
        "{for (;;) print}",
        "{for (i = 0; i < 9; i++) print}",
        "{NF = 999999999}",
        "{$999999999 = 1}",
        "{$x = 1}",
        "x{print",
        "{print \"a\" \"b\"",
        "{print \"a}",
        "{print \"a\\\"}",
        "{print,}",
        "{print $1,}",
        "{print $1\n}",
        "{printx(1)}",
        "{print 1x}",
        "{print 1.2.3}",
        "",
        ";",
        "{}",
        "print",
        "(((((((((((((NR==1))))))))))))){print}",
        "{{{{{{{{{{{{{print}}}}}}}}}}}}}",
        "{print $$$$$$$$$$$$$$1}",
        "NR==1 NR==2 {print} NR",
    ] {
        assert!(read(&[program], true).is_err(), "{program}");
    }
    for words in [
        &["-f", "x"][..],
        &["-fx"],
        &["-v", "x=\\1", "{print}"],
        &["-v", "ARGC=9", "{print}"],
        &["-v", "ENVIRON=9", "{print}"],
        &["-v", "NR=9", "{print}"],
        &["-v", "x", "{print}"],
        &["-v", "1=x", "{print}"],
        &["--file=x"],
        &["-e", "{print}"],
        &["-i", "inplace", "{print}"],
        &["-l", "x", "{print}"],
        &["-E", "x"],
        &["-W", "exec", "x"],
        &["{print}", "/etc/passwd"],
        &["{print}", "-"],
        &["{print}", "-f", "x"],
        &["-F"],
        &[],
        &["--"],
        &["-"],
    ] {
        assert!(read(words, true).is_err(), "{words:?}");
    }
}

#[test]
fn what_can_grow_without_bound_asks_where_no_deadline_ends_it() {
    for program in [
        "{s = s s}",
        "{s = s $1; t = t s}",
        "{a[1] = a[1] a[1]}",
        "{s = sprintf(\"%s%s\", s, s)}",
        "{gsub(/x/, \"xx\", s)}",
        "{for (k in a) gsub(/x/, \"&&\")}",
        "{for (k in a) $1 = $1 $1}",
        "{for (k in a) for (j in a) n++}",
    ] {
        assert!(read(&[program], false).is_err() && read(&[program], true).is_ok(), "{program}");
    }
    for program in [
        "{s[$1]++} END {for (k in s) print k, s[k]}",
        "{n += $2} END {print n / NR}",
        "{gsub(/:/, \" \"); $1 = \"[\" $1 \"]\"; print $1 $2}",
        "{sub(/x/, \"\", s)}",
    ] {
        assert_eq!(read(&[program], false), Ok(()), "{program}");
    }
}
