//! Decides how the control interface of a mock is spoken to: one small JSON request a connection.

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Host and port of an address.
pub(crate) fn host(base: &str) -> &str {
    base.trim_start_matches("http://")
}

/// Sends a request; status and body of the answer.
pub(crate) async fn send(
    base: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<(u16, Value), String> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let exchange = async {
        let mut stream = TcpStream::connect(host(base)).await?;
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = exchange.await.map_err(|error| format!("{method} {path}: {error}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    // A body in chunks has lengths around it; the JSON of these servers is in one.
    let start = body.find(['{', '[']).unwrap_or(0);
    let end = body.rfind(['}', ']']).map_or(body.len(), |end| end + 1);
    let json = body.get(start..end).unwrap_or_default();
    Ok((status, serde_json::from_str(json).unwrap_or(Value::Null)))
}

/// The same, expecting success.
pub(crate) async fn command(
    base: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, String> {
    match send(base, method, path, body).await? {
        (200..=299, answer) => Ok(answer),
        (status, answer) => Err(format!("{method} {path}: {status} {answer}")),
    }
}
