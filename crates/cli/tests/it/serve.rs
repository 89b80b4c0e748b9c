//! `runward serve`.

use std::net::{TcpListener, TcpStream};

use crate::program::Program;

#[test]
fn the_real_address_is_printed_once_the_server_listens() {
    let mut server = Program::new(&["serve", "--bind", "127.0.0.1:0"]).start();
    let line = server.first_line();
    let address = line.strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix('\n'));
    TcpStream::connect(address.unwrap()).unwrap();
}

#[test]
fn the_variable_chooses_the_address_and_the_flag_wins() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = Program::new(&["serve"]).env("MCP_BIND_ADDR", &address).env("RUNWARD_LOG", "off").run();
    assert_eq!(ended.code, 70, "{ended:?}");
    assert!(ended.stderr.starts_with(&format!("runward: cannot listen on {address}: ")), "{ended:?}");
    let program = Program::new(&["serve", "--bind", "127.0.0.1:0"]).env("MCP_BIND_ADDR", &address);
    assert!(program.start().first_line().starts_with("listening on "));
}

#[test]
fn an_address_beyond_loopback_demands_a_token() {
    let ended = Program::new(&["serve", "--bind", "0.0.0.0:0"]).env("RUNWARD_LOG", "off").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (78, ""), "{ended:?}");
    assert!(ended.stderr.contains("set RUNWARD_TOKEN"), "{ended:?}");
}
