//! Reading scenario files and traces.
