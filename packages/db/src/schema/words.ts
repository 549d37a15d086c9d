/**
 * Status of a job. `simulating`: a simulation run comes first. `pending_plan_approval`: people must approve the plan. `queued`: accepted.
 * `running`: a node works on it. `parked`: waits for a person or a time; `park.reason` says why. `compensating`: svc undoes the job's
 * calls, because a step failed or the job is aborted. From `succeeded` on, the job has ended, and its finishedAt and receipt (summary) are
 * final. packages/jobs defines the transitions.
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

/** One of the values of `jobStatuses`: the status of a job. */
export type JobStatus = (typeof jobStatuses)[number];

/**
 * The projects that receive the events of a webhook post. `accounts`: the projects with an account that the post names. `projects`: all
 * projects of the deployment.
 */
export const audiences = ["accounts", "projects"] as const;

/**
 * Sweeps (regular tasks) that only one node of the deployment runs. `warnings`: warns projects of quotas and webhook secrets that end soon.
 * `stored bytes`: measures the data of each project. `export`: sends records to a target outside svc.
 */
export const turnedSweeps = ["warnings", "stored bytes", "export"] as const;

/**
 * Mode of a job. `live`: its program runs. `simulate`: its program runs but sends no writes. `rehearse`: its program does not run; the job
 * asks people if a standing program (a schedule) may run it.
 */
export const jobModes = ["live", "simulate", "rehearse"] as const;

/** A mode of a job: one of the values of `jobModes`. */
export type JobMode = (typeof jobModes)[number];

/**
 * State of a row in a set (a job's list of rows). `in`: the row was only stored. The other states say how the row's calls in a `map` step
 * ended.
 */
export const setRowStates = ["in", "ok", "failed", "skipped", "unknown"] as const;

/**
 * State of an undo entry (the recorded way to undo one call of a job). `armed`: not undone yet. `done`: undone. `failed`: the undo failed.
 */
export const undoStates = ["armed", "done", "failed"] as const;

/**
 * Kinds of due work of a job. `run` continues the job. `deadline` ends it. `hop` passes an ask on to the next hop (the next stage of the
 * escalation). `reach` notifies a contact of an ask. `publish` sends an ask to ask endpoints.
 */
export const jobTaskKinds = ["run", "deadline", "hop", "reach", "publish"] as const;

/** One of the kinds of due work of a job, such as running its steps. */
export type JobTaskKind = (typeof jobTaskKinds)[number];

/**
 * Kind of a question of a job.
 * - `judge`: a step asks it at a judgment point (place where a person decides).
 * - `failed`, `unknown`: a `map` step asks it about rows that failed, or whose outcome is unknown.
 * - `approval`: it asks people to approve the plan.
 * - `confirm`: another person must confirm the start of the job.
 * - `in_doubt`: svc asks if a write was executed whose answer never came.
 * - `undo_stuck`: svc asks what to do about a call that it could not undo.
 */
export const askKinds = ["judge", "failed", "unknown", "approval", "confirm", "in_doubt", "undo_stuck"] as const;

/** A kind of question. */
export type AskKind = (typeof askKinds)[number];

/** State of a question to a person. `pending` is the first state, and only a pending question can change to another state. */
export const askStates = ["pending", "answered", "defaulted", "withdrawn"] as const;

/** Continuations, the possible answers to a question. */
export const askContinuations = ["proceed", "retry-with", "skip", "abort"] as const;

/** An answer that a person can give to a job's question. It decides how the job continues. */
export type AskContinuation = (typeof askContinuations)[number];

/**
 * State of a connected account. `pending`: waits for the person's consent. `active`: used for calls. `expired`: the credential expired, or
 * the app refused it. `superseded`: a newer account of the entity (customer or user) replaced it. `revoked`: deleted. Pending becomes
 * active. Active becomes expired, and expired becomes active again if a refresh succeeds. In the end, each account is superseded or
 * revoked.
 */
export const connectedAccountStates = ["pending", "active", "expired", "superseded", "revoked"] as const;

/** A state of a connected account. */
export type ConnectedAccountState = (typeof connectedAccountStates)[number];

/** Kind of a subscription. `events`: receives a project's events. `asks`: an endpoint that receives a project's questions. */
export const subscriptionKinds = ["events", "asks"] as const;

/**
 * Reason why a subscription is inactive. Empty while it is active.
 * - `deactivated`: a caller deactivated it.
 * - `paused`: a caller paused it, and its deliveries wait.
 * - `failing`, `gone`: its endpoint fails or answers that it is gone.
 * - `overflow`: its endpoint fails while too many deliveries are pending.
 * - `revoked`: an agent created it, and the agent's key or grant (access) ended or now allows less. The next sweep deletes the
 *   subscription.
 */
