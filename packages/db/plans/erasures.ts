import type { PgTable } from "drizzle-orm/pg-core";
import { putAccountReferences } from "../src/account-references/repo.ts";
import { beginErasure, findErasure, hasDueErasure } from "../src/erasures/repo.ts";
import { isNext, scanProject } from "../src/erasures/walk.ts";
import { erasedTables } from "../src/schema/erased-tables.ts";
import { jobs, standingPrograms, standingRuns, toolCalls } from "../src/schema/index.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";
import { eraseRun, eraseWholeEntity, eraseWholeProject } from "./planner/whole-erasures.ts";

const page = { projectId: seededId("prj", 9), after: undefined, limit: 500 };

function erasedOf(table: PgTable) {
  const erased = erasedTables.find((one) => one.table === table);
  if (erased === undefined) throw new Error("a table is not declared");
  return erased;
}

// Erasures and exports scan the rows of a project. `small-project.test.ts` checks that they read no rows of other projects.
plan("the next jobs of a project", (db) => scanProject(db, erasedOf(jobs), page));
plan("the next programs of a project", (db) => scanProject(db, erasedOf(standingPrograms), page));
plan("the next runs of a project", (db) => scanProject(db, erasedOf(standingRuns), page));
plan("the next calls of a project", (db) =>
  db.orm
    .select({ id: toolCalls.id })
    .from(toolCalls)
    .where(isNext(erasedOf(toolCalls), page)),
);

// An erasure finds and deletes the entity's rows in every table. It may read these three tables completely, because they stay small: codes
// and links expire within an hour, and backfills are deleted some days after their end.
const wholeReads = ["grant_codes", "console_links", "standing_backfills"];
plan("erase an entity", eraseWholeEntity, { wholeReads });
plan("erase a project", eraseWholeProject, { wholeReads });
plan("erase a run by its key", eraseRun);

// Recorded query plans of erasures, and of the keys that an app holds for an account.
plan("begin the erasure of a project", (db) =>
  beginErasure(db, { projectId: seededId("prj", 9), entityId: undefined }, { nowMs }),
);
plan("find an erasure", (db) => findErasure(db, seededId("ers", 1)));
plan("whether an erasure is due", (db) => hasDueErasure(db, nowMs));
plan("store an app's keys for an account", (db) => {
  const reference = { toolkitSlug: "watcher", reference: "another", accountId: seededId("acc", 1), entityId: "ada" };
  return putAccountReferences(db, [{ ...reference, projectId: seededId("prj", 9) }]);
});
