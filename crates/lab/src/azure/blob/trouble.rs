//! What the blob service says where it does not do what was asked.

use crate::azure::request::{Answer, Body, Request, Verb};
use ghost_base::Timestamp;

/// A refusal, in the service's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlobError {
    pub(super) status: u16,
    pub(super) code: &'static str,
    message: &'static str,
    headers: Vec<(&'static str, String)>,
}

/// A status, a code and a sentence.
type Kind = (u16, &'static str, &'static str);

pub(super) const NO_ACCOUNT: Kind = (404, "ResourceNotFound", "The specified resource does not exist.");
pub(super) const NO_CONTAINER: Kind = (404, "ContainerNotFound", "The specified container does not exist.");
pub(super) const NO_BLOB: Kind = (404, "BlobNotFound", "The specified blob does not exist.");
pub(super) const CONTAINER_THERE: Kind =
    (409, "ContainerAlreadyExists", "The specified container already exists.");
pub(super) const BLOB_THERE: Kind = (409, "BlobAlreadyExists", "The specified blob already exists.");
pub(super) const UNMET: Kind =
    (412, "ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met.");
pub(super) const UNCHANGED: Kind =
    (304, "ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met.");
pub(super) const RANGE: Kind =
    (416, "InvalidRange", "The range specified is invalid for the current size of the resource.");
pub(super) const FIREWALL: Kind =
    (403, "AuthorizationFailure", "This request is not authorized to perform this operation.");
pub(super) const NO_RIGHT: Kind = (
    403,
    "AuthorizationPermissionMismatch",
    "This request is not authorized to perform this operation using this permission.",
);
pub(super) const BAD_SIGNATURE: Kind = (
    403,
    "AuthenticationFailed",
    "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.",
);
pub(super) const NO_KEYS: Kind = (
    403,
    "KeyBasedAuthenticationNotPermitted",
    "Key based authentication is not permitted on this storage account.",
);
pub(super) const NOBODY: Kind = (
    401,
    "NoAuthenticationInformation",
    "Server failed to authenticate the request. Please refer to the information in the www-authenticate header.",
);
pub(super) const BAD_TOKEN: Kind = (
    401,
    "InvalidAuthenticationInfo",
    "Server failed to authenticate the request. Please refer to the information in the www-authenticate header.",
);
pub(super) const BAD_NAME: Kind =
    (400, "InvalidResourceName", "The specified resource name contains invalid characters.");
pub(super) const BAD_HEADER: Kind =
    (400, "InvalidHeaderValue", "The value for one of the HTTP headers is not in the correct format.");
pub(super) const BAD_QUERY: Kind = (
    400,
    "InvalidQueryParameterValue",
    "Value for one of the query parameters specified in the request URI is invalid.",
);
pub(super) const BAD_DIGEST: Kind = (
    400,
    "Md5Mismatch",
    "The MD5 value specified in the request did not match with the MD5 value calculated by the server.",
);
pub(super) const BAD_XML: Kind = (400, "InvalidXmlDocument", "XML specified is not syntactically valid.");
pub(super) const BAD_BLOCK: Kind = (400, "InvalidBlockId", "The specified block ID is invalid.");
pub(super) const BAD_BLOCKS: Kind = (400, "InvalidBlockList", "The specified block list is invalid.");
pub(super) const BAD_METADATA: Kind =
    (400, "MetadataTooLarge", "The size of the specified metadata exceeds the maximum size permitted.");
pub(super) const NO_VERB: Kind =
    (405, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb.");
pub(super) const FULL: Kind = (
    413,
    "RequestBodyTooLarge",
    "The request body is too large: the storage of this lab holds 512 MiB and 20,000 blobs.",
);

impl std::convert::From<Kind> for BlobError {
    fn from((status, code, message): Kind) -> Self {
        Self { status, code, message, headers: Vec::new() }
    }
}

impl BlobError {
    /// Adds a header.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Returns the answer; one to HEAD has headers alone.
    pub(super) fn answer(self, request: &Request, number: u64, now: Timestamp) -> Answer {
        let time = now.to_string();
        let time = time.trim_end_matches('Z');
        let text = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{}</Code><Message>{}\nRequestId:00000000-0000-4000-8000-{number:012x}\nTime:{time}0000Z</Message></Error>",
            self.code, self.message
        );
        let bare = request.verb == Verb::Head || self.status == 304;
        let body = if bare { Body::Empty } else { Body::Text("application/xml", text) };
        let mut answer =
            Answer { status: self.status, headers: Vec::new(), body }.with("x-ms-error-code", self.code);
        if !bare {
            answer = answer.with("Content-Type", "application/xml");
        }
        if self.status == 401 {
            let place = "Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/authorize resource_id=https://storage.azure.com";
            answer = answer.with("WWW-Authenticate", place);
        }
        self.headers.into_iter().fold(answer, |answer, (name, value)| answer.with(name, value))
    }
}
