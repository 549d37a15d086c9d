import { type ProjectId, type StandingProgramId, type StandingRunId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingRuns } from "../schema/standing.ts";
import { type StandingRunReason, type StandingRunState, standingRunReasons, standingRunStates } from "../schema/words.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { namesBut } from "../sql/codec.ts";
import { filterBy } from "../sql/filter.ts";
import { idBounds, newestIn, pageOfFound } from "../sql/newest-in.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import type { StandingRunRecord } from "./runs.ts";

/** What a list of runs is narrowed to; an absent part does not narrow. */
export type StandingRunFilter = {
  readonly state: StandingRunState | undefined;
  readonly reason: StandingRunReason | undefined;
  /** Bounds on the decision, epoch milliseconds: inclusive, and exclusive. */
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
};

const columns = selectList(standingRuns, namesBut(standingRuns), "r");
const page = { columns: columns.text, table: "standing_runs", as: "r" };

/** A window is named when it begins and decided about when it is over: the time of a run's id is not that of its decision. */
const decided = `${filterBy("project_id", "$1::uuid")} and ($6::timestamptz is null or decided_at >= $6::timestamptz)
  and ($7::timestamptz is null or decided_at < $7::timestamptz)`;
const ofProgram = { program_id: "$4::uuid" };
const from = "$5::uuid";

/** By standing_runs_program. */
const selectAll = statement<RawRow<StandingRunRecord>>(
  "list_standing_runs",
  pageOfFound({ ...page, found: newestIn("standing_runs", { key: ofProgram, from, filter: decided }) }),
);

const over = newestIn("standing_runs", {
  key: { ...ofProgram, state: "s.state", reason: "w.reason" },
  condition: "ended_at is not null",
  from,
  filter: decided,
});

/**
 * Those in a state that are not over, which are few: no index has them in order. `offset 0` keeps the order out of the search, where
 * standing_runs_program was read as a whole for it.
 */
function unfinished(condition: string, states: readonly StandingRunState[]): string {
  const asked = states.map((state) => `(state = '${state}' and '${state}' = any($8::text[]))`).join(" or ");
  return `select u.id from (select id, reason from standing_runs
      where program_id = $4::uuid and ${condition} and (${asked}) and ${decided} offset 0) u
    where u.id >= ${from} and u.id < $2::uuid and u.reason = any($9::text[])`;
}

/**
 * Those that are over by standing_runs_outcome, for each of the states and reasons that are asked for; the others by standing_runs_running,
 * standing_runs_queued and standing_runs_closing.
 */
const selectOfStates = statement<RawRow<StandingRunRecord>>(
  "list_standing_runs_of_states",
  pageOfFound({
    ...page,
    found: `select o.id from unnest($8::text[]) as s(state) cross join unnest($9::text[]) as w(reason) cross join lateral (${over}) o
      union all ${unfinished("state = 'started'", ["started"])}
      union all ${unfinished("state = 'queued'", ["queued"])}
      union all ${unfinished("state in ('collecting', 'closing')", ["collecting", "closing"])}`,
  }),
);

/**
 * A window collects for a day at most, and a node that was away is back within another: how much older than its decision the id of a
 * run is at most. So a list from a time on ends there.
 */
const undecidedMsMax = 2 * 86_400_000;

/** Runs of a standing program, newest first, from after `after`. */
export async function listStandingRuns(
  db: Executor,
  { projectId, programId }: { readonly projectId: ProjectId; readonly programId: StandingProgramId },
  { state, reason, sinceMs, untilMs }: StandingRunFilter,
  { after, limit }: { readonly after: StandingRunId | undefined; readonly limit: number },
): Promise<StandingRunRecord[]> {
  const madeSinceMs = sinceMs === undefined ? undefined : Math.max(0, sinceMs - undecidedMsMax);
  const { fromUuid, beforeUuid } = idBounds({ sinceMs: madeSinceMs, untilMs }, after);
  const place = [uuidOfId(projectId), beforeUuid, limit, uuidOfId(programId), fromUuid];
  const given = [...place, timeText(sinceMs), timeText(untilMs)];
  if (state === undefined && reason === undefined) return read(await selectAll(db, given));
  const states = state === undefined ? standingRunStates : [state];
  const reasons = reason === undefined ? standingRunReasons : [reason];
  return read(await selectOfStates(db, [...given, arrayLiteral(states), arrayLiteral(reasons)]));
}

function timeText(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

function read(rows: readonly RawRow<StandingRunRecord>[]): StandingRunRecord[] {
  return rows.map((row) => columns.read(row));
}
