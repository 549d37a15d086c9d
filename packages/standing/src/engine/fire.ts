import type { Work } from "@svc/core";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { Occurrence } from "../decide/occurrence.ts";
import { type CaughtUp, catchUp } from "../schedule/catch-up.ts";
import { fireTimeOf, jitterOf } from "../schedule/due.ts";
import type { LoadedVersion } from "../versions.ts";

/** What of a schedule is due. */
export type Fired = {
  readonly occurrences: readonly Occurrence[];
  readonly missed: CaughtUp["missed"];
  /** The next occurrence that nothing was decided about; null where there is none. */
  readonly nextAt: number | null;
  /** When it is to be decided about. */
  readonly dueAt: number | null;
};

/** Occurrences that one look goes through at most; it takes some seconds, and others have their turns. */
const lookMax = 100_000;
/** Pause between two parts of what is caught up with. */
const paceMs = 1_000;

const nothingDue: Fired = { occurrences: [], missed: undefined, nextAt: null, dueAt: null };

/** What is due of a schedule at a time, and when it is due again. */
export async function firedOf(
  program: Pick<StandingProgramRecord, "id" | "nextAt" | "previousAt">,
  { definition: { source }, next }: Pick<LoadedVersion, "definition" | "next">,
  { nowMs, work }: { readonly nowMs: number; readonly work: Work },
): Promise<Fired> {
  if (source.kind !== "schedule") return nothingDue;
  const { schedule } = source;
  const due: { atMs: number; effectiveMs: number }[] = [];
  let at: number | undefined = program.nextAt ?? undefined;
  while (at !== undefined && due.length < lookMax) {
    const atMs = at;
    const effectiveMs = at + work.run(() => jitterOf(program.id, atMs, schedule.jitterMs));
    if (effectiveMs > nowMs) break;
    due.push({ atMs, effectiveMs });
    at = await next(at, work);
  }
  const { fire, missed, later } = catchUp(due, schedule.catchUp, nowMs);
  const nextAt = later[0] ?? at ?? null;
  const isLater = later.length > 0;
  let previousAt = program.previousAt;
  const occurrences = fire.map((firing): Occurrence => {
    const occurrence = occurrenceOf(firing, previousAt);
    previousAt = firing.atMs;
    return occurrence;
  });
  return {
    occurrences,
    missed,
    nextAt,
    dueAt: isLater ? nowMs + paceMs : fireTimeOf(program.id, nextAt, source),
  };
}

function occurrenceOf({ atMs, missed }: CaughtUp["fire"][number], previousAt: number | null): Occurrence {
  return {
    kind: "schedule",
    sourceKey: `s:${atMs}`,
    fireAt: atMs,
    missed,
    previousAt,
    callerKeyId: null,
    input: undefined,
  };
}
