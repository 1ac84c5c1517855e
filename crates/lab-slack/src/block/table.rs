//! Tables and charts.

use serde_json::{Map, Value};

use crate::block::rich::RICH_TEXT;
use crate::block::shape::{BLOCK_ID, Kind, NO_LIMIT, Rule, Shape, may, need};
use crate::block::walk::Walk;

/// The plain table.
pub(super) static TABLES: [Kind; 1] = [Kind("table", &TABLE)];

/// The table with pages and sorting.
pub(super) static DATA_TABLES: [Kind; 1] = [Kind("data_table", &DATA_TABLE)];

pub(super) static CHARTS: [Kind; 1] = [Kind("data_visualization", &CHART)];

static CELLS: [Kind; 2] = [
    Kind("raw_text", &Shape { fields: &[need("text", Rule::Str(1, NO_LIMIT))], checks: &[] }),
    Kind(
        "raw_number",
        &Shape { fields: &[need("value", Rule::Number), need("text", Rule::Str(1, NO_LIMIT))], checks: &[] },
    ),
];

static ROW: Rule = Rule::List(1, 20, &Rule::Typed(&[&CELLS, &RICH_TEXT]));

static TABLE: Shape = Shape {
    fields: &[
        need("rows", Rule::List(1, 100, &ROW)),
        may(
            "column_settings",
            Rule::List(
                0,
                20,
                &Rule::OrNull(&Rule::Object(&Shape {
                    fields: &[
                        may("align", Rule::Word(&["left", "center", "right"])),
                        may("is_wrapped", Rule::Bool),
                    ],
                    checks: &[],
                })),
            ),
        ),
        BLOCK_ID,
    ],
    checks: &[],
};

static DATA_TABLE: Shape = Shape {
    fields: &[
        need("rows", Rule::List(2, 201, &ROW)),
        need("caption", Rule::Str(1, NO_LIMIT)),
        may("page_size", Rule::Int(1, 100)),
        may("row_header_column_index", Rule::Int(0, 19)),
        BLOCK_ID,
    ],
    checks: &[even_rows, plain_header],
};

static CHART: Shape = Shape {
    fields: &[need("title", Rule::Str(1, 50)), need("chart", Rule::Typed(&[&CHART_KINDS])), BLOCK_ID],
    checks: &[],
};

static CHART_KINDS: [Kind; 4] =
    [Kind("pie", &PIE), Kind("bar", &SERIES), Kind("area", &SERIES), Kind("line", &SERIES)];

static PIE: Shape =
    Shape { fields: &[need("segments", Rule::List(1, 12, &Rule::Object(&SEGMENT)))], checks: &[] };

static SEGMENT: Shape =
    Shape { fields: &[need("label", Rule::Str(1, 20)), need("value", Rule::Number)], checks: &[positive] };

static SERIES: Shape = Shape {
    fields: &[
        need("series", Rule::List(1, 12, &Rule::Object(&ONE_SERIES))),
        need("axis_config", Rule::Object(&AXES)),
    ],
    checks: &[points_on_the_axis],
};

static ONE_SERIES: Shape = Shape {
    fields: &[need("name", Rule::Str(1, 20)), need("data", Rule::List(1, 20, &Rule::Object(&POINT)))],
    checks: &[],
};

static POINT: Shape =
    Shape { fields: &[need("label", Rule::Str(1, 20)), need("value", Rule::Number)], checks: &[] };

static AXES: Shape = Shape {
    fields: &[
        need("categories", Rule::List(1, 20, &Rule::Str(1, 20))),
        may("x_label", Rule::Str(0, 50)),
        may("y_label", Rule::Str(0, 50)),
    ],
    checks: &[],
};

/// Returns how many characters the cells of a table hold.
pub(super) fn characters(table: &Value) -> usize {
    let rows = table.get("rows").and_then(Value::as_array).into_iter().flatten();
    rows.filter_map(Value::as_array).flatten().map(crate::block::across::text_length).sum()
}

fn even_rows(object: &Map<String, Value>, walk: &mut Walk) {
    let rows = object.get("rows").and_then(Value::as_array).into_iter().flatten();
    let mut lengths = rows.filter_map(Value::as_array).map(Vec::len);
    if let Some(first) = lengths.next()
        && lengths.any(|length| length != first)
    {
        walk.note_in("rows", "all rows must have the same number of cells");
    }
}

fn plain_header(object: &Map<String, Value>, walk: &mut Walk) {
    let header = object.get("rows").and_then(|rows| rows.get(0)).and_then(Value::as_array);
    let rich = |cell: &Value| cell.get("type").and_then(Value::as_str) == Some("rich_text");
    if let Some(at) = header.and_then(|cells| cells.iter().position(rich)) {
        walk.step("rows", |walk| {
            walk.step("0", |walk| {
                walk.step(&at.to_string(), |walk| walk.note_in("type", "unsupported type: rich_text"));
            });
        });
    }
}

fn positive(object: &Map<String, Value>, walk: &mut Walk) {
    if object.get("value").and_then(Value::as_f64).is_some_and(|value| value <= 0.0) {
        walk.note_in("value", "must be greater than 0");
    }
}

fn points_on_the_axis(object: &Map<String, Value>, walk: &mut Walk) {
    let list =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let categories = object.get("axis_config").map(|axes| list(axes, "categories")).unwrap_or_default();
    let all = object.get("series").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut names: Vec<&Value> = Vec::new();
    for (at, series) in all.iter().take(12).enumerate() {
        let points = list(series, "data");
        let labels: Vec<&Value> = points.iter().take(21).filter_map(|point| point.get("label")).collect();
        let same =
            labels.len() == categories.len() && categories.iter().take(21).all(|one| labels.contains(&one));
        let again = series.get("name").is_some_and(|name| names.contains(&name));
        names.extend(series.get("name"));
        walk.step("series", |walk| {
            walk.step(&at.to_string(), |walk| {
                if !same {
                    walk.note_in("data", "must contain exactly one entry for every category");
                }
                if again {
                    walk.note_in("name", "must be unique");
                }
            });
        });
    }
}
