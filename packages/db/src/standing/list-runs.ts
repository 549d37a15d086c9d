import { isoTime, type ProjectId, type StandingProgramId, type StandingRunId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingRuns } from "../schema/standing.ts";
import {
  type StandingRunReason,
  type StandingRunState,
  standingRunReasons,
  standingRunStates,
} from "../schema/words.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { idBounds, newestIn, pageStatement } from "../sql/newest-in.ts";
import { selectList } from "../sql/select-list.ts";
import { arrayLiteral } from "../sql/statement.ts";

/** Filter of a list of the runs of a standing program (a schedule). A field that is not set does not filter. */
export type StandingRunFilter = {
  readonly state: StandingRunState | undefined;
  readonly reason: StandingRunReason | undefined;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
};

/** Position and size of a page of a schedule's runs: at most `limit` runs, beginning after the run `after`. */
export type StandingRunPosition = { readonly after: StandingRunId | undefined; readonly limit: number };

/**
 * SQL for the lowest run id that a list of runs must read. Usually this is the lowest id of the requested time. It is lower if a run in the
 * list began to gather events before that time.
 */
const from = `(select least($5::uuid, (
    select id from (
      select id from standing_runs where bytes > 0 and ((bytes > 0), program_id, decided_at) >= (true, $1::uuid, $8::timestamptz)
        and ((bytes > 0), program_id, decided_at) <= (true, $1::uuid, 'infinity'::timestamptz)
      offset 0) w
    order by id limit 1)))`;
const filter = "project_id = $4::uuid and decided_at >= $6::timestamptz and decided_at < $7::timestamptz";

/** Returns the SQL condition that the list includes started or ended runs (`state`). The reason of these runs is the empty text. */
const includesStarted = (state: StandingRunState) =>
  `(select where '${state}' = any($9::text[]) and '' = any($10::text[]))`;

/** Lists the runs of a schedule, newest first. */
const selectRuns = pageStatement("list_standing_runs", {
  // Each state has its index. With the program and the id alone, PostgreSQL could read the whole of another index.
  table: "standing_runs",
  columns: selectList(standingRuns, namesBut(standingRuns), "r"),
  as: "r",
  found: `select f.id from unnest($9::text[]) as s(state) cross join unnest($10::text[]) as e(reason) cross join lateral (${newestIn(
    "standing_runs",
    {
      key: { "(state || ' ' || reason)": "(s.state || ' ' || e.reason)", program_id: "$1::uuid" },
      condition: "state <> 'started' and state <> 'ended'",
      ...{ from, filter },
    },
  )}) f where s.state <> 'started' and s.state <> 'ended'
    union all select f.id from ${includesStarted("ended")} a cross join lateral (${newestIn("standing_runs", {
      key: { "(state || ' ')": "'ended '", program_id: "$1::uuid" },
      condition: "state = 'ended'",
      ...{ from, filter },
    })}) f
    union all select f.id from ${includesStarted("started")} a cross join lateral (
      select id, project_id, decided_at from standing_runs where program_id = $1::uuid and state = 'started' offset 0) f
      where f.id < $2::uuid and f.id >= ${from} and ${filter}`,
});

/** Returns the runs of a schedule, newest first. A run is the decision about one due time or event; most runs have started a job. */
export function listStandingRuns(
  db: Executor,
  { projectId, programId }: { readonly projectId: ProjectId; readonly programId: StandingProgramId },
  { state, reason, sinceMs, untilMs }: StandingRunFilter,
  { after, limit }: StandingRunPosition,
): Promise<Row<typeof standingRuns>[]> {
  const { fromUuid, beforeUuid } = idBounds({ sinceMs, untilMs }, after);
  const timeOf = (ms: number | undefined, otherwise: string) => (ms === undefined ? otherwise : isoTime(ms));
  const times = [timeOf(sinceMs, "-infinity"), timeOf(untilMs, "infinity"), timeOf(sinceMs, "infinity")];
  const given = [uuidOfId(programId), beforeUuid, limit, uuidOfId(projectId), fromUuid, ...times];
  const states = arrayLiteral(state === undefined ? standingRunStates : [state]);
  const reasons = arrayLiteral(reason === undefined ? standingRunReasons : [reason]);
  return selectRuns(db, [...given, states, reasons]);
}
