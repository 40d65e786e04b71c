//! Renderers: a plan as text, CSV and one HTML file. Values in, text out; nothing here decides anything.

pub mod costs;
pub mod plan_csv;
pub mod plan_html;
pub mod plan_text;
pub mod replay_csv;
pub mod replay_html;
pub mod replay_text;
mod steps_picture;
pub mod svg;
pub mod table;
pub mod whatif_csv;
pub mod whatif_html;
pub mod whatif_text;
