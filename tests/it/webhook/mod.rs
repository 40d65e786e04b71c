//! The webhook as a process: certificates that rotate, and answers over a real TLS socket.

mod client;
mod rotation;
mod server;
