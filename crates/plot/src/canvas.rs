//! The paper that pictures are drawn on: size, colors, font, headings.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;

use super::png::{PlotError, encode};

/// As wide and as high as a chat shows without cutting.
pub const SIZE: (u32, u32) = (1200, 640);
/// The name under which the built-in font is known.
pub const FONT: &str = "sans-serif";
/// The letters of the built-in font.
pub const LETTERS: &[u8] = include_bytes!("font/dejavu-sans-ascii.ttf");

/// Colors that people tell apart who do not see all of them.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Vermilion.
pub const RED: RGBColor = RGBColor(213, 94, 0);
pub const ORANGE: RGBColor = RGBColor(230, 159, 0);
/// Bluish green.
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
/// Reddish purple.
pub const PURPLE: RGBColor = RGBColor(170, 51, 119);
/// For lines behind everything.
pub const FAINT: RGBColor = RGBColor(222, 226, 230);
/// For words.
pub const INK: RGBColor = RGBColor(33, 37, 41);

/// A part of the paper.
pub type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// How a series is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A filled square.
    Square,
    /// A filled circle.
    Circle,
    /// A triangle.
    Triangle,
    /// A cross.
    Cross,
    /// A line.
    Line,
}

/// What a series is called.
pub struct Legend {
    pub color: RGBColor,
    /// Its sign.
    pub mark: Mark,
    pub name: String,
}

/// Draws a picture with a title and a line below it, and returns the file.
pub fn draw(
    title: &str,
    below: &str,
    legend: &[Legend],
    content: impl FnOnce(&Area<'_>) -> Result<(), PlotError>,
) -> Result<Vec<u8>, PlotError> {
    register_font(FONT, FontStyle::Normal, LETTERS)
        .map_err(|_| PlotError("the font is damaged".to_owned()))?;
    let mut pixels = vec![255; SIZE.0 as usize * SIZE.1 as usize * 3];
    {
        let paper = BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area();
        paper.fill(&WHITE).map_err(failed)?;
        text(&paper, title, (24, 16), fitting(&paper, title)?, INK)?;
        text(&paper, below, (24, 50), 18, RGBColor(90, 98, 104))?;
        let mut left = 24;
        for entry in legend {
            left = sign(&paper, entry, left)?;
        }
        content(&paper.margin(112, 6, 12, 28))?;
        paper.present().map_err(failed)?;
    }
    encode(&pixels, SIZE).map_err(failed)
}

/// Writes a line of text.
pub fn text(
    area: &Area<'_>,
    words: &str,
    at: (i32, i32),
    size: i32,
    color: RGBColor,
) -> Result<(), PlotError> {
    let style = (FONT, size).into_font().color(&color);
    area.draw_text(words, &style, at).map_err(failed)
}

/// Returns the largest size of letters in which a title fits.
fn fitting(paper: &Area<'_>, title: &str) -> Result<i32, PlotError> {
    const SIZES: [i32; 4] = [28, 24, 20, 16];
    for size in SIZES {
        let style = (FONT, size).into_font().color(&INK);
        let (width, _) = paper.estimate_text_size(title, &style).map_err(failed)?;
        if width + 48 <= SIZE.0 {
            return Ok(size);
        }
    }
    Ok(13)
}

/// Turns what went wrong while drawing into one kind of error.
pub fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError(error.to_string())
}

/// Draws a sign with its name and returns where the next one begins.
fn sign(paper: &Area<'_>, entry: &Legend, left: i32) -> Result<i32, PlotError> {
    const MIDDLE: i32 = 88;
    let color = entry.color;
    let at = (left + 9, MIDDLE);
    match entry.mark {
        Mark::Square => {
            paper.draw(&Rectangle::new([(left + 2, MIDDLE - 7), (left + 16, MIDDLE + 7)], color.filled()))
        }
        Mark::Circle => paper.draw(&Circle::new(at, 6, color.filled())),
        Mark::Triangle => paper.draw(&TriangleMarker::new(at, 8, color.filled())),
        Mark::Cross => paper.draw(&Cross::new(at, 7, color.stroke_width(3))),
        Mark::Line => {
            paper.draw(&PathElement::new(vec![(left, MIDDLE), (left + 18, MIDDLE)], color.stroke_width(3)))
        }
    }
    .map_err(failed)?;
    let style = (FONT, 20).into_font().color(&INK);
    paper.draw_text(&entry.name, &style, (left + 26, MIDDLE - 8)).map_err(failed)?;
    let (width, _) = paper.estimate_text_size(&entry.name, &style).map_err(failed)?;
    Ok(left + 26 + width as i32 + 32)
}
