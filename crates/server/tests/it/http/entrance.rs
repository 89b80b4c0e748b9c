//! Who is let in.

use runward_server::http::{Error, Server};
use runward_server::{HttpSettings, Tokens};

use super::caller::{Ask, Running, settings};

const PATHS: [&str; 3] = ["/healthz", "/mcp", "/nothing"];

fn with_token() -> HttpSettings {
    HttpSettings { tokens: Tokens::default().with("s3cret"), ..settings() }
}

#[tokio::test]
async fn a_host_that_is_not_ours_is_refused_on_every_path() {
    let server = Running::with(&settings()).await;
    for path in PATHS {
        for host in ["evil.example", "localhost.evil.example:80", "192.0.2.1"] {
            let answer = server.ask(&Ask::get(path).header("Host", host)).await;
            assert_eq!(
                (answer.status, answer.error_code()),
                (403, "host_not_allowed".into()),
                "{path} {host}"
            );
            assert!(
                answer.body.contains(host.split(':').next().expect("a name"))
                    && answer.body.contains("allowed_hosts")
            );
        }
    }
}

#[tokio::test]
async fn a_listed_host_is_served() {
    let server =
        Running::with(&HttpSettings { allowed_hosts: vec!["runward.example".into()], ..settings() }).await;
    let answer = server.ask(&Ask::get("/healthz").header("Host", "runward.example:443")).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn an_origin_that_is_not_ours_is_refused_on_every_path() {
    let server = Running::with(&settings()).await;
    for path in PATHS {
        for origin in ["http://evil.example", "null", "http://localhost.evil.example"] {
            let answer = server.ask(&Ask::get(path).header("Origin", origin)).await;
            assert_eq!(
                (answer.status, answer.error_code()),
                (403, "origin_not_allowed".into()),
                "{path} {origin}"
            );
            assert!(answer.body.contains("allowed_origins"));
        }
    }
}

#[tokio::test]
async fn a_second_origin_does_not_hide_behind_a_good_one() {
    let server = Running::with(&settings()).await;
    let ask =
        Ask::get("/healthz").header("Origin", "http://localhost").header("Origin", "http://evil.example");
    assert_eq!(server.ask(&ask).await.status, 403);
}

#[tokio::test]
async fn only_the_listeners_own_origin_and_listed_ones_may_call() {
    let server =
        Running::with(&HttpSettings { allowed_origins: vec!["https://app.example".into()], ..settings() })
            .await;
    let own = server.address.to_string();
    for (origin, status) in [
        (format!("http://{own}"), 200),
        ("https://app.example".into(), 200),
        ("http://localhost:1".into(), 403),
        ("http://127.0.0.1".into(), 403),
        ("https://127.0.0.1".into(), 403),
        (format!("https://{own}"), 403),
        (format!("http://localhost:{}", server.address.port()), 403),
    ] {
        let ask = Ask::get("/healthz").header("Host", &own).header("Origin", &origin);
        assert_eq!(server.ask(&ask).await.status, status, "{origin}");
    }
}

#[tokio::test]
async fn a_target_that_names_a_host_agrees_with_the_header() {
    let server = Running::with(&settings()).await;
    let own = server.address.to_string();
    for (target, host, status) in [
        (format!("http://{own}/healthz"), own.as_str(), 200),
        ("http://evil.example/healthz".into(), own.as_str(), 403),
        (format!("http://{own}/healthz"), "evil.example", 403),
        ("http://localhost/healthz".into(), own.as_str(), 403),
    ] {
        let answer = server.ask(&Ask::get(&target).header("Host", host)).await;
        assert_eq!(answer.status, status, "{target} {host}");
    }
}

#[tokio::test]
async fn without_the_token_nothing_but_the_health_check_answers() {
    let server = Running::with(&with_token()).await;
    for path in ["/mcp", "/nothing"] {
        let answer = server.ask(&Ask::get(path)).await;
        assert_eq!((answer.status, answer.error_code()), (401, "unauthorized".into()));
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert!(answer.body.contains("RUNWARD_TOKEN"));
    }
    assert_eq!(server.ask(&Ask::get("/healthz")).await.status, 200);
}

#[tokio::test]
async fn a_wrong_token_is_called_wrong() {
    let server = Running::with(&with_token()).await;
    for wrong in
        ["Bearer nope", "Bearer s3cre", "Bearer s3crets", "bearer", "Basic s3cret", "s3cret", "Bearer"]
    {
        let answer = server.ask(&Ask::modern("quick").header("Authorization", wrong)).await;
        assert_eq!(answer.status, 401, "{wrong}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer error=\"invalid_token\""), "{wrong}");
    }
}

#[tokio::test]
async fn two_tokens_are_none() {
    let server = Running::with(&with_token()).await;
    let ask =
        Ask::modern("quick").header("Authorization", "Bearer s3cret").header("Authorization", "Bearer nope");
    assert_eq!(server.ask(&ask).await.status, 401);
}

#[tokio::test]
async fn the_right_token_is_let_in() {
    let server = Running::with(&with_token()).await;
    for right in ["Bearer s3cret", "bearer s3cret", "BEARER  s3cret"] {
        let answer = server.ask(&Ask::modern("quick").header("Authorization", right)).await;
        assert_eq!(answer.status, 200, "{right}");
    }
}

#[tokio::test]
async fn an_address_that_others_can_reach_needs_a_token() {
    for bind in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let bind = bind.parse().expect("an address");
        let refused = Server::bind(&HttpSettings { bind, ..settings() }).await.expect_err("no token");
        assert!(matches!(refused, Error::TokenMissing(address) if address == bind));
        assert!(refused.to_string().contains("RUNWARD_TOKEN"));
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_whether_or_not_it_says_so() {
    let server = Running::with(&settings()).await;
    let large = vec![b' '; settings().max_body + 1];
    for ask in [Ask::post("/mcp").body(&large), Ask::post("/mcp").chunked(&large)] {
        let answer = server.ask(&ask).await;
        assert_eq!((answer.status, answer.error_code()), (413, "payload_too_large".into()));
        assert!(answer.body.contains("10000"), "{answer:?}");
    }
}
