//! Several ends, ports and complaints in one sentence, and lines that programs print.

use super::flows;

#[track_caller]
fn read_as(texts: &[(&str, &str)]) {
    let wrong: Vec<String> = texts
        .iter()
        .map(|(text, expected)| (text, *expected, flows(text)))
        .filter(|(_, expected, read)| read != expected)
        .map(|(text, expected, read)| format!("{text}\n    is read as {read}\n    and means   {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), texts.len(), wrong.join("\n"));
}

#[test]
fn each_end_has_the_port_that_stands_behind_it() {
    read_as(&[
        (
            "shop-app-1 cannot reach shop-db on 5432 and shop-cache on 6379",
            "shop-app-1>shop-db:5432 | shop-app-1>shop-cache:6379",
        ),
        (
            "shop-app-1 cannot reach shop-db (5432) or shop-cache (6379)",
            "shop-app-1>shop-db:5432 | shop-app-1>shop-cache:6379",
        ),
        (
            "neither shop-app-1 nor shop-app-2 can reach shop-db:5432",
            "shop-app-1>shop-db:5432 shop-app-2>shop-db:5432",
        ),
        (
            "a) port 8080 shop-web-1 to shop-app-1 b) port 3306 pay-app to pay-db, both dead",
            "shop-web-1>shop-app-1:8080 | pay-app>pay-db:3306",
        ),
        (
            "shop-web-1 cannot reach shop-app-1:8080. Same for pay-app and pay-db on 3306.",
            "shop-web-1>shop-app-1:8080 | pay-app>pay-db:3306",
        ),
        (
            "(i) shop-web-1 to shop-app-1:8080 timeout (ii) pay-app to pay-db:3306 refused",
            "shop-web-1>shop-app-1:8080 | pay-app>pay-db:3306",
        ),
        (
            "shop-web-1 -> shop-app-1:8080 / pay-web -> pay-app:8443 both down",
            "shop-web-1>shop-app-1:8080 | pay-web>pay-app:8443",
        ),
        (
            "shop-web-1 cannot reach shop-app-1:8080 (timeout) nor can pay-app reach pay-db:3306",
            "shop-web-1>shop-app-1:8080 | pay-app>pay-db:3306",
        ),
        (
            "shop-web-1 cannot reach shop-app-1:8080 and can you also check whether pay-app reaches pay-db:3306",
            "shop-web-1>shop-app-1:8080 | pay-app>pay-db:3306",
        ),
        (
            "the app servers cannot reach the database on 5432 and the web servers cannot reach the app servers on 8080 in pay",
            "pay-app>pay-db:5432 | pay-web>pay-app:8080",
        ),
        (
            "pay: web -> app 8443 timeouts, app -> db 3306 refused",
            "pay-web>pay-app:8443 | pay-app>pay-db:3306",
        ),
        ("between shop-app-1 and shop-db on 5432 packets get lost", "shop-app-1>shop-db:5432"),
        ("shop-db's answers to shop-app-1 on 5432 do not come back", "shop-app-1>shop-db:5432"),
    ]);
}

#[test]
fn what_is_on_the_path_is_no_end() {
    read_as(&[
        ("shop-app-1 behind nva-1 cannot reach shop-db:5432", "shop-app-1>shop-db:5432"),
        (
            "since nva-1 is in between, shop-app-1 no longer reaches shop-db on 5432",
            "shop-app-1>shop-db:5432",
        ),
        ("shop-app-1 cannot reach nva-1 on 443", "shop-app-1>nva-1:443"),
        ("nva-1 cannot reach shop-db on 5432", "nva-1>shop-db:5432"),
    ]);
}

#[test]
fn lines_of_programs_name_the_caller_first_or_say_who_it_is() {
    read_as(&[
        ("Error: connect EHOSTUNREACH 10.1.3.10:5432 - Local (10.1.2.10:43210)", "shop-app-1>shop-db:5432"),
        ("SYN-SENT 0 1 10.1.2.10:43512 10.1.3.10:5432", "shop-app-1>shop-db:5432"),
        ("tcp 0 1 10.1.2.10:43512 10.1.3.10:5432 SYN_SENT", "shop-app-1>shop-db:5432"),
        ("tcp 0 1 10.1.3.10:5432 10.1.2.10:43512 SYN_RECV", "shop-app-1>shop-db:5432"),
        (
            "14:02:11.123456 IP 10.1.2.10.43512 > 10.1.3.10.5432: Flags [S], seq 12345, win 64240, length 0",
            "shop-app-1>shop-db:5432",
        ),
        (
            "kernel: [UFW BLOCK] IN=eth0 OUT= SRC=10.1.2.10 DST=10.1.3.10 LEN=60 PROTO=TCP SPT=43512 DPT=5432",
            "shop-app-1>shop-db:5432",
        ),
        (
            "psycopg2.OperationalError: connection to server at \"10.9.0.4\", port 8443 failed: Connection timed out  [host pay-app]",
            "pay-app>nva-1:8443",
        ),
        ("can't connect to mysql", "pay-app>pay-db:3306"),
    ]);
}

#[test]
fn who_gets_a_status_of_a_gateway_calls_the_one_that_fails() {
    read_as(&[
        ("the frontends of pay get 502", "pay-web>pay-app:8443"),
        ("pay-web returns 504 since 10:00", "pay-web>pay-app:8443"),
    ]);
}

#[test]
fn machines_are_managed_by_whoever_is_said_to() {
    read_as(&[
        ("shop-app-1 is unreachable via ssh from shop-jump", "shop-jump>shop-app-1:22"),
        ("no ssh from shop-jump to shop-app-1", "shop-jump>shop-app-1:22"),
    ]);
}

#[test]
fn names_of_the_internet_are_called_there() {
    let text = flows("shop-app-1 can't reach https://api.github.com");
    assert_eq!(text, "shop-app-1>internet:443");
    assert!(flows("shop-app-1 cannot download packages").starts_with("shop-app-1>internet:"));
}

#[test]
fn a_tier_that_is_named_after_one_of_it_is_the_whole_tier() {
    let all = "shop-web-1>shop-app-1:8080 shop-web-1>shop-app-2:8080 shop-web-2>shop-app-1:8080 shop-web-2>shop-app-2:8080";
    read_as(&[
        (
            "Two things, sorry. shop-app-2 no responde en el puerto 8080 desde shop-web-2 At the same time port 8080 in shop is refused since 14:02 (the web frontends -> the app servers) 97 users affected",
            &format!("shop-web-2>shop-app-2:8080 | {all}"),
        ),
        (
            "shop-web-2 => shop-app-1 [8080] dead\nAlso: in shop the web frontends hang when they call the app servers on 8080",
            &format!("shop-web-2>shop-app-1:8080 | {all}"),
        ),
    ]);
}

#[test]
fn what_one_machine_lacks_is_another_thing_than_calls_between_two() {
    read_as(&[
        (
            "From shop-app-1 to shop-db: port 9090 times out. shop-app-1 (10.1.2.10) cannot reach anything outside the virtual network.",
            "shop-app-1>shop-db:9090 | shop-app-1>internet:443 shop-app-1>internet:80",
        ),
        (
            "shop-app-1 has no internet. Calls from shop-app-1 to shop-db on 8443 hang.",
            "shop-app-1>internet:443 shop-app-1>internet:80 | shop-app-1>shop-db:8443",
        ),
        (
            "We see damaged packets between shop-app-1 and shop-db. shop-db cannot reach anything outside the virtual network.",
            "shop-app-1>shop-db:any | shop-db>internet:443 shop-db>internet:80",
        ),
        // Names that fail have no flow of their own: the machine's name servers are looked at.
        (
            "DNS queries from shop-app-1 get no proper answer. Calls from shop-app-1 to shop-db, TCP port 8443, hang until they time out.",
            " | shop-app-1>shop-db:8443",
        ),
        (
            "Calls from shop-app-1 to shop-db, TCP port 8443, hang until they time out. Names do not resolve on shop-app-1.",
            "shop-app-1>shop-db:8443 | ",
        ),
        // What a program prints about a call is no other thing.
        ("shop-app-1 cannot reach shop-db on 5432. It says: could not translate host name.", ""),
    ]);
}
