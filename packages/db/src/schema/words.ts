/**
 * Status of a job. `simulating`: its simulation run comes first. `pending_plan_approval`: people decide about the plan. `queued`: accepted.
 * `running`: a driver works on it. `parked`: waits for a person or a time; `park.reason` says which. `compensating`: its saga undoes calls.
 * From `succeeded` on: ended; finishedAt and receipt are final. packages/jobs defines the transitions.
 */
export const jobStatuses = [
  "simulating",
  "pending_plan_approval",
  "queued",
  "running",
  "parked",
  "compensating",
  "succeeded",
  "failed",
  "aborted",
  "rejected",
  "expired",
  "cancelled",
] as const;

/** One status of a job. */
export type JobStatus = (typeof jobStatuses)[number];

/** Recipients of a post's events: the projects whose account it names, or all projects of the deployment. */
export const audiences = ["accounts", "projects"] as const;

/**
 * Use of a job's program. `live`: it runs. `simulate`: it runs without sending writes. `rehearse`: it does not run; people are asked if a
 * standing program may run it.
 */
export const jobModes = ["live", "simulate", "rehearse"] as const;

/** Use of a job's program. */
export type JobMode = (typeof jobModes)[number];

/** State of a row in a set: `in` for sets that are only read; for a map, the result of its calls. */
export const setRowStates = ["in", "ok", "failed", "skipped", "unknown"] as const;

/** State of an undo entry. */
export const undoStates = ["armed", "done", "failed"] as const;

/**
 * Kinds of due work: `run` continues a job, `deadline` ends it, `hop` passes an ask on, `reach` notifies a contact of it, `publish` sends
 * it to ask endpoints.
 */
export const jobTaskKinds = ["run", "deadline", "hop", "reach", "publish"] as const;

/** Kind of a task's work. */
export type JobTaskKind = (typeof jobTaskKinds)[number];

/**
 * Subject of a question: `judge` a step; `failed` and `unknown` rows of a map; `approval` of a plan; `confirm` if another person confirms
 * the job's start; or one of svc's own questions.
 */
export const askKinds = ["judge", "failed", "unknown", "approval", "confirm", "in_doubt", "undo_stuck"] as const;

/** Subject of a question. */
export type AskKind = (typeof askKinds)[number];

/** State of a question. Only `pending` changes, into one of the others. */
export const askStates = ["pending", "answered", "defaulted", "withdrawn"] as const;

/** Possible answers to a question. */
export const askContinuations = ["proceed", "retry-with", "skip", "abort"] as const;

/** A possible answer to a question. */
export type AskContinuation = (typeof askContinuations)[number];

/**
 * State of a connected account. `pending`: waits for consent. `active`: used for calls. `expired`: the app refused its credential, or it
 * expired. `superseded`: a newer account of its entity replaced it. `revoked`: deleted. Pending becomes active; active becomes expired, and
 * active again if a refresh succeeds. Each of them ends as superseded or revoked.
 */
export const connectedAccountStates = ["pending", "active", "expired", "superseded", "revoked"] as const;

/** State of a connected account. */
export type ConnectedAccountState = (typeof connectedAccountStates)[number];

/** `events` for subscriptions; `asks` for the endpoints that receive a project's questions. */
export const subscriptionKinds = ["events", "asks"] as const;

/**
 * Why a subscription is inactive: empty while it is active; `deactivated` by a caller; `failing` or `gone`. `revoked`: an agent created it,
 * and its key or grant ended or was narrowed; the next sweep deletes it.
 */
export const inactiveReasons = ["", "deactivated", "failing", "gone", "revoked"] as const;

/**
 * `event`; `test` from SendTestEvent; `ask` for a published question; `notice` of a standing program; the last three are in no list.
 * `swept`: the rest of an event past its retention, while its dedupe key must be remembered; no call reads it.
 */
export const eventKinds = ["event", "test", "ask", "notice", "swept"] as const;

/** Kind of an event. */
export type EventKind = (typeof eventKinds)[number];

/** State of a delivery; the last two are final. */
export const deliveryStates = ["pending", "delivered", "dead_letter"] as const;

/** Why a verified post became no event. */
export const quarantineReasons = ["no_trigger", "invalid_payload", "no_project"] as const;

/** Role of a key in its project. */
export const keyRoles = ["member", "approver"] as const;

/** Lowest class of plans that need approval. */
export const planApprovals = ["never", "destructive", "always"] as const;

/** Lowest class of plans that need approval. */
export type StoredPlanApproval = (typeof planApprovals)[number];

