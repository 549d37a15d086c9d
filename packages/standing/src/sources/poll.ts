import type { StandingContext } from "../context.ts";
import type { DecisionContext, ProgramHold } from "../decide/decision-context.ts";
import type { DueCandidate, Occurrence, WhenResult } from "../decide/occurrence.ts";
import type { FoundRow } from "../poll/scanned-rows.ts";
import { type FinishedPoll, storePoll } from "../poll/store.ts";
import { testWhenOfRows } from "../prepare/when.ts";
import { dueCandidates, type Preparation, type Source, type SourceOutcome } from "./source.ts";

/** Maximum row ids that a program remembers. */
const rememberedMax = 100_000;

/** A finished poll (one reading of a tool's list). `candidates`: the new rows of the list for which runs may start. */
type PreparedPoll = {
  readonly polled: FinishedPoll;
  readonly candidates: readonly DueCandidate[];
  /** Number of polled rows for which the schedule's condition `when` is false. No run receives these rows. */
  readonly filtered: number;
};

/** Returns the occurrences (reasons to start a run) of the polls that this node has finished. */
export const polls: Source = async (context, batch, preparation) => {
  const prepared = new Map<string, PreparedPoll>();
  for (const polled of batch.polls) prepared.set(polled.programId, await preparePoll(context, polled, preparation));
  return {
    // A poll is ignored if the program has changed since the poll began.
    due: async (_tx, { programs, isHeld }) =>
      new Map(
        programs.flatMap(({ id, state, deletedAt, version }) => {
          const poll = prepared.get(id);
          if (poll === undefined || !isHeld("poll", id) || state !== "active" || deletedAt !== null) return [];
          if (poll.polled.loaded.record.version !== version) return [];
          return [
            [id, dueCandidates(poll.candidates, (decisions, hold) => decidePoll(decisions, poll, hold))] as const,
          ];
        }),
      ),
  };
};

async function preparePoll(
  context: StandingContext,
  polled: FinishedPoll,
  { workOf }: Preparation,
): Promise<PreparedPoll> {
  const { found, per, loaded, atMs, task } = polled;
  const matched: FoundRow[] = [];
  let faulty: { readonly when: WhenResult; rows: number } | undefined;
  const rows = found.map(({ row }) => row);
  const results = await testWhenOfRows(context, loaded, { atMs, rows }, workOf(task.projectId));
  for (const [index, row] of found.entries()) {
    const when = results[index] ?? { isDue: true };
    if ("error" in when) faulty = { when, rows: (faulty?.rows ?? 0) + 1 };
    else if (when.isDue) matched.push(row);
  }
  const groups = per === "row" ? matched.map((row) => [row]) : matched.length > 0 ? [matched] : [];
  const candidates: DueCandidate[] = groups.map((rows) => {
    const name = per === "row" ? (rows[0]?.digest ?? "") : "";
    return { occurrence: occurrenceOf(polled, name, rows, per), version: loaded, when: { isDue: true } };
  });
  if (faulty !== undefined) {
    // All rows whose condition fails with an error share one run. They fail for the same reason, and a separate run for each row would
    // count as a separate failure, so that svc would pause the program too early.
    const occurrence = { ...occurrenceOf(polled, "when", [], per), rowCount: faulty.rows };
    candidates.push({ occurrence, version: loaded, when: faulty.when });
  }
  return { polled, candidates, filtered: found.length - matched.length - (faulty?.rows ?? 0) };
}

/**
 * Returns the occurrence that starts a run with rows of a poll. A repeated poll makes occurrences with the same keys, so that no run starts
 * twice.
 */
function occurrenceOf(
  { record, atMs }: FinishedPoll,
  name: string,
  rows: readonly FoundRow[],
  per: "poll" | "row",
): Occurrence {
  const [row] = rows;
  const values = rows.map((one) => one.row);
  return {
    kind: "poll",
    sourceKey: `p:${record.polls}${name === "" ? "" : `/${name}`}`,
    fireAt: atMs,
    missed: 0,
    previousAt: null,
    callerKeyId: null,
    input: undefined,
    rowCount: rows.length,
    given: per === "row" && row !== undefined ? { row: row.row, rows: values } : { rows: values },
  };
}

/** Decides which runs start for the new rows of a poll. If the poll failed, decides if the program must be paused. */
function decidePoll(
  decisions: DecisionContext,
  { polled, candidates, filtered }: PreparedPoll,
  hold: ProgramHold | undefined,
): SourceOutcome {
  const { failures, nextAt, found, record, unknown } = polled;
  const outcome: SourceOutcome = { task: "poll", dueAt: nextAt, afterRuns: (tx) => storePoll(tx, polled) };
  decisions.nextAt = nextAt;
  if (polled.hold !== undefined) {
    if (decisions.state === "active") decisions.pause(polled.hold.reason, polled.hold.detail);
    return outcome;
  }
  decisions.seen += found.length - candidates.length;
  decisions.filtered += filtered;
  // Failed polls and failed jobs are counted together as failures in a row. A successful poll subtracts the failed polls before it.
  decisions.failuresInRow = Math.max(0, decisions.failuresInRow + failures.now - failures.before);
  for (const candidate of candidates) decisions.decide(candidate, hold);
  decisions.pauseAfterFailures();
  // The sum includes known ids that svc forgets after this poll.
  const ids = record.seen + unknown;
  if (ids >= rememberedMax && decisions.state === "active")
    decisions.pause("source_gone", `the ids of ${ids} rows must be remembered, but the maximum is ${rememberedMax}`);
  return outcome;
}
