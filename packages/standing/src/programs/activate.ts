import {
  clearDueTasks,
  type Executor,
  type NewDueTask,
  putDueTasks,
  type StandingPauseReason,
  type StandingProgramRecord,
  standingProgramsForProject,
} from "@svc/db";
import type { Definition } from "../definition/definition.ts";
import { fireTimeOf } from "../engine/fire.ts";
import { occurrencesOf } from "../schedule/schedule.ts";

/** A version that is to run from now on. */
export type Activation = {
  readonly version: number;
  readonly title: string;
  readonly definition: Definition;
  readonly nowMs: number;
};

/** Pauses that another version ends. */
const adoptable: ReadonlySet<StandingPauseReason> = new Set(["key_revoked", "approval", "drift"]);

/** Lets a locked program run a version from now on. One that somebody paused, or that failed, stays paused. */
export async function activate(
  tx: Executor,
  program: StandingProgramRecord,
  { version, title, definition, nowMs }: Activation,
): Promise<void> {
  const { id, projectId, state, pauseReason } = program;
  const nextAt = occurrencesOf(definition.schedule)(nowMs) ?? null;
  const isAdopted = state === "paused" && adoptable.has(pauseReason);
  const isPaused = !isAdopted && (state === "paused" || (state === "pending" && pauseReason === "requested"));
  await standingProgramsForProject(tx, projectId).change(id, {
    ...{ version, pendingVersion: 0, title, nextAt, updatedAt: nowMs },
    state: isPaused ? "paused" : nextAt === null ? "ended" : "active",
    ...(isAdopted && { pauseReason: "", pauseDetail: "", failuresInRow: 0 }),
  });
  await clearDueTasks(tx, id, ["fire"]);
  if (!isPaused) await arm(tx, program, { nextAt, definition, nowMs, admits: isAdopted });
}

/** Makes a program due: its schedule at its next time and, with `admits`, what waits at once. */
export async function arm(
  tx: Executor,
  { id: ownerId, projectId }: Pick<StandingProgramRecord, "id" | "projectId">,
  parts: {
    readonly nextAt: number | null;
    readonly definition: Definition;
    readonly nowMs: number;
    readonly admits: boolean;
  },
): Promise<void> {
  const { nextAt, definition, nowMs, admits } = parts;
  const task = { ownerId, projectId, subject: "" };
  const dueAt = fireTimeOf(ownerId, nextAt, definition.schedule.jitterMs);
  const tasks: NewDueTask[] = [
    ...(admits ? [{ ...task, kind: "admit" as const, dueAt: nowMs }] : []),
    ...(dueAt === null ? [] : [{ ...task, kind: "fire" as const, dueAt }]),
  ];
  await putDueTasks(tx, tasks);
}
