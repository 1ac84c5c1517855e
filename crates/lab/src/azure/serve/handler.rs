//! Who answers.

use async_trait::async_trait;

use super::destination::Service;
use crate::azure::request::{Answer, Request};

/// A request, and what is known about how it came.
#[derive(Debug, Clone)]
pub struct ServedRequest {
    /// Which service it is for.
    pub service: Service,
    /// Whether it came over TLS.
    pub secure: bool,
    /// The request.
    pub request: Request,
}

/// Who answers what is served.
#[async_trait]
pub trait RequestHandler: Send + Sync + 'static {
    /// Answers a request.
    async fn answer(&self, asked: ServedRequest) -> Answer;

    /// Notes that somebody wanted to reach a host that is none of the cloud's.
    fn stranger(&self, host: &str);
}
