//! Estates: the one in the program, those of files, and files that are none.

use ghost_lab::azure::{Cloud, Description};
use serde_json::Value;

use super::recorded::essential;
use super::recording::{read, recordings};

fn parse(text: &str) -> Result<Description, String> {
    Description::parse(text.as_bytes()).map_err(|broken| broken.to_string())
}

/// Takes out what only the file can tell.
fn plain(document: &Value) -> Value {
    essential(document)
}

#[test]
fn the_estate_in_the_program_is_that_of_the_recordings() {
    let Some(place) = recordings() else { return };
    let theirs: Description = serde_json::from_value(read(&place.join("_estate.json"))).unwrap();
    let (ours, theirs) = (Cloud::usual().unwrap(), Cloud::new(theirs).unwrap());
    let (ours, theirs) = (ours.documents(), theirs.documents());
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(plain(ours), plain(theirs), "{}", theirs["id"]);
    }
}

#[test]
fn a_file_that_is_no_estate_is_refused_with_the_position() {
    let good = r#"{"subscription":{"subscriptionId":"s","tenantId":"t"},"principal":{"objectId":"o"},"resourceGroups":[{"id":"/subscriptions/s/resourceGroups/g"}],"resources":[R]}"#;
    assert!(parse(&good.replace("[R]", "[]")).is_ok());
    let one = |resource: &str| parse(&good.replace('R', resource)).unwrap_err();
    assert_eq!(parse("").unwrap_err(), "the file: is empty");
    assert!(parse(&good[..80]).unwrap_err().ends_with("the file is cut off"));
    assert!(parse("[]").unwrap_err().starts_with("line 1"));
    assert!(parse(&"[".repeat(100_000)).unwrap_err().contains("recursion limit"));
    assert_eq!(one("7"), "resources[0]: has no id");
    assert_eq!(one(r#"{"id":"/x"}"#), "resources[0]: has an id that names no resource");
    let at = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/routeTables";
    assert!(one(&format!(r#"{{"id":"{at}"}}"#)).contains("names no resource"));
    assert!(
        one(&format!(r#"{{"id":"{}"}}"#, at.replace("/s/", "/z/") + "/r")).contains("another subscription")
    );
    assert!(one(&format!(r#"{{"id":"{}"}}"#, at.replace("/g/", "/z/") + "/r")).contains("not described"));
    assert!(one(&format!(r#"{{"id":"{at}/r","properties":7}}"#)).contains("no object"));
    let twice = format!(r#"{{"id":"{at}/r"}},{{"id":"{at}/R"}}"#);
    assert_eq!(one(&twice), "resources[1]: is there twice");
    assert!(parse(r#"{"subscription":{},"principal":{},"resourceGroups":[],"resources":[]}"#).is_err());
}

#[test]
fn every_cut_of_a_good_file_is_refused() {
    let text = include_str!("../../../crates/lab/src/azure/default.json").trim_end();
    let every = if cfg!(debug_assertions) { 97 } else { 1 };
    for at in (0..text.len()).step_by(every) {
        assert!(Description::parse(&text.as_bytes()[..at]).is_err(), "{at}");
    }
}