export const inactiveReasons = ["", "deactivated", "failing", "gone", "revoked", "paused", "overflow"] as const;

/**
 * Kind of an event. `test`: from SendTestEvent. `ask`: publishes a question. Lists do not contain `test` and `ask`. `swept`: what is left of
 * an event after its retention, while svc must remember its dedupe key; no call reads it.
 */
export const eventKinds = ["event", "test", "ask", "swept"] as const;

/** A kind of stored event: a received event, a test, a question to a person, or an event whose payload was deleted. */
export type EventKind = (typeof eventKinds)[number];

/** State of a delivery. `delivered` and `dead_letter` are final. */
export const deliveryStates = ["pending", "delivered", "dead_letter"] as const;

/** Reasons why svc could make no event from a verified webhook post and put the post into quarantine. */
export const quarantineReasons = ["no_trigger", "invalid_payload", "no_project", "unreadable_body"] as const;

/**
 * Purpose of an API key. Empty: an ordinary key, whose text a caller presents. Other keys have no text to present. `portal`: it belongs to a
 * portal link. `person`: it belongs to a signed-in person's seat (access) in a project.
 */
export const keyPurposes = ["", "portal", "person"] as const;

/**
 * Place where a subscription was created or a replay was started. `portal`: a customer did this in the portal of its entity (customer or
 * user). Empty for all others.
 */
export const origins = ["", "portal"] as const;

/**
 * The actor that paused a subscription: a key of the project, or a customer in the portal. The value is kept if svc deactivates the
 * subscription because the pause was too long. Empty for subscriptions that were not paused.
 */
export const pausers = ["", "project", "portal"] as const;

/**
 * The setting that says which plans (programs before they run) a person must approve: none (`never`), those with destructive calls
 * (`destructive`), or all (`always`).
 */
export const planApprovals = ["never", "destructive", "always"] as const;

/** A value of the setting that says which programs a person must approve before they run. */
export type StoredPlanApproval = (typeof planApprovals)[number];

/**
 * Kind of source from which a private toolkit (a project's own definition of an app) was made: an OpenAPI document, an MCP server, or a
 * shared toolkit that the project bound to its real app.
 */
export const toolkitSourceKinds = ["openapi", "mcp", "shared"] as const;

/** A kind of source from which a private toolkit (a project's own definition of an app) was made. */
export type ToolkitSourceKind = (typeof toolkitSourceKinds)[number];

/**
 * How a project got its own OAuth client of a toolkit. `manual`: an approver registered it at the issuer. `document`: the issuer reads it
 * from a document that svc publishes. `dynamic`: svc registered it at the issuer (RFC 7591).
 */
export const clientRegistrations = ["manual", "document", "dynamic"] as const;

/** Place of an OAuth client's secret in a token request: the Authorization header (`basic`), or the form (`post`). */
export const clientSecretPlaces = ["basic", "post"] as const;

/** Access class of a tool: its effect on the app's data, from weakest to strongest. */
export const accessClasses = ["read", "write", "destructive"] as const;

/** An access class of a tool. */
export type StoredAccessClass = (typeof accessClasses)[number];

/**
 * Outcome of a tool call, also used in jobs. svc sent nothing: `held` (destructive and not confirmed), `invalid_arguments`, `no_account`,
 * `missing_scope`, `not_callable`, `not_bound`. The app executed nothing: `account_unusable`, `rate_limited`, `unreachable`. `timeout`: a
 * read got no answer. `outcome_unknown`: a write got no answer.
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

/** An outcome of a tool call. */
export type CallOutcome = (typeof callOutcomes)[number];

/** Outcomes of failed calls: all except `ok`. */
export const callFailures = callOutcomes.filter((outcome) => outcome !== "ok");

/** Phase in which svc asks a hook (an endpoint that checks tool calls) about a call: before or after sending the call. */
export const hookPhases = ["before", "after"] as const;

/** A phase in which svc asks a hook (an endpoint that checks tool calls) about a call. */
export type HookPhase = (typeof hookPhases)[number];

/**
 * Decision of a hook (an endpoint that checks tool calls) about a call. `failed`: the hook gave no valid decision, so svc stopped the call.
 */
export const hookDecisions = ["allow", "edit", "refuse", "failed"] as const;

/**
 * State of a tool call in the ledger (record of all tool calls). A write is `running` from before svc sends it until its outcome is known.
 * After that, the state is the outcome.
 */
export const callStates = ["running", ...callOutcomes] as const;

