//! The webhook as a process: certificates that rotate, and answers over a real TLS socket.

mod client;
mod hostile;
mod live;
mod rotation;
mod server;
mod stored;
