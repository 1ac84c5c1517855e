//! Placeholder.

/// Placeholder.
pub struct Fence<'a>(&'a str);
impl<'a> Fence<'a> {
    /// Makes it.
    pub fn new(nonce: &'a str) -> Self {
        Self(nonce)
    }
    /// Wraps it.
    pub fn wrap(&self, what: &str, text: &str) -> String {
        format!("<<data {} {what}\n{text}\nend {}>>", self.0, self.0)
    }
}
