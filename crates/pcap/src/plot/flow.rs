//! The worst connection, packet by packet: where in the stream of bytes each one stands, and when.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::picture::Picture;
use super::trace_range::{Direction, RST, acknowledges, around};
use crate::label::Label;
use crate::report::whole;
use crate::series::{PacketTrace, TracePacket};
use ghost_plot::PlotError;
use ghost_plot::canvas::{
    Area, BLUE, FAINT, FONT, GREEN, INK, Legend, Mark, ORANGE, PURPLE, RED, draw, failed, text,
};
use ghost_plot::scale::{Unit, bytes, span, tick};

/// How many frames in trouble get their number.
const MAX_FRAME_NUMBERS: usize = 7;
/// A number needs so much room, as a part of the width.
const MIN_LABEL_DISTANCE: f64 = 0.11;

type Chart<'a, 'b> = ChartContext<'a, BitMapBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws the picture, where there is more than a packet.
pub(super) fn flow(trace: &PacketTrace, origin: u64, name: &str) -> Result<Option<Picture>, PlotError> {
    let events = around(&trace.events);
    let times = || events.iter().map(|event| event.time);
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        return Ok(None);
    };
    if events.len() < 2 || first == last {
        return Ok(None);
    }
    let sheet = FlowChart { events, first, last, unit: Unit::of(last - first) };
    let title = format!("{name}: {} to {}", trace.a, trace.b);
    let after = first.saturating_sub(origin);
    let below = format!(
        "stream {}, {} packets in {}, {}",
        trace.stream,
        whole(events.len() as u64),
        span(last - first),
        if after == 0 {
            "from the first packet of the capture on".to_owned()
        } else {
            format!("from {} after the first packet of the capture on", span(after))
        }
    );
    let mut directions = [false, true].map(|back| Direction::of(events, back)).to_vec();
    // A direction that carries nothing is drawn in the other one: by what it acknowledges.
    if directions.iter().any(|direction| direction.bytes(events) > 0) {
        directions.retain(|direction| direction.bytes(events) > 0);
    } else {
        directions.truncate(1);
    }
    directions.sort_by_key(|direction| std::cmp::Reverse(direction.trouble(events)));
    let png = draw(&title, &below, &legend(events), |area| {
        let words = |direction: &Direction| {
            let sender = if direction.back { trace.b } else { trace.a };
            format!("bytes sent by {sender}")
        };
        match directions.as_slice() {
            [one, other] => {
                let (upper, lower) = area.split_vertically(310);
                sheet.panel(&upper, *one, &words(one), false)?;
                sheet.panel(&lower, *other, &words(other), true)
            }
            [one] => sheet.panel(area, *one, &words(one), true),
            _ => Ok(()),
        }
    })?;
    Ok(Some(Picture { kind: "flow", title: format!("{title}, packet by packet"), png }))
}

/// What a packet is in the picture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PointKind {
    Data,
    Repeated,
    Again,
    Closed,
    Reset,
}

const KINDS: [(PointKind, RGBColor, Mark, &str); 5] = [
    (PointKind::Data, BLUE, Mark::Circle, "segments"),
    (PointKind::Repeated, ORANGE, Mark::Circle, "duplicate acks"),
    (PointKind::Again, RED, Mark::Triangle, "retransmissions"),
    (PointKind::Closed, PURPLE, Mark::Square, "zero windows"),
    (PointKind::Reset, INK, Mark::Cross, "resets"),
];

impl PointKind {
    fn of(event: &TracePacket) -> Option<Self> {
        let (labels, opens) = (event.labels, event.flags & 3 != 0);
        if event.flags & RST != 0 {
            Some(Self::Reset)
        } else if labels.has(Label::Retransmission) {
            Some(Self::Again)
        } else if labels.has(Label::ZeroWindow) {
            Some(Self::Closed)
        } else if labels.has(Label::DuplicateAck) {
            Some(Self::Repeated)
        } else {
            (event.len > 0 || opens).then_some(Self::Data)
        }
    }

    fn color(self) -> RGBColor {
        match self {
            Self::Data => BLUE,
            Self::Repeated => ORANGE,
            Self::Again => RED,
            Self::Closed => PURPLE,
            Self::Reset => INK,
        }
    }
}

fn legend(events: &[TracePacket]) -> Vec<Legend> {
    let mut legend: Vec<Legend> = KINDS
        .into_iter()
        .map(|(kind, color, mark, name)| {
            (events.iter().filter(|event| PointKind::of(event) == Some(kind)).count(), color, mark, name)
        })
        .filter(|(count, ..)| *count > 0)
        .map(|(count, color, mark, name)| Legend { color, mark, name: format!("{name} ({count})") })
        .collect();
    if events.iter().any(acknowledges) {
        let name = "acknowledged".to_owned();
        legend.push(Legend { color: GREEN, mark: Mark::Line, name });
    }
    legend
}

/// The packets that are drawn, and their time.
struct FlowChart<'a> {
    events: &'a [TracePacket],
    first: u64,
    last: u64,
    unit: Unit,
}