/** Effect of a tool on its app's data, weakest first. */
export const accessClasses = ["read", "write", "destructive"] as const;

/** Effect of a tool on its app's data. */
export type StoredAccessClass = (typeof accessClasses)[number];

/**
 * Outcome of a call; the same set is used in jobs. Nothing was sent: `held` (destructive, unconfirmed), `invalid_arguments`, `no_account`,
 * `missing_scope`, `not_callable`, `not_bound`. Nothing was executed: `account_unusable`, `rate_limited`, `unreachable`. `timeout` is for
 * reads; a write without an answer is `outcome_unknown`.
 */
export const callOutcomes = [
  "ok",
  "held",
  "invalid_arguments",
  "no_account",
  "account_unusable",
  "missing_scope",
  "not_callable",
  "not_bound",
  "rate_limited",
  "provider_error",
  "timeout",
  "unreachable",
  "outcome_unknown",
] as const;

/** Outcome of a call. */
export type CallOutcome = (typeof callOutcomes)[number];

/** Outcomes of failed calls. */
export const callFailures = callOutcomes.filter((outcome) => outcome !== "ok");

/** When a hook is asked about a call: before or after sending. */
export const hookPhases = ["before", "after"] as const;

/** When a hook is asked. */
export type HookPhase = (typeof hookPhases)[number];

/** Decision of a hook about a call; `failed`: no valid decision, so the call was stopped. */
export const hookDecisions = ["allow", "edit", "refuse", "failed"] as const;

/** State of a call in the ledger: `running` from before a write is sent until its outcome is known, then that outcome. */
export const callStates = ["running", ...callOutcomes] as const;

/** State of a standing program. `pending`: its first version waits for approval. `ended`: it has no further occurrence. */
export const standingStates = ["pending", "active", "paused", "ended"] as const;

/** State of a standing program. */
export type StandingState = (typeof standingStates)[number];

/** Why a standing program is paused; empty if it is not. */
export const standingPauseReasons = [
  "",
  "requested",
  "failures",
  "drift",
  "key_revoked",
  "approval",
  "source_gone",
  "fail_step",
] as const;

/** Reason for the pause of a standing program. */
export type StandingPauseReason = (typeof standingPauseReasons)[number];

/**
 * Approval of a standing program's version. Empty: its plan needs none. `pending`: people are asked. `granted`: for all its runs.
 * `rejected`: they declined, or could not be asked. `superseded`: another version was created before they decided.
 */
export const standingApprovals = ["", "pending", "granted", "rejected", "superseded"] as const;

/** Kind of a standing program's source. */
export const standingSourceKinds = ["schedule", "trigger", "poll"] as const;

/** Kind of a standing program's source. */
export type StandingSourceKind = (typeof standingSourceKinds)[number];

/** Cause of a run: a time of the schedule, an event, new rows of a list, or a call. */
export const standingRunKinds = ["schedule", "event", "poll", "hand"] as const;

/** Cause of a run. */
export type StandingRunKind = (typeof standingRunKinds)[number];

/**
 * State of a run. `collecting`: takes events until its window closes. `closing`: takes no more events, and is decided next. `queued`: waits
 * to start. `started`: its job runs. `ended`: its job has ended. `skipped` and `refused`: nothing was started. The last three are final.
 */
export const standingRunStates = ["collecting", "closing", "queued", "started", "ended", "skipped", "refused"] as const;

/** State of a run. */
export type StandingRunState = (typeof standingRunStates)[number];

/** Why a run did not start, or what it waits for; empty once it is started. */
export const standingRunReasons = [
  "",
  "missed",
  "overlap",
  "superseded",
  "queue_full",
  "late",
  "rate",
  "budget",
  "project_runs",
  "quota",
  "paused",
  "deleted",
  "input_invalid",
  "key_revoked",
  "approval",
  "drift",
  "duplicate",
  "filter_error",
  "start_failed",
  "cancelled",
  "fail_step",
] as const;

/** Why a run did not start, or what it waits for. */
export type StandingRunReason = (typeof standingRunReasons)[number];

/**
 * Work of a standing program: `fire` decides about occurrences, `poll` looks for new rows, `close` decides about windows whose time is
 * over, `admit` about queued runs. `cancel` ends a job that a newer run replaces. `backfill` decides about past occurrences. `replay`
 * continues a throttled replay.
 */
export const dueTaskKinds = ["fire", "poll", "close", "admit", "cancel", "backfill", "replay"] as const;

/** Kind of a standing program's task. */
export type DueTaskKind = (typeof dueTaskKinds)[number];

