import { type EventId, parseId, type SpanStart, type StandingRunId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { readTraceparents } from "@svc/db/events/find-by-key";
import { readStandingRunEvents } from "@svc/db/standing/windows";
import type { StartedRun } from "../decide/occurrence.ts";

type Run = StartedRun["run"];

/** Maximum number of events of a run with which the span of its decision is linked. */
const linksMax = 32;

/**
 * Returns for each run the trace spans (timed parts of traces) that stored the run's events, as W3C `traceparent`. Runs that no event
 * started are absent.
 */
export async function readCauses(tx: Executor, runs: readonly Run[]): Promise<ReadonlyMap<StandingRunId, string[]>> {
  const events = runs.filter(({ kind }) => kind === "event");
  const alone = new Map(events.map((run) => [run.id, eventOf(run)]));
  const collecting = events.filter(({ id }) => alone.get(id) === undefined).map(({ id }) => id);
  const collected = await readStandingRunEvents(tx, collecting, linksMax);
  const idsOf = ({ id }: Run) => collected.get(id) ?? alone.get(id) ?? [];
  const named = events.flatMap((run) => idsOf(run).map((id) => ({ projectId: run.projectId, id })));
  const found = await readTraceparents(tx, named);
  return new Map(events.map((run) => [run.id, idsOf(run).flatMap((id) => found.get(id) ?? [])]));
}

/** Returns the event that alone started a run. Undefined if the run collected events. */
function eventOf({ sourceKey }: Run): readonly EventId[] | undefined {
  const id = sourceKey.startsWith("e:") ? parseId("evt", sourceKey.slice(2)) : undefined;
  return id && [id];
}

/**
 * Describes the trace span of the decision that a run starts. `causes`: the spans that stored the run's events. A single one becomes the
 * parent of the new span; if there are several, the new span links to them.
 */
export function decisionSpan({ run, causes }: { readonly run: Run; readonly causes: readonly string[] }): SpanStart {
  const { id, projectId, programId, kind } = run;
  const [first, second] = causes;
  const facts = { "svc.run.id": id, "svc.project.id": projectId, "svc.schedule.id": programId, "svc.run.kind": kind };
  const isCaused = first !== undefined;
  const cause = second === undefined ? isCaused && { parent: first } : { parent: null, links: causes };
  return { name: "schedule decision", kind: "consumer", ...cause, facts };
}
