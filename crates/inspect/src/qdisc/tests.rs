//! What `tc` prints, and what it means.

use proptest::prelude::*;

use super::{Flow, Hit, MAX_TEXT_BYTES, ReadError, hit, read};

const BEHIND_A_FILTER: &str = "\
qdisc prio 1: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
qdisc netem 30: dev eth0 parent 1:3 limit 1000 delay 100ms  10ms 25% loss 5%
 Sent 9 bytes 1 pkt (dropped 7, overlimits 3 requeues 0)
filter parent 1: protocol ip pref 10 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:1 not_in_hw
  match 00060000/00ff0000 at 8
  match 00000016/0000ffff at 20
filter parent 1: protocol ip pref 100 u32 chain 0 fh 801::800 order 2048 key ht 801 bkt 0 *flowid 1:3 not_in_hw
  match 00000000/00000000 at 0
";

fn ssh(dport: u16) -> Flow {
    Flow {
        protocol: 6,
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.0.2".parse().unwrap(),
        sport: Some(40_000),
        dport: Some(dport),
        priority: None,
    }
}

#[test]
fn a_fault_behind_a_filter_tells_what_is_exempt() {
    let read = read(BEHIND_A_FILTER).unwrap();
    let netem = &read.devices[1];
    assert_eq!((netem.delay_ms, netem.jitter_ms, netem.loss_pct), (Some(100.0), Some(10.0), Some(5.0)));
    assert_eq!((netem.drops, netem.overlimits), (Some(7), Some(3)));
    assert_eq!(netem.exempt, ["tcp/22"]);
    assert_eq!((read.impaired, read.warnings.len()), (true, 0));
}

#[test]
fn the_exempt_flow_goes_around_and_the_other_is_hit() {
    assert!(matches!(hit(BEHIND_A_FILTER, &ssh(22)).unwrap()[1], Hit::Around(_)));
    assert!(matches!(hit(BEHIND_A_FILTER, &ssh(443)).unwrap()[1], Hit::Meets(_)));
}

#[test]
fn a_filter_for_a_port_leads_no_ping_around() {
    let ping = Flow { protocol: 1, sport: None, dport: None, ..ssh(22) };
    let of_ports = BEHIND_A_FILTER.replace("  match 00060000/00ff0000 at 8\n", "");
    assert!(matches!(hit(&of_ports, &ping).unwrap()[1], Hit::Meets(_)));
    // A TCP packet of which the ports are not known may be led around.
    let open = Flow { sport: None, dport: None, ..ssh(22) };
    assert!(matches!(hit(&of_ports, &open).unwrap()[1], Hit::Unknown(_)));
    // Type and code of a ping are 0800.
    let type_and_code = BEHIND_A_FILTER
        .replace("  match 00060000/00ff0000 at 8\n", "")
        .replace("00000016/0000ffff at 20", "08000000/ffff0000 at 20");
    assert!(matches!(hit(&type_and_code, &ping).unwrap()[1], Hit::Unknown(_)));
}

#[test]
fn a_filter_below_one_that_takes_everything_exempts_nothing() {
    let text = BEHIND_A_FILTER.replace("pref 10 u32", "pref 200 u32");
    assert_eq!(read(&text).unwrap().devices[1].exempt, Vec::<String>::new());
}

#[test]
fn a_filter_into_the_faulty_band_exempts_nothing() {
    let text = BEHIND_A_FILTER.replace("*flowid 1:1", "*flowid 1:3");
    assert_eq!(read(&text).unwrap().devices[1].exempt, Vec::<String>::new());
}

#[test]
fn a_filter_that_is_not_understood_is_reported() {
    let text = BEHIND_A_FILTER.replace("pref 10 u32", "pref 10 bpf");
    assert_eq!(read(&text).unwrap().warnings.len(), 1);
    assert!(matches!(hit(&text, &ssh(22)).unwrap()[1], Hit::Unknown(_)));
}

#[test]
fn an_odd_line_hides_no_other() {
    let read = read(
        "qdisc tbf 1: dev eth0 root rate 5Mbit burst 5Kb lat 50ms\nwhat is this\nqdisc fq 2: dev eth1 root\n",
    )
    .unwrap();
    assert_eq!(read.devices.len(), 2);
    assert_eq!(read.warnings[0].line, 2);
}

#[test]
fn a_key_that_stands_twice_is_read_twice() {
    let text = r#"[{"kind":"prio","handle":"1:","root":true,"options":{}},
        {"kind":"netem","handle":"30:","parent":"1:3","options":{"delay":{"delay":0.03,"jitter":0}}}]
        [{"parent":"1:","protocol":"ip","pref":5,"kind":"u32","options":{"flowid":"1:1",
          "match":{"value":"60000","mask":"ff0000","offmask":"","off":8},
          "match":{"value":"16","mask":"ffff","offmask":"","off":20}}}]"#;
    let netem = read(text).unwrap().devices.remove(1);
    assert_eq!((netem.delay_ms, netem.exempt), (Some(30.0), vec!["tcp/22".to_owned()]));
}

