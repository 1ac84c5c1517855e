//! Subscription and tenant ids, where a label or a resource id says what they are.

use crate::redact::reader::{Rule, rule};

/// A label, some punctuation, the identifier; and the places in a resource id or a sign-in URL.
pub(super) static RULES: [Rule; 5] = [
    rule!(
        "subscription_id",
        ["subscriptions"],
        concat!(
            r"(?i-u)(?:/|%2F|\\/)subscriptions(?:/|%2F|\\/)([0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}",
            r"|[A-Za-z0-9_.-]*[0-9][A-Za-z0-9_.-]*)",
        )
    ),
    rule!(
        "tenant_id",
        ["tenants"],
        r"(?i-u)(?:/|%2F)tenants(?:/|%2F)([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"
    ),
    rule!(
        "tenant_id",
        ["microsoftonline", "windows.net", "chinacloudapi"],
        r"(?i-u)\b(?:login\.microsoftonline\.(?:com|us)|login\.windows\.net|sts\.windows\.net|login\.chinacloudapi\.cn)(?::443)?(?:/|%2F)([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"
    ),
    rule!(
        "subscription_id",
        ["subscription"],
        concat!(
            r"(?i-u)subscription(?:[ _-]?(?:id|guid)s?)?\b(?:[ \t]+(?:is|was|with|id|of|named|set|to|not|found)\b){0,3}",
            r"[ \t\x22'\\:=(,{\[<>`*]{1,8}([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})",
        )
    ),
    rule!(
        "tenant_id",
        ["tenant", "directory", "tid"],
        concat!(
            r"(?i-u)(?:tenant\)?(?:[ _-]?(?:id|guid)s?)?|directory[ _-]?id|\btid)\b(?:[ \t]+(?:is|was|with|id|of|named|set|to|not|found)\b){0,3}",
            r"[ \t\x22'\\:=(,{\[<>`*)]{1,8}([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})",
        )
    ),
];

/// Tells whether a value has the shape of an identifier.
pub(super) fn is_guid(value: &str) -> bool {
    let groups: Vec<&str> = value.trim_matches(['{', '}']).split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let hex = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()));
    hex && (lengths == [8, 4, 4, 4, 12] || lengths == [32])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::reader::Reader;

    const ID: &str = "a1b2c3d4-e5f6-7890-abcd-ef1234567890";

    #[track_caller]
    fn check(text: &str, hides: bool) {
        let text = text.replace("ID", ID);
        let mut reader = Reader::new(&text);
        reader.apply(&RULES);
        let hidden = reader.found.iter().any(|span| &text[span.range.clone()] == ID);
        assert_eq!(hidden, hides, "{text}");
    }

    #[test]
    fn a_label_makes_a_guid_an_identifier() {
        for text in [
            "/subscriptions/ID/resourceGroups/rg",
            "subscription: ID",
            "The subscription 'ID' could not be found",
            "tenant ID",
            "Tenant ID: ID".trim(),
            "Directory (tenant) id: ID",
            "https://login.microsoftonline.com/ID/oauth2",
            "subscription_id=ID",
            "%2Fsubscriptions%2FID%2F",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn other_guids_stay() {
        for text in ["clientId: ID", "etag W/\"ID\"", "resourceGuid ID", "/subscriptions/{subscriptionId}/x"]
        {
            check(text, false);
        }
    }
}
