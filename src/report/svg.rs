//! Drawing SVG as text: exact coordinates, escaped strings, classes instead of styles.
//!
//! Every picture is `role="img"` with a title and a description. Nothing here carries a style attribute, so that a page
//! may forbid inline styles; colours come from the page's style sheet by class.

use std::fmt::{self, Write};
use std::ops::{Add, Sub};

/// A coordinate in hundredths of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Px(pub i64);

/// Whole pixels.
#[must_use]
pub const fn px(pixels: i64) -> Px {
    Px(pixels * 100)
}

impl Add for Px {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Px {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.unsigned_abs() / 100, self.0.unsigned_abs() % 100);
        match rest {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{rest:02}"),
        }
    }
}

/// A linear scale from values to coordinates. Values outside are drawn at its ends.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    pub from: i64,
    /// After `from`.
    pub to: i64,
    pub start: Px,
    /// May lie before `start`: a vertical scale grows upwards.
    pub end: Px,
}

impl Scale {
    #[must_use]
    pub fn at(&self, value: i64) -> Px {
        let span = i128::from(self.to) - i128::from(self.from);
        let offset = i128::from(value.clamp(self.from, self.to)) - i128::from(self.from);
        let along = i128::from(self.end.0 - self.start.0) * offset / span.max(1);
        Px(self.start.0 + i64::try_from(along).unwrap_or(0))
    }
}

/// Which end of a text stands at its coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture under construction.
#[derive(Debug)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// `id` is unique in the page; `title` names the picture and `description` says in words what it shows.
    #[must_use]
    pub fn new(id: &str, width: i64, height: i64, title: &str, description: &str) -> Self {
        let (id, title, description) = (Escaped(id), Escaped(title), Escaped(description));
        let mut svg = Self { text: String::new() };
        svg.put(format_args!(
            "<svg class=\"w{width}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{description}</desc>\n"
        ));
        svg
    }

    /// A sample beside a word that says the same: hidden from screen readers.
    #[must_use]
    pub fn bare(width: i64, height: i64) -> Self {
        let text = format!(
            "<svg viewBox=\"0 0 {width} {height}\" aria-hidden=\"true\" xmlns=\"http://www.w3.org/2000/svg\">\n"
        );
        Self { text }
    }

    #[must_use]
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn put(&mut self, what: fmt::Arguments<'_>) {
        self.text.write_fmt(what).expect("writing to a string cannot fail");
    }

    pub fn rect(&mut self, class: &str, (x, y): (Px, Px), (width, height): (Px, Px)) {
        self.put(format_args!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n"));
    }

    pub fn line(&mut self, class: &str, (x1, y1): (Px, Px), (x2, y2): (Px, Px)) {
        self.put(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>\n"));
    }

    pub fn text(&mut self, class: &str, (x, y): (Px, Px), anchor: Anchor, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let words = Escaped(words);
        self.put(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{words}</text>\n"));
    }

    /// A path through these points; `closed` fills it.
    pub fn path(&mut self, class: &str, points: &[(Px, Px)], closed: bool) {
        if points.is_empty() {
            return;
        }
        self.put(format_args!("<path class=\"{class}\" d=\""));
        for (at, (x, y)) in points.iter().enumerate() {
            let command = if at == 0 { 'M' } else { 'L' };
            self.put(format_args!("{command}{x} {y}"));
        }
        self.put(format_args!("{}\"/>\n", if closed { "Z" } else { "" }));
    }

    pub fn circle(&mut self, class: &str, (x, y): (Px, Px), radius: Px) {
        self.put(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\n"));
    }

    /// A group with a tooltip; when `target` is given, also a link to that element of the page.
    pub fn group(&mut self, target: Option<&str>, tooltip: &str, draw: impl FnOnce(&mut Self)) {
        let tooltip = Escaped(tooltip);
        match target {
            Some(target) => self.put(format_args!("<a href=\"#{}\"><title>{tooltip}</title>\n", Escaped(target))),
            None => self.put(format_args!("<g><title>{tooltip}</title>\n")),
        }
        draw(self);
        self.text.push_str(if target.is_some() { "</a>\n" } else { "</g>\n" });
    }
}

/// Text made safe for HTML and SVG, as content and as a quoted attribute.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Control characters and direction overrides have no place in a name and could disguise one.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => f.write_char('\u{fffd}')?,
                letter if letter.is_control() && letter != '\n' => f.write_char('\u{fffd}')?,
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}
