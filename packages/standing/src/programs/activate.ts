import type { Executor } from "@svc/db/connect";
import type { StandingPauseReason } from "@svc/db/schema/words";
import { armBackfill } from "@svc/db/standing/backfills";
import { clearDueTasks, type StandingProgramRecord, standingProgramsForProject } from "@svc/db/standing/programs";
import { putDueTasks } from "@svc/db/standing/settle-tasks";
import type { NewDueTask } from "@svc/db/standing/task";
import type { Definition, Source } from "../definition/definition.ts";
import { fireTimeOf, isOver, taskKindOf } from "../schedule/due.ts";
import { isListening, listen, stopListening } from "./listen.ts";

/** A version that is to run from now on. */
export type Activation = {
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
    readonly source: Source;
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
