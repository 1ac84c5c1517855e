//! The pictures.

use ghost_plot::PlotError;

use super::{flow, packets, rtt};
use crate::summary::Summary;

/// A chart as a PNG file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// `packets`, `rtt` or `flow`: what its file is called after.
    pub kind: &'static str,
    /// What it shows, for who cannot see it.
    pub title: String,
    /// The file.
    pub png: Vec<u8>,
}

/// The kinds of pictures, in their order.
pub const PICTURES: [&str; 3] = ["packets", "rtt", "flow"];

/// Draws what there is data for, from an account whose [`Scope`](crate::Scope) asked for pictures; `name` is the capture's.
///
/// # Errors
/// Fails where drawing itself fails, which no capture brings about.
pub fn pictures(summary: &Summary, name: &str) -> Result<Vec<Picture>, PlotError> {
    let Some(series) = &summary.series else {
        return Ok(Vec::new());
    };
    let name = legible(name);
    let all = [
        packets::packets(&series.timeline, &name)?,
        rtt::rtt(&series.timeline, &name)?,
        series.worst.as_ref().map_or(Ok(None), |trace| flow::flow(trace, series.timeline.origin(), &name))?,
    ];
    Ok(all.into_iter().flatten().collect())
}

/// Returns a name in letters that the font has, and not too many of them.
fn legible(name: &str) -> String {
    const MAX_NAME_LEN: usize = 40;
    let mut out: String = name
        .chars()
        .take(MAX_NAME_LEN)
        .map(|char| if char == ' ' || char.is_ascii_graphic() { char } else { '?' })
        .collect();
    if name.chars().nth(MAX_NAME_LEN).is_some() {
        out.push('…');
    }
    out
}