#[test]
fn classes_give_the_rate_of_their_discipline() {
    let text = "qdisc htb 1: dev eth0 root refcnt 3 r2q 10 default 0x10\n\
        class htb 1:10 parent 1:1 prio 0 rate 2Mbit ceil 4Mbit\nclass htb 1:1 root rate 4Mbit ceil 4Mbit\n";
    let read = read(text).unwrap();
    assert_eq!((read.devices[0].rate_bps, read.impaired), (Some(4e6), true));
}

#[test]
fn a_bursty_loss_is_its_long_run_share() {
    let text = "qdisc netem 1: dev eth0 root limit 1000 loss gemodel p 1% r 9% 1-h 100% 1-k 0%\n";
    let loss = read(text).unwrap().devices[0].loss_pct.unwrap();
    assert!((loss - 10.0).abs() < 1e-9);
}

#[test]
fn what_is_no_answer_of_tc_is_an_error() {
    assert_eq!(read("  \n"), Err(ReadError::Empty));
    assert_eq!(read("<html></html>"), Err(ReadError::Foreign));
    assert_eq!(read(r#"{"nftables": []}"#), Err(ReadError::Foreign));
    assert!(matches!(read("\n[{\"kind\":\"net"), Err(ReadError::Json { line: 2, .. })));
    let large = " ".repeat(MAX_TEXT_BYTES + 1);
    assert!(matches!(read(&large), Err(ReadError::TooLarge { .. })));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        drop(read(&text));
    }

    #[test]
    fn no_cut_and_no_changed_byte_makes_it_panic(cut in 0_usize..900, at in 0_usize..900, byte in 0_u8..128) {
        let mut bytes = BEHIND_A_FILTER.as_bytes().to_vec();
        bytes.truncate(cut.max(1));
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        if let Ok(text) = String::from_utf8(bytes) {
            drop((read(&text), hit(&text, &ssh(22))));
        }
    }

    #[test]
    fn words_of_tc_in_any_order_make_nothing_panic(words in proptest::collection::vec(
        proptest::sample::select(vec!["qdisc", "netem", "1:", "parent", "1:1", "filter", "match", "at", "20", "\n", "\n ",
            "loss", "gemodel", "p", "1%", "delay", "ms", "rate", "u32", "flowid", "pref", "class", "htb", "[", "{}", "]"]), 0..60)) {
        drop(read(&words.join(" ")));
    }
}

/// Four bands for ssh to go around by, and a default that every priority has.
const ALL_TO_THREE: &str = "\
qdisc prio 1: dev eth0 root refcnt 2 bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
qdisc netem 30: dev eth0 parent 1:3 limit 1000 delay 100ms
filter parent 1: protocol ip pref 1 u32 chain 0
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:1 not_in_hw
  match 00060000/00ff0000 at 8
  match 00000016/0000ffff at 20
";

#[test]
fn what_no_filter_chooses_goes_where_its_priority_leads() {
    assert!(matches!(hit(ALL_TO_THREE, &ssh(22)).unwrap()[1], Hit::Around(_)));
    assert!(matches!(hit(ALL_TO_THREE, &ssh(80)).unwrap()[1], Hit::Meets(_)));
    let usual = ALL_TO_THREE.replace("2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2", "1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1");
    let found_hit = hit(&usual, &ssh(80)).unwrap().remove(1);
    assert!(matches!(&found_hit, Hit::Unknown(why) if why.contains("1:2")), "{found_hit:?}");
    let of = |priority| hit(&usual, &Flow { priority: Some(priority), ..ssh(80) }).unwrap().remove(1);
    assert!(matches!(of(0), Hit::Around(_)));
    assert!(matches!(of(2), Hit::Meets(_)));
}

#[test]
fn what_no_filter_chooses_goes_to_the_default_class() {
    let text = |default: &str| {
        format!(
            "qdisc htb 1: dev eth0 root refcnt 3 r2q 10 default {default} direct_packets_stat 0\n\
             qdisc netem 30: dev eth0 parent 1:30 limit 1000 delay 100ms\n\
             class htb 1:1 dev eth0 root rate 4Mbit ceil 4Mbit\n\
             class htb 1:10 dev eth0 parent 1:1 prio 0 rate 2Mbit ceil 4Mbit\n\
             class htb 1:30 dev eth0 parent 1:1 leaf 30: prio 0 rate 2Mbit ceil 4Mbit\n\
             filter dev eth0 parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:10\n  \
             match 00000016/0000ffff at 20\n"
        )
    };
    let of = |default: &str, port| hit(&text(default), &ssh(port)).unwrap();
    assert!(matches!(of("0x30", 80)[..], [Hit::Meets(_), Hit::Meets(_)]));
    assert!(matches!(of("30", 80)[..], [Hit::Meets(_), Hit::Meets(_)]));
    assert!(matches!(of("0x30", 22)[..], [Hit::Meets(_), Hit::Around(_)]));
    assert!(matches!(of("0x10", 80)[..], [Hit::Meets(_), Hit::Around(_)]));
    // Without a default, or with one that is not there or is no leaf, it goes past all limits.
    for default in ["0", "0x99", "0x1"] {
        assert!(matches!(of(default, 80)[..], [Hit::Around(_), Hit::Around(_)]), "{default}");
        assert!(matches!(of(default, 22)[..], [Hit::Meets(_), Hit::Around(_)]), "{default}");
    }
    // A filter at the root that leads to an inner class is followed by those of that class.
    let inner = text("0x30").replace("flowid 1:10", "flowid 1:1");
    assert!(matches!(hit(&inner, &ssh(22)).unwrap()[1], Hit::Meets(_)));
}

#[test]
fn a_discipline_of_one_place_leads_everything_there_and_one_that_is_missing_leads_nobody_knows_where() {
    let text = "qdisc tbf 1: dev eth0 root rate 5Mbit burst 5Kb lat 50ms\n\
        qdisc netem 2: dev eth0 parent 1:1 limit 1000 delay 100ms\n";
    assert!(matches!(hit(text, &ssh(80)).unwrap()[..], [Hit::Meets(_), Hit::Meets(_)]));
    let (_, alone) = text.split_once('\n').unwrap();
    assert!(matches!(hit(alone, &ssh(80)).unwrap()[..], [Hit::Unknown(_)]));
    let queues = "qdisc mq 0: dev eth0 root\nqdisc netem 2: dev eth0 parent :1 limit 1000 delay 100ms\n";
    assert!(matches!(hit(queues, &ssh(80)).unwrap()[1], Hit::Unknown(_)));
}

#[test]
fn a_filter_that_names_no_device_is_reported_where_several_could_have_it() {
    let other = "qdisc prio 1: dev eth1 root refcnt 2 bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n\
        qdisc netem 30: dev eth1 parent 1:3 limit 1000 delay 100ms\n";
    let both = ALL_TO_THREE.replacen("filter", &format!("{other}filter"), 1);
    let warnings = read(&both).unwrap().warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].line == 7 && warnings[0].what.contains("names no device"), "{warnings:?}");
    let hits = hit(&both, &ssh(22)).unwrap();
    assert!(matches!(hits[..], [_, Hit::Unknown(_), _, Hit::Unknown(_)]), "{hits:?}");
    // It chooses other packets, wherever it belongs.
    let hits = hit(&both, &ssh(80)).unwrap();
    assert!(matches!(hits[..], [_, Hit::Meets(_), _, Hit::Meets(_)]), "{hits:?}");
    assert_eq!(read(ALL_TO_THREE).unwrap().warnings, []);
    let homeless = ALL_TO_THREE.replace("filter parent 1:", "filter parent 7:");
    assert_eq!(read(&homeless).unwrap().warnings.len(), 1);
}