impl FlowChart<'_> {
    fn time(&self, event: &TracePacket) -> f64 {
        self.unit.count(event.time - self.first)
    }

    fn panel(&self, area: &Area<'_>, direction: Direction, words: &str, last: bool) -> Result<(), PlotError> {
        text(area, words, (16, 0), 18, INK)?;
        let end = self.unit.count(self.last - self.first);
        let top = direction.top;
        let mut chart = ChartBuilder::on(&area.margin(24, 0, 0, 0))
            .x_label_area_size(if last { 60 } else { 8 })
            .y_label_area_size(110)
            .margin_top(6)
            .build_cartesian_2d(-end * 0.015..end * 1.03, -top * 0.07..top * 1.14)
            .map_err(failed)?;
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh()
            .bold_line_style(FAINT)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style((FONT, 20))
            .axis_desc_style((FONT, 20))
            .y_labels((top as usize + 1).clamp(2, if area.dim_in_pixel().1 > 240 { 5 } else { 3 }))
            .y_label_formatter(&bytes)
            .x_label_formatter(&tick);
        if last {
            mesh.x_labels(9).x_desc(format!("{} since the first packet shown here", self.unit.words));
        } else {
            mesh.x_labels(0);
        }
        mesh.draw().map_err(failed)?;
        self.acknowledged(&mut chart, direction)?;
        self.marks(&mut chart, direction)?;
        self.numbers(&mut chart, direction, end)
    }

    /// Draws how far the other end acknowledged, as steps.
    fn acknowledged(&self, chart: &mut Chart<'_, '_>, direction: Direction) -> Result<(), PlotError> {
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for event in self.events.iter().filter(|event| event.back != direction.back && acknowledges(event)) {
            let (time, height) = (self.time(event), direction.within(event.ack));
            if let Some((_, before)) = steps.last().copied() {
                steps.push((time, before));
            }
            steps.push((time, height));
        }
        chart.draw_series([PathElement::new(steps, GREEN.stroke_width(2))]).map_err(failed)?;
        Ok(())
    }

    fn marks(&self, chart: &mut Chart<'_, '_>, direction: Direction) -> Result<(), PlotError> {
        // What matters most is drawn last.
        for (wanted, color, mark, _) in KINDS {
            for event in self.events.iter().filter(|event| PointKind::of(event) == Some(wanted)) {
                let Some((time, height)) = self.place(event, direction) else {
                    continue;
                };
                if event.back == direction.back && event.len > 0 && wanted != PointKind::Reset {
                    let start = (time, direction.within(event.seq));
                    let line = PathElement::new(vec![start, (time, height)], color.stroke_width(3));
                    chart.draw_series([line]).map_err(failed)?;
                }
                let at = (time, height);
                match mark {
                    Mark::Circle | Mark::Line => {
                        chart.draw_series([Circle::new(at, 4, color.filled())]).map(drop)
                    }
                    Mark::Triangle => {
                        chart.draw_series([TriangleMarker::new(at, 8, color.filled())]).map(drop)
                    }
                    Mark::Cross => chart.draw_series([Cross::new(at, 8, color.stroke_width(4))]).map(drop),
                    Mark::Square => {
                        let square =
                            EmptyElement::at(at) + Rectangle::new([(-6, -6), (6, 6)], color.filled());
                        chart.draw_series([square]).map(drop)
                    }
                }
                .map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Returns where a packet stands: the sender's by what it carries, the other end's by what it acknowledges.
    fn place(&self, event: &TracePacket, direction: Direction) -> Option<(f64, f64)> {
        let height = if event.back == direction.back {
            direction.within(event.seq.wrapping_add(event.len))
        } else if PointKind::of(event) == Some(PointKind::Data)
            || PointKind::of(event) == Some(PointKind::Again)
        {
            return None;
        } else if acknowledges(event) {
            direction.within(event.ack)
        } else {
            direction.top
        };
        Some((self.time(event), height))
    }

    /// Writes the numbers of the first frames in trouble, where there is room.
    fn numbers(&self, chart: &mut Chart<'_, '_>, direction: Direction, end: f64) -> Result<(), PlotError> {
        let mut free = f64::MIN;
        let mut written = 0;
        for event in self.events {
            let Some(kind) =
                PointKind::of(event).filter(|kind| !matches!(kind, PointKind::Data | PointKind::Repeated))
            else {
                continue;
            };
            let Some((time, height)) = self.place(event, direction) else {
                continue;
            };
            // At the right edge there is room on the left only.
            let edge = time > end * 0.9;
            let begin = if edge { time - end * MIN_LABEL_DISTANCE } else { time };
            if begin < free || written >= MAX_FRAME_NUMBERS {
                continue;
            }
            (free, written) = (begin + end * MIN_LABEL_DISTANCE, written + 1);
            let style = (FONT, 18).into_font().color(&kind.color());
            let left = if edge { -110 } else { 12 };
            // A stream of bytes rises: below to the right it leaves room, if not at the very bottom.
            let down = if height > direction.top * 0.15 { 4 } else { -26 };
            let words = format!("frame {}", event.frame);
            let label = EmptyElement::at((time, height)) + Text::new(words, (left, down), style);
            chart.draw_series([label]).map_err(failed)?;
        }
        Ok(())
    }
}
