import { callLimitsForProject } from "../call-limits/repo.ts";
import { privateToolkitsForProject } from "../catalog/repo.ts";
import type { Executor } from "../connect.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const toolkit = { slug: "desk_new", definition: "{}", originDigest: Buffer.alloc(32), toolCount: 1, updatedAt: nowMs };
// Project 1 has as many as it may.
const put = (db: Executor) => privateToolkitsForProject(db, seededId("prj", 60)).put(toolkit);
// Project 1 has this one.
const remove = (db: Executor) => privateToolkitsForProject(db, projectId).delete("desk_5", nowMs);
const limit = {
  ...{ name: "limit-new", toolkitSlug: "", keyExpression: "", concurrency: 1, rateMax: 0, ratePerMs: 0 },
  ...{ isPaused: false, createdAt: nowMs, updatedAt: nowMs },
};
const putLimit = (db: Executor) => callLimitsForProject(db, projectId).put(limit, 100_000);

const toolkitPlans: readonly Plan[] = [
  {
    name: "the private toolkits of a project",
    words: "select",
    run: (db) => privateToolkitsForProject(db, projectId).list(),
    reads: { private_toolkits: "private_toolkits_key(project_id)" },
  },
  {
    name: "move the version of a project's catalog",
    words: "catalog_version",
    run: put,
    reads: { projects: "projects_pkey(id)" },
  },
  {
    name: "how many other private toolkits a project has",
    words: "count(",
    run: put,
    reads: { private_toolkits: "private_toolkits_key(project_id)" },
  },
  { name: "keep a private toolkit", words: "insert", run: put, reads: {} },
  {
    name: "delete a private toolkit",
    words: 'delete from "private_toolkits"',
    run: remove,
    reads: { private_toolkits: "private_toolkits_key(project_id, slug)" },
  },
  {
    name: "revoke the accounts of a private toolkit",
    words: "connected_accounts",
    run: remove,
    reads: { connected_accounts: "connected_accounts_toolkit((toolkit_slug || ' '::text), project_id)" },
  },
];

const limitPlans: readonly Plan[] = [
  {
    name: "hold a project that gets a call limit",
    words: "no key update",
    run: putLimit,
    reads: { projects: "projects_pkey(id)" },
  },
  {
    name: "how many other call limits a project has",
    words: "count(",
    run: putLimit,
    reads: { call_limits: "call_limits_key(project_id)" },
  },
  { name: "keep a call limit", words: "insert", run: putLimit, reads: {} },
  {
    name: "delete a call limit",
    run: (db) => callLimitsForProject(db, projectId).delete("limit-5"),
    reads: { call_limits: "call_limits_key(project_id, name)" },
  },
];

/** Definitions, and what their calls are limited to. */
export const catalogPlans: readonly Plan[] = [...toolkitPlans, ...limitPlans];
