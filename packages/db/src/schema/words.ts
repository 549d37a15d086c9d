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

/** Why a standing program is paused. */
export type StandingPauseReason = (typeof standingPauseReasons)[number];

/**
 * Approval of a standing program's version. Empty: its plan needs none. `pending`: people are asked. `granted`: for all its runs.
 * `rejected`: they declined, or could not be asked. `superseded`: another version was created before they decided.
 */
export const standingApprovals = ["", "pending", "granted", "rejected", "superseded"] as const;

/** What starts a standing program. */
export const standingSourceKinds = ["schedule", "trigger", "poll"] as const;

/** What starts a standing program. */
export type StandingSourceKind = (typeof standingSourceKinds)[number];

/** What made a run: a time of the schedule, an event, new rows of a list, or a call. */
export const standingRunKinds = ["schedule", "event", "poll", "hand"] as const;

/** What made a run. */
export type StandingRunKind = (typeof standingRunKinds)[number];

/**
 * How a run stands. `collecting`: takes events until its window closes. `closing`: takes none any more, and is decided about next. `queued`: waits to be started. `started`: its job has not
 * ended. `ended`: its job has. `skipped` and `refused`: nothing was started. The three latter are final.
 */
export const standingRunStates = ["collecting", "closing", "queued", "started", "ended", "skipped", "refused"] as const;

/** How a run stands. */
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
 * Work of a standing program: `fire` decides about occurrences, `poll` looks for new rows, `close` decides about windows whose time is over,
 * `admit` about waiting runs, `cancel` ends a job that a newer run takes the place of, `backfill` decides about occurrences of the past.
 * `replay` moves a paced replay on.
 */
export const dueTaskKinds = ["fire", "poll", "close", "admit", "cancel", "backfill", "replay"] as const;

/** What kind of work a task of a standing program is. */
export type DueTaskKind = (typeof dueTaskKinds)[number];

/** How a backfill of a standing program stands; the two latter are final. */
export const backfillStates = ["running", "done", "cancelled"] as const;

/** How a backfill stands. */
export type BackfillState = (typeof backfillStates)[number];

/**
 * Why a backfill starts nothing. While it is running: as many of its runs wait as may (`waiting`), or something of its range is still to be
 * decided about by the program itself (`undecided`). Once it is cancelled: a caller `requested` it, its program was `deleted`, or has
 * another definition (`updated`), or its program was paused for 30 days (`expired`).
 */
export const backfillReasons = ["", "waiting", "undecided", "requested", "deleted", "updated", "expired"] as const;

/** Why a backfill starts nothing. */
export type BackfillReason = (typeof backfillReasons)[number];

/** What a standing program tells ask endpoints of: it has paused by itself, has missed times, its budget holds runs back, or runs cannot start. */
export const standingNoticeKinds = [
  "standing_paused",
  "standing_missed",
  "standing_budget",
  "standing_start_failed",
] as const;

/** What a standing program tells ask endpoints of. */
export type StandingNoticeKind = (typeof standingNoticeKinds)[number];

/** What is posted to ask endpoints: those that name none are told of asks alone. */
export const askEndpointEventTypes = ["ask_raised", ...standingNoticeKinds] as const;

/** What is posted to ask endpoints. */
export type AskEndpointEventType = (typeof askEndpointEventTypes)[number];

/** What happens where a run is due while others are under way. */
export const overlapPolicies = ["skip", "queueOne", "queueAll", "cancelRunning", "allow"] as const;

/** What happens where a run is due while others are under way. */
export type OverlapPolicy = (typeof overlapPolicies)[number];

/** Why a program stopped to listen to a trigger; empty while it listens. `updated`: another version took its place. */
export const subscriptionEndReasons = ["", "paused", "deleted", "updated"] as const;

/** Why a program stopped to listen to a trigger. */
export type SubscriptionEndReason = (typeof subscriptionEndReasons)[number];
/**
 * What the last poll of a standing program came to. `ok`: it walked as far as there was something to find. `more`: it came to its cap, and
 * the next one goes on at once. `limited`: a call limit of the project let it not go. `failed`: a read failed, and nothing was moved.
 */
export const pollOutcomes = ["ok", "more", "limited", "failed"] as const;

/** What the last poll of a standing program came to. */
export type PollOutcome = (typeof pollOutcomes)[number];

/** How a paced replay stands. `running`: queues deliveries, or waits until it may. The two latter are final. */
export const replayStates = ["running", "paused", "done", "cancelled"] as const;

/** How a paced replay stands. */
export type ReplayState = (typeof replayStates)[number];

/**
 * Why a paced replay queues nothing. While it is running: the endpoint backs off (`backoff`), as much is `pending` as may be, the
 * subscription is `inactive`, or the project's quota of pending deliveries is reached (`quota`). Once it is cancelled: a caller
 * `requested` it, the subscription was `deleted`, or it was paused for too long (`expired`).
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
 * What a link of the console lets its holder do. `sign_in`: open a session with the seat of its key. `answer`: answer one ask as one
 * contact. `connect`: connect one account.
 */
export const linkPurposes = ["sign_in", "answer", "connect", "confirm"] as const;

/** What a data key is for. */
export const dataKeyUses = ["seal", "digest"] as const;

/**
 * How a rotation of the vault key stands. `announced`: its data keys are made. `distributing`: nodes read them. `resealing`: every node seals
 * with them, and what stands under others is sealed anew, pass after pass. `done`: the last pass found nothing; the old keys are refused.
 */
export const vaultRotationStates = ["announced", "distributing", "resealing", "done"] as const;

/** What a token of a grant is good for. `access`: calls. `refresh`: the next two tokens, once. */
export const grantTokenKinds = ["access", "refresh"] as const;

/** Who did what the audit log tells: the administrator, a key, a job, a person with a link, the service itself. */
export type AuditActor = "admin" | "key" | "job" | "link" | "service";

/** What is erased: one entity of a project, or the project with all that is its own. */
export const erasureKinds = ["entity", "project"] as const;

/**
 * How an erasure stands. `running`: rows are deleted. `waiting`: until jobs have ended, or until the last pass may begin. `done`: a whole
 * pass found nothing.
 */
export const erasureStates = ["running", "waiting", "done"] as const;
