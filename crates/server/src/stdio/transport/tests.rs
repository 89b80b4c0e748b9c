use rmcp::model::{ErrorData, ServerResult};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};

use super::*;

struct Client {
    to_server: DuplexStream,
    from_server: tokio::io::Lines<BufReader<DuplexStream>>,
}

impl Client {
    async fn send(&mut self, line: &str) {
        self.to_server.write_all(format!("{line}\n").as_bytes()).await.expect("is read");
    }

    async fn answer(&mut self) -> Value {
        let line = self.from_server.next_line().await.expect("reads").expect("an answer");
        serde_json::from_str(&line).expect("is JSON")
    }
}

fn connected() -> (Client, LineTransport) {
    const ROOM: usize = 64 * 1024;
    let ((to_server, input), (output, from_server)) = (duplex(ROOM), duplex(ROOM));
    let client = Client { to_server, from_server: BufReader::new(from_server).lines() };
    (client, LineTransport::new(Box::new(input), Box::new(output), CancellationToken::new()))
}

fn ping(id: u32) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string()
}

fn id(message: Option<ClientJsonRpcMessage>) -> RequestId {
    message.and_then(JsonRpcMessage::into_request).expect("a request").1
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_what_follows_it_is_heard() {
    let (mut client, mut transport) = connected();
    client.send("no json").await;
    client.send(&ping(1)).await;
    assert_eq!(id(transport.receive().await), RequestId::Number(1));
    assert_eq!(client.answer().await["error"]["code"], json!(-32700));
}

#[tokio::test]
async fn notifications_before_the_first_request_are_passed_over() {
    let (mut client, mut transport) = connected();
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.send(&ping(1)).await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!(id(transport.receive().await), RequestId::Number(1));
    assert!(matches!(transport.receive().await, Some(JsonRpcMessage::Notification(_))));
}

#[tokio::test]
async fn an_id_is_refused_while_it_is_in_use_and_free_afterwards() {
    let (mut client, mut transport) = connected();
    for _ in 0..2 {
        client.send(&ping(1)).await;
    }
    client.send(&ping(2)).await;
    assert_eq!(id(transport.receive().await), RequestId::Number(1));
    assert_eq!(id(transport.receive().await), RequestId::Number(2));
    assert_eq!(client.answer().await["error"]["code"], json!(-32600));

    let answer = ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(1));
    transport.send(answer).await.expect("is read");
    assert_eq!(client.answer().await["result"], json!({}));
    client.send(&ping(1)).await;
    assert_eq!(id(transport.receive().await), RequestId::Number(1));
}

#[tokio::test]
async fn a_cancelled_request_gives_its_id_back() {
    let (mut client, mut transport) = connected();
    client.send(&ping(1)).await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    client.send(&ping(1)).await;
    assert_eq!(id(transport.receive().await), RequestId::Number(1));
    assert!(matches!(transport.receive().await, Some(JsonRpcMessage::Notification(_))));
    assert_eq!(id(transport.receive().await), RequestId::Number(1));
}

#[tokio::test]
async fn the_end_of_the_input_is_told() {
    let (client, mut transport) = connected();
    drop(client.to_server);
    assert!(transport.receive().await.is_none());
    assert!(transport.hung_up.is_cancelled());
}

#[tokio::test]
async fn a_closed_output_is_told() {
    let (client, mut transport) = connected();
    drop(client.from_server);
    let error = ServerJsonRpcMessage::error(ErrorData::invalid_request("x", None), None);
    assert!(transport.send(error).await.is_err());
    assert!(transport.hung_up.is_cancelled());
}
