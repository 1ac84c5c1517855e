//! Finished TCP streams: states, statistics, ranking.

mod direction;
mod group;
mod overview;
mod state;
mod stream;

pub use direction::{
    AckTimes, DirectionFacts, LimitShares, LossFacts, MtuBlackHole, RepeatedSegment, ZeroWindowFacts,
};
pub(super) use group::{EndpointKey, EndpointStalls, FlowCases, HostPair, ServiceOutcomes};
pub(super) use overview::FlowStats;
pub use overview::Vantage;
pub use state::ResetFacts;
pub use state::State;
pub(super) use state::reasons;
pub(super) use state::state;
pub use stream::{ExpertInfo, Percentiles, TcpStreamFacts};
pub(super) use stream::{ms, percent, trouble_score};
