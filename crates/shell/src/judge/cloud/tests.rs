//! What holds for every command that the real `az` has without an extension.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::destinations;
use crate::policy::Cloud;
use crate::{Impact, Policy, Verdict};

/// Every core command.
static CORE: LazyLock<Vec<String>> = LazyLock::new(|| {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/shell/az-core.txt");
    let text = std::fs::read_to_string(list).unwrap();
    let commands = text.lines().flat_map(|line| {
        let (group, verbs) = line.split_once(':').unwrap();
        verbs.split_whitespace().map(move |verb| format!("{group} {verb}").trim().to_owned())
    });
    commands.collect()
});

fn cloud() -> &'static Cloud {
    &Policy::builtin().unwrap().cloud
}

fn verdict(command: &str) -> Verdict {
    Policy::builtin().unwrap().classify(command).verdict
}

/// Tells whether a word is a verb that changes something; `begins` where `create-x` counts, too.
fn changes(word: &str, begins: bool) -> bool {
    let other = |verb: &String| {
        word == verb || (begins && word.strip_prefix(verb.as_str()).is_some_and(|rest| rest.starts_with('-')))
    };
    cloud().other_verbs.iter().any(other)
}

#[test]
fn the_list_of_reads_is_what_the_real_az_has_in_these_groups() {
    let expected: std::collections::BTreeSet<String> = CORE
        .iter()
        .filter(|command| {
            let words: Vec<&str> = command.split(' ').collect();
            cloud().may_read(&words)
        })
        .cloned()
        .collect();
    assert_eq!(cloud().core.paths().collect::<std::collections::BTreeSet<_>>(), expected);
}

/// A word inside the path is a noun where it is joined: `vm run-command list`.
fn says_change(command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    let (last, before) = words.split_last().unwrap();
    let view = cloud().verbs.iter().any(|verb| verb == last);
    before.iter().any(|word| changes(word, false)) || (changes(last, true) && !view)
}

#[test]
fn no_core_command_whose_words_say_that_it_changes_something_is_safe() {
    let wrong: Vec<&String> = CORE
        .iter()
        .filter(|command| {
            says_change(command) && verdict(&format!("az {command} -g g -n n")) == Verdict::Safe
        })
        .collect();
    assert_eq!(wrong, Vec::<&String>::new());
}

#[test]
fn the_classes_of_the_core_commands_are_these() {
    let mut counts = std::collections::BTreeMap::new();
    for command in CORE.iter() {
        *counts.entry(verdict(&format!("az {command} -g g")).as_str()).or_insert(0) += 1;
    }
    assert_eq!(counts.values().sum::<usize>(), CORE.len());
    assert_eq!(counts, std::collections::BTreeMap::from(COUNTS));
}

/// What the table of the policy makes of azure-cli 2.91.0; a change of it is a change of this.
const COUNTS: [(&str, usize); 3] = [("BLOCKED", 354), ("RISKY", 4053), ("SAFE", 1698)];

#[test]
fn what_the_tables_name_never_runs() {
    let (secret, destroy) = (&cloud().secret, &cloud().destroy);
    let pairs = destroy
        .groups
        .iter()
        .chain(&destroy.things)
        .flat_map(|group| destroy.verbs.iter().map(move |verb| format!("{group} {verb}")));
    let named = secret.commands.iter().chain(&destroy.commands).cloned().chain(pairs);
    let options = secret.options.iter().map(|option| format!("vm show {option}"));
    for command in named.chain(options) {
        for text in [
            format!("az {command}"),
            format!("az --only-show-errors {command} list"),
            format!("az {}", command.to_uppercase()),
        ] {
            assert_eq!(verdict(&text), Verdict::Blocked, "{text}");
        }
    }
    for command in CORE.iter().filter(|command| command.starts_with("ad ") && command.ends_with(" delete")) {
        assert_eq!(verdict(&format!("az {command} --id x")), Verdict::Blocked, "{command}");
    }
}

