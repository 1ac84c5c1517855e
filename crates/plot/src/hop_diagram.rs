//! A path from top to bottom: what it passes, and what is wrong there. It is read on a phone, so letters are large and lines wrap.

use plotters::prelude::*;
use plotters::style::register_font;

use super::canvas::{Area, FAINT, FONT, GREEN, INK, LETTERS, RED, failed, text};
use super::png::{PlotError, encode};

const WIDTH: u32 = 1000;
const EDGE: i32 = 32;
const HEADING: i32 = 32;
const BODY: i32 = 28;
const SMALL: i32 = 24;
const GAP: i32 = 44;
const PAD: i32 = 18;
/// Where the middle of a line of letters lies below its top: the font leaves little room above them.
const MIDDLE: i32 = 7;
/// What nobody looked at.
const GREY: RGBColor = RGBColor(120, 128, 134);
/// Longer lines go on in the next one.
const COLUMN: i32 = WIDTH as i32 - 2 * EDGE - 100;

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HopStatus {
    /// It is at fault.
    Bad,
    /// It was looked at and is clean.
    Good,
    /// Nobody looked.
    Open,
}

/// One device or gate that the path passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub what: String,
    /// What is known of it.
    pub lines: Vec<(HopStatus, String)>,
}

impl Hop {
    fn tone(&self) -> HopStatus {
        let has = |tone: HopStatus| self.lines.iter().any(|(own, _)| *own == tone);
        match (has(HopStatus::Bad), has(HopStatus::Open) || self.lines.is_empty()) {
            (true, _) => HopStatus::Bad,
            (false, true) => HopStatus::Open,
            (false, false) => HopStatus::Good,
        }
    }
}

/// Draws a path.
///
/// # Errors
/// Fails where drawing itself fails.
pub fn hop_diagram(title: &str, below: &str, hops: &[Hop]) -> Result<Vec<u8>, PlotError> {
    register_font(FONT, FontStyle::Normal, LETTERS)
        .map_err(|_| PlotError("the font is damaged".to_owned()))?;
    let title = wrapped(title, HEADING + 4, WIDTH as i32 - 2 * EDGE);
    let below = wrapped(below, SMALL, WIDTH as i32 - 2 * EDGE);
    let boxes: Vec<Placed<'_>> = hops.iter().map(Placed::of).collect();
    let head = EDGE + lines(&title, HEADING + 14) + lines(&below, SMALL + 8) + 64;
    let all: i32 = boxes.iter().map(|placed| placed.height + GAP).sum();
    let height = u32::try_from(head + all + EDGE - GAP).unwrap_or(u32::MAX).min(6_000);
    let mut pixels = vec![255; WIDTH as usize * height as usize * 3];
    {
        let paper = BitMapBackend::with_buffer(&mut pixels, (WIDTH, height)).into_drawing_area();
        paper.fill(&WHITE).map_err(failed)?;
        let mut top = EDGE;
        for line in &title {
            text(&paper, line, (EDGE, top), HEADING + 4, INK)?;
            top += HEADING + 14;
        }
        for line in &below {
            text(&paper, line, (EDGE, top), SMALL, GREY)?;
            top += SMALL + 8;
        }
        legend(&paper, top + 12)?;
        top = head;
        for (at, placed) in boxes.iter().enumerate() {
            placed.draw(&paper, top)?;
            top += placed.height;
            if at + 1 < boxes.len() {
                arrow(&paper, top)?;
            }
            top += GAP;
        }
        paper.present().map_err(failed)?;
    }
    encode(&pixels, (WIDTH, height)).map_err(failed)
}

/// A rung with its lines as they fit.
struct Placed<'a> {
    hop: &'a Hop,
    name: Vec<String>,
    lines: Vec<(HopStatus, Vec<String>)>,
    height: i32,
}

impl<'a> Placed<'a> {
    fn of(hop: &'a Hop) -> Self {
        let name = wrapped(&hop.name, HEADING, COLUMN);
        let lines: Vec<(HopStatus, Vec<String>)> =
            hop.lines.iter().map(|(tone, line)| (*tone, wrapped(line, BODY, COLUMN - 24))).collect();
        let body: i32 = lines.iter().map(|(_, parts)| self::lines(parts, BODY + 12) + 8).sum();
        let height = 2 * PAD + self::lines(&name, HEADING + 10) + SMALL + 14 + body;
        Self { hop, name, lines, height }
    }

