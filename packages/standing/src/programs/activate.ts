import type { ProjectId, StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { StandingPauseReason, StandingSourceKind, SubscriptionEndReason } from "@svc/db/schema/words";
import { armBackfill } from "@svc/db/standing/backfills";
import { clearDueTasks, type StandingProgramRecord, standingProgramsForProject } from "@svc/db/standing/programs";
import { type NewDueTask, putDueTasks } from "@svc/db/standing/task";
import {
  closeTriggerSubscription,
  countTriggerSubscriptions,
  openTriggerSubscription,
} from "@svc/db/standing/trigger-subscriptions";
import type { Definition, ProgramSource } from "../definition/definition.ts";
import { standingFaults } from "../errors.ts";
import { fireTimeOf, isOver } from "../schedule/due.ts";

/** A program that may listen. */
type Listening = { readonly id: StandingProgramId; readonly projectId: ProjectId };

/** Programs of a project that may listen to one trigger: each event is looked at for every one of them. */
const listenersMax = 200;

/** Lets an active program hear the events that a version of it is for; nothing for any other source. Throws STANDING_PROGRAMS_TOO_MANY. */
async function listen(
  tx: Executor,
  { id: programId, projectId, version }: Listening & { readonly version: number },
  source: ProgramSource,
): Promise<void> {
  if (source.kind !== "trigger") return;
  const { slug: triggerSlug } = source;
  if ((await countTriggerSubscriptions(tx, projectId, triggerSlug)) >= listenersMax) {
    throw standingFaults.STANDING_PROGRAMS_TOO_MANY(listenersMax, triggerSlug);
  }
  await openTriggerSubscription(tx, { programId, projectId, version, triggerSlug });
}

/** Lets a program hear nothing any more. What was received before, and not decided about, meets the reason. */
export async function stopListening(
  tx: Executor,
  { id: programId, projectId, sourceKind }: Listening & { readonly sourceKind: StandingSourceKind },
  { reason, nowMs }: { readonly reason: SubscriptionEndReason; readonly nowMs: number },
): Promise<void> {
  if (sourceKind === "trigger") await closeTriggerSubscription(tx, { programId, projectId, reason, nowMs });
}

/** Whether a program hears events: one that is paused, or that people are yet to approve, does not. */
export function isListening({ state }: Pick<StandingProgramRecord, "state">): boolean {
  return state !== "paused" && state !== "pending";
}

/** A version that is to run from now on. */
type Activation = {
  readonly version: number;
  readonly title: string;
  readonly definition: Definition;
  /** When it is due first. */
  readonly firstAt: number | null;
  readonly nowMs: number;
};

/** Pauses that another version ends. */
const adoptable: ReadonlySet<StandingPauseReason> = new Set(["key_revoked", "approval", "drift"]);

/** Lets a locked program run a version from now on. One that somebody paused, or that failed, stays paused. */
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
  if (isListening(program)) await stopListening(tx, program, { reason: "updated", nowMs });
  if (!isPaused) await arm(tx, { ...program, version }, { nextAt, source, nowMs, admits: isAdopted });
}

/** Lets an active program, locked, run a version of the same source where the one before stands: what is due is due still. */
export async function takeOver(
  tx: Executor,
  program: StandingProgramRecord,
  { version, title, definition, nowMs }: Omit<Activation, "firstAt">,
): Promise<void> {
  await standingProgramsForProject(tx, program.projectId).change(program.id, { version, title, updatedAt: nowMs });
  await stopListening(tx, program, { reason: "updated", nowMs });
  await listen(tx, { ...program, version }, definition.source);
}

/** Makes a program due: its schedule at its next time, its trigger from now on and, with `admits`, what waits at once. */
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
  await listen(tx, program, source);
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

/** The kind of work that is due of a source. */
function taskKindOf(source: ProgramSource): "fire" | "poll" {
  return source.kind === "poll" ? "poll" : "fire";
}
