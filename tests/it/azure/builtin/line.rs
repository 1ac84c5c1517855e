//! Command lines as people write them, and what is printed in every form.

use ghost_lab::az::{CommandOutput, MemoryEnvironment, Profile, az};
use ghost_lab::azure::{Answer, Request};
use serde_json::{Value, json};

use super::stage::now;

/// Runs a line whose every request is answered so; tokens are given to everybody.
pub(super) fn run(line: &[&str], answer: &Answer) -> CommandOutput {
    let about = json!({"subscriptionId": "s", "tenantId": "t", "displayName": "lab", "state": "Enabled"});
    let mut profile = Profile::lab("https://localhost:1", "http://127.0.0.1:2/msi/token", &about);
    let mut wire = |request: Request| match request.path.as_str() {
        "/msi/token" => Answer::json(200, json!({"access_token": "a.b.c"})),
        _ => answer.clone(),
    };
    let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
    az(&mut MemoryEnvironment::new(&mut wire, now()), &mut profile, &words)
}

fn text(printed: &CommandOutput) -> String {
    String::from_utf8(printed.out.clone()).unwrap()
}

/// Prints a document in a form.
fn shown(document: Value, options: &[&str]) -> String {
    let mut line = vec!["rest", "--uri", "/x"];
    line.extend(options);
    let printed = run(&line, &Answer::json(200, document));
    assert_eq!((printed.err.as_str(), printed.exit), ("", 0));
    text(&printed)
}

#[track_caller]
fn refused(line: &[&str], exit: u8, begin: &str) {
    let printed = run(line, &Answer::json(200, json!([])));
    assert!(printed.err.starts_with(&format!("ERROR: {begin}")), "{}", printed.err);
    assert_eq!((printed.out, printed.exit), (Vec::new(), exit));
}

#[test]
fn what_is_wrong_with_a_line_is_said_as_the_real_one_says_it() {
    refused(&["frobnicate"], 2, "'frobnicate' is misspelled or not recognized by the system.");
    refused(&["vm", "fly", "-g", "g"], 2, "'fly' is misspelled or not recognized by the system.");
    refused(&["network", "nsg"], 2, "the following arguments are required: _subcommand");
    refused(&["account", "show", "--bogus", "x"], 2, "unrecognized arguments: --bogus x");
    refused(&["account", "show", "stray"], 2, "unrecognized arguments: stray");
    refused(&["account", "show", "--", "x"], 2, "unrecognized arguments: -- x");
    refused(&["account", "set"], 2, "the following arguments are required: --subscription/-s/--name/-n");
    refused(&["vm", "show", "-g", "g"], 1, "(--name | --ids) are required");
    refused(&["vm", "show"], 1, "(--resource-group --name | --ids) are required");
    refused(&["vm", "show", "--ids", "nope"], 1, "invalid resource ID: nope");
    refused(&["network", "nsg", "show", "-n"], 2, "argument -n/--name: expected one argument");
    refused(
        &["network", "nsg", "show", "-g", "-n", "x"],
        2,
        "argument --resource-group/-g: expected one argument",
    );
    refused(
        &["vm", "run-command", "invoke", "-g", "a", "-n", "b"],
        2,
        "the following arguments are required: --command-id",
    );
    let rule = ["network", "nsg", "rule", "create", "-g", "x", "--nsg-name", "y", "-n", "z", "--priority"];
    refused(
        &[&rule[..], &["a"]].concat(),
        1,
        "Failed to parse '--priority' argument: invalid literal for int() with base 10: 'a'",
    );
    refused(&[&rule[..], &["99999999999999999999"]].concat(), 1, "Failed to parse '--priority' argument");
    refused(
        &["account", "show", "-o", "xml"],
        2,
        "az account show: 'xml' is not a valid value for '--output'.",
    );
}

#[test]
fn a_question_that_is_none_is_refused() {
    refused(
        &["account", "show", "--query", "bad["],
        2,
        "argument --query: invalid jmespath_type value: 'bad['",
    );
    refused(&["account", "show", "--query", ""], 2, "argument --query: invalid jmespath_type value: ''");
    refused(
        &["account", "show", "--query", "length(nope)"],
        1,
        "Invalid jmespath query supplied for `--query`: ",
    );
    refused(&["account", "show", "--query", "nope(@)"], 1, "Invalid jmespath query supplied for `--query`: ");
    for part in ["[", "(", "!", "{a:", "a.", "a|", "&", "[?a==", "`", "'"] {
        for times in [100, 5_000, 200_000] {
            let printed = run(&["account", "show", "--query", &part.repeat(times)], &Answer::empty(200));
            assert_eq!(printed.exit, 2, "{part} {times} times");
        }
    }
}

