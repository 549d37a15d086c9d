import { type Batcher, createBatcher, type ProjectId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobPrograms } from "../schema/jobs.ts";
import { fieldsOf, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows } from "../sql/parts.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";

/** A program as it was submitted, sealed or, of versions before 0.2, as it is; with the definitions it is pinned to. */
export type JobProgramRecord = Readonly<Row<typeof jobPrograms, "program" | "sealedProgram" | "programHash" | "pins">>;

/** Names the program of a job: it is kept once for each content. */
export type JobProgramName = { readonly projectId: ProjectId; readonly digest: Buffer };

const nameParts = { wanted: rows(fieldsOf(jobPrograms, "projectId", "digest")) };
const columns = selectList(
  jobPrograms,
  ["projectId", "digest", "program", "sealedProgram", "programHash", "pins"],
  "p",
);

/** By primary key, a look-up each. */
const selectPrograms = compose(
  "load_job_programs",
  nameParts,
  ({ wanted }) => query<
    RawRow<Row<typeof jobPrograms, "projectId" | "digest"> & JobProgramRecord>
  >`select ${columns.text} from ${wanted.from("w")}
    cross join lateral (select * from job_programs where project_id = w.project_id and digest = w.digest offset 0) p`,
);

async function loadPrograms(
  db: Executor,
  wanted: readonly JobProgramName[],
): Promise<(JobProgramRecord | undefined)[]> {
  const found = (await selectPrograms(db, { wanted })).map((row) => columns.read(row));
  const byKey = new Map(found.map((one) => [keyOf(one), one]));
  return wanted.map((name) => {
    const one = byKey.get(keyOf(name));
    return (
      one && { program: one.program, sealedProgram: one.sealedProgram, programHash: one.programHash, pins: one.pins }
    );
  });
}

function keyOf({ projectId, digest }: { readonly projectId: ProjectId; readonly digest: Uint8Array }): string {
  return `${projectId}/${Buffer.from(digest).toString("hex")}`;
}

const batchers = new WeakMap<object, Batcher<JobProgramName, JobProgramRecord | undefined>>();

/** The program of a job. Those that are asked for together, by drivers of jobs that were claimed together, are read together. */
export function loadJobProgram(
  db: Executor,
  projectId: ProjectId,
  digest: Uint8Array,
): Promise<JobProgramRecord | undefined> {
  const name = { projectId, digest: Buffer.from(digest) };
  // Within a transaction it is read by that.
  if (!("begin" in db.sql)) return loadPrograms(db, [name]).then(([record]) => record);
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<JobProgramName, JobProgramRecord | undefined>({
      run: (names) => loadPrograms(db, names),
      sizeMax: 50,
      concurrency: 4,
      besideMin: 8,
    });
    batchers.set(db, batcher);
  }
  return batcher.add(name);
}

const pinColumns = selectList(jobPrograms, ["projectId", "digest", "pins"], "p");

/** By primary key, a look-up each. */
const selectPins = compose(
  "load_job_pins",
  nameParts,
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
