//! Captures, trials, peerings, tags and the log: what a change leads to.

use std::time::Duration;

use ghost_base::Timestamp;
use ghost_lab::azure::{BlobsFrom, CaptureTrouble, Cloud, Job, Verb};
use ghost_lab::host::ConnectOutcome;
use serde_json::{Value, json};

use super::agree::post;
use super::blobs::{ask, token};
use super::recorded::{body, now};

const GROUP: &str =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers";
const WATCHER: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/NetworkWatcherRG/providers/Microsoft.Network/networkWatchers/NetworkWatcher_eastus";

fn machine(name: &str) -> String {
    format!("{GROUP}/Microsoft.Compute/virtualMachines/{name}")
}

fn send(cloud: &mut Cloud, verb: Verb, path: &str, document: &Value, at: Timestamp) -> (u16, Value) {
    let sent = if document.is_null() { Vec::new() } else { document.to_string().into_bytes() };
    let (answer, _) = cloud.answer(&ask(verb, path, &[], &[("commandname", "network thing do")], &sent), at);
    (answer.status, body(&answer))
}

fn put(cloud: &mut Cloud, path: &str, document: Value) -> (u16, Value) {
    send(cloud, Verb::Put, path, &document, now())
}

/// Begins a capture that lasts a minute.
fn begin(cloud: &mut Cloud, name: &str) -> String {
    let place = format!("{WATCHER}/packetCaptures/{name}");
    let account = format!("{GROUP}/Microsoft.Storage/storageAccounts/nwlogs080613");
    let document = json!({"properties": {"target": machine("tf-dest-vm"), "timeLimitInSeconds": 60, "bytesToCapturePerPacket": 96,
        "filters": [{"protocol": "TCP", "localPort": "5432"}],
        "storageLocation": {"storageId": account, "storagePath": format!("https://nwlogs080613.blob.core.windows.net/fresh/{name}.cap")}}});
    assert_eq!(put(cloud, &place, document).0, 201);
    place
}

fn status(cloud: &mut Cloud, place: &str, at: Timestamp) -> Value {
    let (answer, _) = cloud.answer(&ask(Verb::Post, &format!("{place}/queryStatus"), &[], &[], b""), at);
    let place = answer.headers.iter().find(|(name, _)| name == "Location").unwrap().1.clone();
    let path = place.trim_start_matches("https://localhost:1").split('?').next().unwrap().to_owned();
    body(&cloud.answer(&ask(Verb::Get, &path, &[], &[], b""), at).0)
}

#[test]
fn a_capture_ends_in_a_blob() {
    let mut cloud = Cloud::usual().unwrap();
    let place = begin(&mut cloud, "one");
    let running = cloud.captures_running(now());
    assert_eq!(running.len(), 1);
    assert_eq!((running[0].order.machine.as_str(), running[0].order.snaplen), ("tf-dest-vm", 96));
    assert_eq!(running[0].order.filters[0].local_port, "5432");
    assert_eq!(running[0].until, now().plus(Duration::from_secs(60)));
    assert_eq!(cloud.captures_due(now()), [""; 0]);
    assert_eq!(status(&mut cloud, &place, now())["packetCaptureStatus"], "Running");
    let later = now().plus(Duration::from_secs(61));
    let due = cloud.captures_due(later);
    assert_eq!((due.as_slice(), cloud.captures_running(later)), (&[place.to_lowercase()][..], vec![]));
    let kept = cloud.store_capture(&due[0], b"pcap", later).unwrap();
    assert_eq!(kept.blob.unwrap().2, "one.cap");
    assert_eq!(cloud.captures_due(later), [""; 0]);
    assert_eq!(cloud.store_capture(&due[0], b"twice", later), Err(CaptureTrouble::Unknown));
    let reported = status(&mut cloud, &place, later);
    assert_eq!(
        (&reported["packetCaptureStatus"], &reported["stopReason"]),
        (&json!("Stopped"), &json!("TimeExceeded"))
    );
    let bearer = format!("Bearer {}", token(&mut cloud));
    let read = ask(Verb::Get, "/fresh/one.cap", &[], &[("authorization", &bearer)], b"");
    assert_eq!(body(&cloud.blob(Some("nwlogs080613"), &read, later)), 4);
}