/** State of a backfill; the last two are final. */
export const backfillStates = ["running", "done", "cancelled"] as const;

/** State of a backfill. */
export type BackfillState = (typeof backfillStates)[number];

/**
 * Why a backfill starts nothing. While it runs: it has the maximum of queued runs (`waiting`), or the program has yet to decide about part
 * of the range (`undecided`). After a cancellation: a caller `requested` it, its program was `deleted` or got another definition
 * (`updated`), or its program was paused for 30 days (`expired`).
 */
export const backfillReasons = ["", "waiting", "undecided", "requested", "deleted", "updated", "expired"] as const;

/** Why a backfill starts nothing. */
export type BackfillReason = (typeof backfillReasons)[number];

/** Notices of a standing program to ask endpoints: it paused itself, missed times, its budget holds runs back, or runs cannot start. */
export const standingNoticeKinds = [
  "standing_paused",
  "standing_missed",
  "standing_budget",
  "standing_start_failed",
] as const;

/** Kind of a standing program's notice. */
export type StandingNoticeKind = (typeof standingNoticeKinds)[number];

/** Types posted to ask endpoints; an endpoint without any receives asks only. */
export const askEndpointEventTypes = ["ask_raised", ...standingNoticeKinds] as const;

/** Type posted to ask endpoints. */
export type AskEndpointEventType = (typeof askEndpointEventTypes)[number];

/** Policy for a run that is due while others are running. */
export const overlapPolicies = ["skip", "queueOne", "queueAll", "cancelRunning", "allow"] as const;

/** Policy for a run that is due while others are running. */
export type OverlapPolicy = (typeof overlapPolicies)[number];

/** Why a program's subscription to a trigger ended; empty while it is open. `updated`: another version replaced it. */
export const subscriptionEndReasons = ["", "paused", "deleted", "updated"] as const;

/** Why a program's subscription to a trigger ended. */
export type SubscriptionEndReason = (typeof subscriptionEndReasons)[number];
/**
 * Outcome of a standing program's last poll. `ok`: it read everything there was. `more`: it reached its maximum, and the next poll
 * continues at once. `limited`: a call limit of the project prevented it. `failed`: a read failed, and the position did not change.
 */
export const pollOutcomes = ["ok", "more", "limited", "failed"] as const;

/** Outcome of a standing program's last poll. */
export type PollOutcome = (typeof pollOutcomes)[number];

/** State of a throttled replay. `running`: queues deliveries, or waits to. The last two are final. */
export const replayStates = ["running", "paused", "done", "cancelled"] as const;

/** State of a throttled replay. */
export type ReplayState = (typeof replayStates)[number];

/**
 * Why a throttled replay queues nothing. While it runs: the endpoint backs off (`backoff`), the maximum is `pending`, the subscription is
 * `inactive`, or the project's quota of pending deliveries is reached (`quota`). After a cancellation: a caller `requested` it, the
 * subscription was `deleted`, or it was paused for too long (`expired`).
 */
export const replayReasons = [
  "",
  "backoff",
  "pending",
  "inactive",
  "quota",
  "requested",
  "deleted",
  "expired",
] as const;

/** Why a paced replay queues nothing. */
export type ReplayReason = (typeof replayReasons)[number];

/**
 * Permission of a console link's holder. `sign_in`: open a session with the seat of its key. `answer`: answer one ask as one contact.
 * `connect`: connect one account.
 */
export const linkPurposes = ["sign_in", "answer", "connect", "confirm"] as const;

/** Purpose of a data key. */
export const dataKeyUses = ["seal", "digest"] as const;

/**
 * State of a vault key's rotation. `announced`: its data keys exist. `distributing`: nodes read them. `resealing`: all nodes seal with
 * them, and values under other keys are sealed again, pass after pass. `done`: the last pass found nothing; the old keys are refused.
 */
export const vaultRotationStates = ["announced", "distributing", "resealing", "done"] as const;

/** Purpose of a grant's token. `access`: calls. `refresh`: the next two tokens, once. */
export const grantTokenKinds = ["access", "refresh"] as const;

/** Actor of an audit entry: the administrator, a key, a job, a person with a link, or svc itself. */
export type AuditActor = "admin" | "key" | "job" | "link" | "service";

/** Scope of an erasure: one entity of a project, or the project with all its data. */
export const erasureKinds = ["entity", "project"] as const;

/**
 * State of an erasure. `running`: rows are deleted. `waiting`: for jobs to end, or for the start of the last pass. `done`: a whole pass
 * found nothing.
 */
export const erasureStates = ["running", "waiting", "done"] as const;
