import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobPrograms } from "../schema/jobs.ts";
import type { Row } from "../sql/codec.ts";
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