/**
 * State of a standing program (which starts jobs on a schedule or event). `pending`: its first version waits for approval. `ended`: it has
 * no further occurrence.
 */
export const standingStates = ["pending", "active", "paused", "ended"] as const;

/** A state of a standing program (a program that starts jobs on a schedule or event). */
export type StandingState = (typeof standingStates)[number];

/** Reasons why a standing program (a schedule) is paused. Empty if it is not paused. */
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

/** A reason why a schedule is paused. */
export type StandingPauseReason = (typeof standingPauseReasons)[number];

/**
 * Approval of a version of a standing program (which starts jobs on a schedule or event). Empty: the plan needs no approval. `pending`:
 * people are asked. `granted`: approved for all runs. `rejected`: people declined, or could not be asked. `superseded`: another version was
 * created before people decided.
 */
export const standingApprovals = ["", "pending", "granted", "rejected", "superseded"] as const;

/**
 * Kind of the source that starts runs of a standing program: due times (`schedule`), events (`trigger`), or new rows of a polled list
 * (`poll`).
 */
export const standingSourceKinds = ["schedule", "trigger", "poll"] as const;

/** Kind of a schedule's source: times, events, or new rows of a polled list. */
export type StandingSourceKind = (typeof standingSourceKinds)[number];

/**
 * Cause of a run of a standing program (a schedule). `schedule`: a due time. `event`: an event. `poll`: new rows of a polled list. `hand`:
 * a caller's request to start a run.
 */
export const standingRunKinds = ["schedule", "event", "poll", "hand"] as const;

/** A cause of a run of a standing program (a schedule). */
export type StandingRunKind = (typeof standingRunKinds)[number];

/**
 * State of a run of a standing program (which starts jobs on a schedule or event).
 * - `collecting`: gathers events until its collect window (a set time) ends.
 * - `closing`: takes no more events; svc decides next if it starts.
 * - `queued`: waits to start.
 * - `started`: its job runs.
 * - `ended`: its job has ended. This state is final.
 * - `skipped`, `refused`: svc started nothing. These states are final.
 */
export const standingRunStates = ["collecting", "closing", "queued", "started", "ended", "skipped", "refused"] as const;

/** A state of a run of a standing program (a schedule). */
export type StandingRunState = (typeof standingRunStates)[number];

/** Reasons why a run of a standing program (a schedule) did not start or still waits. Empty when the run has started. */
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

/** A reason why a run of a standing program (a schedule) did not start or still waits. */
export type StandingRunReason = (typeof standingRunReasons)[number];

/**
 * Kinds of due tasks. All except `replay` belong to a standing program (a schedule).
 * - `fire`: decides about times that are due.
 * - `poll`: looks for new rows.
 * - `close`: decides about groups of events whose collection time has ended.
 * - `admit`: decides about queued runs.
 * - `cancel`: ends a job that a newer run replaces.
 * - `backfill`: decides about past times and events.
 * - `replay`: continues a throttled replay, which delivers events again slowly.
 */
export const dueTaskKinds = ["fire", "poll", "close", "admit", "cancel", "backfill", "replay"] as const;

/** Kind of a task by which svc does due work of a schedule, for example a due time or a poll. */
export type DueTaskKind = (typeof dueTaskKinds)[number];

/**
 * State of a backfill (runs for past times or events of a schedule). `running`: it starts runs, or waits until it can. `done` and
 * `cancelled` are final.
 */
export const backfillStates = ["running", "done", "cancelled"] as const;

/** A state of a backfill (runs for past times or events of a schedule). */
export type BackfillState = (typeof backfillStates)[number];

/**
 * Reasons why a backfill (runs for past times of a schedule) starts no runs at present, or ended. While it runs: it has the maximum number
 * of queued runs (`waiting`), or svc has not yet decided about part of the range (`undecided`). After a cancellation: a caller cancelled it
 * (`requested`), its schedule was deleted (`deleted`) or got another definition (`updated`), or its schedule was paused for 30 days
 * (`expired`).
 */
export const backfillReasons = ["", "waiting", "undecided", "requested", "deleted", "updated", "expired"] as const;

/** A reason why a backfill starts no runs at present, or why it ended. */
export type BackfillReason = (typeof backfillReasons)[number];

/**
 * Types of messages that svc posts to ask endpoints (endpoints that receive questions to people). An endpoint that names no type receives
 * only the questions of jobs. The types after `ask_raised` report about a standing program (a schedule). It paused itself, it missed due
 * times, its budget delays runs, or its runs cannot start.
 */
export const askEndpointEventTypes = [
  "ask_raised",
  "standing_paused",
  "standing_missed",
  "standing_budget",
  "standing_start_failed",
] as const;

