//! The server's tests, a module a door.

mod http;
