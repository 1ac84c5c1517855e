//! Which lines are read without `az`, and what they ask for.

use std::collections::BTreeMap;
use std::ffi::OsString;

use ghost_shell::{Policy, Verdict};

use super::request::{Left, Request};
use super::table::{Form, ROWS};

fn read(line: &str) -> Result<Request, Left> {
    // None of these values holds a blank.
    let words: Vec<String> = line.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
    Request::read(&words, &BTreeMap::new())
}

/// Writes the shortest line of a row, and one with all that it takes.
fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for row in ROWS {
        for all in [false, true] {
            let mut line = format!("az {}", row.name);
            for opt in row.options.iter().filter(|opt| all || opt.needed) {
                let name = if all { opt.names.last() } else { opt.names.first() }.unwrap();
                let value = match opt.form {
                    // As long as the name of an account has to be.
                    Form::Name => " x10",
                    Form::Number => " 7",
                    Form::Moment => " 2026-01-02T03:04:05Z",
                    Form::Length => " 6h",
                    Form::Address => " 10.0.1.4",
                    Form::End => " 10.0.1.5:443",
                    Form::Word(words) => &format!(" {}", words[0]),
                    Form::Health => {
                        " '/subscriptions/{subscriptionId}/providers/Microsoft.ResourceHealth/events?api-version=2022-10-01'"
                    }
                    Form::Flag => "",
                };
                line.push_str(&format!(" {name}{value}"));
            }
            lines.push(if all { format!("{line} --output json --query [].name") } else { line });
        }
    }
    lines
}

#[test]
fn every_line_that_is_read_is_one_that_the_gate_calls_safe() {
    let policy = Policy::builtin().unwrap();
    let lines = lines();
    assert!(lines.len() >= 2 * 35, "{}", lines.len());
    for line in lines {
        let ruling = policy.classify(&line);
        assert_eq!(ruling.verdict, Verdict::Safe, "{line}: {}", ruling.reason);
        assert!(read(&line).is_ok(), "{line}: {:?}", read(&line));
    }
}

#[test]
fn every_line_of_ours_that_has_a_row_is_understood() {
    use crate::line;
    use crate::{Name, ResourceGroup};
    let subscription = Some(Name::parse("33333333-3333-3333-3333-333333333333").unwrap());
    let place = ResourceGroup { subscription, group: Name::parse("rg").unwrap() };
    let name = Name::parse("web-1").unwrap();
    for line in [
        line::machine(&place, &name),
        line::machines(&place),
        line::instance_view(&place, &name),
        line::extensions(&place, &name),
        line::interfaces(&place),
        line::interface(&place, &name),
        line::effective_routes(&place, &name),
        line::effective_rules(&place, &name),
        line::security_groups(&place),
        line::security_group(&place, &name),
        line::route_tables(&place),
        line::route_table(&place, &name),
        line::load_balancers(&place),
        line::application_gateways(&place),
        line::backend_health(&place, &name),
        line::bastions(&place),
        line::public_addresses(&place),
        line::firewalls(&place),
        line::firewall_policy(&place, &name),
        line::firewall_rules(&place, &name),
        line::address_groups(&place),
        line::networks(&place),
        line::network(&place, &name),
        line::subnet(&place, &name, &name),
        line::service_tags(&place, &name),
        line::activity(&place, 6),
        line::activity_between(
            &place,
            ghost_base::Timestamp::from_millis(0),
            ghost_base::Timestamp::from_millis(9),
            200,
        ),
        line::watchers(&place),
        line::signed_in(),
        line::platform_events(&place),
        line::availability(&place, &name),
        line::next_hop(&place, &name, [10, 0, 1, 4].into(), [10, 0, 1, 5].into()),
        line::ip_flow(&place, &name, true, "TCP", ([10, 0, 1, 5].into(), 22), ([10, 0, 1, 4].into(), 40_000)),
        line::topology(&place),
        line::captures(&place, &name),
        line::capture_status(&place, &name, &name),
    ] {
        let understood = Request::read(line.words(), &BTreeMap::new());
        assert!(understood.is_ok(), "{}: {understood:?}", line.text());
    }
}

#[test]
fn what_is_not_known_to_the_last_word_is_left_to_az() {
    for line in [
        "ls",
        "/usr/bin/az network nic list",
        "az",
        "az network",
        "az network nic frobnicate",
        "az network nic delete -g rg -n x",
        "az network nic show -g rg",
        "az network nic show -g rg -n x extra",
        "az network nic show -g rg -n x -n y",
        "az network nic show -g rg -n x --ids /x",
        "az network nic show -g rg -n=x",
        "az network nic show -g rg --nam x",
        "az network nic show -g rg -n ../x",
        "az network nic show -g rg -n a%2fb",
        "az network nic show -g rg -n @file",
        "az network nic show -g rg -n",
        "az network nic show -g rg -n x -o table",
        "az network nic show -g rg -n x -o tsv --query {a:name}",
        "az network watcher show-next-hop -g rg --vm x --source-ip 10.0.0.300 --dest-ip 10.0.0.1",
        "az network watcher show-next-hop -g rg --vm /subscriptions/x --source-ip 10.0.0.3 --dest-ip 10.0.0.1",
        "az network watcher test-ip-flow -g rg --vm x --direction Sideways --protocol TCP --local 1.2.3.4:5 --remote 1.2.3.4:5",
        "az network watcher test-connectivity -g rg --source-resource x --dest-address 10.0.0.1 --dest-port 22",
        "az network nic show -g rg -n x -o json -o json",
        "az network nic show -g rg -n x --debug",
        "az network nic show -g rg -n x --query bad[",
        "az network nic show -g rg -n x --subscription a/b",
        "az network route-table list",
        "az monitor activity-log list --offset 6x",
        "az monitor activity-log list --max-events 0",
        "az monitor activity-log list --start-time yesterday",
        "az monitor activity-log list --correlation-id x",
        "az vm list --show-details=true",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}

#[test]
fn a_variable_that_fills_in_what_a_line_leaves_out_leaves_it_to_az() {
    let words: Vec<String> = "az network nic list".split(' ').map(str::to_owned).collect();
    let with = |name: &str, value: &str| {
        let environment = BTreeMap::from([(name.to_owned(), OsString::from(value))]);
        Request::read(&words, &environment).map(drop)
    };
    assert_eq!(with("AZURE_CORE_OUTPUT", "json"), Ok(()));
    assert_eq!(with("AZURE_CORE_OUTPUT", "table"), Err(Left::Output));
    assert_eq!(with("AZURE_DEFAULTS_GROUP", "rg"), Err(Left::Variable("AZURE_DEFAULTS_GROUP")));
}
