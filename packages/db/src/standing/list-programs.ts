import { type ProjectId, type StandingProgramId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingPrograms } from "../schema/standing.ts";
import { type StandingSourceKind, type StandingState, standingSourceKinds, standingStates } from "../schema/words.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { beforeOf, newestIn, pageStatement } from "../sql/newest-in.ts";
import { selectList } from "../sql/select-list.ts";
import { arrayLiteral } from "../sql/statement.ts";

/** Filter of a list of standing programs (which start jobs on a schedule or event). A field that is not set does not filter. */
export type StandingProgramFilter = {
  readonly state: StandingState | undefined;
  readonly sourceKind: StandingSourceKind | undefined;
};

const newest = newestIn("standing_programs", {
  key: { state: "s.state", project_id: "$1::uuid", source_kind: "k.kind" },
  condition: "deleted_at is null",
});

/**
 * Lists the schedules of a project. Reads one range of the index standing_programs_state for each pair of a requested state and a requested
 * kind of source.
 */
const selectPrograms = pageStatement("list_standing_programs", {
  table: "standing_programs",
  columns: selectList(standingPrograms, namesBut(standingPrograms), "p"),
  as: "p",
  found: `select f.id from unnest($4::text[]) as s(state) cross join unnest($5::text[]) as k(kind) cross join lateral (${newest}) f`,
});

/** Returns schedules of a project, newest first, beginning after the id `after`. Deleted schedules are absent. */
export function listStandingPrograms(
  db: Executor,
  projectId: ProjectId,
  { state, sourceKind }: StandingProgramFilter,
  { after, limit }: { readonly after: StandingProgramId | undefined; readonly limit: number },
): Promise<Row<typeof standingPrograms>[]> {
  const states = arrayLiteral(state === undefined ? standingStates : [state]);
  const kinds = arrayLiteral(sourceKind === undefined ? standingSourceKinds : [sourceKind]);
  return selectPrograms(db, [uuidOfId(projectId), beforeOf(after), limit, states, kinds]);
}
