//! stub
use crate::shell::Redacted;
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub lines: usize,
    pub tokens: usize,
}
impl Limits {
    pub const MODEL: Self = Self { lines: 200, tokens: 4000 };
}
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Clipping {
    pub applied: bool,
}
#[derive(Debug, Clone)]
pub struct ModelText {
    text: String,
    clipping: Clipping,
}
impl ModelText {
    pub fn as_str(&self) -> &str {
        &self.text
    }
    pub fn clipping(&self) -> &Clipping {
        &self.clipping
    }
}
pub fn clip(text: &Redacted, _limits: Limits) -> ModelText {
    ModelText { text: text.as_str().to_owned(), clipping: Clipping { applied: false } }
}
