import { join } from "node:path";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { statementNames } from "./sql/statement.ts";
import { activityPlans } from "./test-plans/activity.ts";
import { askPlans } from "./test-plans/asks.ts";
import { auditPlans } from "./test-plans/audit.ts";
import { catalogPlans } from "./test-plans/catalog.ts";
import { connectionPlans } from "./test-plans/connections.ts";
import { consolePlans } from "./test-plans/console.ts";
import { contactPlans } from "./test-plans/contacts.ts";
import { deliveryPlans, subscriptionPlans } from "./test-plans/deliveries.ts";
import { erasurePlans } from "./test-plans/erasures.ts";
import {
  explain,
  explainAll,
  type PlanMode,
  type SentStatement,
  sentBy,
  type TableReads,
} from "./test-plans/explain.ts";
import { exportPlans } from "./test-plans/exports.ts";
import { grantPlans } from "./test-plans/grants.ts";
import { hookPlans } from "./test-plans/hooks.ts";
import { jobWritePlans } from "./test-plans/job-writes.ts";
import { jobPlans, taskPlans } from "./test-plans/jobs.ts";
import { keyPlans } from "./test-plans/keys.ts";
import type { Plan } from "./test-plans/plan.ts";
import { accountPlans, callPlans, limitPlans, projectPlans } from "./test-plans/projects.ts";
import { quarantinePlans } from "./test-plans/quarantine.ts";
import { replayPlans } from "./test-plans/replays.ts";
import { resealPlans } from "./test-plans/reseal.ts";
import { restorePlans } from "./test-plans/restores.ts";
import { forgetStatistics, type Statistics, seeded } from "./test-plans/seed.ts";
import { skillPlans } from "./test-plans/skills.ts";
import { standingPlans } from "./test-plans/standing.ts";
import { standingRepositoryPlans } from "./test-plans/standing-repositories.ts";
import { agentSubscriptionPlans } from "./test-plans/subscriptions.ts";
import { taskTablePlans } from "./test-plans/task-tables.ts";
import { toolVectorPlans } from "./test-plans/tool-vectors.ts";
import { sourcesIn, watchQueries } from "./test-plans/unrun-queries.ts";
import { usagePlans } from "./test-plans/usage.ts";
import { vaultPlans } from "./test-plans/vault.ts";

// Every statement has a plan here: what it reads and by which index, whatever the server's statistics say. Nothing reads a
// table as a whole.

const plans: readonly Plan[] = [
  ...jobPlans,
  ...jobWritePlans,
  ...taskPlans,
  ...askPlans,
  ...deliveryPlans,
  ...subscriptionPlans,
  ...callPlans,
  ...limitPlans,
  ...accountPlans,
  ...projectPlans,
  ...usagePlans,
  ...standingPlans,
  ...standingRepositoryPlans,
  ...replayPlans,
  ...activityPlans,
  ...consolePlans,
  ...grantPlans,
  ...hookPlans,
  ...auditPlans,
  ...erasurePlans,
  ...toolVectorPlans,
  ...vaultPlans,
  ...resealPlans,
  ...restorePlans,
  ...catalogPlans,
  ...exportPlans,
  ...taskTablePlans,
  ...skillPlans,
  ...quarantinePlans,
  ...connectionPlans,
  ...contactPlans,
  ...keyPlans,
  ...agentSubscriptionPlans,
];

const modes: readonly PlanMode[] = ["custom", "generic"];
const everyStatistics: readonly Statistics[] = ["fresh", "stale", "absent"];
const sent = new Map<Plan, SentStatement>();
/** All that the runs of plans sent. */
const allSent = new Set<string>();
/** Places in the package that send a query, and that no run of a plan came to. */
let unrun: string[] = [];
/** How each was planned, under which circumstances. */
const planned = new Map<Plan, Planned[]>();

type Planned = { readonly mode: PlanMode; readonly statistics: Statistics; readonly reads: TableReads };

const { db, drop } = await createTestDatabase({ filled: seeded });
afterAll(drop);

beforeAll(async () => {
  const sources = sourcesIn(import.meta.dirname);
  for (const file of sources) await import(join(import.meta.dirname, file));
  const takeUnrun = await watchQueries(import.meta.dirname, sources);
  for (const plan of plans) sent.set(plan, await statementOf(plan));
  unrun = await takeUnrun();
  await planAll("stale");
  await forgetStatistics(db);
  await planAll("absent");
  await db.sql.unsafe("analyze");
  await planAll("fresh");
  // Thousands of plans: beside other work they took longer than a hook has.
}, 300_000);

async function planAll(statistics: Statistics): Promise<void> {
  const asked = [...sent].filter(([plan]) => (plan.statistics ?? everyStatistics).includes(statistics));
  for (const mode of modes) {
    const told = await explainAll(
      db,
      asked.map(([, statement]) => statement),
      { mode },
    );
    for (const [index, [plan]] of asked.entries()) {
      const reads = told[index];
      if (reads !== undefined) planned.set(plan, [...(planned.get(plan) ?? []), { mode, statistics, reads }]);
    }
  }
}

