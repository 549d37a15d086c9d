/**
 * Where a job stands. `simulating`: its twin runs first. `pending_plan_approval`: people decide on the plan. `queued`: accepted.
 * `running`: a driver moves it on. `parked`: waits for a person or a time; `park.reason` says which. `compensating`: its saga
 * undoes. From `succeeded` on, an end: finishedAt and receipt are final. The transitions stand in packages/jobs.
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

/** Who receives the events of a post: the projects whose account it names, or every project of the deployment. */
export const audiences = ["accounts", "projects"] as const;

/**
 * What is done with a job's program. `live`: it is run. `simulate`: it is run, and no write is sent. `rehearse`: nothing of it is run;
 * people are asked whether a standing program may run it.
 */
export const jobModes = ["live", "simulate", "rehearse"] as const;

/** What is done with a job's program. */
export type JobMode = (typeof jobModes)[number];

/** How a row stands in a set: `in` for sets that are only read; of a map, how its calls ended. */
export const setRowStates = ["in", "ok", "failed", "skipped", "unknown"] as const;

/** What became of an undo entry. */
export const undoStates = ["armed", "done", "failed"] as const;

/**
 * Kinds of work that is due: `run` moves a job on, `deadline` ends it, `hop` passes an ask on, `reach` tells a contact of it,
 * `publish` sends it to ask endpoints.
 */
export const jobTaskKinds = ["run", "deadline", "hop", "reach", "publish"] as const;

/** What kind of work a task is. */
export type JobTaskKind = (typeof jobTaskKinds)[number];

/**
 * What an answer decides: `judge` a step, `failed` and `unknown` the rows of a map, `approval`, `confirm` whether a job begins that another
 * person than its caller confirms, or one of the service's own points.
 */
export const askKinds = ["judge", "failed", "unknown", "approval", "confirm", "in_doubt", "undo_stuck"] as const;

/** What an answer decides. */
export type AskKind = (typeof askKinds)[number];

/** How a question stands. Only `pending` goes on, to one of the others. */
export const askStates = ["pending", "answered", "defaulted", "withdrawn"] as const;

/** What an answer may pick. */
export const askContinuations = ["proceed", "retry-with", "skip", "abort"] as const;

/** What an answer may pick. */
export type AskContinuation = (typeof askContinuations)[number];

/**
 * Where a connected account stands. `pending`: waits for consent. `active`: calls are made with it. `expired`: the app refused
 * its credential, or it ran out. `superseded`: a newer account of its entity took its place. `revoked`: deleted. Only the first
 * two go on: pending to active, active to expired (and back by a refresh that works again); each of them ends as superseded or
 * revoked.
 */
export const connectedAccountStates = ["pending", "active", "expired", "superseded", "revoked"] as const;

/** Where a connected account stands. */
export type ConnectedAccountState = (typeof connectedAccountStates)[number];

/** `events` for subscriptions; `asks` for the endpoints that a project's questions to people are published to. */
export const subscriptionKinds = ["events", "asks"] as const;

/**
 * Why a subscription is inactive: empty while it is active, `deactivated` by a caller, `failing` or `gone`; `revoked` where the key or grant
 * that an agent made it with ended, or was narrowed: it goes at the next sweep.
 */
export const inactiveReasons = ["", "deactivated", "failing", "gone", "revoked"] as const;

/**
 * `event`; `test` for what SendTestEvent makes, `ask` for a question's publication and `notice` for what a standing program tells, which stand
 * in no list; `swept` for what is
 * left of an event past its retention as long as its dedupe key must be remembered: no call reads it.
 */
export const eventKinds = ["event", "test", "ask", "notice", "swept"] as const;

/** What an event is. */
export type EventKind = (typeof eventKinds)[number];

/** How a delivery stands; the two latter are final. */
export const deliveryStates = ["pending", "delivered", "dead_letter"] as const;

/** Why a verified post became no event. */
export const quarantineReasons = ["no_trigger", "invalid_payload", "no_project"] as const;

/** What a key may do in its project. */
export const keyRoles = ["member", "approver"] as const;

/** The least that a job's plan is held for. */
export const planApprovals = ["never", "destructive", "always"] as const;

/** The least that a job's plan is held for. */
export type StoredPlanApproval = (typeof planApprovals)[number];

/** What a tool does to the data of its app, the least first. */
export const accessClasses = ["read", "write", "destructive"] as const;

/** What a tool does to the data of its app. */
export type StoredAccessClass = (typeof accessClasses)[number];

/**
 * What becomes of a call; the same set in jobs. Nothing was sent: `held` (destructive, unconfirmed), `invalid_arguments`,
 * `no_account`, `missing_scope`, `not_callable`, `not_bound`; nothing was executed: `account_unusable`, `rate_limited`,
 * `unreachable`. `timeout` is a read's; a write whose answer never came is `outcome_unknown`.
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

/** One of the outcomes of a call. */
export type CallOutcome = (typeof callOutcomes)[number];

/** The outcomes of calls that went wrong. */
export const callFailures = callOutcomes.filter((outcome) => outcome !== "ok");

/** When a hook is asked about a call: before it is sent, or after. */
export const hookPhases = ["before", "after"] as const;

/** When a hook is asked. */
export type HookPhase = (typeof hookPhases)[number];

/** What a hook said of a call; `failed`: nothing that counts, and the call did not go on. */
export const hookDecisions = ["allow", "edit", "refuse", "failed"] as const;

/** How a call of the ledger stands: `running` from before a write is sent until its outcome is known, then that outcome. */
export const callStates = ["running", ...callOutcomes] as const;

/** How a standing program stands. `pending`: its first version waits for approval. `ended`: nothing of it is due any more. */
export const standingStates = ["pending", "active", "paused", "ended"] as const;

/** How a standing program stands. */
export type StandingState = (typeof standingStates)[number];

/** Why a standing program is paused; empty while it is not. */
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
 * Whether people approved a version of a standing program. Empty: its plan needs no approval. `pending`: they are asked. `granted`: for
 * all its runs. `rejected`: they declined, or could not be asked. `superseded`: another version was made before they decided.
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
