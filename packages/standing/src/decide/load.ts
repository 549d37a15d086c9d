import type { StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { DueTaskKind } from "@svc/db/schema/words";
import { lockStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import { countEndedStandingRuns, type RunToCount } from "@svc/db/standing/runs";
import { type DueTaskLease, holdDueTasks } from "@svc/db/standing/task";
import { readClosingStandingWindows } from "@svc/db/standing/windows";
import type { StandingContext } from "../context.ts";
import type { DecisionBatch, PreparedDecision, SourceDue } from "../sources/source.ts";
import type { LoadedVersion, VersionName } from "../versions.ts";
import type { ClosingWindow, DueCandidate } from "./occurrence.ts";

/** A locked standing program, and everything that is due for it in one transaction. */
export type LockedProgram = {
  readonly program: StandingProgramRecord;
  /** The current version of the program. */
  readonly version: LoadedVersion;
  /** Runs that ended. This transaction adds their results to the program's counts. */
  readonly counted: readonly RunToCount[];
  /** True if this transaction may also start waiting runs. False if it handles only new due times, events or rows. */
  readonly isAdmitted: boolean;
  /** Windows (times in which events are collected for one run) that must close now. */
  readonly closing: readonly ClosingWindow[];
  readonly sources: readonly SourceDue[];
  readonly calls: readonly DueCandidate[];
  /** A text that describes changed tools. While it is set, no run may start. Undefined if the tools have not changed. */
  readonly drifted: string | undefined;
};

/** Programs that this transaction has locked (`loaded`), and their due tasks that this node may still process (`held`). */
export type LoadedBatch = {
  readonly loaded: readonly LockedProgram[];
  readonly held: readonly DueTaskLease[];
};

/** Kinds of due tasks for which svc must load the program of the task. */
const ownKinds = ["fire", "close", "admit", "backfill"] as const;

/**
 * Locks the programs of a batch by ascending id, then their tasks, then their events. Reads what is due. Every transaction that decides or
 * changes programs must use this order of locks. Throws StaleBatchError if a program changed after the preparation.
 */
export async function loadBatch(
  context: StandingContext,
  tx: Executor,
  {
    batch,
    prepared,
    nowMs,
  }: { readonly batch: DecisionBatch; readonly prepared: PreparedDecision; readonly nowMs: number },
): Promise<LoadedBatch> {
  const tasks = [...batch.tasks, ...batch.polls.map(({ task }) => task)];
  const named = [...tasks.map(({ ownerId }) => ownerId), ...batch.calls.map(({ programId }) => programId)];
  const subscribed = prepared.sources.flatMap(({ programIds = [] }) => programIds);
  const programs = await lockStandingPrograms(tx, [...new Set([...named, ...subscribed])]);
  const held = tasks.length === 0 ? [] : await holdDueTasks(tx, tasks);
  const holders = new Set(held.map(({ kind, ownerId }) => `${kind} ${ownerId}`));
  const isHeld = (kind: DueTaskKind, id: StandingProgramId) => holders.has(`${kind} ${id}`);
  const sourcesOf = new Map<StandingProgramId, SourceDue[]>();
  for (const source of prepared.sources) {
    for (const [id, due] of await source.due(tx, { programs, isHeld }))
      sourcesOf.set(id, [...(sourcesOf.get(id) ?? []), due]);
  }
  const calls = Map.groupBy(batch.calls, ({ programId }) => programId);
  // A deleted program is kept only if it has events to skip. No other work is left for it.
  const concerned = programs.filter(({ id, deletedAt }) => {
    const isNamed = calls.has(id) || ownKinds.some((kind) => isHeld(kind, id));
    return sourcesOf.has(id) || (deletedAt === null && isNamed);
  });
  const closeIds = held.filter(({ kind }) => kind === "close").map(({ ownerId }) => ownerId);
  const closing = await stillClosing(tx, prepared, { ids: closeIds, nowMs });
  const admitted = concerned.filter(({ id, deletedAt }) => isHeld("admit", id) && deletedAt === null);
  const ended = await countEndedStandingRuns(
    tx,
    admitted.map(({ id }) => id),
  );
  const counted = Map.groupBy(ended, ({ programId }) => programId);
  const versionOf = await context.versions.get(tx, concerned.map(nameOf));
  const loaded = concerned.map((program): LockedProgram => {
    const { id } = program;
    const version = versionOf(nameOf(program));
    const own = calls.get(id) ?? [];
    return {
      ...{ program, version, isAdmitted: isHeld("admit", id), counted: counted.get(id) ?? [] },
      ...{ closing: closing.get(id) ?? [], sources: sourcesOf.get(id) ?? [], drifted: driftOf(prepared, program) },
      calls: own.map(({ occurrence }) => ({ occurrence, version, when: { isDue: true } })),
    };
  });
  return { loaded, held };
}

/**
 * Returns the collect windows (runs that gather events until a set time) that svc may close now. A window to which an event was added since
 * svc prepared this decision stays open.
 */
async function stillClosing(
  tx: Executor,
  { windows }: PreparedDecision,
  { ids, nowMs }: { readonly ids: readonly StandingProgramId[]; readonly nowMs: number },
): Promise<Map<StandingProgramId, ClosingWindow[]>> {
  if (windows.length === 0) return new Map();
  const now = await readClosingStandingWindows(tx, ids, { nowMs, most: windows.length });
  const counts = new Map(now.map(({ id, count }) => [id, count]));
  const same = windows.filter(({ run }) => counts.get(run.id) === run.count);
  return Map.groupBy(same, ({ run }) => run.programId);
}

/**
 * Returns a text about the tools of a program whose definitions have changed, or undefined if none has. The check was made before the
 * program was locked. If the program has got a newer version since then, returns undefined. The tools of the newer version are checked with
 * the next batch.
 */
function driftOf({ drifts }: PreparedDecision, { id, version }: StandingProgramRecord): string | undefined {
  const found = drifts.get(id);
  return found?.version === version ? found.detail : undefined;
}

/** Returns the ids and the number that identify a program's current version. */
function nameOf({ id: programId, projectId, version }: StandingProgramRecord): VersionName {
  return { programId, projectId, version };
}
