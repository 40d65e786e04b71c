//! A second opinion from another solver: CP-SAT on the same instances (`benches/oracle.py`), through a model of its own.
//!
//! Exhaustive search ends at six jobs; CP-SAT proves its answers for a hundred. Where both are proven they must be equal;
//! elsewhere neither may cross the other's bound. Without a Python that can make a virtual environment the laws here are
//! skipped, and say so on standard error past the test runner's capture.

mod instances;
mod plans;
mod pools;
mod python;