/// What a thing consists of, in the words of azure-cli 2.91.0.
const PARTS: &str = "\
    a aaaa access-policy access-policy-assignment account-filter action-group ad-admin address-pool \
    address-prefix-set admin advanced-platform-metric ag-listener agent alert alerts-suppression-rule always-ready \
    api application-group application-type appsettings asg assessment assessment-metadata asset-filter asset-track \
    assignment association attached-database-configuration attestation auth auth-cert authorization \
    authorization-rule authsetting auto-scale automation autoscale availability-set backend backup-policy \
    bandwidth-schedule baseline blob blob-inventory-policy bucket budget builder caa cache certificate channel \
    classification client-certificate cname commitment-plan compute condition configuration connected-registry \
    connection connection-monitor connection-string consumer-group contact container-group-profile \
    content-key-policy correlation-scheme credential credential-set custom-certificate custom-domain custom-rule \
    dashboard data-connection data-export data-flow database-principal-assignment dataset ddos-custom-policy \
    definition deny-assignment deployment deployment-scripts destination devops diagnostic-settings directline \
    directory disk-access dns-alias dns-zone-group dnssec-config ds ekm-connection email endpoint enrollment \
    entity event-channel event-subscription exemption experiment extension fabric-shortcut facebook failover-group \
    feature federated-credential file filter firewall firewall-rule firewall-rules first-party-service-tag \
    flow-log formula frontend-ip frontend-port function gallery-application georecovery-alias github-action group \
    helm hierarchy-settings hostname http-listener http-route-config http-settings hyco identity-binding \
    immutability-policy in-vm-access-control-profile in-vm-access-control-profile-version inbound-nat-pool \
    inbound-nat-rule instance-failover-group integration-runtime integration-runtime-node iot-alerts iot-solution \
    ip-config ipv6-firewall-rule issue issuer job job-schedule key keys kik kql-script kv link link-connection \
    linked-hub linked-service linked-storage listener live-event live-output load-metrics local-user log-profiles \
    maintenanceconfiguration managed-application-type managed-compute-deployment managed-private-endpoints \
    management-policy manifest manual-scale message message-enrichment mg microsoft-entra-admin migration msteams \
    mx naptr network-rule network-security-rule node non-compliance-message notebook ns nv operation or-policy \
    order outbound-firewall-rule outbound-rule package packet-capture param-persist partner-cert patch-schedule \
    peering pending pipeline policy policy-definition pool-principal-assignment ppg private-endpoint-connection \
    private-link private-link-scope probe product ptr query query-key query-pack quota-rule redirect-config \
    registration release remediation replica replication reservation resolver resource-guard-mapping revoked-cert \
    rewrite-rule role role-assignment rolebinding root-cert route route-filter routing-endpoint routing-rule rule \
    run-command safeguards saved-search schema schema-registry scope-map scoped-resource script-action secret \
    security-connector security-partner-provider server-link set set-definition settings \
    shared-private-link-resource site sitecontainers skype slack sli sms source spark-job-definition sql \
    sql-script srv sshkey ssl ssl-cert start-stop-schedule stg storage-account storage-account-credential \
    stored-procedure streaming-endpoint streaming-locator streaming-policy sub subscription tag task taskrun \
    telegram tenant tlsa token transform trigger trusted-provider ts txt url-path-map user user-defined-function \
    version versionset virtual-endpoint vm-extension vnet-rule wcfrelay webhook workload-profile workspace-package \
    workspace-setting";

/// Each of these words was decided; a core command that deletes something else belongs to `things`, `groups` or here.
#[test]
fn a_part_of_a_thing_may_be_deleted_by_a_human() {
    for command in CORE.iter() {
        let words: Vec<&str> = command.split(' ').collect();
        let [group @ .., "delete"] = words.as_slice() else { continue };
        let part = group.last().is_some_and(|word| PARTS.split_whitespace().any(|part| part == *word));
        let named = cloud().destroy.parts.contains(&group.join(" "));
        let expected = if part || named { Verdict::Risky } else { Verdict::Blocked };
        let whole = group[0] == "ad" || cloud().destroy.groups.contains(&group.join(" "));
        assert!(whole || verdict(&format!("az {command} -n n")) == expected, "{command}");
    }
}

