//! The webhook as a process: certificates that rotate, and answers over a real TLS socket.

mod client;
mod live;
mod rotation;
mod server;
mod stored;
