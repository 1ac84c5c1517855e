//! Who calls whom, by the words of many languages.

use super::super::{Listener, Machine, Protocol, read, resolve};
use super::estate::estate as inventory;
use super::{flows, one};

/// Asserts that each text means this one flow.
fn all_mean(flow: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(flows(text), flow, "{text}");
    }
}

#[test]
fn two_names_and_a_port_in_many_languages() {
    all_mean(
        "shop-app-1>shop-db:5432",
        &[
            "shop-app-1 cannot reach shop-db on 5432",
            "5432 on shop-db unreachable from shop-app-1",
            "shop-db:5432 is dead for shop-app-1",
            "from shop-app-1 to shop-db port 5432: timeout",
            "shop-app-1 -> shop-db:5432 times out",
            "shop-app-1→shop-db 5432 hangs",
            "shop-app-1->shop-db:5432 dead",
            "shop-db:5432 <- shop-app-1 refused",
            "port 5432 of shop-db does not answer shop-app-1",
            "monitoring on shop-app-1 says shop-db 5432 is down",
            "shop-app-1 kommt nicht auf shop-db Port 5432",
            "Port 5432 auf shop-db ist von shop-app-1 nicht erreichbar",
            "Von shop-app-1 nach shop-db 5432 zeitet aus",
            "desde shop-app-1 no llega a shop-db puerto 5432",
            "El puerto 5432 de shop-db está inaccesible desde shop-app-1",
            "depuis shop-app-1, impossible de joindre shop-db sur le port 5432",
            "shop-app-1 n'arrive pas à se connecter à shop-db:5432",
            "shop-app-1 non raggiunge shop-db sulla porta 5432",
            "dal server shop-app-1 la porta 5432 di shop-db non risponde",
            "shop-app-1 não consegue conectar em shop-db na porta 5432",
            "a porta 5432 do shop-db não responde a partir de shop-app-1",
            "shop-app-1 kan shop-db op poort 5432 niet bereiken",
            "z shop-app-1 nie da się połączyć z shop-db na porcie 5432",
            "с shop-app-1 не открывается shop-db:5432",
            "shop-app-1 не может подключиться к shop-db на порту 5432",
            "з shop-app-1 не відкривається shop-db порт 5432",
            "shop-app-1からshop-dbの5432番ポートに接続できません",
            "shop-db の 5432 に shop-app-1 から繋がりません",
            "从 shop-app-1 连接 shop-db 的 5432 端口超时",
            "shop-app-1 访问不了 shop-db:5432",
            "shop-app-1에서 shop-db로 5432 연결이 안 됩니다",
            "shop-app-1 se shop-db pe 5432 connect nahi ho raha",
            "shop-app-1'den shop-db'ye 5432 bağlanamıyor",
            "från shop-app-1 når inte shop-db på port 5432",
            "z shop-app-1 nefunguje shop-db port 5432",
            "dari shop-app-1 tidak bisa ke shop-db port 5432",
            "لا يمكن الاتصال من shop-app-1 إلى shop-db على المنفذ 5432",
            "Seit 14:30 erreicht shop-app-1 die shop-db auf 5432 nicht mehr",
            "shop-app-1 ile shop-db arasında 5432 kesintili",
            "între shop-app-1 și shop-db pe 5432 se pierd pachete",
            "mellan shop-app-1 och shop-db på 5432 tappas paket",
            "между shop-app-1 и shop-db на 5432 теряются пакеты",
            "shop-app-1 से shop-db के 5432 पोर्ट पर टाइमआउट",
            "ორი მანქანა shop-app-1 shop-db 5432 ვერ უკავშირდება",
            "xyzzy shop-app-1 plugh shop-db 5432",
        ],
    );
}

#[test]
fn pasted_errors() {
    all_mean(
        "shop-app-1>shop-db:5432",
        &[
            "dial tcp 10.1.3.10:5432: i/o timeout   <- log of shop-app-1",
            "shop-app-1: dial tcp 10.1.2.10:43210->10.1.3.10:5432: connect: connection timed out",
            "on shop-app-1: psql: error: connection to server at \"10.1.3.10\", port 5432 failed: Connection timed out",
            "shop-app-1 logs: org.postgresql.util.PSQLException: Connection to 10.1.3.10:5432 refused.",
            "nc -vz -w 3 10.1.3.10 5432\nnc: connect to 10.1.3.10 port 5432 (tcp) timed out: Operation now in progress\n(from shop-app-1 (10.1.2.10)). worked yesterday",
            "curl: (28) Failed to connect to shop-db port 5432 after 130234 ms: Couldn't connect to server (from shop-app-1)",
            "shop-app-1 reports \"Connection refused (111)\" from shop-db:5432",
            "10.1.2.10.43210 > 10.1.3.10.5432: Flags [S], retransmission",
            "src=10.1.2.10 dst=10.1.3.10 dport=5432 proto=tcp action=timeout",
            "{\"src\":\"10.1.2.10\",\"dst\":\"10.1.3.10\",\"port\":5432,\"error\":\"timeout\"}",
            "| from | to | port | state |\n| shop-app-1 | shop-db | 5432 | timeout |",
            "ssh shop-app-1, then telnet 10.1.3.10 5432: Connection refused",
        ],
    );
    all_mean(
        "shop-web-1>shop-app-1:8080",
        &[
            "from shop-web-1: 2026/11/23 14:02:11 [error] 1234#0: *5678 upstream timed out (110: Connection timed out) while connecting to upstream, client: 10.9.9.9, server: _, request: \"GET /x HTTP/1.1\", upstream: \"http://10.1.2.10:8080/x\", host: \"shop\"",
        ],
    );
}