#[test]
fn what_sounds_like_a_read_and_asks_is_a_core_command() {
    for command in cloud().asks_although.keys() {
        assert!(CORE.contains(command), "{command}");
        assert_eq!(verdict(&format!("az {command} -g g")), Verdict::Risky, "{command}");
    }
}

#[test]
fn a_read_that_registers_a_provider_asks_unless_it_is_kept_from_it() {
    for (option, own) in &cloud().asks_without {
        for command in &own.commands {
            assert!(CORE.contains(command), "{command}");
            assert_eq!(verdict(&format!("az {command} -n g")), Verdict::Risky, "{command}");
            assert_eq!(verdict(&format!("az {command} -n g {option}")), Verdict::Safe, "{command}");
            for opposite in ["=false", " false"] {
                assert_eq!(
                    verdict(&format!("az {command} -n g {option}{opposite}")),
                    Verdict::Risky,
                    "{command}"
                );
            }
        }
    }
}

#[test]
fn no_extension_has_the_path_of_a_core_command() {
    for command in cloud().extensions.paths() {
        assert!(!CORE.contains(&command), "{command}");
        assert_eq!(verdict(&format!("az {command} -g g")), Verdict::Safe, "{command}");
    }
}

/// What the policy closes.
const CLOSED: [&str; 20] = [
    "--debug",
    "--file",
    "--dest",
    "--destination",
    "--destination-path",
    "--output-file",
    "--account-key",
    "--sas-token",
    "--connection-string",
    "--password",
    "--client-secret",
    "--blob-endpoint",
    "--service-endpoint",
    "--url",
    "--blob-url",
    "--template-file",
    "--some-folder",
    "--include-user-data",
    "--show-secrets",
    "--expose-token",
];

#[test]
fn no_open_option_is_one_that_the_policy_closes() {
    for option in &cloud().options {
        let closed =
            CLOSED.contains(&option.as_str()) || ["-f", "-p", "-u", "-h", "-y"].contains(&option.as_str());
        let ends = ["endpoint", "-file", "-folder", "-url"].iter().any(|end| option.ends_with(end));
        assert!(!closed && !ends, "{option}");
    }
}

#[test]
fn no_beginning_of_an_option_opens_what_the_whole_option_closes() {
    for option in CLOSED {
        for length in 3..=option.len() {
            let begin = &option[..length];
            // `--id` and the globals are options of their own everywhere.
            if begin == "--id" || begin == "--output" {
                continue;
            }
            for text in [
                format!("az vm show -g g {begin} x"),
                format!("az vm show {begin}=x"),
                format!("az storage share list {begin} x"),
            ] {
                let own = begin == "--include" && text.contains("storage");
                assert!(own || verdict(&text) != Verdict::Safe, "{text}");
            }
        }
    }
}

#[test]
fn destinations_are_named_in_the_order_of_the_text_and_once() {
    let words = "az x --dest-address 10.0.0.4 --account-name abc -n y --vault-name=v --account-name abc";
    let words: Vec<&str> = words.split(' ').collect();
    assert_eq!(destinations(&words, cloud()), ["10.0.0.4", "abc", "v"]);
}

/// Every read that talks to a host of its own, the options that form it, and the host.
fn forming() -> Vec<(String, Vec<String>, String)> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/shell/az-hosts.txt");
    let text = std::fs::read_to_string(list).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (command, rest) = line.split_once(": ").unwrap();
        let (options, host) = rest.rsplit_once(' ').unwrap();
        (command.to_owned(), options.split(' ').map(str::to_owned).collect(), host.to_owned())
    });
    rows.collect()
}

