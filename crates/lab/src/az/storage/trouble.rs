//! How the blob service refuses, and what the command makes of it.

use super::xml;
use crate::az::failure::{Failure, phrase};
use crate::az::retry::header;
use crate::azure::{Answer, Body};

const FORBIDDEN: &str = "
You do not have the required permissions needed to perform this operation.
Depending on your operation, you may need to be assigned one of the following roles:
    \"Storage Blob Data Owner\"
    \"Storage Blob Data Contributor\"
    \"Storage Blob Data Reader\"
    \"Storage Queue Data Contributor\"
    \"Storage Queue Data Reader\"
    \"Storage Table Data Contributor\"
    \"Storage Table Data Reader\"

If you want to use the old authentication method and allow querying for the right account key, please use the \"--auth-mode\" parameter and \"key\" value.
                    ";

const BLOCKED: &str = "
The request may be blocked by network rules of storage account. Please check network rule set using 'az storage account show -n accountname --query networkRuleSet'.
If you want to change the default action to apply when no rule matches, please use 'az storage account update'.
                    ";

const STRANGER: &str = "
Authentication failure. This may be caused by either invalid account key, connection string or sas token value provided for your storage account.
                    ";

/// Returns how an answer fails.
pub(super) fn failure(answer: &Answer) -> Failure {
    let text = match &answer.body {
        Body::Text(_, text) => text.clone(),
        Body::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Body::Empty | Body::Json(_) => String::new(),
    };
    let document = xml::read(&text);
    let element_text =
        |name: &str| document.as_ref().and_then(|document| document.text_of(name)).map(str::to_owned);
    let code = header(answer, "x-ms-error-code").map(str::to_owned).or_else(|| element_text("Code"));
    let exit = if answer.status == 404 { 3 } else { 1 };
    match code.as_deref() {
        Some("AuthorizationPermissionMismatch") => return Failure::new(exit, FORBIDDEN),
        Some("AuthorizationFailure") => return Failure::new(exit, BLOCKED),
        Some("AuthenticationFailed") => return Failure::new(exit, STRANGER),
        Some(_) | None => {}
    }
    let message = element_text("Message").unwrap_or_else(|| match answer.status {
        429 => phrase(429),
        status => format!("Operation returned an invalid status '{}'", phrase(status)),
    });
    let hint = match code.as_deref() {
        Some("BlobAlreadyExists") => {
            "\nIf you want to overwrite the existing one, please add --overwrite in your command."
        }
        Some(_) | None => "",
    };
    Failure::new(exit, format!("{message}\nErrorCode:{}{hint}", code.as_deref().unwrap_or("None")))
}
