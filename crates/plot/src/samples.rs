//! Samples of measurements, one panel a metric: what was measured, and lines to hold it against.

use plotters::prelude::*;

use super::canvas::{Area, BLUE, FAINT, FONT, GREEN, INK, Legend, Mark, ORANGE, RED, draw, failed};
use super::png::PlotError;
use super::scale::count;

/// One metric.
pub struct Panel {
    /// What it is called, with its unit.
    pub name: &'static str,
    /// Its samples, and whether one stands for none; `None` where nothing is known of it.
    pub points: Vec<Option<(f64, bool)>>,
    /// A summary of all of them.
    pub level: Option<f64>,
    /// What it was before.
    pub before: Option<f64>,
}

/// Draws samples and returns the file.
pub fn samples(title: &str, below: &str, panels: &[Panel]) -> Result<Vec<u8>, PlotError> {
    let legend = |color, mark, name: &str| Legend { color, mark, name: name.to_owned() };
    let mut legends = vec![
        legend(BLUE, Mark::Circle, "sample"),
        legend(RED, Mark::Cross, "refused or no answer"),
        legend(GREEN, Mark::Line, "90th percentile"),
    ];
    if panels.iter().any(|panel| panel.before.is_some()) {
        legends.push(legend(ORANGE, Mark::Line, "baseline"));
    }
    draw(title, below, &legends, |area| {
        let parts = area.split_evenly((1, panels.len().max(1)));
        parts.iter().zip(panels).try_for_each(|(part, panel)| one(part, panel))
    })
}

fn one(area: &Area<'_>, panel: &Panel) -> Result<(), PlotError> {
    let figures = panel.points.iter().flatten().map(|(figure, _)| *figure);
    let most = figures.chain(panel.level).chain(panel.before).fold(0.0, f64::max);
    // An axis of no length cannot be drawn.
    let top = if most > 0.0 { most * 1.15 } else { 1.0 };
    let last = panel.points.len() as f64 + 0.5;
    let mut chart = ChartBuilder::on(area);
    chart.x_label_area_size(48).y_label_area_size(96).margin_right(16);
    let mut chart = chart.build_cartesian_2d(0.5..last, 0.0..top).map_err(failed)?;
    let style = |size: i32| (FONT, size).into_font().color(&INK);
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(FAINT)
        .axis_style(INK)
        .x_desc("iteration")
        .y_desc(panel.name)
        .x_labels(panel.points.len().clamp(2, 12))
        .y_labels(8)
        .x_label_formatter(&|at| if at.fract() == 0.0 { format!("{at:.0}") } else { String::new() })
        .y_label_formatter(&count)
        .label_style(style(16))
        .axis_desc_style(style(18))
        .draw()
        .map_err(failed)?;
    for (level, color) in [(panel.level, GREEN), (panel.before, ORANGE)] {
        let Some(level) = level else { continue };
        let line = PathElement::new(vec![(0.5, level), (last, level)], color.stroke_width(2));
        chart.draw_series([line]).map_err(failed)?;
    }
    let places = panel.points.iter().enumerate();
    let places: Vec<(f64, f64, bool)> = places
        .filter_map(|(at, point)| point.map(|(figure, fails)| (at as f64 + 1.0, figure, fails)))
        .collect();
    let good = places.iter().filter(|(.., fails)| !fails);
    chart
        .draw_series(good.map(|(at, figure, _)| Circle::new((*at, *figure), 6, BLUE.filled())))
        .map_err(failed)?;
    let bad = places.iter().filter(|(.., fails)| *fails);
    chart
        .draw_series(bad.map(|(at, figure, _)| Cross::new((*at, *figure), 7, RED.stroke_width(3))))
        .map_err(failed)?;
    Ok(())
}
