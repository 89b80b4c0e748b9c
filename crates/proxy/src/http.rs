//! HTTP to the proxy: tunnels, and requests that are passed on.

use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::dial::{NoWay, Way};
use crate::head::{self, Asked, Read};
use crate::serve::{PATIENCE, part};

/// Serves one connection of which nothing has been read.
pub(crate) async fn serve(mut client: TcpStream, way: &Way) -> io::Result<()> {
    let (mut arrived, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    let asked = loop {
        match head::read(&arrived) {
            Read::Whole(asked, length) => {
                arrived.drain(..length);
                break asked;
            }
            Read::Bad(status, why) => return answer(client, status, why).await,
            Read::Partial => {}
        }
        let mut chunk = [0; 4096];
        let read = tokio::time::timeout_at(deadline, client.read(&mut chunk)).await??;
        if read == 0 || arrived.len() > head::LONGEST {
            return Ok(());
        }
        arrived.extend_from_slice(chunk.get(..read).unwrap_or_default());
    };
    let target = match &asked {
        Asked::Tunnel(target) | Asked::Forward(target, _) => target,
    };
    let mut host = match way.to(target).await {
        Ok(host) => host,
        Err(NoWay::Refused(why)) => return answer(client, REFUSED, &why).await,
        Err(NoWay::Unreachable(why)) => return answer(client, "502 Bad Gateway", &why).await,
    };
    match asked {
        Asked::Tunnel(_) => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
        Asked::Forward(_, head) => host.write_all(&head).await?,
    }
    host.write_all(&arrived).await?;
    drop(arrived);
    io::copy_bidirectional(&mut client, &mut host).await.map(drop)
}

const REFUSED: &str = "403 Forbidden";

/// Says why not, for whoever reads it: a program by its status, a person by its words.
async fn answer(mut client: TcpStream, status: &str, why: &str) -> io::Result<()> {
    let reason = if status == REFUSED { "X-Proxy-Error: blocked-by-allowlist\r\n" } else { "" };
    let text = format!("runward: {why}\n");
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n{reason}Connection: close\r\n\r\n"
    );
    client.write_all((head + &text).as_bytes()).await?;
    part(client).await
}
