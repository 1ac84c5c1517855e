//! The path from the built-in `az` to a lab in this process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::local::ProgramOutput;
use crate::az::{Environment, Profile, Unreachable, az};
use crate::azure::serve::{Connection, Destination, Service};
use crate::azure::{Answer, Request};
use crate::control::Lab;
use ghost_base::{Clock as _, Timestamp, private_dir, write_private};

/// The port of the resource manager, as the profile names it. Nobody listens there.
const PORT: u16 = 8443;

/// A lab, as `az` knows the world. It must not be asked on a thread that drives the runtime.
struct LabEnvironment {
    lab: Arc<Lab>,
    runtime: Handle,
    captures: PathBuf,
}

impl Environment for LabEnvironment {
    fn ask(&mut self, request: Request) -> Result<Answer, Unreachable> {
        let base = request.base.clone();
        let authority = base.split_once("://").map_or(base.as_str(), |(_, authority)| authority);
        let nobody =
            || Unreachable(format!("nobody answers at {authority}: there is a lab and nothing else"));
        let Destination::Ours(service) =
            Destination::of(&Connection::Proxied, authority, &request.path, PORT)
        else {
            return Err(nobody());
        };
        let lab = Arc::clone(&self.lab);
        self.runtime.block_on(async move {
            let answer = match service {
                Service::Manager | Service::Identity => lab.manage(&request).await,
                Service::Blob(account) => lab.blob(account.as_deref(), &request).await,
                Service::Lab => return Err(nobody()),
            };
            // Whoever asks again finds it done: no poll depends on who was faster.
            lab.rest().await;
            Ok(answer)
        })
    }

    fn pause(&mut self, time: Duration) {
        self.lab.clock().pass(time);
    }

    fn now(&mut self) -> Timestamp {
        self.lab.clock().now()
    }

    fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let why = format!("{path} is not read: nothing of this machine is uploaded");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = below(&self.captures, Path::new(path))?;
        path.parent().map_or(Ok(()), private_dir)?;
        write_private(&path, bytes)
    }
}

/// Returns a path that lies directly in a folder.
fn below(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().filter(|_| path.parent() == Some(folder));
    name.map(|name| folder.join(name)).ok_or_else(|| {
        let why = format!("only files of {} are written", folder.display());
        io::Error::new(io::ErrorKind::PermissionDenied, why)
    })
}

/// Runs a line of `az`, its first word left out, against a lab. It waits for nothing and starts nothing.
pub(super) fn reply(lab: &Arc<Lab>, runtime: Handle, captures: &Path, words: &[String]) -> ProgramOutput {
    let base = format!("https://localhost:{PORT}");
    let about = lab.cloud().description().clone();
    let mut profile = Profile::lab(&base, &format!("{base}/msi/token"), &about.subscription);
    profile.beside(about.open_subscriptions().filter(|own| **own != about.subscription));
    let mut inside = LabEnvironment { lab: Arc::clone(lab), runtime, captures: captures.to_owned() };
    let printed = az(&mut inside, &mut profile, words);
    ProgramOutput { out: printed.out, err: printed.err, exit: i32::from(printed.exit) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_into_the_captures_folder_and_nowhere_else() {
        let folder = Path::new("/c/captures");
        assert_eq!(below(folder, Path::new("/c/captures/a.cap")).unwrap(), Path::new("/c/captures/a.cap"));
        for path in [
            "/c/a.cap",
            "/c/captures/../a.cap",
            "a.cap",
            "/c/captures/deep/a.cap",
            "/c/captures",
            "/c/captures/..",
        ] {
            assert!(below(folder, Path::new(path)).is_err(), "{path}");
        }
    }
}