#[test]
fn a_filter_of_which_not_all_is_read_decides_nothing_for_certain() {
    for (what, with) in [
        ("flowid 1:1 not_in_hw", "not_in_hw"),
        ("at 20\n", "at 20\n\taction order 1: gact action drop\n"),
        ("at 20\n", "at 20\n  mark 0x1 0xff (success 0)\n"),
        ("key ht 800", "key ht 2"),
        ("chain 0 fh 800::800", "chain 7 fh 800::800"),
    ] {
        let text = ALL_TO_THREE.replace(what, with);
        assert_ne!(text, ALL_TO_THREE);
        let found_hit = hit(&text, &ssh(22)).unwrap().remove(1);
        // Without a class such a filter leads to the band of priority 0.
        let expected = if with == "not_in_hw" {
            matches!(found_hit, Hit::Meets(_))
        } else {
            matches!(found_hit, Hit::Unknown(_))
        };
        assert!(expected, "{with:?} {found_hit:?}");
    }
}

#[test]
fn what_shapes_and_cannot_be_read_impairs_and_is_reported() {
    for text in [
        "qdisc netem 1: dev eth0 root limit 1000 corrupt oops\n",
        "qdisc netem 1: dev eth0 root limit 1000 delay soon\n",
        "qdisc netem 1: dev eth0 root limit 1000 slot 1ms 2ms\n",
        "qdisc fq 1: dev eth0 root limit 10000p maxrate 1Mbit\n",
    ] {
        let read = read(text).unwrap();
        assert_eq!((read.impaired, read.warnings.len()), (true, 1), "{text}");
    }
}

#[test]
fn json_has_the_same_defaults() {
    let text = r#"[{"kind":"htb","handle":"1:","dev":"eth0","root":true,"options":{"default":"0x30"}},
        {"kind":"netem","handle":"30:","dev":"eth0","parent":"1:30","options":{"delay":{"delay":0.03,"jitter":0}}}]"#;
    assert!(matches!(hit(text, &ssh(80)).unwrap()[1], Hit::Meets(_)));
    let text = r#"[{"kind":"prio","handle":"1:","root":true,"options":{"bands":3,"priomap":[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]}},
        {"kind":"netem","handle":"30:","parent":"1:3","options":{"delay":{"delay":0.03,"jitter":0}}}]"#;
    assert!(matches!(hit(text, &ssh(80)).unwrap()[1], Hit::Meets(_)));
}
