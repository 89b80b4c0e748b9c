//! The desk: questions that people on the same machine can answer.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use runward_engine::{Approver, Asking, Peers, Said};
use runward_model::{Answer, Question, QuestionId};
use tokio::net::UnixListener;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::AbortHandle;

use super::connection;
use super::socket_directory::{SocketDirectory, fresh_name};
use super::wire::{Open, Report};

/// More connections than this wait for each other.
const CONNECTIONS: usize = 16;

/// Takes answers from `runward approvals` over a private socket. The socket is there from the first question on.
#[derive(Clone, Debug)]
pub struct LocalDesk(Arc<Desk>);

#[derive(Debug)]
struct Desk {
    directory: PathBuf,
    notice: Duration,
    /// Who tells commands from people.
    peers: Peers,
    open: Mutex<BTreeMap<QuestionId, PendingQuestion>>,
    listening: Mutex<Option<Listening>>,
}

#[derive(Debug)]
struct PendingQuestion {
    question: Arc<Question>,
    since: Instant,
    answer: oneshot::Sender<Said>,
    /// Whether somebody has been shown it.
    seen: watch::Sender<bool>,
}

/// A socket that is there until this is dropped.
#[derive(Debug)]
struct Listening {
    place: SocketDirectory,
    name: String,
    task: AbortHandle,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
        self.place.remove(&self.name);
    }
}

impl LocalDesk {
    /// With its socket in this directory, which is made when it is first needed. A question that nobody looks at within
    /// `notice` is taken back: nobody is there.
    pub fn new(directory: impl Into<PathBuf>, notice: Duration, peers: Peers) -> Self {
        LocalDesk(Arc::new(Desk {
            directory: directory.into(),
            notice,
            peers,
            open: Mutex::default(),
            listening: Mutex::default(),
        }))
    }

    /// Listens, unless it does and its socket is still there.
    fn listen(&self) -> io::Result<()> {
        let mut listening = self.0.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if listening.as_ref().is_some_and(|now| now.place.holds(&now.name) && !now.task.is_finished()) {
            return Ok(());
        }
        let place = SocketDirectory::make(&self.0.directory)?;
        super::client::clean(&place);
        let name = fresh_name();
        // Found only once it listens: before that it would look like one that nobody listens to.
        let draft = format!("{name}.new");
        let listener = UnixListener::bind(place.at(&draft))?;
        std::fs::set_permissions(place.at(&draft), std::fs::Permissions::from_mode(0o600))?;
        place.rename(&draft, &name)?;
        let desk = Arc::downgrade(&self.0);
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        let task = tokio::spawn(async move {
            while let (Ok((stream, _)), Ok(room)) =
                (listener.accept().await, room.clone().acquire_owned().await)
            {
                let Some(desk) = desk.upgrade().map(LocalDesk) else { return };
                tokio::spawn(async move {
                    connection::serve(stream, &desk).await;
                    drop(room);
                });
            }
        });
        *listening = Some(Listening { place, name, task: task.abort_handle() });
        Ok(())
    }

    pub(super) fn peers(&self) -> &Peers {
        &self.0.peers
    }

    /// Everything that is open, the oldest first.
    pub(super) fn questions(&self) -> Report {
        let mut open: Vec<Open> = self
            .open()
            .values()
            .map(|waiting| {
                waiting.seen.send_replace(true);
                let question = waiting.question.as_ref().clone();
                Open { question, waiting_seconds: waiting.since.elapsed().as_secs() }
            })
            .collect();
        open.sort_by_key(|open| std::cmp::Reverse(open.waiting_seconds));
        Report::Questions { server: std::process::id(), questions: open }
    }

    /// Takes an answer, once.
    pub(super) fn answer(&self, id: &QuestionId, said: Said) -> Report {
        let mut open = self.open();
        let Some(waiting) = open.get(id) else { return Report::Unknown };
        if said.answer == Answer::AlwaysAllowPrefix && waiting.question.prefix.is_none() {
            let why = "no prefix is on offer for this one; allow it once or for the session".to_owned();
            return Report::Refused { why };
        }
        match open.remove(id).map(|waiting| waiting.answer.send(said)) {
            Some(Ok(())) => Report::Taken,
            _ => Report::Unknown,
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<QuestionId, PendingQuestion>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Approver for LocalDesk {
    fn way(&self) -> &'static str {
        "runward approvals"
    }

    fn ask(&self, question: Arc<Question>) -> Asking {
        let desk = self.clone();
        Box::pin(async move {
            desk.listen().map_err(|error| format!("nobody can be asked on this machine ({error})"))?;
            let ((answer, answered), (seen, notice)) = (oneshot::channel(), watch::channel(false));
            let id = question.id.clone();
            desk.open().insert(id.clone(), PendingQuestion { question, since: Instant::now(), answer, seen });
            let _open = OpenQuestion { desk: &desk, id };
            tokio::select! {
                biased;
                said = answered => said.map_err(|_| "the question was taken back".to_owned()),
                () = unnoticed(notice, desk.0.notice) => Err(format!(
                    "nobody is there to ask: nobody looked at it with `runward approvals list` within {} s",
                    desk.0.notice.as_secs()
                )),
            }
        })
    }
}

/// Ends when nobody has looked in time.
async fn unnoticed(mut seen: watch::Receiver<bool>, notice: Duration) {
    if tokio::time::timeout(notice, seen.wait_for(|seen| *seen)).await.is_ok_and(|seen| seen.is_ok()) {
        std::future::pending::<()>().await;
    }
}

/// Closes a question when nobody waits for its answer any more.
struct OpenQuestion<'a> {
    desk: &'a LocalDesk,
    id: QuestionId,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.desk.open().remove(&self.id);
    }
}
