import type { PgTable } from "drizzle-orm/pg-core";
import { isNext, lookAtProject } from "../erasures/walk.ts";
import { erasedTables } from "../schema/erased-tables.ts";
import { jobs, standingPrograms, standingRuns, toolCalls } from "../schema/index.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const page = { projectId: seededId("prj", 9), after: undefined, limit: 500 };

function erasedOf(table: PgTable) {
  const erased = erasedTables.find((one) => one.table === table);
  if (erased === undefined) throw new Error("a table is not declared");
  return erased;
}

/** How erasures and exports go through a project: that they read no rows of others is seen by `small-project.test.ts`. */
export const erasurePlans: readonly Plan[] = [
  {
    name: "the next jobs of a project",
    run: (db) => lookAtProject(db, erasedOf(jobs), page),
    reads: {
      jobs: [
        "jobs_status(project_id, status)",
        "jobs_status(project_id, status, id)",
        "jobs_other_status(project_id, status)",
        "jobs_other_status(project_id, status, id)",
        "jobs_pkey(id)",
      ],
    },
  },
  {
    name: "the next programs of a project",
    run: (db) => lookAtProject(db, erasedOf(standingPrograms), page),
    reads: { standing_programs: ["standing_programs_project(project_id, id)", "standing_programs_pkey(id)"] },
  },
  {
    name: "the next runs of a project",
    // Without statistics all of a program's runs may be read and sorted, which a store with many of them never lacks.
    statistics: ["fresh"],
    run: (db) => lookAtProject(db, erasedOf(standingRuns), page),
    reads: {
      standing_programs: "standing_programs_project(project_id, id)",
      standing_runs: ["standing_runs_program(program_id, id)", "standing_runs_pkey(id)"],
    },
  },
  {
    name: "the next calls of a project",
    run: (db) =>
      db.orm
        .select({ id: toolCalls.id })
        .from(toolCalls)
        .where(isNext(erasedOf(toolCalls), page)),
    reads: {
      tool_calls: [
        "tool_calls_project(project_id, id)",
        "tool_calls_failure(failure)",
        "tool_calls_failure(failure, project_id, id)",
        "tool_calls_pkey(id)",
      ],
    },
  },
];
