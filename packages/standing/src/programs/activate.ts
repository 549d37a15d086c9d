import type { ProjectId, StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { StandingPauseReason, StandingSourceKind, SubscriptionEndReason } from "@svc/db/schema/words";
import { armBackfill } from "@svc/db/standing/backfills";
import {
  clearDueTasks,
  decideStandingVersion,
  loadStandingVersions,
  type StandingProgramRecord,
  standingProgramsForProject,
} from "@svc/db/standing/programs";
import { type NewDueTask, putDueTasks } from "@svc/db/standing/task";
import {
  closeTriggerSubscription,
  countTriggerSubscriptions,
  openTriggerSubscription,
} from "@svc/db/standing/trigger-subscriptions";
import type { Definition, ProgramSource } from "../definition/definition.ts";
import { standingFaults } from "../errors.ts";
import { fireTimeOf, isOver } from "../schedule/due.ts";

/** The ids that identify a program and its project, for a subscription to a trigger. */
type SubscriberName = { readonly id: StandingProgramId; readonly projectId: ProjectId };

/**
 * Maximum programs of a project that subscribe to one trigger. There is a maximum because each event is checked for each of these programs.
 */
const subscribersMax = 200;

/**
 * Subscribes an active program to its trigger, if the program starts on events. Does nothing for other programs. Throws
 * STANDING_PROGRAMS_TOO_MANY.
 */
async function subscribe(
  tx: Executor,
  { id: programId, projectId, version }: SubscriberName & { readonly version: number },
  source: ProgramSource,
): Promise<void> {
  if (source.kind !== "trigger") return;
  const { slug: triggerSlug } = source;
  if ((await countTriggerSubscriptions(tx, projectId, triggerSlug)) >= subscribersMax) {
    throw standingFaults.STANDING_PROGRAMS_TOO_MANY(subscribersMax, triggerSlug);
  }
  await openTriggerSubscription(tx, { programId, projectId, version, triggerSlug });
}

/**
 * Ends the subscription of a schedule to its trigger. `reason`: why the subscription ends. The reason also decides if events that arrived
 * before the end, but were not processed yet, still start runs.
 */
export async function unsubscribe(
  tx: Executor,
  { id: programId, projectId, sourceKind }: SubscriberName & { readonly sourceKind: StandingSourceKind },
  { reason, nowMs }: { readonly reason: SubscriptionEndReason; readonly nowMs: number },
): Promise<void> {
  if (sourceKind === "trigger") await closeTriggerSubscription(tx, { programId, projectId, reason, nowMs });
}

/** True if a program in this state is subscribed to events. False if it is paused or waits for approval. */
export function isSubscribed({ state }: Pick<StandingProgramRecord, "state">): boolean {
  return state !== "paused" && state !== "pending";
}

/** The version of a standing program (a program that starts jobs on a schedule or event) that is used from now on. */
type Activation = {
  readonly version: number;
  readonly title: string;
  readonly definition: Definition;
  /** Time at which the version is due for the first time, in epoch milliseconds. Null if it is never due, or if events start it. */
  readonly firstAt: number | null;
  readonly nowMs: number;
};

/**
 * Reasons for which svc pauses a program and which a new version removes: its key was revoked, it lacks an approval, or its tools changed.
 * Such a pause ends when the program gets another version.
 */
const adoptable: ReadonlySet<StandingPauseReason> = new Set(["key_revoked", "approval", "drift"]);

/**
 * Makes a version of a locked schedule the current one, for all runs that start from now on. If a caller or failures paused the schedule,
 * it stays paused.
 */
export async function activate(
  tx: Executor,
  program: StandingProgramRecord,
  { version, title, definition, firstAt: nextAt, nowMs }: Activation,
): Promise<void> {
  const { id, projectId, state, pauseReason } = program;
  const { source } = definition;
  const isAdopted = state === "paused" && adoptable.has(pauseReason);
  const isPaused = !isAdopted && (state === "paused" || (state === "pending" && pauseReason === "requested"));
  await standingProgramsForProject(tx, projectId).change(id, {
    ...{ version, pendingVersion: 0, title, nextAt, updatedAt: nowMs },
    state: isPaused ? "paused" : isOver(source, nextAt) ? "ended" : "active",
    sourceKind: source.kind,
    timeZone: definition.timeZone,
    ...(isAdopted && { pauseReason: "", pauseDetail: "", failuresInRow: 0 }),
  });
  await clearDueTasks(tx, id, ["fire", "poll"]);
  if (isSubscribed(program)) await unsubscribe(tx, program, { reason: "updated", nowMs });
  if (!isPaused) await arm(tx, { ...program, version }, { nextAt, source, nowMs, admits: isAdopted });
}

/**
 * Makes an active standing program (which starts jobs on a schedule or event) run another version that has the same schedule, trigger or
 * poll. Times and events that are already due stay due. The caller's transaction must hold the lock on the program.
 */
export async function takeOver(
  tx: Executor,
  program: StandingProgramRecord,
  { version, title, definition, nowMs }: Omit<Activation, "firstAt">,
): Promise<void> {
  await standingProgramsForProject(tx, program.projectId).change(program.id, { version, title, updatedAt: nowMs });
  await unsubscribe(tx, program, { reason: "updated", nowMs });
  await subscribe(tx, { ...program, version }, definition.source);
}

/**
 * Makes an active program ready to start runs: subscribes it to its trigger, and stores its due tasks. `nextAt`: time of the next run or
 * poll. `admits`: true if waiting runs and a backfill also continue.
 */
export async function arm(
  tx: Executor,
  program: Pick<StandingProgramRecord, "id" | "projectId" | "version">,
  parts: {
    readonly nextAt: number | null;
    readonly source: ProgramSource;
    readonly nowMs: number;
    readonly admits: boolean;
  },
): Promise<void> {
  const { id: ownerId, projectId } = program;
  const { nextAt, source, nowMs, admits } = parts;
  await subscribe(tx, program, source);
  const task = { ownerId, projectId, subject: "" };
  const dueAt = fireTimeOf(ownerId, nextAt, source);
  const tasks: NewDueTask[] = [
    ...(admits ? [{ ...task, kind: "admit" as const, dueAt: nowMs }] : []),
    ...(admits && source.kind === "trigger" ? [{ ...task, kind: "close" as const, dueAt: nowMs }] : []),
    ...(dueAt === null ? [] : [{ ...task, kind: taskKindOf(source), dueAt }]),
  ];
  await putDueTasks(tx, tasks);
  if (admits) await armBackfill(tx, ownerId, nowMs);
}

/**
 * Returns the kind of task with which a program's runs are started. The kind is `poll` if the program polls a list. Otherwise it is `fire`.
 */
function taskKindOf(source: ProgramSource): "fire" | "poll" {
  return source.kind === "poll" ? "poll" : "fire";
}

/**
 * Ends the pending version of a standing program (a schedule), because another version replaces it or it is no longer needed. The caller's
 * transaction must hold the lock on the program.
 */
export async function supersede(
  tx: Executor,
  { id: programId, projectId, pendingVersion: version }: StandingProgramRecord,
  nowMs: number,
): Promise<void> {
  if (version === 0) return;
  const [pending] = await loadStandingVersions(tx, [{ programId, version }]);
  await decideStandingVersion(tx, { programId, version }, { approval: "superseded" });
  // The job of the approval dry run is cancelled by a later task. Its row must not be locked here: an answer to the job locks that row
  // first and then the program, so a deadlock would be possible.
  if (pending?.rehearsalJobId === null || pending === undefined) return;
  const subject = pending.rehearsalJobId;
  await putDueTasks(tx, [{ ownerId: programId, kind: "cancel", subject, projectId, dueAt: nowMs }]);
}
