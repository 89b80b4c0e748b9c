//! SOCKS 5 to the proxy: connections only, by name or by address.

use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::dial::{NoWay, Way};
use crate::serve::{PATIENCE, part};
use crate::target::{Host, Target};

/// The first byte of everything that is said.
pub(crate) const VERSION: u8 = 5;

const NO_PASSWORD: u8 = 0;
const NO_METHOD: u8 = 0xFF;
const CONNECT: u8 = 1;

const SUCCEEDED: u8 = 0;
const FAILED: u8 = 1;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const NO_SUCH_COMMAND: u8 = 7;
const NO_SUCH_ADDRESS: u8 = 8;

/// What came of a greeting.
enum Greeted {
    /// This is to be reached.
    Wants(Target),
    /// This has been said to it last.
    Refused,
}

/// Serves one connection of which nothing has been read.
pub(crate) async fn serve(mut client: TcpStream, way: &Way) -> io::Result<()> {
    let target = match tokio::time::timeout(PATIENCE, greet(&mut client)).await?? {
        Greeted::Wants(target) => target,
        Greeted::Refused => return part(client).await,
    };
    let code = match way.to(&target).await {
        Ok(mut host) => {
            reply(&mut client, SUCCEEDED).await?;
            return io::copy_bidirectional(&mut client, &mut host).await.map(drop);
        }
        Err(NoWay::Refused(_)) => NOT_ALLOWED,
        Err(NoWay::Unreachable(_)) => UNREACHABLE,
    };
    reply(&mut client, code).await?;
    part(client).await
}

async fn greet(client: &mut TcpStream) -> io::Result<Greeted> {
    let [_, methods] = array(client).await?;
    let mut offered = vec![0; usize::from(methods)];
    client.read_exact(&mut offered).await?;
    if !offered.contains(&NO_PASSWORD) {
        client.write_all(&[VERSION, NO_METHOD]).await?;
        return Ok(Greeted::Refused);
    }
    client.write_all(&[VERSION, NO_PASSWORD]).await?;
    let [version, command, _, kind] = array(client).await?;
    let refused = match (version, host(client, kind).await?) {
        (VERSION, Some(host)) => {
            let port = u16::from_be_bytes(array(client).await?);
            if command == CONNECT {
                return Ok(Greeted::Wants(Target::new(host, port)));
            }
            NO_SUCH_COMMAND
        }
        (VERSION, None) => NO_SUCH_ADDRESS,
        _ => FAILED,
    };
    reply(client, refused).await?;
    Ok(Greeted::Refused)
}

/// What is to be reached; `None` when it is no host.
async fn host(client: &mut TcpStream, kind: u8) -> io::Result<Option<Host>> {
    Ok(match kind {
        1 => Some(Host::address(Ipv4Addr::from(array::<4>(client).await?))),
        4 => Some(Host::address(Ipv6Addr::from(array::<16>(client).await?))),
        3 => {
            let [length] = array(client).await?;
            let mut name = vec![0; usize::from(length)];
            client.read_exact(&mut name).await?;
            std::str::from_utf8(&name).ok().and_then(Host::parse)
        }
        _ => None,
    })
}

async fn array<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// The address in it is of no use to anybody.
async fn reply(client: &mut TcpStream, code: u8) -> io::Result<()> {
    client.write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
