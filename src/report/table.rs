//! Plain-text tables in kubectl's manner: one row per object, upper-case titles, two blanks between columns.

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    /// For numbers.
    Right,
}

/// A table; rows shorter than the titles are padded with empty cells.
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    #[must_use]
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The text; `width` cuts the last column, `None` never cuts.
    #[must_use]
    pub fn render(&self, width: Option<usize>) -> String {
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, (title, _))| {
                let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
                cells.max().unwrap_or(0).max(title.len())
            })
            .collect();
        let titles: Vec<String> = self.columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        let mut text = String::new();
        for row in std::iter::once(&titles).chain(&self.rows) {
            let line: Vec<String> = self
                .columns
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(at, ((_, align), room))| {
                    let cell = row.get(at).map_or("", String::as_str);
                    match align {
                        Align::Left => format!("{cell:<room$}"),
                        Align::Right => format!("{cell:>room$}"),
                    }
                })
                .collect();
            text.push_str(&cut(line.join("  ").trim_end(), width));
            text.push('\n');
        }
        text
    }
}

fn cut(line: &str, width: Option<usize>) -> String {
    match width {
        Some(most) if line.chars().count() > most.max(1) => {
            let kept: String = line.chars().take(most.max(4) - 3).collect();
            format!("{}...", kept.trim_end())
        }
        _ => line.to_owned(),
    }
}
