//! Decides how a server answers that is no server of models: bytes, whatever was asked.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// Answers every request with the same, and closes.
pub(super) struct RawServer {
    pub(super) address: SocketAddr,
    heads: Arc<Mutex<String>>,
}

impl RawServer {
    pub(super) fn on(
        address: &str,
        answer: impl Fn(&mut TcpStream) + Send + Sync + 'static,
    ) -> Option<Self> {
        let listener = TcpListener::bind(address).ok()?;
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(String::new()));
        let (shared, answer) = (Arc::clone(&heads), Arc::new(answer));
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let (heads, answer) = (Arc::clone(&shared), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut reader = BufReader::new(connection);
                    let mut line = String::new();
                    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {}
                    heads.lock().unwrap().push_str(&line);
                    answer(reader.get_mut());
                });
            }
        });
        Some(Self { address, heads })
    }

    pub(super) fn start(answer: &'static str) -> Self {
        let write = move |connection: &mut TcpStream| {
            let _ = connection.write_all(answer.as_bytes());
        };
        Self::on("127.0.0.1:0", write).unwrap()
    }

    pub(super) fn heads(&self) -> String {
        self.heads.lock().unwrap().clone()
    }
}
