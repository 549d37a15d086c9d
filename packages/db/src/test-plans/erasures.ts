import { getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { putAccountReferences } from "../account-references/repo.ts";
import type { Executor } from "../connect.ts";
import { beginErasure, findErasure, hasDueErasure } from "../erasures/repo.ts";
import { isNext, lookAtProject } from "../erasures/walk.ts";
import { erasedTables } from "../schema/erased-tables.ts";
import { jobs, standingPrograms, standingRuns, toolCalls } from "../schema/index.ts";
import { nowMs } from "../test-rows.ts";
import { everyWay, readByKey, readsAlong, readsOfLook } from "./erased-reads.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";
import { eraseRun, eraseWholeEntity, eraseWholeProject } from "./whole-erasures.ts";

const page = { projectId: seededId("prj", 9), after: undefined, limit: 500 };

function erasedOf(table: PgTable) {
  const erased = erasedTables.find((one) => one.table === table);
  if (erased === undefined) throw new Error("a table is not declared");
  return erased;
}

/** How erasures and exports go through a project: that they read no rows of others is seen by `small-project.test.ts`. */
const walkPlans: readonly Plan[] = [
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

type Run = (executor: Executor) => Promise<unknown>;

/** A plan of one of the statements of a whole erasure: the one that begins so. */
function ofErasure(run: Run, name: string, begins: string, reads: Plan["reads"], more: Partial<Plan> = {}): Plan {
  const literally = begins.trim().replace(/[\\^$.|?*+(){}[\]]/g, "\\$&");
  return { name, run, reads, words: new RegExp(`^${literally.replace(/\s+/g, "\\s+")}`), ...more };
}

const ofEntity = (name: string, begins: string, reads: Plan["reads"]) =>
  ofErasure(eraseWholeEntity, name, begins, reads);

/** How a statement begins that deletes rows of a table. */
function deletes(name: string, from: string): string {
  return `with gone as ( delete from "${name}" where ctid = any(array(select "${name}".ctid from ${from}`;
}

/** Rows that go with others, each by the key of those. */
const alongPlans = everyWay.map((way): Plan => {
  const [name, parent] = [getTableName(way.erased.table), getTableName(way.parent.table)];
  const reads = readsAlong(way);
  if (way.erased.key !== undefined)
    return ofEntity(
      `find ${way.name} to erase`,
      `select "${name}"."id"::text as id from (select * from "${parent}"`,
      reads,
    );
  const withPlaces = { ...reads, [name]: ["ctid", ...(reads[name] ?? [])] };
  return ofEntity(`erase ${way.name}`, deletes(name, `(select * from "${parent}"`), withPlaces);
});

/** Rows that others go with, or that a rule chose: found by their keys once more, and deleted. */
const keyPlans = erasedTables.flatMap(({ table, key }): Plan[] => {
  if (key === undefined) return [];
  const name = getTableName(table);
  const reads = { [name]: readByKey(table) };
  const within = name === "events" ? `"events"."project_id" = $` : `"${name}"."id" = any(`;
  const hasOthers = everyWay.some(({ parent }) => parent.table === table);
  const isLookedFor = name !== "deliveries";
  const run = name === "standing_runs" ? eraseRun : eraseWholeEntity;
  const found = ofErasure(
    run,
    `find ${name} to erase`,
    `select "${name}"."id"::text as id from "${name}" where ${within}`,
    reads,
  );
  return [
    ...(hasOthers && isLookedFor ? [found] : []),
    ofEntity(`erase ${name} by their keys`, deletes(name, `"${name}" where ${within}`), {
      [name]: ["ctid", readByKey(table)],
    }),
  ];
});

/** Tables whose rows an erasure looks at page by page. */
const lookPlans = erasedTables.flatMap((erased): Plan[] => {
  const { table, key, project } = erased;
  if (key === undefined || project === undefined) return [];
  const name = getTableName(table);
  const words = new RegExp(`^select n\\.place::text as place.*cross join lateral \\(select \\* from "${name}"`, "s");
  return [
    { name: `look at ${name} for those of an entity`, words, run: eraseWholeEntity, reads: readsOfLook(erased, true) },
    { name: `look at ${name} of a project`, words, run: eraseWholeProject, reads: readsOfLook(erased, false) },
  ];
});

/** Tables whose rows a statement finds by what they say themselves: how it finds an entity's, and a project's. */
const namedReads: Readonly<Record<string, { readonly entity?: Plan["reads"]; readonly project?: Plan["reads"] }>> = {
  // Of both there are few, since each ends within minutes.
  grant_codes: { entity: { grant_codes: "Seq Scan" }, project: { grant_codes: "Seq Scan" } },
  console_links: {
    entity: { console_links: "Seq Scan", contacts: "contacts_key(project_id)" },
    project: { console_links: "Seq Scan" },
  },
  standing_rates: {
    entity: {
      standing_rates: "standing_rates_key(program_id)",
      standing_programs: "standing_programs_project(project_id)",
    },
  },
  standing_dedupe: {
    entity: {
      standing_dedupe: "standing_dedupe_key(program_id)",
      standing_programs: "standing_programs_project(project_id)",
    },
  },
  due_tasks: { project: { due_tasks: "due_tasks_project(project_id)" } },
  // Those of a day, of one project.
  hook_answers: {
    entity: { hook_answers: "hook_answers_call(project_id)" },
    project: { hook_answers: "hook_answers_call(project_id)" },
  },
  tool_calls: {
    // By the entity, or all of a project that statistics know nothing of; those that failed for each way of failing.
    entity: {
      tool_calls: [
        ...["tool_calls_entity(entity_id, project_id)", "tool_calls_project(project_id)"],
        ...[
          "tool_calls_entity_failure(entity_id, project_id)",
          "tool_calls_entity_failure(entity_id, project_id, failure)",
        ],
        "tool_calls_failure(failure, project_id)",
      ],
    },
    project: {
      tool_calls: [
        "tool_calls_project(project_id, id)",
        "tool_calls_failure(failure, project_id, id)",
        "tool_calls_pkey(id)",
      ],
    },
  },
  account_references: {
    entity: { account_references: "account_references_project(project_id)" },
    project: { account_references: "account_references_project(project_id)" },
  },
  connected_accounts: {
    entity: { connected_accounts: "connected_accounts_entity(project_id, entity_id)" },
    project: {
      // The one by toolkit for each toolkit of the deployment.
      connected_accounts: [
        ...["connected_accounts_entity(project_id)", "connected_accounts_project(project_id)"],
        "connected_accounts_toolkit(project_id)",
      ],
    },
  },
  contacts: { entity: { contacts: "contacts_key(project_id)" }, project: { contacts: "contacts_key(project_id)" } },
  call_paces: {
    entity: { call_paces: "call_paces_key(project_id)" },
    project: { call_paces: "call_paces_key(project_id)" },
  },
  job_programs: { project: { job_programs: "job_programs_key(project_id)" } },
  replays: { project: { replays: "replays_project(project_id)" } },
  secrets: { project: { secrets: "secrets_key(project_id)" } },
  private_toolkits: { project: { private_toolkits: "private_toolkits_key(project_id)" } },
  tool_vectors: { project: { tool_vectors: "tool_vectors_project(project_id)" } },
  call_hooks: { project: { call_hooks: "call_hooks_project(project_id)" } },
  call_limits: { project: { call_limits: "call_limits_key(project_id)" } },
  activity_minutes: { project: { activity_minutes: "activity_minutes_key(project_id)" } },
  activity_hours: { project: { activity_hours: "activity_hours_key(project_id)" } },
  project_policies: { project: { project_policies: "project_policies_pkey(project_id)" } },
  data_keys: { project: { data_keys: "data_keys_project(project_id)" } },
  projects: { project: { projects: "projects_pkey(id)" } },
};

const namedPlans = erasedTables.flatMap(({ table, key, entity, project }): Plan[] => {
  if (key !== undefined) return [];
  const name = getTableName(table);
  const { [name]: known = {} } = namedReads;
  const plan = (run: Run, of: string, reads: Plan["reads"] | undefined): Plan => {
    if (reads === undefined) throw new Error(`${name} ${of}: say how they are read`);
    const withPlaces = { ...reads, [name]: ["ctid", ...[reads[name] ?? []].flat()] };
    return ofErasure(run, `erase ${name} ${of}`, deletes(name, `"${name}" where`), withPlaces);
  };
  return [
    ...(typeof entity === "object" && "names" in entity ? [plan(eraseWholeEntity, "of an entity", known.entity)] : []),
    ...(project === undefined ? [] : [plan(eraseWholeProject, "of a project", known.project)]),
  ];
});

const keyOfErasure = { erasures: "erasures_pkey(id)" };
const target = { projectId: seededId("prj", 9), entityId: undefined };

/** What an erasure itself is stored as. */
const erasurePlansOfItself: readonly Plan[] = [
  ofEntity("begin an erasure", `insert into "erasures"`, {}),
  ofEntity("end the keys of an entity", `update "api_keys"`, { api_keys: "api_keys_project(project_id)" }),
  {
    name: "end the keys of a project",
    words: `update "api_keys"`,
    run: (db) => beginErasure(db, target, { nowMs }),
    reads: { api_keys: "api_keys_project(project_id)" },
  },
  {
    name: "the erasure that is under way",
    words: `"erasures"."entity_id" =`,
    run: eraseWholeEntity,
    reads: { erasures: "erasures_unfinished(project_id, entity_id)" },
  },
  { name: "find an erasure", run: (db) => findErasure(db, seededId("ers", 1)), reads: keyOfErasure },
  {
    name: "whether an erasure is due",
    run: (db) => hasDueErasure(db, nowMs),
    reads: { erasures: "erasures_unfinished()" },
  },
  {
    name: "take the erasure that is due",
    words: "for update skip locked",
    run: eraseWholeEntity,
    reads: { erasures: ["erasures_unfinished()", "erasures_pkey()"] },
  },
  ofEntity("move an erasure on", `update "erasures"`, keyOfErasure),
  {
    name: "keep the last approver",
    words: /^update contacts/,
    run: eraseWholeEntity,
    reads: { contacts: ["contacts_key(project_id)", "contacts_key(project_id, principal_id)"] },
  },
];

const jobsByKey = { jobs: "jobs_pkey(id)" };
const noted = { erasure_programs: ["erasure_programs_key(erasure_id)", "erasure_programs_key(erasure_id, digest)"] };

/** Programs that an erased entity's jobs ran, and that nothing else does. */
const programPlans: readonly Plan[] = [
  {
    name: "note the programs of jobs",
    words: /^insert into "erasure_programs".*"jobs"\."program_digest"/s,
    run: eraseWholeEntity,
    reads: jobsByKey,
  },
  {
    name: "note the programs of skills",
    words: /^insert into "erasure_programs".*"skills"\."program_digest"/s,
    run: eraseWholeEntity,
    reads: { ...jobsByKey, skills: "skills_key(project_id)" },
  },
  {
    name: "note the programs of versions",
    words: /^insert into "erasure_programs".*"standing_versions"\."program_digest"/s,
    run: eraseWholeEntity,
    reads: { standing_programs: "standing_programs_pkey(id)", standing_versions: "standing_versions_key(program_id)" },
  },
  ofEntity("whether programs are noted", `select "erasure_id", "digest" from "erasure_programs"`, noted),
  ofEntity("look at jobs for programs that are used", "with page as materialized", {
    ...readsOfLook(erasedOf(jobs), true),
    ...noted,
  }),
  // Those of the last minute, of all projects.
  ofEntity("programs that new jobs use", `with used as materialized (select program_digest from "jobs"`, {
    ...jobsByKey,
    ...noted,
  }),
  ofEntity("programs that skills use", `with used as materialized (select program_digest from "skills"`, {
    skills: "skills_key(project_id)",
    ...noted,
  }),
  ofEntity(
    "programs that standing programs use",
    `with used as materialized (select v.program_digest from "standing_versions"`,
    {
      standing_programs: "standing_programs_project(project_id)",
      standing_versions: "standing_versions_key(program_id)",
      ...noted,
    },
  ),
  ofEntity("erase programs that nothing uses", `delete from "job_programs"`, {
    job_programs: ["job_programs_key(project_id)", "job_programs_key(project_id, digest)"],
    ...noted,
  }),
  ofEntity("forget the programs that were noted", `delete from "erasure_programs"`, noted),
];

/** Which of some rows are an entity's. */
const rulePlans: readonly Plan[] = [
  ofEntity(
    "what tells whose some jobs are",
    `select "id", "binding", "estimate", "standing_run_id" from "jobs"`,
    jobsByKey,
  ),
  {
    name: "jobs with those that they run",
    words: /^with recursive family.*simulated_from = f\.id/s,
    run: eraseWholeEntity,
    reads: {
      jobs: ["jobs_child_key(parent_job_id)", "jobs_children(parent_job_id)", "jobs_simulated_from(simulated_from)"],
    },
  },
  ofEntity("events that asks of jobs were published as", `select "event_ids" from "job_asks"`, {
    job_asks: "job_asks_job(job_id)",
  }),
  ofEntity("events that some runs are about", `select "id", "source_key" from "standing_runs"`, {
    standing_runs: "standing_runs_pkey(id)",
  }),
  ofEntity("events that some runs collected", `select "run_id", "event_id" from "standing_run_events"`, {
    standing_run_events: "standing_run_events_run(run_id)",
  }),
  ofEntity("what some standing programs are bound to", `select "id", "binding" from "standing_programs"`, {
    standing_programs: "standing_programs_pkey(id)",
  }),
  ofEntity(
    "entities that versions of some standing programs name",
    `select "program_id", "estimate" from "standing_versions"`,
    {
      standing_versions: "standing_versions_key(program_id)",
    },
  ),
];

const reference = { projectId: seededId("prj", 9), accountId: seededId("acc", 1), entityId: "ada" };

/** An app's keys for an account of an entity, which an erasure forgets. */
const referencePlans: readonly Plan[] = [
  {
    name: "store an app's keys for an account",
    words: `insert into "account_references"`,
    run: (db) => putAccountReferences(db, [{ ...reference, toolkitSlug: "watcher", reference: "another" }]),
    reads: {},
  },
];

/** How erasures find and delete what they are of: every rule of every table. */
export const erasurePlans: readonly Plan[] = [
  ...walkPlans,
  ...alongPlans,
  ...keyPlans,
  ...lookPlans,
  ...namedPlans,
  ...erasurePlansOfItself,
  ...programPlans,
  ...rulePlans,
  ...referencePlans,
];