    fn draw(&self, paper: &Area<'_>, top: i32) -> Result<(), PlotError> {
        let tone = self.hop.tone();
        let (left, right) = (EDGE, WIDTH as i32 - EDGE);
        let bottom = top + self.height;
        let back = match tone {
            HopStatus::Bad => RGBColor(253, 239, 232),
            HopStatus::Good | HopStatus::Open => RGBColor(247, 248, 249),
        };
        paper.draw(&Rectangle::new([(left, top), (right, bottom)], back.filled())).map_err(failed)?;
        let edge = if tone == HopStatus::Bad { RED } else { FAINT };
        paper.draw(&Rectangle::new([(left, top), (right, bottom)], edge.stroke_width(2))).map_err(failed)?;
        paper
            .draw(&Rectangle::new([(left, top), (left + 12, bottom)], color(tone).filled()))
            .map_err(failed)?;
        let mut line = top + PAD + 6;
        for part in &self.name {
            text(paper, part, (left + 36, line), HEADING, INK)?;
            line += HEADING + 10;
        }
        text(paper, &self.hop.what, (left + 36, line), SMALL, GREY)?;
        line += SMALL + 14;
        for (tone, parts) in &self.lines {
            sign(paper, *tone, (left + 50, line + MIDDLE))?;
            for part in parts {
                let ink = if *tone == HopStatus::Open { GREY } else { INK };
                text(paper, part, (left + 80, line), BODY, ink)?;
                line += BODY + 12;
            }
            line += 8;
        }
        Ok(())
    }
}

fn color(tone: HopStatus) -> RGBColor {
    match tone {
        HopStatus::Bad => RED,
        HopStatus::Good => GREEN,
        HopStatus::Open => GREY,
    }
}

/// A sign that is recognized without its color.
fn sign(paper: &Area<'_>, tone: HopStatus, (x, y): (i32, i32)) -> Result<(), PlotError> {
    let style = color(tone).stroke_width(4);
    let stroke = |points: &[(i32, i32)]| {
        let points: Vec<(i32, i32)> = points.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        paper.draw(&PathElement::new(points, style)).map_err(failed)
    };
    match tone {
        HopStatus::Bad => {
            stroke(&[(-10, -10), (10, 10)])?;
            stroke(&[(-10, 10), (10, -10)])
        }
        HopStatus::Good => stroke(&[(-11, 1), (-3, 9), (11, -9)]),
        HopStatus::Open => stroke(&[(-9, 0), (9, 0)]),
    }
}

fn legend(paper: &Area<'_>, top: i32) -> Result<(), PlotError> {
    let signs = [
        (HopStatus::Bad, "at fault", 190),
        (HopStatus::Good, "looked at, clean", 290),
        (HopStatus::Open, "not looked at", 0),
    ];
    let mut left = EDGE;
    for (tone, name, width) in signs {
        sign(paper, tone, (left + 12, top + MIDDLE - 1))?;
        text(paper, name, (left + 34, top), SMALL, INK)?;
        left += width;
    }
    Ok(())
}

fn arrow(paper: &Area<'_>, top: i32) -> Result<(), PlotError> {
    let x = WIDTH as i32 / 2;
    let (from, to) = (top + 5, top + GAP - 5);
    paper.draw(&PathElement::new(vec![(x, from), (x, to - 12)], GREY.stroke_width(4))).map_err(failed)?;
    let tip = vec![(x - 11, to - 14), (x + 11, to - 14), (x, to)];
    paper.draw(&Polygon::new(tip, GREY.filled())).map_err(failed)
}

fn lines(parts: &[String], height: i32) -> i32 {
    i32::try_from(parts.len()).unwrap_or(0) * height
}

/// Breaks a text into lines that fit; a word that does not is broken itself.
fn wrapped(words: &str, size: i32, width: i32) -> Vec<String> {
    let fits = |line: &str| {
        let style = (FONT, size).into_font();
        style.box_size(line).is_ok_and(|(wide, _)| i32::try_from(wide).is_ok_and(|wide| wide <= width))
    };
    let mut all: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in words.split_whitespace() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if fits(&longer) {
            line = longer;
            continue;
        }
        all.extend((!line.is_empty()).then(|| std::mem::take(&mut line)));
        for char in word.chars() {
            line.push(char);
            if !fits(&line) {
                line.pop();
                all.push(std::mem::take(&mut line));
                line.push(char);
            }
        }
    }
    all.extend((!line.is_empty()).then_some(line));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_drawn_whatever_it_is_called() {
        let hop = |name: &str, tone| Hop {
            name: name.to_owned(),
            what: "virtual machine".to_owned(),
            lines: vec![(tone, "x".repeat(300)), (HopStatus::Good, String::new())],
        };
        for hops in
            [vec![], vec![hop("a", HopStatus::Bad), hop("", HopStatus::Open), hop("日本", HopStatus::Good)]]
        {
            let png = hop_diagram("title", "below", &hops).unwrap();
            assert_eq!(png.get(1..4), Some(b"PNG".as_slice()));
            assert_eq!(png, hop_diagram("title", "below", &hops).unwrap());
        }
    }

    #[test]
    fn no_word_is_lost_where_lines_wrap() {
        let words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
        register_font(FONT, FontStyle::Normal, LETTERS).ok().unwrap();
        let lines = wrapped(words, BODY, 300);
        assert!(lines.len() > 2 && lines.join(" ") == words, "{lines:?}");
    }
}
