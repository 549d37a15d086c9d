import { type ProjectId, type StandingProgramId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingPrograms } from "../schema/standing.ts";
import { type StandingSourceKind, type StandingState, standingSourceKinds, standingStates } from "../schema/words.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { beforeOf, newestIn, pageOfFound } from "../sql/newest-in.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** What a list of standing programs is narrowed to; an absent part does not narrow. */
export type StandingProgramFilter = {
  readonly state: StandingState | undefined;
  readonly sourceKind: StandingSourceKind | undefined;
};

type Listed = Row<typeof standingPrograms>;

const columns = selectList(standingPrograms, namesBut(standingPrograms), "p");

const newest = newestIn("standing_programs", {
  key: { state: "s.state", project_id: "$1::uuid", source_kind: "k.kind" },
  condition: "deleted_at is null",
});

/** By standing_programs_state, for each of the states and sources that are asked for. */
const selectPrograms = statement<RawRow<Listed>>(
  "list_standing_programs",
  pageOfFound({
    columns: columns.text,
    table: "standing_programs",
    as: "p",
    found: `select f.id from unnest($4::text[]) as s(state) cross join unnest($5::text[]) as k(kind) cross join lateral (${newest}) f`,
  }),
);

/** Standing programs of a project that were not deleted, newest first, from after `after`. */
export async function listStandingPrograms(
  db: Executor,
  projectId: ProjectId,
  { state, sourceKind }: StandingProgramFilter,
  { after, limit }: { readonly after: StandingProgramId | undefined; readonly limit: number },
): Promise<Listed[]> {
  const states = arrayLiteral(state === undefined ? standingStates : [state]);
  const kinds = arrayLiteral(sourceKind === undefined ? standingSourceKinds : [sourceKind]);
  const rows = await selectPrograms(db, [uuidOfId(projectId), beforeOf(after), limit, states, kinds]);
  return rows.map((row) => columns.read(row));
}
