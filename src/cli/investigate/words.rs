//! What whoever sits at the terminal types while the session works.

use std::io::IsTerminal as _;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::{Mutex, MutexGuard, mpsc};

use ghost_investigate::event::Instruction;

/// The keyboard has one owner at a time: whoever listens to words, or a question.
#[derive(Debug, Clone, Default)]
pub(super) struct Keyboard(Arc<Mutex<()>>);

impl Keyboard {
    /// Takes the keyboard away from whoever listens, for a question.
    pub(super) async fn take(&self) -> MutexGuard<'_, ()> {
        self.0.lock().await
    }

    /// Listens to lines until nobody wants them any more. What does not come from a terminal is left for the questions.
    pub(super) fn listen(&self) -> mpsc::Receiver<String> {
        let (send, receive) = mpsc::channel(8);
        if std::io::stdin().is_terminal() {
            let keyboard = self.clone();
            // It ends with the program: nothing can wake a thread that waits for a key.
            drop(std::thread::spawn(move || keyboard.forward(&send)));
        }
        receive
    }

    fn forward(&self, send: &mpsc::Sender<String>) {
        while !send.is_closed() {
            let line = {
                let _held = self.0.blocking_lock();
                if is_ready() { read_line() } else { Typed::Nothing }
            };
            match line {
                Typed::Nothing => std::thread::yield_now(),
                Typed::Line(line) => drop(send.blocking_send(line)),
                Typed::End => return,
            }
        }
    }
}

/// Waits a moment for a line.
fn is_ready() -> bool {
    let input = std::io::stdin();
    let mut ready = [PollFd::new(&input, PollFlags::IN)];
    let moment = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    poll(&mut ready, Some(&moment)).is_ok_and(|count| count > 0)
}

/// What came from the keyboard.
enum Typed {
    /// A line; it may be empty.
    Line(String),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    End,
}

fn read_line() -> Typed {
    let mut bytes = [0_u8; 4096];
    match rustix::io::read(std::io::stdin(), &mut bytes) {
        Ok(0) => Typed::End,
        Ok(length) => {
            let line = bytes.get(..length).unwrap_or_default();
            Typed::Line(String::from_utf8_lossy(line).trim().to_owned())
        }
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Typed::Nothing,
        Err(_) => Typed::End,
    }
}

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// Words for the session.
    Words(Instruction, String),
    /// Where does it stand?
    Status,
    /// What can be said?
    Help,
}

/// Reads a line.
pub(super) fn read(line: &str) -> Input {
    match line.trim().to_ascii_lowercase().trim_end_matches(['.', '!', '?']) {
        "stop" | "quit" | "abort" => Input::Words(Instruction::Stop, line.to_owned()),
        "report" | "report now" => Input::Words(Instruction::Report, line.to_owned()),
        "status" => Input::Status,
        "help" => Input::Help,
        _ => Input::Words(Instruction::Steer, line.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_words_are_orders_and_all_others_are_for_the_investigation() {
        assert_eq!(read("Stop!"), Input::Words(Instruction::Stop, "Stop!".to_owned()));
        assert_eq!(read("report now"), Input::Words(Instruction::Report, "report now".to_owned()));
        assert_eq!(read("status"), Input::Status);
        let words = "do not stop at the NSG";
        assert_eq!(read(words), Input::Words(Instruction::Steer, words.to_owned()));
    }
}
