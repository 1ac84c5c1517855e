//! Names of nothing that is here, in every language that the reader knows: nobody is judged in their place.

use proptest::prelude::*;

use super::super::{UnknownEnd, read, resolve, strangers};
use super::estate;

/// One complaint in each language of the vocabulary. `A` calls `B`.
const COMPLAINTS: [(&str, &str); 26] = [
    ("en", "A cannot reach B on port 5432"),
    ("de", "A erreicht B auf Port 5432 nicht"),
    ("es", "A no puede conectar con B en el puerto 5432"),
    ("fr", "A n'arrive pas à joindre B sur le port 5432"),
    ("it", "A non raggiunge B sulla porta 5432"),
    ("pt", "A não consegue conectar a B na porta 5432"),
    ("nl", "A kan B niet bereiken op poort 5432"),
    ("pl", "A nie może połączyć się z B na porcie 5432"),
    ("ru", "A не может подключиться к B по порту 5432"),
    ("uk", "A не може підключитися до B на порт 5432"),
    ("ja", "AからBの5432番ポートに接続できません"),
    ("zh", "A 无法连接到 B 的 5432 端口"),
    ("ko", "A에서 B의 5432 포트로 연결할 수 없습니다"),
    ("hi", "A से B के पोर्ट 5432 पर connect नहीं हो रहा"),
    ("tr", "A B sunucusuna 5432 portundan bağlanamıyor"),
    ("sv", "A når inte B på port 5432"),
    ("da", "A kan ikke nå B på port 5432"),
    ("cs", "A se nemůže připojit k B na portu 5432"),
    ("ro", "A nu se poate conecta la B pe portul 5432"),
    ("hu", "A nem éri el B gépet az 5432 porton"),
    ("el", "A δεν συνδέεται στο B στη θύρα 5432"),
    ("id", "A tidak bisa terhubung ke B di port 5432"),
    ("vi", "A không kết nối được tới B cổng 5432"),
    ("th", "A เชื่อมต่อไม่ได้ไปยัง B พอร์ต 5432"),
    ("ar", "A لا يتصل بـ B على المنفذ 5432"),
    ("he", "A לא מצליח להתחבר אל B בפורט 5432"),
];

/// Returns what is not known of a text in the estate, and how many of its flows are between machines that it names.
fn unknown(text: &str) -> (Vec<String>, usize) {
    let message = read(text);
    let found = resolve(&message, &estate());
    let ends = found.iter().flat_map(|one| one.unknown.iter().cloned());
    let mut names: Vec<String> = ends
        .chain(strangers(&message, &estate()))
        .map(|end| match end {
            UnknownEnd::Name { name, .. } => name,
            UnknownEnd::Address(address) => address.to_string(),
        })
        .collect();
    names.sort();
    names.dedup();
    (names, found.iter().map(|one| one.flows.len()).sum())
}

/// Writes two names into a complaint.
fn written(template: &str, one: &str, other: &str) -> String {
    template.replacen('A', one, 1).replacen('B', other, 1)
}

/// A name as people give them to machines: of nothing in the estate.
fn name() -> impl Strategy<Value = String> {
    let word =
        || prop_oneof![Just("kiln"), Just("zq"), Just("lis"), Just("moodle"), Just("loki"), Just("wms")];
    prop_oneof![
        (word(), prop_oneof![Just("web"), Just("db"), Just("app"), Just("sql")], 1..90_u8)
            .prop_map(|(word, role, number)| format!("{word}-{role}{number:02}")),
        (word(), 1..90_u8).prop_map(|(word, number)| format!("{word}{number:02}")),
        (word(), 1..90_u8).prop_map(|(word, number)| format!("{word}-{number}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn ends_that_are_not_here_are_said_in_every_language(one in name(), other in name()) {
        prop_assume!(one != other);
        for (language, template) in COMPLAINTS {
            let text = written(template, &one, &other);
            let (names, flows) = unknown(&text);
            prop_assert!(names.contains(&one) && names.contains(&other), "{language}: {text}: {names:?}");
            prop_assert_eq!(flows, 0, "{}: {}", language, text);
        }
    }

    #[test]
    fn addresses_that_nobody_has_are_said_in_every_language(one in 1..250_u8, other in 1..250_u8) {
        for (language, template) in COMPLAINTS {
            let (one, other) = (format!("10.77.1.{one}"), format!("10.77.2.{other}"));
            let text = written(template, &one, &other);
            let (names, flows) = unknown(&text);
            prop_assert!(names.contains(&one) && names.contains(&other), "{language}: {text}: {names:?}");
            prop_assert_eq!(flows, 0, "{}: {}", language, text);
        }
    }
}

#[test]
fn the_end_that_is_here_is_not_judged_with_another_one() {
    for text in [
        "shop-app-1 cannot reach redis7 on 6379",
        "moodle2 cannot reach shop-cache on 6379",
        "redis-cli -h kiln-redis1 -p 6379 on shop-app-1 times out",
        "shop-app-1 cannot reach nexus.corp.local on 8081",
    ] {
        let (names, flows) = unknown(text);
        assert_eq!((names.len(), flows), (1, 0), "{text}: {names:?}");
    }
}

#[test]
fn letters_alone_are_a_name_where_only_a_name_stands() {
    assert_eq!(unknown("jenkins cannot reach nexus").0, ["jenkins", "nexus"]);
    for text in [
        "users cannot reach shop-db on 5432",
        "nobody can reach shop-web-1",
        "shop-app-1 cannot reach anything",
        "shop-app-1 suddenly cannot reach shop-db on 5432",
    ] {
        assert_eq!(unknown(text).0, [] as [&str; 0], "{text}");
    }
}

#[test]
fn terms_tickets_and_things_of_the_estate_are_no_ends() {
    for text in [
        "shop-app-1 cannot reach shop-db on 5432 over ipv6, see NET-4711",
        "since tls1.3 is on, shop-app-1 gets a reset from shop-db:5432 (sev1, INC0012345)",
        "shop-app-1 cannot reach shop-db on 5432: errno 110, request 7f3a9c2e1b eth0 mtu1500",
        "the nsg of shop-vnet keeps shop-app-1 from shop-db on 5432, utf8 sha256 phase-2",
    ] {
        assert_eq!(unknown(text).0, [] as [&str; 0], "{text}");
    }
}
