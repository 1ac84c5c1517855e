//! Frontends, listeners that nobody read, estates of two machines.

use super::super::{Backend, End, Inventory, Name, read, resolve};
use super::{estate, flows};

#[test]
fn a_frontend_leads_to_the_machines_behind_it() {
    let mut estate = estate();
    let backend =
        |address: &str| Backend { port: 443, address: address.parse().unwrap(), backend_port: 8080 };
    estate.names.push(Name {
        name: "shop-lb".to_owned(),
        addresses: vec!["10.1.2.100".parse().unwrap()],
        backends: vec![backend("10.1.2.10"), backend("10.1.2.11")],
    });
    let all = resolve(&read("shop-web-1 cannot reach shop-lb on 443"), &estate);
    let ends: Vec<_> = all[0].flows.iter().map(|flow| (flow.destination.machine(), flow.port)).collect();
    assert_eq!(ends, [(Some("shop-app-1"), Some(8080)), (Some("shop-app-2"), Some(8080))]);
}

#[test]
fn names_and_rules_are_enough_where_nobody_read_the_listeners() {
    let mut estate = estate();
    for machine in &mut estate.machines {
        machine.listeners = None;
    }
    let all = resolve(&read("5432 in shop is dead"), &estate);
    let ends: Vec<_> =
        all[0].flows.iter().map(|flow| (flow.source.machine(), flow.destination.machine())).collect();
    assert_eq!(ends, [(Some("shop-app-1"), Some("shop-db")), (Some("shop-app-2"), Some("shop-db"))]);
    let all = resolve(&read("shop-db cannot reach shop-app-1 on 5432"), &estate);
    assert!(all[0].correction.is_some());
}

#[test]
fn of_two_machines_the_other_one_is_meant() {
    let estate = estate();
    let mut small = Inventory { machines: estate.machines[..2].to_vec(), ..Inventory::default() };
    small.machines[0].name = "tf-source-vm".to_owned();
    small.machines[1].name = "tf-dest-vm".to_owned();
    for text in [
        "5000 on tf-dest-vm is broken",
        "the services on tf-dest-vm time out",
        "tf-source-vm cannot reach tf-dest-vm at all any more",
    ] {
        let all = resolve(&read(text), &small);
        let ends: Vec<_> =
            all[0].flows.iter().map(|flow| (flow.source.machine(), flow.destination.machine())).collect();
        assert_eq!(ends, [(Some("tf-source-vm"), Some("tf-dest-vm"))], "{text}");
    }
}

#[test]
fn an_empty_estate_leaves_names_unknown() {
    let all = resolve(&read("web-1 cannot reach db-1 on 5432"), &Inventory::default());
    assert!(all.iter().all(|complaint| complaint.flows.is_empty()));
}

#[test]
fn the_inventory_is_read_back_as_it_was_written() {
    let estate = estate();
    let text = serde_json::to_string(&estate).unwrap();
    assert_eq!(serde_json::from_str::<Inventory>(&text).unwrap(), estate);
}

#[test]
fn an_end_that_is_the_internet_has_no_address() {
    assert_eq!(End::Internet.address(), None);
    assert_eq!(flows("nobody can open shop-web-1 on 443"), "internet>shop-web-1:443");
}
