import type { Executor } from "../connect.ts";
import { jobPrograms } from "../schema/jobs.ts";
import type { NewJobProgram } from "./new-job.ts";

/** Stores a program, unless it is there. */
export async function putJobProgram(db: Executor, program: NewJobProgram): Promise<void> {
  await db.orm.insert(jobPrograms).values(program).onConflictDoNothing();
}
