import { idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { repeats } from "@svc/testing/sample";
import { afterAll, beforeAll, expect, test } from "vitest";
import { farReads, type NarrowedList } from "../plans/planner/narrowed.ts";
import { forgetStatistics } from "../plans/planner/seed.ts";
import type { JobFilter } from "./jobs/list-filter.ts";
import { jobsForProject } from "./jobs/repo.ts";
import { listQuarantinedPosts } from "./quarantine/list.ts";
import type { QuarantineFilter } from "./quarantine/repo.ts";
import type { StandingProgramFilter } from "./standing/list-programs.ts";
import type { StandingRunFilter } from "./standing/list-runs.ts";
import { standingProgramsForProject } from "./standing/programs.ts";
import { standingRunsForProject } from "./standing/runs.ts";
import { addProject } from "./test-rows.ts";

// Fills tables with 50,000 rows of each kind (a tenth of them in `npm test`), and tries every combination of a list's filters. If nothing
// matches, the search must end early.

const { db, drop } = await createTestDatabase();
afterAll(drop);

const projectId: ProjectId = await addProject(db);
const each = repeats({ sample: 5_000, whole: 50_000 });
const page = { after: undefined, limit: 51 };
const uuid = "00000000-0000-7000-8000-000000000001";
const programId = idOfUuid("stp", uuid);
/** Id of a job that is the parent of a third of the jobs. */
const parentJobId = idOfUuid("job", "00000000-0000-7000-8000-ffffffffffff");
/** A standing program whose runs were all skipped. The runs of the other program have ended. */
const skippingId = idOfUuid("stp", "00000000-0000-7000-8000-000000000002");
const soonMs = Date.now() + 30 * 86_400_000;

const owner = `'${uuidOfId(projectId)}'::uuid`;
const id = "('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid";

/** A third of these jobs belongs to a standing program, a third to a skill, and a third to a parent job. A few are approval dry runs. */
const filling = [
  `insert into job_programs (project_id, digest, program_hash, pins) values (${owner}, '', '', '{}')`,
  `insert into jobs (id, project_id, status, mode, skill_slug, standing_program_id, parent_job_id, child_key, program_digest, params, step_args, key_id, principal_chain, content_digest, estimate, used, saga, created_at, updated_at, finished_at)
   select ${id}, ${owner}, 'succeeded', case when n > ${3 * each} then 'rehearse' else 'live' end, case when n % 3 = 1 then 'clean_up' else '' end,
     case when n % 3 = 0 and n <= ${3 * each} then '${programId}' else '' end, case when n % 3 = 2 and n <= ${3 * each} then '${uuidOfId(parentJobId)}'::uuid end, case when n % 3 = 2 and n <= ${3 * each} then n::text end,
     '', '{}', '{}', ${id}, '{}', '', '{}', '{}', '{}', now(), now(), now() from generate_series(1, ${4 * each}) n`,
  `insert into standing_programs (id, project_id, slug, title, state, version, source_kind, created_at, updated_at)
   select ${id}, ${owner}, 's' || n, '', 'active', 1, 'schedule', now(), now() from generate_series(1, ${each}) n`,
  `insert into standing_runs (id, project_id, program_id, version, kind, source_key, lane, state, reason, fire_at, decided_at, ended_at)
   select ${id}, ${owner}, case when n > ${each} then '${uuidOfId(skippingId)}'::uuid else '${uuid}'::uuid end, 1, 'schedule', n::text, '',
     case when n > ${each} then 'skipped' else 'ended' end, case when n > ${each} then 'overlap' else '' end, now(), to_timestamp(0), now()
   from generate_series(1, ${2 * each}) n`,
  `insert into quarantined_posts (id, toolkit_slug, reason, detail, headers, query, body, body_bytes, received_at, released_at)
   select ${id}, 't' || n % 2, case when n % 2 = 0 then 'no_trigger' else 'no_project' end, '', '{}', '{}', '', 0, now(),
     case when n % 2 = 0 then now() end from generate_series(1, ${2 * each}) n`,
  `insert into subscriptions (id, project_id, endpoint_url, toolkit_slug, trigger_slug, signing_secret, created_at)
   select ${id}, ${owner}, 'https://example.com', '', '', '', now() from generate_series(1, ${each}) n`,
];

beforeAll(async () => {
  for (const table of ["jobs", "standing_programs", "standing_runs", "quarantined_posts", "subscriptions"]) {
    await db.sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`);
  }
  for (const text of filling) await db.sql.unsafe(text);
});

const jobs: NarrowedList<JobFilter> = {
  name: "jobs",
  every: {
    statuses: undefined,
    sinceMs: undefined,
    untilMs: undefined,
    mode: undefined,
    skillSlug: undefined,
    parentJobId: undefined,
    standingProgramId: undefined,
  },
  values: {
    statuses: [["succeeded"], ["failed"], ["parked", "failed"]],
    sinceMs: [soonMs],
    untilMs: [1],
    mode: ["live", "simulate", "rehearse"],
    skillSlug: ["clean_up", "gone"],
    parentJobId: [parentJobId, idOfUuid("job", uuid)],
    standingProgramId: [programId, skippingId],
  },
  list: (tx, filter) => jobsForProject(tx, projectId).list(filter, page),
  // A standing program's jobs have no skill and no parent. Children of one job have one mode and mostly one skill.
  isLeftOut: ({ mode, skillSlug, parentJobId: parent, standingProgramId }) =>
    [skillSlug, parent, standingProgramId].filter((one) => one !== undefined).length > 1 ||
    (parent !== undefined && mode !== undefined && mode !== "live"),
};

const programs: NarrowedList<StandingProgramFilter> = {
  name: "standing programs",
  every: { state: undefined, sourceKind: undefined },
  values: { state: ["active", "paused"], sourceKind: ["schedule", "poll"] },
  list: (tx, filter) => standingProgramsForProject(tx, projectId).list(filter, page),
};

const runs: NarrowedList<StandingRunFilter> = {
  name: "runs of a standing program",
  every: { state: undefined, reason: undefined, sinceMs: undefined, untilMs: undefined },
  values: {
    state: ["ended", "started", "queued", "skipped", "refused"],
    reason: ["", "overlap", "rate"],
    sinceMs: [soonMs],
    untilMs: [0],
  },
  list: (tx, filter) => standingRunsForProject(tx, projectId).list(programId, filter, page),
};

const posts: NarrowedList<QuarantineFilter> = {
  name: "quarantined posts",
  every: {
    owner: undefined,
    toolkitSlug: "",
    reason: "",
    includeReleased: false,
    sinceMs: undefined,
    untilMs: undefined,
  },
  values: {
    owner: [projectId],
    toolkitSlug: ["t0", "t1", "gone"],
    reason: ["no_trigger", "no_project", "invalid_payload"],
    includeReleased: [true],
    sinceMs: [soonMs],
    untilMs: [1],
  },
  list: (tx, filter) => listQuarantinedPosts(tx, filter, page),
};

const lists = [
  jobs,
  programs,
  runs,
  {
    ...runs,
    name: "runs that were skipped",
    list: (tx, filter) => standingRunsForProject(tx, projectId).list(skippingId, filter, page),
  } satisfies NarrowedList<StandingRunFilter>,
  posts,
] as readonly NarrowedList<object>[];

test.each(["absent", "fresh"])("with %s statistics no list reads far for what is not there", async (statistics) => {
  if (statistics === "absent") await forgetStatistics(db);
  else await db.sql.unsafe("analyze");
  for (const list of lists) {
    const { empty, far } = await farReads(db, list);
    expect(empty, list.name).toBeGreaterThan(2);
    expect(far).toEqual([]);
  }
});
