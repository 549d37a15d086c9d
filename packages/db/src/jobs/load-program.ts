import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobPrograms } from "../schema/jobs.ts";
import { fieldsOf, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows } from "../sql/parts.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** A program as it was submitted, sealed or, of versions before 0.2, as it is; with the definitions it is pinned to. */
export type JobProgramRecord = Readonly<Row<typeof jobPrograms, "program" | "sealedProgram" | "programHash" | "pins">>;

const columns = selectList(jobPrograms, ["program", "sealedProgram", "programHash", "pins"]);

/** By primary key. */
const selectProgram = statement<RawRow<JobProgramRecord>>(
  "load_job_program",
  `select ${columns.text} from job_programs where project_id = $1::uuid and digest = $2::bytea`,
);

/** The program of a job. */
export async function loadJobProgram(
  db: Executor,
  projectId: ProjectId,
  digest: Uint8Array,
): Promise<JobProgramRecord | undefined> {
  const [row] = await selectProgram(db, [uuidOfId(projectId), digest]);
  return row && columns.read(row);
}

/** Names the program of a job: it is kept once for each content. */
export type JobProgramName = { readonly projectId: ProjectId; readonly digest: Buffer };

const pinColumns = selectList(jobPrograms, ["projectId", "digest", "pins"], "p");

/** By primary key, a look-up each. */
const selectPins = compose(
  "load_job_pins",
  { wanted: rows(fieldsOf(jobPrograms, "projectId", "digest")) },
  ({ wanted }) => query<
    RawRow<Row<typeof jobPrograms, "projectId" | "digest" | "pins">>
  >`select ${pinColumns.text} from ${wanted.from("w")}
    cross join lateral (select * from job_programs where project_id = w.project_id and digest = w.digest offset 0) p`,
);

/** The definitions that programs are pinned to, as JSON text; a program that is gone is absent. */
export async function loadJobPins(
  db: Executor,
  wanted: readonly JobProgramName[],
): Promise<(JobProgramName & { readonly pins: string })[]> {
  if (wanted.length === 0) return [];
  return (await selectPins(db, { wanted })).map((row) => pinColumns.read(row));
}
