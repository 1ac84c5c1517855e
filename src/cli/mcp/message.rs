//! Messages as they arrive. One that is not JSON, or names a member twice, gets an error and never reaches the server.

use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, transport};
use serde_json::Value;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
    BufReader, DuplexStream, duplex,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use ghost_tools::json::Json;

/// No message is longer.
const MAX_MESSAGE_BYTES: usize = transport::async_rw::DEFAULT_MAX_LINE_LENGTH;

/// How many bytes wait between the check and the server.
const PIPE_BYTES: usize = 64 * 1024;

/// How many refusals wait until the client reads them; it sends no more until then.
const MAX_REFUSALS: usize = 64;

/// Checks one message.
///
/// # Errors
/// Returns the answer: a parse error without an id, or an invalid request with the id of the message.
pub(super) fn check(message: &[u8]) -> Result<(), Box<ServerJsonRpcMessage>> {
    let Err(error) = serde_json::from_slice::<Json>(message) else { return Ok(()) };
    if !error.is_data() {
        let why = format!("the message is no JSON that can be read: {error}");
        return Err(Box::new(ServerJsonRpcMessage::error(ErrorData::parse_error(why, None), None)));
    }
    // Readers differ in which of two members of one name counts.
    let id = serde_json::from_slice::<Value>(message).ok().and_then(|message| message.get("id").cloned());
    let id: Option<RequestId> = id.and_then(|id| serde_json::from_value(id).ok());
    let refusal = ServerJsonRpcMessage::error(ErrorData::invalid_request(error.to_string(), None), id);
    Err(Box::new(refusal))
}

/// Lines of a client, each checked before the server reads it.
pub(super) struct Checked<W: AsyncWrite> {
    server: AsyncRwTransport<RoleServer, DuplexStream, W>,
    refusals: mpsc::Receiver<ServerJsonRpcMessage>,
    tasks: JoinSet<()>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Checked<W> {
    /// Reads from a client until it goes away.
    pub(super) fn new(input: impl AsyncRead + Send + Unpin + 'static, output: W) -> Self {
        let (to_server, from_client) = duplex(PIPE_BYTES);
        let (refuse, refusals) = mpsc::channel(MAX_REFUSALS);
        let mut tasks = JoinSet::new();
        tasks.spawn(pass_on(BufReader::new(input), to_server, refuse));
        Self { server: AsyncRwTransport::new(from_client, output), refusals, tasks }
    }
}

/// Passes good lines on, and a refusal for each other one. An empty line says nothing.
async fn pass_on(
    mut input: impl AsyncBufRead + Send + Unpin,
    mut server: DuplexStream,
    refuse: mpsc::Sender<ServerJsonRpcMessage>,
) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = u64::try_from(MAX_MESSAGE_BYTES).unwrap_or(u64::MAX);
        let read = (&mut input).take(limit).read_until(b'\n', &mut line).await;
        if !read.is_ok_and(|length| length > 0) {
            return;
        }
        let checked = if line.last() == Some(&b'\n') {
            if line.trim_ascii().is_empty() { continue } else { check(&line) }
        } else if line.len() < MAX_MESSAGE_BYTES {
            // The client went away in the middle of a message.
            return;
        } else if skip_line(&mut input).await {
            let why = format!("the message is longer than {MAX_MESSAGE_BYTES} bytes");
            Err(Box::new(ServerJsonRpcMessage::error(ErrorData::invalid_request(why, None), None)))
        } else {
            return;
        };
        let passed = match checked {
            Ok(()) => server.write_all(&line).await.is_ok(),
            Err(refusal) => refuse.send(*refusal).await.is_ok(),
        };
        if !passed {
            return;
        }
    }
}

/// Reads to the end of the line; `false` if the client goes away before it.
async fn skip_line(input: &mut (impl AsyncBufRead + Send + Unpin)) -> bool {
    loop {
        let Ok(waiting) = input.fill_buf().await else { return false };
        let (length, end) = match waiting.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (waiting.len(), false),
        };
        if length == 0 {
            return false;
        }
        input.consume(length);
        if end {
            return true;
        }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Checked<W> {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.server.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            tokio::select! {
                biased;
                Some(refusal) = self.refusals.recv() => {
                    // This may be dropped at any moment, and the answer must not be.
                    let answer = self.server.send(refusal);
                    self.tasks.spawn(async move { drop(answer.await) });
                    while self.tasks.try_join_next().is_some() {}
                }
                message = self.server.receive() => return message,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.server.close().await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn answer(message: &[u8]) -> Value {
        serde_json::to_value(check(message).unwrap_err()).unwrap()
    }

    #[test]
    fn what_is_no_json_is_a_parse_error_without_an_id() {
        let nested = "[".repeat(5_000);
        for message in
            [&b"x"[..], b"{", b"\xff\xfe{}", b"{\"id\":1,\"a\":\"\xff\"}", nested.as_bytes(), b"{} {}"]
        {
            let answer = answer(message);
            assert_eq!(
                (&answer["error"]["code"], answer["id"].is_null()),
                (&json!(-32700), true),
                "{answer}"
            );
        }
    }

    #[test]
    fn a_member_that_stands_twice_refuses_the_request_that_has_the_id() {
        for message in [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{"command":"ls","command":"reboot"}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}"#,
        ] {
            let answer = answer(message.as_bytes());
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(7)), "{answer}");
        }
        assert!(check(br#"{"jsonrpc":"2.0","id":7,"params":{"a":{"b":1},"c":{"b":2}}}"#).is_ok());
    }
}