#[test]
fn a_capture_whose_storage_is_shut_says_so() {
    let account = format!("{GROUP}/Microsoft.Storage/storageAccounts/nwlogs080613");
    for (changes, good) in [
        (json!({"networkAcls": {"defaultAction": "Deny", "bypass": "AzureServices"}}), true),
        (json!({"networkAcls": {"defaultAction": "Deny", "bypass": "None"}}), false),
        (json!({"allowSharedKeyAccess": false}), false),
        (Value::Null, false),
    ] {
        let mut cloud = Cloud::usual().unwrap();
        let place = begin(&mut cloud, "one");
        if changes.is_null() {
            assert_eq!(send(&mut cloud, Verb::Delete, &account, &Value::Null, now()).0, 202);
        } else {
            assert_eq!(
                send(&mut cloud, Verb::Patch, &account, &json!({"properties": changes}), now()).0,
                200
            );
        }
        assert_eq!(cloud.store_capture(&place, b"pcap", now()).is_ok(), good, "{changes}");
        let reported = status(&mut cloud, &place, now());
        let (state, troubles) =
            if good { ("Stopped", json!([])) } else { ("Error", json!(["StorageFailed"])) };
        assert_eq!(
            (&reported["packetCaptureStatus"], &reported["packetCaptureError"]),
            (&json!(state), &troubles)
        );
    }
}

#[test]
fn a_capture_that_is_stopped_or_removed_is_due_at_once() {
    let mut cloud = Cloud::usual().unwrap();
    cloud.guests(true);
    let place = begin(&mut cloud, "one");
    send(&mut cloud, Verb::Post, &format!("{place}/stop"), &Value::Null, now());
    assert_eq!(cloud.captures_due(now()).len(), 1);
    assert_eq!(status(&mut cloud, &place, now())["stopReason"], "Manual");
    send(&mut cloud, Verb::Delete, &place, &Value::Null, now());
    let due = cloud.captures_due(now());
    assert_eq!(due.len(), 1);
    assert!(cloud.store_capture(&due[0], b"pcap", now()).is_ok());
    assert_eq!((cloud.captures_due(now()), cloud.captures_running(now())), (vec![], vec![]));
    let second = begin(&mut cloud, "two");
    cloud.capture_failed(&second, CaptureTrouble::Agent, now());
    assert_eq!(status(&mut cloud, &second, now())["packetCaptureError"], json!(["AgentStopped"]));
}

#[test]
fn a_trial_is_made_by_the_machine() {
    let mut cloud = Cloud::usual().unwrap();
    let asked = json!({"source": {"resourceId": machine("tf-source-vm")}, "destination": {"resourceId": machine("tf-dest-vm"), "port": 5001}});
    assert_eq!(
        post(&mut cloud, &format!("{WATCHER}/connectivityCheck"), &asked).unwrap()["connectionStatus"],
        "Reachable"
    );
    cloud.guests(true);
    for (came, status, failed) in [
        (ConnectOutcome::Open(Duration::from_millis(101)), "Reachable", 0),
        (ConnectOutcome::Silent, "Unreachable", 30),
        (ConnectOutcome::Refused, "Unreachable", 30),
    ] {
        let path = format!("{WATCHER}/connectivityCheck");
        let (answer, job) =
            cloud.answer(&ask(Verb::Post, &path, &[], &[], asked.to_string().as_bytes()), now());
        let Some(Job::Dial(dial)) = job else { panic!("{job:?}") };
        assert_eq!(
            (dial.machine.as_str(), dial.to.to_string().as_str(), dial.port),
            ("tf-source-vm", "10.0.1.5", 5001)
        );
        let place = answer.headers.iter().find(|(name, _)| name == "Location").unwrap().1.clone();
        let path = place.trim_start_matches("https://localhost:1").split('?').next().unwrap().to_owned();
        assert_eq!(send(&mut cloud, Verb::Get, &path, &Value::Null, now()).0, 202);
        cloud.dialed(&dial.operation, came);
        let reported = send(&mut cloud, Verb::Get, &path, &Value::Null, now()).1;
        assert_eq!(
            (&reported["connectionStatus"], &reported["probesFailed"]),
            (&json!(status), &json!(failed))
        );
        assert_eq!(reported["avgLatencyInMs"], if failed == 0 { json!(101) } else { Value::Null });
        assert_eq!(reported["hops"].as_array().unwrap().len(), 2);
    }
    // What the configuration forbids nobody tries.
    let rule = format!("{GROUP}/Microsoft.Network/networkSecurityGroups/tf-dest-vm-nsg/securityRules/shut");
    let shut = json!({"properties": {"priority": 100, "direction": "Inbound", "access": "Deny", "protocol": "*", "sourcePortRange": "*",
        "destinationPortRange": "*", "sourceAddressPrefix": "*", "destinationAddressPrefix": "*"}});
    assert_eq!(put(&mut cloud, &rule, shut).0, 201);
    assert_eq!(
        post(&mut cloud, &format!("{WATCHER}/connectivityCheck"), &asked).unwrap()["connectionStatus"],
        "Unreachable"
    );
}