#[test]
fn a_host_that_is_formed_of_a_word_is_a_destination_of_every_read_that_asks_it() {
    let policy = Policy::builtin().unwrap();
    let mut safe = 0;
    for (command, options, host) in forming() {
        for option in options {
            for words in [format!("{option} kiln1"), format!("{option}=kiln1")] {
                if words.starts_with("-n=") || words.starts_with("-r=") {
                    continue;
                }
                let text = format!("az {command} {words}");
                let ruling = policy.classify(&text);
                if ruling.verdict == Verdict::Safe {
                    safe += 1;
                    assert_eq!(ruling.destinations, [host.replace("{}", "kiln1")], "{text}");
                }
            }
        }
    }
    assert!(safe > 200, "only {safe} of these lines are SAFE");
}

#[test]
fn a_value_that_would_form_another_host_asks() {
    for value in ["evil.example/x", "a.b", "a@b", "evil.example#", "a:1", "a%2f"] {
        for text in [
            format!("az keyvault key list --hsm-name={value}"),
            format!("az synapse notebook list --workspace-name={value}"),
        ] {
            assert_ne!(verdict(&text), Verdict::Safe, "{text}");
        }
    }
    assert_ne!(verdict("az acr repository list -n kiln --suffix evil"), Verdict::Safe);
    assert_ne!(verdict("az acr repository list -n evil.example/x"), Verdict::Safe);
}

