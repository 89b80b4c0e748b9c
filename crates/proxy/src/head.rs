//! The head of an HTTP request.

use crate::target::Target;

/// Longer heads are not read.
pub(crate) const LONGEST: usize = 32 * 1024;

/// Nor are heads with more fields.
const MOST_FIELDS: usize = 128;

/// Fields that are between a client and its proxy, and the one that is written anew.
const OWN_FIELDS: [&str; 6] =
    ["connection", "host", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"];

/// What a client asks of a proxy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A tunnel.
    Tunnel(Target),
    /// A request to be passed on, as the host is to get it.
    Forward(Target, Vec<u8>),
}

/// What comes of reading a head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// It is not all there yet.
    Partial,
    /// It is, and so long.
    Whole(Asked, usize),
    /// It is none that is understood: a status, and why.
    Bad(&'static str, &'static str),
}

/// Reads a head from the beginning of what has arrived.
pub(crate) fn read(bytes: &[u8]) -> Read {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) if bytes.len() >= LONGEST => {
            Read::Bad(TOO_LARGE, "its head is too long")
        }
        Ok(httparse::Status::Partial) => Read::Partial,
        Ok(httparse::Status::Complete(length)) => match asked(&request) {
            Ok(asked) => Read::Whole(asked, length),
            Err(why) => Read::Bad(BAD, why),
        },
        Err(httparse::Error::TooManyHeaders) => Read::Bad(TOO_LARGE, "its head has too many fields"),
        Err(_) => Read::Bad(BAD, "it is no HTTP request"),
    }
}

const BAD: &str = "400 Bad Request";
const TOO_LARGE: &str = "431 Request Header Fields Too Large";

fn asked(request: &httparse::Request<'_, '_>) -> Result<Asked, &'static str> {
    let (method, path) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
    if method == "CONNECT" {
        return Target::parse(path, None).map(Asked::Tunnel).ok_or("CONNECT takes a host and a port");
    }
    let rest = match path.split_at_checked("http://".len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http://") => rest,
        _ => return Err("this is a proxy: it takes CONNECT and absolute http:// addresses"),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let target = Target::parse(authority, Some(80)).ok_or("the address names no host")?;
    let head = rewritten(request, authority, path);
    Ok(Asked::Forward(target, head))
}

/// The head for the host itself. One request a connection: whatever else arrives goes to the same host.
fn rewritten(request: &httparse::Request<'_, '_>, authority: &str, path: &str) -> Vec<u8> {
    let method = request.method.unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
    for field in request.headers.iter() {
        if !OWN_FIELDS.iter().any(|own| field.name.eq_ignore_ascii_case(own)) {
            head.extend_from_slice(field.name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(field.value);
            head.extend_from_slice(b"\r\n");
        }
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forward(text: &str) -> (String, String) {
        match read(text.as_bytes()) {
            Read::Whole(Asked::Forward(target, head), length) => {
                assert_eq!(length, text.len());
                (target.to_string(), String::from_utf8(head).unwrap())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_is_passed_on_as_its_host_expects_it() {
        let (target, head) = forward(
            "POST http://Example.com:8080/a?b HTTP/1.1\r\nHost: other.org\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n",
        );
        assert_eq!(target, "example.com:8080");
        assert_eq!(
            head,
            "POST /a?b HTTP/1.1\r\nHost: Example.com:8080\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
        );
        let (target, head) = forward("GET http://example.com?q HTTP/1.0\r\n\r\n");
        assert_eq!((target.as_str(), head.lines().next()), ("example.com:80", Some("GET /?q HTTP/1.1")));
    }

    #[test]
    fn a_tunnel_takes_a_host_and_a_port() {
        let tunnel = Target::parse("example.com:443", None).unwrap();
        let text = b"CONNECT example.com:443 HTTP/1.1\r\n\r\nmore";
        assert_eq!(read(text), Read::Whole(Asked::Tunnel(tunnel), text.len() - 4));
        assert_eq!(read(&text[..20]), Read::Partial);
    }

    #[test]
    fn everything_else_is_bad() {
        for text in [
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
            "GET https://example.com/ HTTP/1.1\r\n\r\n",
            "GET http:///x HTTP/1.1\r\n\r\n",
            "GET http://user@example.com/ HTTP/1.1\r\n\r\n",
            "nonsense\r\n\r\n",
        ] {
            assert!(matches!(read(text.as_bytes()), Read::Bad(BAD, _)), "{text}");
        }
        assert!(matches!(read(&vec![b'A'; LONGEST]), Read::Bad(..) | Read::Partial));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, target in "\\PC{0,60}") {
            let _ = read(&bytes);
            let _ = read(format!("GET http://{target} HTTP/1.1\r\n\r\n").as_bytes());
        }
    }
}