#[test]
fn a_peering_is_connected_by_its_second_side() {
    let mut cloud = Cloud::usual().unwrap();
    let (one, other) = (
        format!("{GROUP}/Microsoft.Network/virtualNetworks/forensics-vnet"),
        format!("{GROUP}/Microsoft.Network/virtualNetworks/far"),
    );
    let network =
        json!({"location": "eastus", "properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}});
    assert_eq!(put(&mut cloud, &other, network).0, 201);
    let to = |id: &str| json!({"properties": {"remoteVirtualNetwork": {"id": id}}});
    let state = |reported: &Value| reported["properties"]["peeringState"].as_str().unwrap().to_owned();
    let routes = |cloud: &mut Cloud| {
        let nic = format!("{GROUP}/Microsoft.Network/networkInterfaces/tf-dest-vm-nic/effectiveRouteTable");
        post(cloud, &nic, &json!({})).unwrap()["value"].to_string().contains("VNetPeering")
    };
    let (here, there) =
        (format!("{one}/virtualNetworkPeerings/a"), format!("{other}/virtualNetworkPeerings/b"));
    assert_eq!(state(&put(&mut cloud, &here, to(&other)).1), "Initiated");
    assert!(!routes(&mut cloud));
    assert_eq!(state(&put(&mut cloud, &there, to(&one)).1), "Connected");
    assert!(routes(&mut cloud));
    assert_eq!(state(&send(&mut cloud, Verb::Get, &here, &Value::Null, now()).1), "Connected");
    assert_eq!(send(&mut cloud, Verb::Delete, &there, &Value::Null, now()).0, 202);
    assert_eq!(state(&send(&mut cloud, Verb::Get, &here, &Value::Null, now()).1), "Disconnected");
    assert!(!routes(&mut cloud));
    let (status, reported) = put(&mut cloud, &here, to(&one));
    assert_eq!(
        (status, &reported["error"]["code"]),
        (400, &json!("VirtualNetworkPeeringCannotHaveSelfReference"))
    );
}

#[test]
fn the_log_says_who_did_what_and_is_asked_for_parts() {
    let mut cloud = Cloud::usual().unwrap();
    let table = format!("{GROUP}/Microsoft.Network/routeTables/t");
    put(&mut cloud, &table, json!({"location": "eastus"}));
    send(
        &mut cloud,
        Verb::Put,
        &format!("{table}/routes/bad"),
        &json!({"properties": {}}),
        now().plus(Duration::from_secs(60)),
    );
    send(&mut cloud, Verb::Get, &table, &Value::Null, now());
    let path = "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Insights/eventtypes/management/values";
    let later = now().plus(Duration::from_secs(60));
    let log = |cloud: &mut Cloud, filter: &str| -> Vec<Value> {
        let (answer, _) = cloud.answer(&ask(Verb::Get, path, &[("$filter", filter)], &[], b""), later);
        body(&answer)["value"].as_array().unwrap().clone()
    };
    let all = log(
        &mut cloud,
        "eventTimestamp ge 2025-06-02T09:31:00Z and eventTimestamp le 2025-06-02T09:40:00.000000Z and resourceGroupName eq 'NW-forensics-rg'",
    );
    assert_eq!(all.len(), 2);
    let (bad, good) = (&all[0], &all[1]);
    assert_eq!(
        (&bad["status"]["value"], &bad["subStatus"]["value"]),
        (&json!("Failed"), &json!("BadRequest"))
    );
    assert_eq!(
        (&good["status"]["value"], &good["subStatus"]["localizedValue"]),
        (&json!("Succeeded"), &json!("Created (HTTP Status Code: 201)"))
    );
    assert_eq!(good["operationName"]["value"], "Microsoft.Network/routeTables/write");
    assert_eq!(good["caller"], "22222222-2222-2222-2222-222222222222");
    assert_eq!(good["properties"]["command"], "network thing do");
    assert_eq!(good["eventTimestamp"], "2025-06-02T09:31:00.0000000Z");
    for (filter, count) in [
        ("status eq 'Failed'", 1),
        ("resourceProvider eq 'Microsoft.Network'", 2),
        ("resourceProvider eq 'Microsoft.Compute'", 0),
        ("caller eq 'somebody'", 0),
        ("eventTimestamp ge 2025-06-02T09:31:30Z", 1),
        (&format!("resourceId eq '{table}'"), 1),
    ] {
        assert_eq!(log(&mut cloud, filter).len(), count, "{filter}");
    }
    // A bound that nobody can read is refused: an empty list would say that nothing was changed.
    for filter in ["nonsense", "eventTimestamp ge soon"] {
        let (answer, _) = cloud.answer(&ask(Verb::Get, path, &[("$filter", filter)], &[], b""), later);
        assert_eq!(answer.status, 400, "{filter}");
    }
}

#[test]
fn a_tag_that_is_old_changes_nothing() {
    let mut cloud = Cloud::usual().unwrap();
    let table = format!("{GROUP}/Microsoft.Network/routeTables/t");
    let (_, first) = put(&mut cloud, &table, json!({"location": "eastus"}));
    let tagged = |cloud: &mut Cloud, verb: Verb, tag: &str| {
        let document = if verb == Verb::Delete {
            Vec::new()
        } else {
            json!({"location": "eastus", "tags": {"a": "b"}}).to_string().into_bytes()
        };
        let (answer, _) = cloud.answer(&ask(verb, &table, &[], &[("if-match", tag)], &document), now());
        answer.status
    };
    let tag = first["etag"].as_str().unwrap().to_owned();
    assert_eq!(tagged(&mut cloud, Verb::Put, &tag), 200);
    for verb in [Verb::Put, Verb::Patch, Verb::Delete] {
        assert_eq!(tagged(&mut cloud, verb, &tag), 412);
    }
    assert_eq!(tagged(&mut cloud, Verb::Delete, "*"), 202);
}

#[test]
fn the_fabric_follows_the_estate() {
    let mut cloud = Cloud::usual().unwrap();
    let fabric = cloud.fabric();
    let names: Vec<&str> = fabric.machines.iter().map(|machine| machine.name.as_str()).collect();
    assert_eq!(names, ["tf-source-vm", "tf-dest-vm"]);
    let nic = &fabric.machines[0].nics[0];
    assert_eq!((nic.mac.as_str(), nic.public), ("00:0d:3a:1b:01:04", Some("203.0.113.10".parse().unwrap())));
    assert_eq!(nic.addresses, [("10.0.1.4".parse().unwrap(), 24)]);
    assert_eq!(fabric.accounts[0].lets_in, names);
    assert_eq!(nic.rules["value"].as_array().unwrap().len(), 1);
    // The account is shut to all but the subnet, which loses its endpoint.
    let (subnet, account) = (
        format!("{GROUP}/Microsoft.Network/virtualNetworks/forensics-vnet/subnets/default"),
        format!("{GROUP}/Microsoft.Storage/storageAccounts/nwlogs080613"),
    );
    let rules = json!({"properties": {"networkAcls": {"defaultAction": "Deny", "virtualNetworkRules": [{"id": subnet}]}}});
    assert_eq!(send(&mut cloud, Verb::Patch, &account, &rules, now()).0, 200);
    assert_eq!(cloud.fabric().accounts[0].lets_in, [""; 0]);
    let endpoint = json!({"properties": {"addressPrefix": "10.0.1.0/24", "serviceEndpoints": [{"service": "Microsoft.Storage"}]}});
    assert_eq!(put(&mut cloud, &subnet, endpoint).0, 200);
    assert_eq!(cloud.fabric().accounts[0].lets_in, names);
    let bearer = format!("Bearer {}", token(&mut cloud));
    let list = ask(Verb::Get, "/", &[("comp", "list")], &[("authorization", &bearer)], b"");
    let from = BlobsFrom::Machine("tf-dest-vm".to_owned());
    assert_eq!(cloud.blob_from(&from, Some("nwlogs080613"), &list, now()).status, 200);
    assert_eq!(cloud.blob(Some("nwlogs080613"), &list, now()).status, 403);
    // A second public address is the next one.
    let place = format!("{GROUP}/Microsoft.Network/publicIPAddresses/tf-dest-vm-ip");
    assert_eq!(
        put(&mut cloud, &place, json!({"location": "eastus"})).1["properties"]["ipAddress"],
        "203.0.113.11"
    );
    let nic = format!("{GROUP}/Microsoft.Network/networkInterfaces/tf-dest-vm-nic");
    let mut document = send(&mut cloud, Verb::Get, &nic, &Value::Null, now()).1;
    document["properties"]["ipConfigurations"][0]["properties"]["publicIPAddress"] = json!({"id": place});
    assert_eq!(put(&mut cloud, &nic, document).0, 200);
    assert_eq!(cloud.fabric().machines[1].nics[0].public, Some("203.0.113.11".parse().unwrap()));
    let shown = send(&mut cloud, Verb::Get, &place, &Value::Null, now()).1;
    assert!(shown["properties"]["ipConfiguration"]["id"].as_str().unwrap().contains("tf-dest-vm-nic"));
    cloud.power("tf-dest-vm", "deallocated");
    assert!(!cloud.fabric().machines[1].running);
}
