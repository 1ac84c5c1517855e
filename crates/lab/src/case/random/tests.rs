//! Facts about cases that are drawn.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::kind::Kind;
use super::random;
use crate::azure::{Cloud, Description};
use crate::case::fault::CODES;
use crate::case::plan::{View, plan};
use crate::case::{Case, Pair};

#[test]
fn every_case_is_one_and_fits_the_estate() {
    let view = View::new(Cloud::new(Description::usual().unwrap()).unwrap().documents());
    for number in 0..600 {
        let text = random(7, number);
        assert_eq!(text, random(7, number));
        let case = Case::read(&text).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
        plan(&case, &view).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    }
}

#[test]
fn what_is_to_be_found_is_what_the_faults_give() {
    let address = |vm: &str| -> Option<IpAddr> {
        match vm {
            "tf-source-vm" => "10.0.1.4".parse().ok(),
            "tf-dest-vm" => "10.0.1.5".parse().ok(),
            _ => None,
        }
    };
    let owned = |ip: IpAddr| ["10.0.1.4", "10.0.1.5", "10.0.1.30"].contains(&ip.to_string().as_str());
    for number in 0..600 {
        let text = random(3, number);
        let case = Case::read(&text).unwrap();
        let given: BTreeSet<Pair> =
            case.faults.iter().flat_map(|placed| placed.fault.pairs(&address, &owned)).collect();
        let phase = &case.phases[0];
        let report: BTreeSet<Pair> = phase.expected.iter().chain(&phase.may).cloned().collect();
        let open = |pair: &&Pair| pair.object != "nsg/tf-dest-vm-nsg/default-allow-ssh";
        assert_eq!(
            report.iter().filter(open).collect::<Vec<_>>(),
            given.iter().collect::<Vec<_>>(),
            "{text}"
        );
    }
}

#[test]
fn all_faults_come_up_some_cases_are_healthy_and_prompts_name_no_code() {
    let (mut codes, mut healthy, mut most) = (BTreeSet::new(), 0, 0);
    for number in 0..600 {
        let case = Case::read(&random(11, number)).unwrap();
        let phase = &case.phases[0];
        healthy += usize::from(phase.expected.is_empty());
        most = most.max(phase.expected.len());
        codes.extend(phase.expected.iter().map(|pair| pair.fault.clone()));
        assert!(CODES.iter().all(|(code, _)| !phase.prompt.contains(code)), "{}", phase.prompt);
        assert!(
            !phase.prompt.contains('{') && phase.prompt.contains("10.0.1.") | phase.prompt.contains("tf-")
        );
    }
    assert!((80..170).contains(&healthy) && most >= 4, "{healthy} {most}");
    // What needs a second network, or a name server of somebody's own, is drawn with whole estates or written as a case.
    let elsewhere = ["dns_forwarder_missing", "vm_stopped"];
    let here = CODES.iter().filter(|(code, kind)| *kind != "peering" && !elsewhere.contains(code));
    let missing: Vec<_> = here.filter(|(code, _)| !codes.contains(*code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn faults_tolerate_each_other_in_both_directions() {
    for one in Kind::ALL {
        assert!(
            Kind::ALL.iter().all(|other| one.compatible_with(*other) == other.compatible_with(one)),
            "{one:?}"
        );
        assert!(!one.compatible_with(one));
    }
}
