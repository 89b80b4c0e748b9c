//! Approval: what a person has to say between the verdict and the plan.
//!
//! # Theory of operation
//!
//! `need` holds a verdict, and what the caller wishes, against the operator's approval policy: nothing is needed, a
//! person is, or it is refused at once. A person is asked in every way that is there ([`Approver`]): the one that a
//! call brings along, and those that the operator attached. The first answer counts; no answer is a denial. Asking
//! happens before anything is started, so no deadline of the command runs meanwhile and a denial leaves nothing behind.
//!
//! What a person said for the whole conversation is `remembered`; what they said for good becomes a rule in a file
//! of the operator's (`rules_file`) and in the policy that is in force.

mod about_hosts;
mod ask;
mod need;
mod offer;
mod question;
mod remembered;
mod rules_file;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use runward_model::{Answer, ApprovalPolicy, Confinement, Decision, Question, Refusal, Request, Verdict};
use runward_policy::{Policy, PrefixRule, Rulebook};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub use about_hosts::AboutHosts;
pub use ask::{Approver, Asking, Said};
use need::{Need, Rules};
use remembered::Remembered;
use rules_file::{Granted, append};

/// When and how people are asked.
#[derive(Clone, Debug)]
pub struct ApprovalSettings {
    /// When.
    pub policy: ApprovalPolicy,
    /// How long an answer is waited for.
    pub timeout: Duration,
    /// Where commands are written that people allow for good; `None` offers nobody to.
    pub rules_file: Option<PathBuf>,
    /// Rules of that file that also let a command be held less tightly when its caller asks for that.
    pub escalations: Vec<PrefixRule>,
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        let timeout = Duration::from_mins(5);
        ApprovalSettings {
            policy: ApprovalPolicy::default(),
            timeout,
            rules_file: None,
            escalations: Vec::new(),
        }
    }
}

/// What a call brings along for the case that a person has to be asked.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// A way to ask that only this call has.
    pub approver: Option<Arc<dyn Approver>>,
    /// Calls of one principal with the same name here share what a person approved for the session.
    pub name: Arc<str>,
    /// Any of these is cancelled when whoever called no longer waits for the answer.
    pub given_up: Vec<CancellationToken>,
    /// Whether anything that reaches this host's network could be at the other end.
    pub is_open_to_all: bool,
}

/// More questions than this are not open at the same time.
const MOST_OPEN: usize = 64;

/// Why nobody is asked where nobody ever is.
const NEVER: &str = "approval_policy is never, so nobody is asked and it was not run";

/// What the operator wants, what people said so far, and whom there is to ask.
#[derive(Debug)]
pub struct Approvals {
    settings: ApprovalSettings,
    rulebook: Rulebook,
    /// Judges whether a command may be held less tightly without asking.
    escalations: Rulebook,
    attached: Mutex<Vec<Arc<dyn Approver>>>,
    remembered: Remembered,
    open_hosts: about_hosts::OpenHosts,
    /// How many confined commands have the host's network just now.
    networked: Arc<()>,
    open: Semaphore,
    stopping: CancellationToken,
}

/// What a policy says of one piece of work.
pub type Judge<'a> = dyn Fn(&Policy) -> Verdict + Send + Sync + 'a;

/// Where questions and answers are written down. What cannot be written down does not happen.
pub trait Record: Send + Sync {
    /// A person is asked in these ways.
    fn asked<'a>(&'a self, question: &'a Question, ways: Vec<String>) -> Recorded<'a>;

    /// Somebody answered.
    fn answered<'a>(&'a self, said: &'a Said) -> Recorded<'a>;
}

/// Something that is being written down.
pub type Recorded<'a> = Pin<Box<dyn Future<Output = Result<(), Refusal>> + Send + 'a>>;

/// What would run, and what is said of it.
pub struct Case<'a> {
    /// What was asked for.
    pub request: &'a Request,
    /// The rules that were in force when it was judged.
    pub policy: &'a Policy,
    /// What a policy says of exactly this.
    pub judged: &'a Judge<'a>,
    /// What they say of it.
    pub verdict: &'a Verdict,
    /// The file to execute.
    pub program: &'a Path,
    /// Its arguments, its name first.
    pub argv: &'a [String],
    /// Where it runs.
    pub directory: &'a Path,
    /// The files that it names and that commands may write, with what is in them.
    pub tied: Vec<(PathBuf, String)>,
}

/// Why something may run, and how tightly it is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approved {
    /// That it is allowed, by whom and for what reason.
    pub verdict: Verdict,
    /// How tightly it is held.
    pub confinement: Confinement,
}

impl Approvals {
    /// Nobody has been asked yet. A question that is open when `stopping` is cancelled is answered by a refusal.
    pub fn new(settings: ApprovalSettings, rulebook: Rulebook, stopping: CancellationToken) -> Self {
        let escalations = Rulebook::new(rulebook.current().only(settings.escalations.clone()));
        Approvals {
            settings,
            rulebook,
            escalations,
            attached: Mutex::default(),
            remembered: Remembered::default(),
            open_hosts: about_hosts::OpenHosts::default(),
            networked: Arc::default(),
            open: Semaphore::new(MOST_OPEN),
            stopping,
        }
    }

