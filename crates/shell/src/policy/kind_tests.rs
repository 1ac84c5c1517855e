//! Facts about the kinds of values.

use super::Files;
use super::kind::{Kind, carries_data, ports};

#[track_caller]
fn check(kind: &Kind, good: &[&str], bad: &[&str]) {
    let files = Files::default();
    good.iter().for_each(|value| assert!(kind.accepts(value, &files), "{kind:?} refuses {value:?}"));
    bad.iter().for_each(|value| assert!(!kind.accepts(value, &files), "{kind:?} accepts {value:?}"));
}

#[test]
fn an_interval_is_never_below_a_fifth_of_a_second() {
    check(
        &Kind::Interval,
        &["0.2", "1", ".5", "0.20", "3600"],
        &["0.1", "0", "1e-9", "nan", "inf", "-1", "0,5", "", "0.19999999"],
    );
}

#[test]
fn a_wait_is_never_longer_than_a_minute() {
    check(
        &Kind::Minute,
        &["30s", "60s", "1m", "1m0s", "0.5m", "500ms", "0s"],
        &[
            "",
            "61s",
            "1m1s",
            "2m",
            "1h",
            "-1s",
            "60",
            "s",
            "1",
            "1e1s",
            "inf",
            "1d",
            "30s ",
            "1..0s",
            "9999999999999s",
        ],
    );
}

#[test]
fn a_port_is_one_port() {
    check(&Kind::Port, &["1", "443", "65535"], &["0", "65536", "1-9", "+80", "http", ""]);
}

#[test]
fn a_name_that_could_carry_data_is_no_host() {
    let long = "a".repeat(51);
    let many = ["abcdefghij"; 15].join(".");
    check(
        &Kind::Host,
        &["a.example", "10.0.0.4", "fe80::1%eth0", "münchen.example"],
        &[&long, &many, "-x", "", "a b", "a@b"],
    );
}

#[test]
fn a_capture_is_a_file_that_is_named_so() {
    check(
        &Kind::Capture,
        &["a.pcap", "/tmp/a b.pcap", "x.cap", "../y.pcapng", "rotated.pcap.gz"],
        &[
            "-",
            "",
            "/dev/sda",
            "//proc/1/mem",
            "/tmp/../dev/x",
            "-w",
            "/etc/ssl/private/server.key",
            "a.pcap.bak",
            "a.pcap0",
            ".pcap",
            "pcap",
            "/dev/x.pcap",
            "/tmp/../proc/x.cap",
            "a.gz",
            "-w.pcap",
            "a.pcap/x",
        ],
    );
}

#[test]
fn an_option_of_dig_neither_reads_a_file_nor_chooses_what_is_sent() {
    check(
        &Kind::Question,
        &[
            "+short",
            "+tcp",
            "+time=1",
            "+edns=0",
            "+https",
            "+tls-ca=/x",
            "+opt",
            "+nsid",
            "+nonssearch",
            "+trace",
            "+subnet=10.0.0.0/24",
            "+domain=example.com",
            "+cookie",
            "*.example.com",
            "IXFR=1",
            "_sip._tcp.münchen.example",
        ],
        &[
            "+ednsopt=65001:4141",
            "+ednso=1:2",
            "+EDNSOPT=1",
            "+https=/x",
            "+https-get=/x",
            "+http-plain=/x",
            "+opcode=update",
            "+op=5",
            "+nssearch",
            "+NSS",
            "+nss=1",
            "+tls-certfile=/x",
            "+tls-keyfile=/x",
            "+tls-k=/x",
            "+noopcode=1",
            "+cookie=0a666c7573685f616c6c0d0a",
            "+COO=0a",
            "+domain=a\\010b",
            "a\\010flush_all\\013\\010b",
            "aaaaaaaaaa.\"FLUSHALL\"",
            "a b",
        ],
    );
}

#[test]
fn ports_are_counted() {
    assert_eq!(ports("443"), Some(1));
    assert_eq!(ports("8001-8100"), Some(100));
    for text in ["", "-", "0", "1-", "-1", "9-1", "1-65536", "http", "1-2-3", "+1"] {
        assert_eq!(ports(text), None, "{text:?}");
    }
}