/** A type of message that svc posts to ask endpoints (endpoints that receive questions to people). */
export type AskEndpointEventType = (typeof askEndpointEventTypes)[number];

/** Overlap policy: how svc handles a run that is due while other runs with its concurrency key are running. */
export const overlapPolicies = ["skip", "queueOne", "queueAll", "cancelRunning", "allow"] as const;

/** An overlap policy: what happens if a schedule is due while earlier runs are active. */
export type OverlapPolicy = (typeof overlapPolicies)[number];

/**
 * Reason why the subscription of a standing program (a schedule) to a trigger ended. Empty while the subscription is open. `paused`,
 * `deleted`: the program was paused or deleted. `updated`: a new version of the program has a new subscription.
 */
export const subscriptionEndReasons = ["", "paused", "deleted", "updated"] as const;

/** A reason why the subscription of a standing program (a schedule) to a trigger ended. */
export type SubscriptionEndReason = (typeof subscriptionEndReasons)[number];
/**
 * Outcome of the last poll of a standing program (a schedule). `ok`: the poll read the whole list. `more`: the poll read a part, and the
 * next poll continues at once. `limited`: a call limit prevented the poll. `failed`: a read failed.
 */
export const pollOutcomes = ["ok", "more", "limited", "failed"] as const;

/** An outcome of a poll of a standing program (a schedule). */
export type PollOutcome = (typeof pollOutcomes)[number];

/** State of a throttled replay. `running`: queues deliveries, or waits until it can. `done` and `cancelled` are final. */
export const replayStates = ["running", "paused", "done", "cancelled"] as const;

/** A state of a throttled replay. */
export type ReplayState = (typeof replayStates)[number];

/**
 * Why a throttled replay queues no deliveries.
 * - `backoff`: the endpoint is in backoff. `pending`: the maximum of deliveries is pending. `inactive`: the subscription is inactive.
 * - `quota`: the project's quota of pending deliveries is reached.
 * - Cancelled: by a caller (`requested`), because the subscription was deleted (`deleted`), or after too long a pause (`expired`).
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

/** A reason why a throttled replay queues no deliveries at present, or why it was cancelled. */
export type ReplayReason = (typeof replayReasons)[number];

/**
 * Right that a console link gives to its holder.
 * - `sign_in`: sign in to the console with the link's key.
 * - `portal`: open the portal with the link's key, until the link expires.
 * - `answer`: answer one question as one contact. `connect`: connect one account. `confirm`: confirm one call.
 */
export const linkPurposes = ["sign_in", "answer", "connect", "confirm", "portal"] as const;

/** Use of a data key. `seal`: it encrypts values. `digest`: it computes keyed digests, by which svc recognizes equal values. */
export const dataKeyUses = ["seal", "digest"] as const;

/**
 * State of the rotation of a vault key (the replacement of the key that encrypts secrets).
 * - `announced`: the new data keys exist.
 * - `distributing`: nodes read the new data keys.
 * - `resealing`: all nodes encrypt with the new data keys. svc scans the tables repeatedly and encrypts old values again.
 * - `done`: the last scan found no old value, and the old vault keys are refused.
 */
export const vaultRotationStates = ["announced", "distributing", "resealing", "done"] as const;

/**
 * Kind of a token of a grant (a person's permission for an agent). `access`: for calls. `refresh`: can be exchanged once for a new token of
 * each kind.
 */
export const grantTokenKinds = ["access", "refresh"] as const;

/** Actor of an audit entry: the administrator, a key, a job, a signed-in person, a person with a link, or svc itself. */
export type AuditActor = "admin" | "key" | "job" | "person" | "link" | "service";

/** Scope of an erasure (deletion of all data): one entity (customer or user) of a project, or the whole project with its data. */
export const erasureKinds = ["entity", "project"] as const;

/**
 * State of an erasure (the deletion of all data of a customer or project). `running`: it deletes rows. `waiting`: it waits for jobs to end,
 * or for the start of the last scan of all tables. `done`: a complete scan found nothing to delete.
 */
export const erasureStates = ["running", "waiting", "done"] as const;

/** Kinds of things whose failures svc counts in groups with the same cause. */
export const failureKinds = ["call", "delivery", "job"] as const;

/**
 * State of a move of a project to another cell. Empty: the project works here. `moving`: it is being copied to another cell. `moved`: it
 * works in another cell, and its rows here are an old copy. `arriving`: it was copied to here and does not work here yet.
 */
export const projectHolds = ["", "moving", "moved", "arriving"] as const;

/** A state of a move of a project to another cell. */
export type ProjectHold = (typeof projectHolds)[number];