#[test]
fn a_value_may_stand_with_its_option_and_an_option_may_be_cut_short() {
    let whole = shown(json!({"a": 1}), &["--query", "a"]);
    for options in [&["--query=a"][..], &["--que", "a"], &["--que=a"]] {
        assert_eq!(shown(json!({"a": 1}), options), whole);
    }
    assert_eq!(shown(json!("x"), &["-otsv"]), "x\n");
    assert_eq!(shown(json!("x"), &["-o=tsv"]), "x\n");
    let short = ["network", "nsg", "rule", "list", "-g", "g", "--nsg", "x"];
    assert_eq!(text(&run(&short, &Answer::json(200, json!({"properties": {}})))), "[]\n");
    refused(
        &["storage", "blob", "list", "-c", "x", "--account", "y"],
        2,
        "ambiguous option: --account could match",
    );
}

#[test]
fn numbers_and_sentences_that_begin_with_a_dash_are_values() {
    let asked = |value: &str| run(&["group", "exists", "-n", value], &Answer::empty(404)).exit;
    assert_eq!((asked("-5"), asked("-.5"), asked("-a b"), asked("-"), asked("-x")), (0, 0, 0, 0, 2));
}

#[test]
fn every_form_shows_a_list() {
    let list = json!([{"name": "ü-日本", "id": "/x", "n": 1.0, "ok": true, "in": {"a": 1}, "no": null, "l": [1, 2]}]);
    assert_eq!(shown(list.clone(), &["-o", "tsv"]), "/x\t\t2\t1.0\tü-日本\tNone\tTrue\n");
    assert_eq!(
        shown(list.clone(), &["-o", "table"]),
        "N    Name    Ok\n---  ------  ----\n1.0  ü-日本  True\n"
    );
    assert_eq!(shown(list.clone(), &["-o", "none"]), "");
    assert_eq!(shown(list, &["-o", "json", "--query", "[0].in"]), "{\n  \"a\": 1\n}\n");
}

#[test]
fn columns_stand_in_the_order_in_which_they_were_asked_for() {
    let list = json!([{"name": "lab", "id": "s", "user": {"a": 1}, "none": null}]);
    let query = "[].{Zname:name, A:id, L:user, n:none}";
    assert_eq!(shown(list.clone(), &["-o", "tsv", "--query", query]), "lab\ts\t\tNone\n");
    assert_eq!(
        shown(list.clone(), &["-o", "table", "--query", query]),
        "Zname    A\n-------  ---\nlab      s\n"
    );
    assert_eq!(
        shown(list.clone(), &["-o", "table", "--query", "[].[name, none]"]),
        "Column1    Column2\n---------  ---------\nlab\n"
    );
    assert_eq!(shown(list, &["-o", "table", "--query", "[].name"]), "Result\n--------\nlab\n");
}

#[test]
fn nothing_is_shown_as_nothing() {
    assert_eq!(shown(json!([]), &["-o", "json"]), "[]\n");
    assert_eq!(shown(json!([]), &["-o", "tsv"]), "");
    assert_eq!(shown(json!([]), &["-o", "table"]), "\n");
    assert_eq!(shown(json!({}), &["--query", "a"]), "");
    assert_eq!(shown(json!(null), &[]), "");
    assert_eq!(shown(json!(false), &[]), "false\n");
}

#[test]
fn long_numbers_and_lines_of_several_lines_are_shown() {
    assert_eq!(
        shown(json!([u64::MAX, i64::MIN]), &["-o", "tsv"]),
        "18446744073709551615\n-9223372036854775808\n"
    );
    assert_eq!(shown(json!(1e30), &[]), "1e+30\n");
    assert_eq!(shown(json!([{"a": "x\ny", "b": 1}]), &["-o", "table"]), "A    B\n---  ---\nx    1\ny\n");
    assert_eq!(shown(json!("a\tb\nü"), &["-o", "tsv"]), "a\tb\nü\n");
}
