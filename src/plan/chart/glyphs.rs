//! The two alphabets of a chart.

/// One character per state.
pub(super) struct Glyphs {
    pub(super) planned: char,
    pub(super) running: char,
    pub(super) paused: char,
    pub(super) to_p90: char,
    pub(super) past_due: char,
    pub(super) due: char,
    pub(super) due_beyond: char,
    /// From nothing to full.
    heights: [char; 9],
}

pub(super) const UNICODE: Glyphs = Glyphs {
    planned: '█',
    running: '▒',
    paused: '·',
    to_p90: '░',
    past_due: '×',
    due: '▲',
    due_beyond: '›',
    heights: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
};

pub(super) const ASCII: Glyphs = Glyphs {
    planned: '#',
    running: '=',
    paused: '.',
    to_p90: '-',
    past_due: 'x',
    due: '^',
    due_beyond: '>',
    heights: [' ', '1', '2', '3', '4', '5', '6', '7', '8'],
};

impl Glyphs {
    /// `value` on the scale from 0 to `full`; anything above zero is visible.
    pub(super) fn height(&self, value: i64, full: i64) -> char {
        if value <= 0 || full <= 0 {
            return self.heights[0];
        }
        let eighths = i128::from(value) * 8 / i128::from(full);
        self.heights[usize::try_from(eighths.clamp(1, 8)).unwrap_or(8)]
    }

    /// In the order of the legend.
    pub(super) fn meanings(&self) -> [(char, &'static str); 7] {
        [
            (self.planned, "planned"),
            (self.running, "running"),
            (self.to_p90, "to p90"),
            (self.paused, "interrupted"),
            (self.past_due, "past due"),
            (self.due, "due"),
            (self.due_beyond, "due later"),
        ]
    }
}
