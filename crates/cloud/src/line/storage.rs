//! Storage: as whom `az` is signed in, never with a key.

use super::text::Line;
use crate::name::{Account, Container, Name, ResourceGroup};

/// Shows an account with its network rules.
#[must_use]
pub fn account(place: &ResourceGroup, account: &Account) -> Line {
    Line::read("storage account show").option("--name", account).within(place).json()
}

/// Lists the accounts of a group with their network rules.
#[must_use]
pub fn accounts(place: &ResourceGroup) -> Line {
    Line::read("storage account list").within(place).json()
}

fn signed_in(line: Line, account: &Account) -> Line {
    line.option("--account-name", account).option("--auth-mode", "login")
}

/// Asks whether a container is there.
#[must_use]
pub fn container_exists(account: &Account, container: &Container) -> Line {
    signed_in(Line::read("storage container exists").option("--name", container), account).json()
}

/// Lists blobs whose names begin so.
#[must_use]
pub fn blobs(account: &Account, container: &Container, prefix: &str) -> Line {
    let line =
        Line::read("storage blob list").option("--container-name", container).option("--prefix", prefix);
    signed_in(line, account).json()
}

fn blob(line: Line, account: &Account, container: &Container, name: &str) -> Line {
    signed_in(line.option("--container-name", container).option("--name", name), account)
}

/// Asks whether a blob is there.
#[must_use]
pub fn blob_exists(account: &Account, container: &Container, name: &str) -> Line {
    blob(Line::read("storage blob exists"), account, container, name).json()
}

/// Lists the blobs of an hour of a flow log.
#[must_use]
pub fn flow_log_blobs(account: &Account, container: &Container, folder: &str) -> Line {
    blobs(account, container, folder)
}

/// Prints a part of a blob of a flow log: the first byte, and the last one.
#[must_use]
pub fn flow_log_part(
    account: &Account,
    container: &Container,
    name: &str,
    (first, last): (u64, u64),
) -> Line {
    blob(Line::read("storage blob download"), account, container, name)
        .option("--start-range", first.to_string())
        .option("--end-range", last.to_string())
        .flag("--no-progress")
        .json()
}

/// Copies a blob to a file of the captures folder.
#[must_use]
pub fn blob_download(account: &Account, container: &Container, name: &str, file: &str) -> Line {
    blob(Line::read("storage blob download"), account, container, name)
        .option("--file", file)
        .flag("--no-progress")
        .json()
}

/// Copies a blob to a file elsewhere than in the captures folder, over one that is there.
#[must_use]
pub fn blob_fetch(account: &Account, container: &Container, name: &str, file: &str) -> Line {
    blob(Line::change("storage blob download"), account, container, name)
        .option("--file", file)
        .flag("--no-progress")
        .json()
}

/// Copies a file to a blob.
#[must_use]
pub fn blob_upload(account: &Account, container: &Container, name: &str, file: &str) -> Line {
    blob(Line::change("storage blob upload"), account, container, name)
        .option("--file", file)
        .flag("--overwrite")
        .flag("--no-progress")
        .json()
}

/// Removes a blob.
#[must_use]
pub fn blob_delete(account: &Account, container: &Container, name: &Name) -> Line {
    // No other option: the policy takes exactly these for a measurement, beside the deletion of the capture.
    blob(Line::change("storage blob delete"), account, container, &format!("{name}.cap"))
}
