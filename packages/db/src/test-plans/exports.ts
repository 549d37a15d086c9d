import { getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { ownRows, rowsOfEntity } from "../entity-export/membership.ts";
import { erasedTables } from "../schema/erased-tables.ts";
import { keyColumns } from "../schema/sealed-columns.ts";
import { accountsOfEntity, everyWay, readByKey, readsAlong, readsOfLook } from "./erased-reads.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";
import { exportWholeEntity } from "./whole-erasures.ts";

const run = exportWholeEntity;

type Reads = Readonly<Record<string, string | readonly string[]>>;

/** A table's first page and the next, which begins behind a row: the search of the index has that too, or its order. */
function pagesOf(name: string, words: string, reads: Reads, next: Reads = {}): Plan[] {
  return [
    { name, variant: "first", words: new RegExp(`^(?!.*::text::).*${words}`, "s"), run, reads },
    { name, variant: "next", words: new RegExp(`^(?=.*::text::).*${words}`, "s"), run, reads: { ...reads, ...next } },
  ];
}

/** What is read as well for rows that go with others: whether they are shown elsewhere. */
const moreOfWay: Readonly<Record<string, Plan["reads"]>> = {
  "console_links of api_keys": { contacts: "contacts_key(project_id)" },
  "standing_rates of standing_programs": {
    standing_programs: ["standing_programs_pkey(id)", "standing_programs_project(project_id)"],
  },
  "standing_dedupe of standing_programs": {
    standing_programs: ["standing_programs_pkey(id)", "standing_programs_project(project_id)"],
  },
  "standing_runs of jobs": { standing_programs: "standing_programs_pkey(id)" },
  "standing_run_events of events": { standing_runs: "standing_runs_pkey(id)" },
};

/** By way: how the page behind a row is read, where that is not by more of the primary key. */
const nextOfWay: Readonly<Record<string, string>> = {
  "console_seats of api_keys": "console_seats_of_key(key_id, session_id)",
  "console_links of api_keys": "console_links_pkey(id)",
  "standing_backfills of standing_programs": "standing_backfills_pkey(id)",
  "standing_runs of standing_programs": "standing_runs_program(program_id, id)",
  "standing_run_events of standing_runs": "standing_run_events_run(run_id, event_id)",
  "deliveries of events": "deliveries_event(project_id, event_id, id)",
  "job_asks of jobs": "job_asks_job(job_id, id)",
};

/** How a page behind a row is read: by an index that the first one is read by, with more of its columns. */
function readsOfNext(table: PgTable, first: string | readonly string[], also: string | undefined): readonly string[] {
  const columns = keyColumns(table).map(({ name }) => name);
  const firsts = [first].flat();
  return [
    ...firsts,
    ...firsts.map((one) => `${one.split("(")[0]}(${columns.join(", ")})`),
    ...(also === undefined ? [] : [also]),
  ];
}

/** Pages of rows that go with others. */
const alongPlans = everyWay.flatMap((way): Plan[] => {
  const [name, parent] = [getTableName(way.erased.table), getTableName(way.parent.table)];
  const words = `from \\(select \\* from "${parent}" .*cross join lateral \\(select "${name}"\\.\\*`;
  const reads: Reads = { ...readsAlong(way), ...moreOfWay[way.name] };
  const next = readsOfNext(way.erased.table, reads[name] ?? [], nextOfWay[way.name]);
  const plans = pagesOf(`export ${way.name}`, words, reads, { [name]: next });
  // Without statistics all tokens may be read in the order of their key, which a store with many of them never lacks.
  return name === "grant_tokens" ? plans.map((plan) => ({ ...plan, statistics: ["fresh", "stale"] })) : plans;
});

/** Pages of rows that are an entity's by what they say, or by a rule. */
const ownReads: Readonly<Record<string, Reads>> = {
  // Few, since each ends within minutes: in the order of their keys.
  grant_codes: { grant_codes: "grant_codes_pkey()" },
  console_links: { console_links: "console_links_pkey()", contacts: "contacts_key(project_id)" },
  standing_rates: {
    standing_rates: ["standing_rates_key(program_id, key)", "standing_rates_key(program_id)"],
    standing_programs: "standing_programs_project(project_id)",
  },
  standing_dedupe: {
    standing_dedupe: ["standing_dedupe_key(program_id, key)", "standing_dedupe_key(program_id)"],
    standing_programs: "standing_programs_project(project_id)",
  },
  hook_answers: { hook_answers: "hook_answers_call(project_id)" },
  account_references: { account_references: "account_references_project(project_id)" },
  connected_accounts: { connected_accounts: "connected_accounts_entity(project_id, entity_id)" },
  contacts: { contacts: "contacts_key(project_id)" },
  call_paces: { call_paces: "call_paces_key(project_id, key)" },
};

// By the entity, or all of a project that statistics know nothing of; those that failed for each way of failing.
const callReads = [
  ...["tool_calls_entity(entity_id, project_id)", "tool_calls_project(project_id)"],
  ...["tool_calls_entity_failure(entity_id, project_id)", "tool_calls_entity_failure(entity_id, project_id, failure)"],
  "tool_calls_failure(failure, project_id)",
  // Behind a row.
  "tool_calls_entity(entity_id, project_id, tool_slug, id)",
  "tool_calls_entity_failure(entity_id, project_id, tool_slug, failure, id)",
];

/** By table: how the page behind a row is read, where that is not by more of the primary key. */
const nextOwn: Readonly<Record<string, string>> = {
  connected_accounts: "connected_accounts_entity(project_id, entity_id, id)",
  // Behind the reference, of the app that all of them are of.
  account_references: "account_references_key(toolkit_slug, reference)",
};

const ownPlans = erasedTables.flatMap(({ table, key, entity }): Plan[] => {
  const name = getTableName(table);
  if (typeof entity !== "object" || "none" in entity || name === "tool_calls") return [];
  const words = `as bytes_to_ from \\(select "${name}"\\.\\*(?!.* is not true)`;
  const reads: Reads | undefined =
    key === undefined ? ownReads[name] : { [name]: [readByKey(table), `${name}_project(project_id, id)`] };
  if (reads === undefined) throw new Error(`${name}: say how they are read`);
  return pagesOf(`export ${name}`, words, reads, { [name]: readsOfNext(table, reads[name] ?? [], nextOwn[name]) });
});

/** Looks at the rows of a project. */
const lookPlans = erasedTables.flatMap((erased): Plan[] => {
  const { table, key, project, entity } = erased;
  if (typeof entity !== "object" || "none" in entity || key === undefined || project === undefined) return [];
  const name = getTableName(table);
  const words = new RegExp(`^select n\\.place::text as place.*cross join lateral \\(select \\* from "${name}"`, "s");
  return [{ name: `look at ${name} for an export`, words, run, reads: readsOfLook(erased, true) }];
});

const named = { projectId: seededId("prj", 9), entityId: "ada" };
const oneUuid = "018bcfe5-6800-7000-8000-000000000001";

/** Which of some rows are an entity's by what they say. */
const membershipPlans = erasedTables.flatMap((erased): Plan[] => {
  const { table, key, entity } = erased;
  if (key === undefined || typeof entity !== "object" || !("names" in entity)) return [];
  const name = getTableName(table);
  const { [name]: reads = [] } = readsOfLook(erased, true);
  const ask: Plan["run"] = (db) => ownRows(db, named, erased, [oneUuid]);
  return [{ name: `which ${name} are an entity's`, run: ask, reads: { ...readsOfLook(erased, true), [name]: reads } }];
});

const parentReads: Readonly<Record<string, Reads>> = {
  "standing_runs of standing_programs": {
    standing_runs: "standing_runs_pkey(id)",
    standing_programs: "standing_programs_pkey(id)",
  },
  "standing_runs of jobs": { standing_runs: "standing_runs_pkey(id)", jobs: "jobs_pkey(id)" },
  "deliveries of events": { deliveries: "deliveries_pkey(id)", events: "events_key(project_id, id)" },
};

/** What some rows go with. */
const parentPlans = everyWay.flatMap((way): Plan[] => {
  const { erased, parent } = way;
  if (erased.key === undefined) return [];
  const [name, other] = [getTableName(erased.table), getTableName(parent.table)];
  const ask: Plan["run"] = (db) => rowsOfEntity(db, named, erased, [oneUuid]);
  return [
    {
      name: `which ${other} some ${name} go with`,
      words: `cross join lateral (select * from "${other}"`,
      run: ask,
      reads: parentReads[way.name] ?? {},
    },
  ];
});

/** What an export of an entity reads: every way and every rule of every table. */
export const exportPlans: readonly Plan[] = [
  ...alongPlans,
  ...ownPlans,
  ...lookPlans,
  ...membershipPlans,
  ...parentPlans,
  ...pagesOf("export calls", `"tool_calls"\\."tool_slug", "tool_calls"\\."id" limit`, { tool_calls: callReads }),
  ...pagesOf("export calls that failed", `"tool_calls"\\."failure", "tool_calls"\\."id" limit`, {
    tool_calls: callReads,
  }),
  ...pagesOf("export events that asks were published as", `select "events"\\.\\*.* is not true`, {
    events: "events_key(project_id, id)",
    ...accountsOfEntity,
  }),
  ...pagesOf("export programs that nothing else uses", `as bytes_to_ from \\(select "job_programs"\\.\\*`, {
    job_programs: "job_programs_key(project_id, digest)",
  }),
  {
    name: "programs that jobs use",
    words: "as cursor, n.id::text as of",
    run,
    reads: {
      jobs: ["jobs_pkey(id)", "jobs_status(project_id, status, id)", "jobs_other_status(project_id, status, id)"],
    },
  },
  {
    name: "programs that skills use, for an export",
    words: "version || '/' || slug as cursor",
    run,
    reads: { skills: "skills_key(project_id, slug, version)" },
  },
  {
    name: "programs that versions use",
    words: "v.version || '/' || p.id as cursor",
    run,
    reads: {
      standing_programs: "standing_programs_project(project_id, id)",
      standing_versions: "standing_versions_key(program_id, version)",
    },
  },
  {
    name: "jobs with those that run them",
    words: "with recursive family as (\n      select id, id as of",
    run,
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "which events of some runs are an entity's",
    words: `select "id" from "events"`,
    run,
    reads: { events: "events_key(project_id, id)", ...accountsOfEntity },
  },
];
