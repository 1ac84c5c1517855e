//! HTTP clients that go where they are sent, and nowhere else.
//!
//! Goes in: an address of the configuration, and how long to wait. Comes out: a client without proxies, redirects and second attempts of
//! its own. Never: a token that a redirect or a proxy carries elsewhere.

use std::time::Duration;

use reqwest::{Client, Error};

/// Makes a client for an address that is called within two limits: until it is connected, and in all.
///
/// # Errors
/// Fails where no client can be made, on a machine without certificates for instance.
pub(crate) fn client(url: &str, connect: Duration, whole: Duration) -> Result<Client, Error> {
    let client = Client::builder()
        .user_agent(concat!("ghost-agent/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .referer(false)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(connect)
        .timeout(whole);
    // A machine without certificates can still talk to itself.
    if url.starts_with("http://") { client.tls_certs_only([]) } else { client.https_only(true) }.build()
}