    /// Another way to ask, for every call from now on.
    pub fn attach(&self, approver: Arc<dyn Approver>) {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner).push(approver);
    }

    /// Held for as long as a confined command has the host's network: it could call this server and answer for a person.
    pub fn networked(&self) -> Arc<()> {
        self.networked.clone()
    }

    /// Refuses at once what callers may not even ask for.
    pub fn unless_beyond(&self, request: &Request) -> Result<(), Refusal> {
        let policy = self.settings.policy;
        if request.wish.confinement == Confinement::Escalated && policy != ApprovalPolicy::OnRequest {
            return Err(Refusal::EscalationRefused(policy));
        }
        Ok(())
    }

    /// Whether a person is needed, and for what reason; an error says that it may not run at all.
    pub fn need(&self, case: &Case<'_>) -> Result<Option<String>, Refusal> {
        match self.need_of(case.policy, case.verdict, case.judged, case.request.wish.confinement) {
            Need::Nobody => Ok(None),
            Need::Person(reason) if self.settings.policy == ApprovalPolicy::Never => {
                Err(Refusal::NotApproved { verdict: Box::new(case.said(reason)), why: NEVER.into() })
            }
            Need::Person(reason) => Ok(Some(reason)),
            Need::Denied => Err(Refusal::Denied(case.verdict.clone())),
        }
    }

    /// What would become of work of which the policy says this, for whoever only wants to know.
    pub fn foreseen(&self, policy: &Policy, verdict: Verdict, judged: &Judge<'_>) -> Verdict {
        match self.need_of(policy, &verdict, judged, Confinement::Usual) {
            Need::Nobody | Need::Denied => verdict,
            Need::Person(reason) if self.settings.policy == ApprovalPolicy::Never => {
                Verdict { decision: Decision::Deny, reason: format!("{reason}; {NEVER}"), ..verdict }
            }
            Need::Person(reason) => Verdict { decision: Decision::Ask, reason, ..verdict },
        }
    }

    fn need_of(&self, policy: &Policy, verdict: &Verdict, judged: &Judge<'_>, how: Confinement) -> Need {
        let escalations = self.escalations.current();
        Rules { when: self.settings.policy, policy, escalations: &escalations }.need(verdict, judged, how)
    }

    /// Why it may run although a person is needed, and how tightly it is held.
    pub async fn obtain(
        &self,
        case: &Case<'_>,
        reason: String,
        conversation: &Conversation,
        record: &dyn Record,
    ) -> Result<Approved, Refusal> {
        let key = remembered::key(case, &reason, conversation);
        if self.remembered.knows(&key) {
            let said = Said { answer: Answer::ApproveForSession, by: "an earlier answer".into() };
            record.answered(&said).await?;
            return Ok(case.approved(&reason, "approved earlier for this session"));
        }
        let prefix = self.offered(case);
        let question = Arc::new(question::question(case, &reason, prefix)?);
        let refused = |why: String| Refusal::NotApproved { verdict: case.said(reason.clone()).into(), why };
        let Ok(_open) = self.open.try_acquire() else {
            return Err(refused(format!("{MOST_OPEN} questions are open already, so it was not run")));
        };
        let said = self.ask(&question, conversation, record).await?;
        let said = said.map_err(|why| refused(format!("{why}, so it was not run")))?;
        record.answered(&said).await?;
        let how = match &said.answer {
            Answer::Deny { note } => {
                let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
                return Err(refused(format!("denied by {}{note}", said.by)));
            }
            Answer::ApproveOnce => format!("approved once by {}", said.by),
            Answer::ApproveForSession => {
                self.remembered.add(key);
                format!("approved for this session by {}", said.by)
            }
            Answer::AlwaysAllowPrefix => match &question.prefix {
                None => return Err(refused("the answer allows a prefix that was not offered".into())),
                Some(prefix) => {
                    let granted = Granted {
                        prefix: prefix.clone(),
                        confinement: question.confinement,
                        tied: case.tied.clone(),
                    };
                    self.allow(granted, &said.by).await
                }
            },
        };
        self.unless_forbidden_meanwhile(case)?;
        Ok(case.approved(&reason, &how))
    }

    /// Makes a rule of a prefix, in the file and in the policy, and says what came of it.
    async fn allow(&self, granted: Granted, by: &str) -> String {
        let Some(file) = self.settings.rules_file.clone() else { return format!("approved once by {by}") };
        let (place, confinement) = (file.display().to_string(), granted.confinement);
        let rule = offer::rule(&granted.prefix, &place).map(|rule| rule.tied_to(granted.tied.clone()));
        let written = tokio::task::spawn_blocking(move || append(&file, &granted)).await;
        let written = written.map_err(|error| error.to_string()).and_then(|it| it.map_err(|e| e.to_string()));
        let rule = written.and(rule);
        match rule {
            Ok(rule) => {
                self.rulebook.amend(|policy| policy.with_rule(rule.clone()));
                if confinement == Confinement::Escalated {
                    self.escalations.amend(|policy| policy.with_rule(rule));
                }
                format!("allowed for good by {by}")
            }
            Err(error) => {
                tracing::error!(error, "a rule could not be added");
                format!("approved once by {by}, since the rule could not be added: {error}")
            }
        }
    }

    /// The rules may have become stricter while somebody thought.
    fn unless_forbidden_meanwhile(&self, case: &Case<'_>) -> Result<(), Refusal> {
        let now = self.rulebook.current();
        let verdict = (case.judged)(&now);
        match self.need_of(&now, &verdict, case.judged, case.request.wish.confinement) {
            Need::Denied => Err(Refusal::Denied(verdict)),
            Need::Nobody | Need::Person(_) => Ok(()),
        }
    }
}

impl Case<'_> {
    fn said(&self, reason: String) -> Verdict {
        Verdict { decision: Decision::Ask, reason, ..self.verdict.clone() }
    }

    fn approved(&self, reason: &str, how: &str) -> Approved {
        let verdict = self.verdict.clone();
        let verdict = Verdict {
            decision: Decision::Allow,
            reason: format!("{reason}; {how}"),
            suggest: None,
            ..verdict
        };
        Approved { verdict, confinement: self.request.wish.confinement }
    }
}