/** What a plan's run sends: the statement of its name, or the one query that it consists of or that has its words. */
async function statementOf(plan: Plan): Promise<SentStatement> {
  const { name, words } = plan;
  const isNamed = statementNames().includes(name) ? (text: string) => text.startsWith(`/* ${name} */`) : undefined;
  const all = await (isNamed === undefined
    ? sentOnce(plan.run)
    : sentBy(db, plan.run, plan.isSlow === true ? isNamed : undefined));
  for (const { text } of all) allSent.add(text);
  const found = all.filter(({ text }) =>
    isNamed !== undefined ? isNamed(text) : !isPlannedByName(text) && hasWords(text, words ?? ""),
  );
  const [first] = found;
  if (first === undefined) throw new Error(`${name} was not run, but ${all.map(({ text }) => text.slice(0, 40))}`);
  return first;
}

const sentByRun = new Map<Plan["run"], Promise<SentStatement[]>>();

/** What a run sends, which many plans may be of: of a whole erasure each of its statements. */
function sentOnce(run: Plan["run"]): Promise<SentStatement[]> {
  const known = sentByRun.get(run) ?? sentBy(db, run);
  sentByRun.set(run, known);
  return known;
}

function hasWords(text: string, words: string | RegExp): boolean {
  return typeof words === "string" ? text.includes(words) : words.test(text);
}

/** Whether a text is a statement's, which has its plan by its name. */
function isPlannedByName(text: string): boolean {
  return text.startsWith("/* ");
}

/** What is wrong with how a statement reads; empty when nothing is. */
function faultsOf(plan: Plan, { statistics, reads: { access, isSorted } }: Planned): string[] {
  const faults = isSorted && plan.isOrdered ? ["sorts"] : [];
  for (const table of new Set([...Object.keys(access), ...Object.keys(plan.reads)])) {
    const stale = statistics === "stale" ? (plan.staleReads?.[table] ?? []) : [];
    const expected = [plan.reads[table] ?? [], stale].flat();
    const found = access[table] ?? [];
    const unexpected = found.filter((one) => !expected.includes(one));
    if (unexpected.length > 0 || (found.length === 0 && expected.length > 0)) {
      faults.push(
        `reads ${table} by ${found.join(" and ") || "nothing"}, not by ${expected.join(" or ") || "anything"}`,
      );
    }
  }
  return faults;
}

test("every statement has a plan", () => {
  const known = new Set(plans.map(({ name }) => name));
  // Those of other tests, whose files may share the process, are named test_.
  expect(statementNames().filter((name) => !known.has(name) && !name.startsWith("test_"))).toEqual([]);
});

test("every query is run by a plan", () => {
  expect(unrun).toEqual([]);
});

test("every query that the run of a plan sends has a plan", () => {
  const planned = new Set([...sent.values()].map(({ text }) => text));
  // The server has no plan of these.
  const isSetting = (text: string) => /^(?:set local|savepoint|release|rollback|lock table|truncate) /.test(text);
  expect([...allSent].filter((text) => !planned.has(text) && !isPlannedByName(text) && !isSetting(text))).toEqual([]);
});

test("every index is read by a statement", async () => {
  const rows = await db.sql<{ name: string }[]>`
    select indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and not i.indisunique order by 1`;
  const read = new Set(plans.flatMap(({ reads }) => Object.values(reads).flat()).map((one) => one.split("(")[0]));
  // A unique one is a rule as well, whether anything reads by it or not.
  expect(rows.map(({ name }) => name).filter((name) => !read.has(name))).toEqual([]);
});

const named = plans.map((plan) => [[plan.name, plan.variant].filter(Boolean).join(", "), plan] as const);

test.each(named)("%s reads by its indexes", (_, plan) => {
  const all = planned.get(plan) ?? [];
  const faults = all.flatMap((one) =>
    faultsOf(plan, one).map((fault) => `${fault} (${one.mode} plan, ${one.statistics} statistics)`),
  );
  expect(faults).toEqual([]);
  expect(all).toHaveLength(2 * (plan.statistics ?? everyStatistics).length);
});

test.each(named.filter(([, { rowsMax }]) => rowsMax))("%s reads no more rows than it must", async (_, plan) => {
  const statement = sent.get(plan);
  if (statement === undefined) throw new Error("it was not run");
  for (const mode of modes) {
    const { rows } = await explain(db, statement, { mode, isRun: true });
    for (const [table, max] of Object.entries(plan.rowsMax ?? {})) {
      expect(rows[table], `${table}, ${mode} plan`).toBeLessThanOrEqual(max);
    }
  }
});
