//! Placeholder.

use crate::agent::Limits;
use crate::agent::model::ToolSpec;

/// Placeholder.
pub struct Setting<'a> {
    /// Tools.
    pub tools: &'a [ToolSpec],
    /// Nonce.
    pub nonce: &'a str,
    /// Limits.
    pub limits: &'a Limits,
    /// Site.
    pub site: Option<&'a str>,
}

/// Placeholder.
pub fn system(setting: &Setting<'_>) -> String {
    format!("{} {} {:?} {:?}", setting.tools.len(), setting.nonce, setting.limits, setting.site)
}
