//! OpenAI, and servers that speak one of its two interfaces: Azure OpenAI, OpenRouter, vLLM, Ollama and others.
//!
//! Goes in: a conversation. Comes out: a turn, read while it is written. Never: a conversation that the provider keeps, a
//! reasoning item that is shown to another model or another host.

mod chat;
mod error;
mod model;
mod responses;

pub use model::{Dialect, Limit, OpenAi, Options, Sign};

const PROVIDER: &str = "openai";
