import { callLimitsForProject } from "../src/call-limits/repo.ts";
import { privateToolkitsForProject } from "../src/catalog/repo.ts";
import type { Executor } from "../src/connect.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const toolkit = { slug: "desk_new", definition: "{}", originDigest: Buffer.alloc(32), toolCount: 1, updatedAt: nowMs };
// Project 1 has the maximum.
const put = (db: Executor) => privateToolkitsForProject(db, seededId("prj", 60)).put(toolkit);
// Project 1 has this toolkit.
const remove = (db: Executor) => privateToolkitsForProject(db, projectId).delete("desk_5", nowMs);
const limit = {
  ...{ name: "limit-new", toolkitSlug: "", keyExpression: "", concurrency: 1, rateMax: 0, ratePerMs: 0 },
  ...{ isPaused: false, createdAt: nowMs, updatedAt: nowMs },
};
const putLimit = (db: Executor) => callLimitsForProject(db, projectId).put(limit, 100_000);

plan("the private toolkits of a project", (db) => privateToolkitsForProject(db, projectId).list());
plan("keep a private toolkit", put);
plan("delete a private toolkit", remove);

plan("keep a call limit", putLimit);
plan("delete a call limit", (db) => callLimitsForProject(db, projectId).delete("limit-5"));