#[test]
fn the_port_says_who_serves() {
    let complaint = one("shop-db cannot reach shop-app-1 on 5432");
    assert_eq!(flows("shop-db cannot reach shop-app-1 on 5432"), "shop-app-1>shop-db:5432");
    let correction = complaint.correction.unwrap();
    assert_eq!(correction.written[0].source.machine(), Some("shop-db"));
    assert!(one("shop-app-1 cannot reach shop-db on 5432").correction.is_none());
}

#[test]
fn of_two_tiers_the_one_behind_serves() {
    let mut estate = super::estate();
    let listen = |estate: &mut super::super::Inventory, name: &str, port: u16, yes: bool| {
        let machine = estate.machines.iter_mut().find(|machine| machine.name == name).unwrap();
        let all = machine.listeners.as_mut().unwrap();
        all.retain(|listener| listener.port != port);
        if yes {
            let protocol = super::super::Protocol::Tcp;
            all.push(super::super::Listener { protocol, address: None, port, program: None });
        }
    };
    let read = |estate: &super::super::Inventory, text: &str| {
        let all = super::super::resolve(&super::super::read(text), estate);
        let flow = &all[0].flows[0];
        format!("{}>{}", flow.source.machine().unwrap(), flow.destination.machine().unwrap())
    };
    // Nobody listens any more, and the port is one of databases.
    listen(&mut estate, "pay-db", 3306, false);
    assert_eq!(read(&estate, "pay-db cannot reach pay-app on 3306, times out"), "pay-app>pay-db");
    // The port is one that application servers have, and the database alone listens on it.
    listen(&mut estate, "pay-db", 8080, true);
    assert_eq!(read(&estate, "pay-db cannot reach pay-app on 8080, times out"), "pay-app>pay-db");
    // Whom a machine calls is known from its sockets.
    let caller = estate.machines.iter_mut().find(|machine| machine.name == "pay-db").unwrap();
    caller.peers = Some(vec!["10.2.2.10:8080".parse().unwrap()]);
    assert_eq!(read(&estate, "pay-db cannot reach pay-app on 8080, times out"), "pay-db>pay-app");
}

#[test]
fn nobody_who_only_listens_elsewhere_turns_a_flow_around() {
    // Nobody listens on 8443 of shop-app-1, and pay-app does: the words are clear, and so is the complaint.
    assert_eq!(flows("pay-app cannot reach shop-app-1 on 8443"), "pay-app>shop-app-1:8443");
}

#[test]
fn a_word_that_only_fills_makes_no_list() {
    // `den` is an article here, and `from` there.
    all_mean(
        "partner-api>shop-db:5432",
        &[
            "partner-api den shop-db port 5432 e erisilemiyor, zaman asimi",
            "partner-api the shop-db 5432 times out",
        ],
    );
    assert_eq!(
        flows("partner-api, the shop-web-1 cannot reach shop-db on 5432"),
        "partner-api>shop-db:5432 shop-web-1>shop-db:5432"
    );
}

#[test]
fn ping_is_icmp() {
    all_mean(
        "shop-app-1>shop-db:icmp",
        &[
            "can't ping shop-db from shop-app-1, apps ok",
            "monitoring on shop-app-1 says shop-db is DOWN (ping red), users work fine",
            "ping shop-db von shop-app-1 geht nicht",
        ],
    );
}

#[test]
fn what_is_on_the_path_is_no_end() {
    all_mean(
        "shop-app-1>pay-app:8443",
        &[
            "shop-app-1 to pay-app:8443 is a bit slow today? check please. (by design via nva-1)",
            "shop-app-1 cannot reach pay-app on 8443 through nva-1",
            "shop-app-1 cannot reach pay-app on 8443 (timeout). All traffic goes through our firewall appliance by design.",
        ],
    );
}

#[test]
fn whoever_is_nobody_here_calls_with_the_address_that_is_named() {
    all_mean(
        "198.51.100.126>shop-app-2:22",
        &[
            "our vendor (198.51.100.126) gets no connection to shop-app-2:22 since this morning",
            "Our partner at 198.51.100.126 cannot open SSH to shop-app-2",
            "SSH auf shop-app-2 von 198.51.100.126 geht nicht",
        ],
    );
    assert_eq!(flows("198.51.100.7 cannot reach 203.0.113.10 on 443"), "198.51.100.7>shop-web-1:443");
}

#[test]
fn several_machines_on_a_side() {
    assert_eq!(
        flows("shop-web-1 and shop-web-2 cannot reach shop-app-1 on 8080"),
        "shop-web-1>shop-app-1:8080 shop-web-2>shop-app-1:8080"
    );
    assert_eq!(
        flows("shop-app-1 can't get to shop-db:5432 and shop-cache:6379"),
        "shop-app-1>shop-db:5432 | shop-app-1>shop-cache:6379"
    );
}

#[test]
fn a_load_balancer_calls_nobody_though_the_caller_serves_that_port_itself() {
    let mut estate = inventory();
    let address = "10.1.2.200".parse().unwrap();
    let rule = Listener { protocol: Protocol::Tcp, address: None, port: 443, program: None };
    let balancer = Machine {
        name: "shop-lb".to_owned(),
        addresses: vec![address],
        listeners: Some(vec![rule]),
        ..Machine::default()
    };
    estate.machines.push(balancer);
    for text in [
        "shop-app-1 cannot reach shop-lb on 8080",
        "desde shop-app-1 no llega a the load balancer shop-lb puerto 8080",
    ] {
        let all = resolve(&read(text), &estate);
        let flow = &all[0].flows[0];
        assert_eq!(
            (flow.source.machine(), flow.destination.machine()),
            (Some("shop-app-1"), Some("shop-lb")),
            "{text}"
        );
    }
}