#[test]
fn an_endpoint_is_a_host_and_a_port() {
    check(
        &Kind::Endpoint,
        &["example.com:443", "10.0.0.5:25", "[2001:db8::1]:443"],
        &[
            "example.com",
            "example.com:",
            ":443",
            "2001:db8::1:443",
            "[a]:443",
            "a:0",
            "-x:1",
            "unix:/run/x:1",
            "a/b:1",
        ],
    );
}

#[test]
fn a_long_label_is_found_wherever_it_stands_in_a_word() {
    let long = "a".repeat(51);
    let many = ["abcdefghij"; 15].join(".");
    for word in [
        long.clone(),
        format!("@{long}.evil.example"),
        format!("http://10.0.0.5/{long}"),
        format!("a:80:{long}.example:80"),
        format!("dst={long}"),
        format!("-s{long}"),
        format!("\\097{long}"),
        many.clone(),
        format!("x,{many}"),
    ] {
        assert!(carries_data(&word), "{word}");
    }
    for word in [
        "a".repeat(50),
        "-".repeat(200),
        "=".repeat(200),
        "%{http_code} %{time_namelookup} %{time_connect} %{time_total}".to_owned(),
        "tcp.port == 443 and ip.addr == 10.0.0.4 and frame.len > 100 and tcp.analysis.retransmission"
            .to_owned(),
    ] {
        assert!(!carries_data(&word), "{word}");
    }
}

#[test]
fn a_preference_names_no_file() {
    check(
        &Kind::Preference,
        &["tcp.relative_sequence_numbers:FALSE", "gui.x:y"],
        &["tls.keylog_file:x", "tcp.log_file:x", "http.x:/tmp/y", "uat:x", "tcp.x"],
    );
}

#[test]
fn a_column_of_ps_shows_no_environment() {
    check(
        &Kind::Columns,
        &[
            "pid,ppid",
            "pid comm",
            "-%mem,+pid",
            "args=",
            "comm=NAME",
            "wchan:42,cmd",
            "aux",
            "axo",
            "1",
            "1,22",
        ],
        &[
            "",
            "environ",
            "pid,environ",
            "environ:9",
            "pid environ=X",
            "-environ",
            "env",
            "axE",
            "ENVIRON",
            "/tmp/x",
            "$x",
        ],
    );
}

#[test]
fn a_form_of_output_is_no_file() {
    check(
        &Kind::Form,
        &["wide", "yaml", "=json", "jsonpath={.items[0].file}", "custom-columns=FILE:.file"],
        &["go-template-file=/x", "templatefile=/x", "=templatefile=/x", "templatefile", "JSONPATH-FILE=/x"],
    );
}

#[test]
fn a_header_has_a_listed_name_and_a_value_on_one_line() {
    let names = ["accept", "host", "x-b3-*"].map(str::to_owned).to_vec();
    check(
        &Kind::Header(names),
        &["Host: a", "ACCEPT:*/*", "x-B3-TraceId: 463ac35c9f6413ad", "accept: a:b;c@d"],
        &[
            "X-Anything-Else: 1",
            "Accept",
            "Accept:",
            "Accept: ",
            "Accept: \t",
            "Accept;",
            "Accept;: a",
            "Accept : a",
            " Accept: a",
            "Accept: a\r\nDELETE / HTTP/1.1",
            "Accept: a\nb",
            "Accept: a\tb",
            "Accept: a\u{85}b",
            "Accept: \u{560a}",
            "x-b3-: a",
            "x-b3-a b: c",
            "x-b3-\u{e9}: c",
            "@file",
            "@-",
            "",
            ":",
            ": a",
        ],
    );
}

#[test]
fn the_value_of_a_header_is_not_empty_and_stays_on_its_line() {
    check(&Kind::HeaderValue, &["probe/1", "a b"], &["", " ", "a\nb", "a\rb", "\u{7f}", "é"]);
}
