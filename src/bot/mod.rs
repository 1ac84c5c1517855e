//! The bot: threads are sessions, cards are approvals, and what people are shown is a view of the ledger.
//!
//! Goes in: what arrives from Slack. Comes out: letters and votes in the store; boards, cards and reports in threads. Never: an
//! answer to Slack before what it answers is durable; a decision by somebody who may not make it; a card that outlives its
//! question with buttons on it.

pub mod show;