#[test]
fn a_command_that_asks_the_cloud_alone_has_no_destination_and_a_registry_may_be_named_by_its_host() {
    let found = |text: &str| Policy::builtin().unwrap().classify(text).destinations;
    for text in [
        "az acr show -n kiln",
        "az acr task list -r kiln",
        "az synapse kusto pool list --workspace-name w -g g",
    ] {
        assert_eq!(verdict(text), Verdict::Safe, "{text}");
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(found("az acr repository list -n kiln.azurecr.io"), ["kiln.azurecr.io"]);
    assert_eq!(found("az acr manifest list-metadata -r kiln -n app"), ["kiln.azurecr.io"]);
}

#[test]
fn who_named_the_word_named_the_host_that_is_formed_of_it() {
    let policy = Policy::builtin().unwrap();
    let mut known = crate::Known::default();
    let ruling = policy.classify("az acr repository list -n kiln");
    assert_eq!(policy.unknown(&ruling, &known), ["kiln.azurecr.io"]);
    known.add_words("images in the registry kiln cannot be pulled");
    assert_eq!(policy.unknown(&ruling, &known), Vec::<&str>::new());
    assert_eq!(
        policy.unknown(&policy.classify("az acr repository list -n oven"), &known),
        ["oven.azurecr.io"]
    );
}

/// What runs a script in a guest, up to the script.
const IN_A_GUEST: &str = "az vm run-command invoke -g g -n v --command-id RunShellScript";

/// `az` takes the last of several, so what they come to together says nothing about what would run.
#[test]
fn a_script_that_is_given_in_parts_is_judged_by_none_of_them() {
    for first in ["ip a", "ss -s |", "echo \\", "timeout 5 tcpdump -c 1 \\"] {
        for (last, verdict) in [
            ("ip r", Verdict::Risky),
            ("useradd x", Verdict::Risky),
            ("reboot", Verdict::Blocked),
            ("cat /etc/shadow", Verdict::Blocked),
        ] {
            for text in [
                format!("{IN_A_GUEST} --scripts '{first}' --scripts '{last}'"),
                format!("{IN_A_GUEST} --scripts '{first}' --scripts='{last}'"),
                format!("{IN_A_GUEST} --scripts='{first}' -o json --scripts '{last}'"),
            ] {
                let ruling = Policy::builtin().unwrap().classify(&text);
                assert_eq!(ruling.verdict, verdict, "{text}");
                let impact = (verdict == Verdict::Risky).then_some(Impact::Change);
                assert_eq!(ruling.impact, impact, "{text}");
            }
        }
    }
}

#[test]
fn a_line_of_a_script_does_not_run_on_into_the_next() {
    for first in ["echo \\", "timeout 5 tcpdump -c 1 \\", "ip a |\\"] {
        let ruling = Policy::builtin().unwrap().classify(&format!("{IN_A_GUEST} --scripts '{first}' cat"));
        assert_eq!((ruling.verdict, ruling.impact), (Verdict::Risky, Some(Impact::Change)), "{first}");
    }
    assert_eq!(verdict(&format!("{IN_A_GUEST} --scripts 'ip a |' 'cat'")), Verdict::Safe);
}

#[test]
fn what_no_count_and_no_bound_ends_has_no_place_in_a_guest() {
    for script in [
        "ping -c 5 10.0.0.4",
        "timeout 60 ping 10.0.0.4",
        "timeout 1m mtr 10.0.0.4",
        "timeout .5 ping 10.0.0.4",
        "timeout -k 5 -s CONT 5 ping 10.0.0.4",
        "timeout 5 timeout 10 ping 10.0.0.4",
        "host -W 2 a",
        "timeout 5 host -w a",
    ] {
        assert_eq!(verdict(&format!("{IN_A_GUEST} --scripts '{script}'")), Verdict::Safe, "{script}");
    }
    for script in [
        "ping 10.0.0.4",
        "ping -c 0 10.0.0.4",
        "ping -c 0 -c 5 10.0.0.4",
        "ping -c5 -c00 10.0.0.4",
        "ping -c 3 -W 0 10.0.0.4",
        "timeout 61 ping 10.0.0.4",
        "timeout 1d ping 10.0.0.4",
        "timeout 24h mtr 10.0.0.4",
        "timeout -s KILL 5 timeout 10 ping 10.0.0.4",
        "free -s 1 -c 0",
        "timeout 0 ping 10.0.0.4",
        "timeout 0.0s ping 10.0.0.4",
        "timeout 25h ping 10.0.0.4",
        "timeout 99999999999d ping 10.0.0.4",
        "timeout -k 2d -s CONT 5 ping 10.0.0.4",
        "host -w a 10.0.0.2",
        "host -aw a",
    ] {
        assert_eq!(verdict(&format!("{IN_A_GUEST} --scripts '{script}'")), Verdict::Risky, "{script}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Neither case, nor options in front, nor words behind make a command that never runs look more harmless.
    #[test]
    fn nothing_around_a_destroying_command_hides_it(
        group in prop::sample::select([&cloud().destroy.groups[..], &cloud().destroy.things[..]].concat()),
        front in prop::sample::select(vec!["", "--debug ", "--outp json ", "-ojson ", "--query=x ", "--subs s --verb ", "--foo x "]),
        behind in prop::sample::select(vec!["", " list", " show -n x", " --help -n x", " -g list --yes", " --no-wait"]),
        upper in any::<bool>(),
    ) {
        let path = format!("{group} delete");
        let path = if upper { path.to_uppercase() } else { path };
        let text = format!("az {front}{path}{behind}");
        prop_assert_eq!(verdict(&text), Verdict::Blocked, "{}", text);
    }

    /// Whatever follows a verb that changes something, the command is not SAFE.
    #[test]
    fn no_path_with_a_verb_that_changes_something_is_safe(
        command in prop::sample::select(CORE.clone()),
        verb in prop::sample::select(cloud().other_verbs.clone()),
        tail in prop::sample::select(vec!["", " list", " show", " check-name"]),
    ) {
        let text = format!("az {command} {verb}{tail} -g g");
        prop_assert!(verdict(&text) != Verdict::Safe, "{}", text);
    }

    /// A value from a file asks wherever it stands.
    #[test]
    fn no_value_from_a_file_is_safe(
        command in prop::sample::select(cloud().core.paths().collect::<Vec<_>>()),
        option in prop::sample::select(cloud().options.clone()),
        value in prop::sample::select(vec!["@f", "a=@f", "x y=@f", "[?a=='b=@f']"]),
        attached in any::<bool>(),
    ) {
        let joint = if attached { "=" } else { " " };
        let text = format!("az {command} {option}{joint}\"{value}\"");
        prop_assert!(verdict(&text) != Verdict::Safe, "{}", text);
    }
}
