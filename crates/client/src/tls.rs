//! TLS, for `https` alone.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A connection with TLS on it.
pub(crate) type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// Puts TLS on a connection. The system says which certificates are trusted; `SSL_CERT_FILE` can name others.
pub(crate) fn wrap(host: &str, mut socket: TcpStream) -> io::Result<TlsStream> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let mut connection = ClientConnection::new(config()?, name).map_err(io::Error::other)?;
    // Whoever cannot prove who it is has not been reached; nothing is sent to it.
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    Ok(StreamOwned::new(connection, socket))
}

fn config() -> io::Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(io::Error::other)?.with_root_certificates(roots);
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
