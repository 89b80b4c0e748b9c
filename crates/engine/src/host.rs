//! The machine that runs commands, and the way in above it.

use std::fmt::Debug;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;

use runward_approval::Conversation;
use runward_model::wire::{Launch, Opened};
use runward_model::{Abilities, Refusal, Request};
use runward_process::{Child, Error, Peers, Spawner, Stdio};

use crate::session::Session;
use crate::watch::Watch;

/// Something that is waited for. Only starting is dispatched like this: bytes go through enums, never through a trait.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What takes a request and gives a session, wherever the command then runs. What judges a command has to be next to the
/// files that the command speaks of, so a worker elsewhere is a whole engine and this is what stands for it here.
pub trait Executor: Debug + Send + Sync {
    /// Takes a request down the whole path; once it returns, the command runs, and whoever has the session holds it.
    fn start<'a>(
        &'a self,
        request: Request,
        conversation: &'a Conversation,
        watch: Watch,
    ) -> Pending<'a, Result<Session, Refusal>>;
}

/// What a machine is given to start.
#[derive(Debug)]
pub struct Start {
    /// What is executed.
    pub launch: Launch,
    /// The file, where it has been opened already; the path is then only told of.
    pub program: Option<(OwnedFd, Opened)>,
    /// The directory that was checked.
    pub cwd: OwnedFd,
    /// What its three descriptors are.
    pub stdio: Stdio,
}

/// The machine that runs commands, as the engine sees it. This one is a [`Spawner`] and its runner.
pub trait Host: Debug + Send + Sync {
    /// What commands can be confined by there.
    fn abilities(&self) -> Pending<'_, Result<Arc<Abilities>, Error>>;

    /// Starts a command.
    fn spawn(&self, start: Start) -> Pending<'_, Result<Child, Error>>;

    /// No command will run in this workspace any more: what its commands shared is gone with the last of them.
    fn leave(&self, workspace: u64);

    /// Who tells the commands of it that run here from everybody else.
    fn peers(&self) -> &Peers;

    /// Ends whatever still runs, and returns when it is gone.
    fn shutdown(&self) -> Pending<'_, ()>;
}

impl Host for Spawner {
    fn abilities(&self) -> Pending<'_, Result<Arc<Abilities>, Error>> {
        Box::pin(self.abilities())
    }

    fn spawn(&self, Start { launch, program, cwd, stdio }: Start) -> Pending<'_, Result<Child, Error>> {
        Box::pin(self.spawn_opened(launch, program, cwd, stdio))
    }

    fn leave(&self, workspace: u64) {
        self.leave(workspace);
    }

    fn peers(&self) -> &Peers {
        self.peers()
    }

    fn shutdown(&self) -> Pending<'_, ()> {
        Box::pin(self.shutdown())
    }
}
