//! Slack as Ghost meets it: connections, calls, blocks, and what arrives.
//!
//! Goes in: frames and requests of Slack, messages to say. Comes out: typed arrivals, and names of the messages that stand.
//! Never: an acknowledgement before the handler has made the arrival durable; a click that is lost because a field was missing
//! or of another type; a call without a time limit; a token in a log.
