//! A small proxy between client and server that cuts, delays and breaks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// What it does to answers in chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Doing {
    /// Cuts their bodies into chunks of other sizes.
    Rechunking,
    /// Breaks the connection after so many bytes, so many times.
    Breaking {
        /// How many bytes get through.
        after: usize,
        /// How often.
        times: u32,
    },
}

/// Its address; it lives as long as the test.
pub(crate) fn proxy(upstream: &str, doing: Doing) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (upstream, broken) = (upstream.to_owned(), Arc::new(AtomicU32::new(0)));
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(&upstream) else { continue };
            let broken = broken.clone();
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
            thread::spawn(move || {
                let _ = answer(&client, &server, doing, &broken);
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    address
}

fn answer(
    mut client: &TcpStream,
    server: &TcpStream,
    doing: Doing,
    broken: &AtomicU32,
) -> std::io::Result<()> {
    let mut server = BufReader::new(server);
    loop {
        let (head, is_chunked, length) = head(&mut server)?;
        client.write_all(head.as_bytes())?;
        match doing {
            Doing::Rechunking if is_chunked => rechunk(client, &mut server)?,
            Doing::Breaking { after, times } if is_chunked && broken.load(Ordering::Relaxed) < times => {
                broken.fetch_add(1, Ordering::Relaxed);
                std::io::copy(&mut server.take(after as u64), &mut client)?;
                return Ok(());
            }
            _ if is_chunked => drop(std::io::copy(&mut server, &mut client)?),
            _ => drop(std::io::copy(&mut Read::by_ref(&mut server).take(length), &mut client)?),
        }
    }
}

fn head(server: &mut impl BufRead) -> std::io::Result<(String, bool, u64)> {
    let (mut head, mut is_chunked, mut length) = (String::new(), false, 0);
    loop {
        let mut line = String::new();
        if server.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let lower = line.to_ascii_lowercase();
        is_chunked |= lower.starts_with("transfer-encoding: chunked");
        length = lower.strip_prefix("content-length: ").map_or(length, |text| text.trim().parse().unwrap());
        head += &line;
        if line == "\r\n" {
            return Ok((head, is_chunked, length));
        }
    }
}

/// Chunks of 1 to some thousand bytes, by numbers that are always the same.
fn rechunk(mut client: &TcpStream, server: &mut impl BufRead) -> std::io::Result<()> {
    let mut random: u32 = 12345;
    loop {
        let mut line = String::new();
        server.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)?;
        let mut chunk = vec![0; size + 2];
        server.read_exact(&mut chunk)?;
        let mut rest = &chunk[..size];
        while !rest.is_empty() {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let most = if random & 1 == 0 { 7 } else { 5000 };
            let (piece, behind) = rest.split_at(rest.len().min(1 + (random >> 16) as usize % most));
            client.write_all(format!("{:X}\r\n", piece.len()).as_bytes())?;
            client.write_all(piece)?;
            client.write_all(b"\r\n")?;
            rest = behind;
        }
        if size == 0 {
            return client.write_all(b"0\r\n\r\n");
        }
    }
}
