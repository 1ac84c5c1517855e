//! Names in resource ids.

/// Returns the last part of an id or of an address of Terraform's.
pub(super) fn last(id: &str) -> Option<String> {
    id.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns the part that follows a word in an id.
pub(super) fn part_after(id: &str, word: &str) -> Option<String> {
    let mut parts = id.split('/');
    parts.find(|part| part.eq_ignore_ascii_case(word))?;
    parts.next().filter(|part| !part.is_empty()).map(str::to_owned)
}

/// Returns network and subnet of the id of a subnet.
pub(super) fn subnet(id: &str) -> Option<(String, String)> {
    Some((part_after(id, "virtualNetworks")?, part_after(id, "subnets")?))
}
