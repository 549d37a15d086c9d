import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { CatalogService, ToolKind } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { BackfillState, StandingState } from "@svc/gen/standing";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { refusalOf, refusalsOf } from "@svc/testing/project-client";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { StandingFaultPoint } from "./context.ts";
import type { EndedPoll } from "./observer.ts";
import { createStandingWorld, type StandingProject, type StandingWorld, settled, stateOf } from "./test-standing.ts";

// Tests of polls with the shipped apps, which the sandbox emulates. Its entities `sandbox:pages=N` have lists of N full pages.

let database: TestDatabase;
let world: StandingWorld;
/** Fault point at which the next poll ends as if its node had failed. */
let dies: StandingFaultPoint | undefined;
let isRead = false;
/** A change that a caller makes after the rows of a poll were read and before they are stored. */
let meanwhile: (() => Promise<unknown>) | undefined;
const asked: string[] = [];
/** All polls that have ended. */
const polls: EndedPoll[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  world = createStandingWorld(database.db, {
    catalog: await shippedCatalog(),
    limits: { standing: { pollPagesMax: many.pagesMax } },
    async onStandingFaultPoint(point) {
      if (point === "rows-read") {
        isRead = true;
        const act = meanwhile;
        meanwhile = undefined;
        await act?.();
      }
      // Other work of the node also reaches these points, so it is left out.
      if (point !== dies || !isRead) return;
      dies = undefined;
      throw new Error(`the node dies: ${point}`);
    },
    observer: {
      calls: { ended: ({ toolSlug }) => void asked.push(toolSlug) },
      standing: {
        decided: () => {},
        polled: (poll) => void polls.push(poll),
        paused: () => {},
        rearmed: () => {},
        failed: () => {},
      },
    },
  });
});
afterEach(() => {
  dies = undefined;
  meanwhile = undefined;
});
afterAll(async () => {
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

/**
 * More rows than three polls read. In `npm run test:crash` these are 25,000 rows, of which one poll reads 10,000. Here the number of pages
 * ends a poll.
 */
const many =
  process.env["SVC_STANDING_ROUNDS"] === undefined
    ? { pagesMax: 2, pages: 5, limit: 4, rows: [8, 8, 4] }
    : { pagesMax: 50, pages: 50, limit: 500, rows: [10_000, 10_000, 5_000] };

const minute = 60_000;
const entity = "sandbox:pages=2";

type PollingProject = StandingProject & { readonly tools: Client<typeof ToolsService> };

/** Returns a project with an account of the sales app for an entity. */
async function project(entityId = entity, toolkitSlug = "sales_crm"): Promise<PollingProject> {
  const made = await world.project();
  const { projectId, keyId } = made;
  const caller = { projectId, keyId, role: "approver" } as const;
  const connections = world.node.client(ConnectionsService, caller);
  await connections.initiateConnection({ toolkitSlug, entityId, scheme: "api_key", apiKey: "sandbox" });
  return { ...made, tools: world.node.client(ToolsService, caller) };
}

/** A program that takes the rows, so that a test can read them: the job's result contains their ids. */
const program = {
  version: 1,
  title: "Take the rows",
  inputSchema: {
    type: "object",
    required: ["rows"],
    properties: { rows: { type: "array", items: { type: "object" } } },
  },
  input: { rows: [] },
  steps: [
    { id: "taken", take: "input.rows", key: "id", keep: ["id"] },
    { id: "sum", reduce: "taken", as: { of: "count" } },
  ],
};

const poll = { call: "sales_crm.list_deals", entity, args: { limit: 500 }, every: "5m", keep: ["id", "title"] };

function definitionOf(changes: object = {}, more: object = {}): string {
  const input = { rows: { $ref: "rows" } };
  return JSON.stringify({ version: 1, source: { poll: { ...poll, ...changes } }, input, program, ...more });
}

/** Returns the state of a program's polls after a poll at the time `atMs` or later. */
const polled = ({ standing }: PollingProject, id: string, atMs: number) =>
  settled(async () => {
    const { standingProgram } = await standing.getStandingProgram({ id });
    const { seconds = 0n, nanos = 0 } = standingProgram?.lastPollAt ?? {};
    return Number(seconds) * 1000 + nanos / 1e6 >= atMs && standingProgram?.pollState;
  });

/** Creates a program, and waits for its first poll. */
async function stand(own: PollingProject, definitionJson: string) {
  const atMs = world.now();
  const { standingProgram } = await own.standing.createStandingProgram({ slug: "new-deals", definitionJson });
  const id = standingProgram?.id ?? "";
  return { id, first: await polled(own, id, atMs) };
}

/** Moves the clock forward, and waits for the poll that is then due. */
async function pollAgain(own: PollingProject, id: string, ms = 5 * minute + 1_000) {
  const atMs = world.now() + ms;
  world.goTo(atMs);
  return polled(own, id, atMs);
}

async function addDeals({ tools }: PollingProject, ...titles: string[]): Promise<void> {
  for (const title of titles) {
    const { outcome } = await tools.callTool({
      toolSlug: "sales_crm.create_deal",
      entityId: entity,
      argumentsJson: JSON.stringify({ title }),
    });
    expect(outcome).toBe("ok");
  }
}

test("acceptance 18: 3 new deals among 1,000 start one run with 3 rows; a crash between read and commit repeats, and loses none", async () => {
  world.goTo("2026-03-02T09:00:00Z");
  const own = await project();
  const { id, first } = await stand(own, definitionOf());
  expect(first).toMatchObject({
    outcome: "ok",
    rows: 1000,
    pages: 2,
    found: 0,
    seen: 1000,
    primed: true,
  });
  for (const [index, point] of (["rows-read", "before-decided", "after-decided"] as const).entries()) {
    await addDeals(own, ...["a", "b", "c"].map((name) => `${name}${index}`));
    asked.length = 0;
    isRead = false;
    dies = point;
    expect(await pollAgain(own, id)).toMatchObject({ outcome: "ok", rows: 1000, found: 3 });
    // Pages of a poll that was not committed were read again.
    expect(asked.filter((slug) => slug === "sales_crm.list_deals")).toHaveLength(point === "after-decided" ? 2 : 4);
    const runs = await own.runs(id, index + 1);
    expect(runs.map(({ kind, rowCount }) => [kind, rowCount])).toEqual(
      Array.from({ length: index + 1 }, () => ["poll", 3]),
    );
    const run = await settled(async () => {
      const { run: found } = await own.standing.getStandingRun({ id: runs.at(-1)?.id ?? "" });
      return found?.jobStatus !== "" && found;
    });
    expect([stateOf(run), run.jobStatus]).toEqual(["ended", "succeeded"]);
  }
  expect(await pollAgain(own, id)).toMatchObject({ outcome: "ok", found: 0 });
  expect((await own.runs(id, 3)).length).toBe(3);
});

test("acceptance 19: rows beyond the cap arrive over three polls; a version with another id field starts nothing by itself", {
  timeout: 300_000,
}, async () => {
  world.goTo("2026-03-03T09:00:00Z");
  const list = `sandbox:pages=${many.pages}`;
  const own = await project(list);
  const all = { entity: list, args: { limit: many.limit }, first: "all", keep: ["id"] };
  const { id } = await stand(own, definitionOf(all));
  const runs = await own.runs(id, 3);
  const ended = await settled(async () => {
    const told = polls.filter(({ programId }) => programId === id);
    return told.length >= 3 && told;
  });
  expect(ended.map(({ rows }) => rows)).toEqual(many.rows);
  // Among so many made-up rows, a few have the id of another row.
  const found = runs.map(({ rowCount }) => rowCount);
  expect(ended.map((poll) => poll.found)).toEqual(found);
  const seen = found.reduce((sum, count) => sum + count, 0);
  expect(seen).toBeGreaterThan(0.99 * many.rows.reduce((sum, count) => sum + count, 0));
  const { standingProgram } = await own.standing.getStandingProgram({ id });
  expect(standingProgram?.pollState).toMatchObject({ outcome: "ok", seen, primed: true });
  const updatedAt = world.now();
  await own.standing.updateStandingProgram({ id, definitionJson: definitionOf({ ...all, id: "title" }) });
  const again = await settled(async () => {
    const state = await polled(own, id, updatedAt);
    return state.outcome === "ok" && state;
  });
  expect(again).toMatchObject({ found: 0, primed: true });
  expect((await own.runs(id, 3)).length).toBe(3);
});

test("acceptance 20: a polled row is no event, and ListTools of kind TRIGGER answers one", async () => {
  world.goTo("2026-03-04T09:00:00Z");
  const own = await project();
  const { projectId, keyId } = own;
  const { id } = await stand(own, definitionOf({ first: { last: 2 }, per: "row" }));
  expect((await own.runs(id, 2)).map(({ rowCount }) => rowCount)).toEqual([1, 1]);
  const caller = { projectId, keyId, role: "approver" } as const;
  const { tools } = await world.node.client(CatalogService, caller).listTools({ kind: ToolKind.TRIGGER });
  expect(tools.map(({ slug }) => slug)).toEqual(["calendar.events_changed"]);
  expect((await world.node.client(TriggersService, caller).listEvents({})).events).toEqual([]);
});

test("rows that `when` turns away are counted and are in no run; each other row makes one, queued ones with their row", async () => {
  world.goTo("2026-03-05T09:00:00Z");
  const own = await project();
  const definitionJson = definitionOf(
    { per: "row" },
    {
      when: 'row.title.startsWith("big")',
      input: { rows: [{ id: { $ref: "row.id" }, title: { $text: "{row.title}" } }] },
      overlap: { policy: "queueAll" },
    },
  );
  const { id } = await stand(own, definitionJson);
  await addDeals(own, "big one", "small one", "big two", "big three");
  expect(await pollAgain(own, id)).toMatchObject({ found: 4 });
  const ended = await settled(async () => {
    const runs = await own.runs(id, 3);
    return runs.every(({ jobStatus }) => jobStatus === "succeeded") && runs;
  });
  expect(ended).toHaveLength(3);
  const { standingProgram } = await own.standing.getStandingProgram({ id });
  expect(standingProgram?.counts).toMatchObject({ seen: 4n, filtered: 1n, started: 3n });
});

test("failed polls move nothing, are tried again later each time, and pause the program as failed jobs do", async () => {
  world.goTo("2026-03-06T09:00:00Z");
  const own = await project("sandbox:500");
  const { id, first } = await stand(own, definitionOf({ entity: "sandbox:500" }, { pauseAfter: 3 }));
  expect(first).toMatchObject({
    outcome: "failed",
    code: "provider_error",
    failuresInRow: 1,
  });
  const dueIn = async () => {
    const { standingProgram } = await own.standing.getStandingProgram({ id });
    return Number(standingProgram?.nextTimes[0]?.seconds ?? 0n) * 1000 - world.now();
  };
  expect(Math.round((await dueIn()) / minute)).toBe(1);
  expect(await pollAgain(own, id, minute + 1_000)).toMatchObject({ failuresInRow: 2 });
  expect(Math.round((await dueIn()) / minute)).toBe(2);
  expect(await pollAgain(own, id, 2 * minute + 1_000)).toMatchObject({ failuresInRow: 3 });
  const { standingProgram } = await own.standing.getStandingProgram({ id });
  expect([standingProgram?.state, standingProgram?.pauseReason]).toEqual([StandingState.PAUSED, "failures"]);
  expect(standingProgram?.counts?.failuresInRow).toBe(3);
});

test("a paused program reads nothing, and finds what came meanwhile once it is resumed", async () => {
  world.goTo("2026-03-07T09:00:00Z");
  const own = await project();
  const { id } = await stand(own, definitionOf());
  await own.standing.pauseStandingProgram({ id });
  await addDeals(own, "while it was paused");
  const resumedAt = world.now() + 60 * minute;
  world.goTo(resumedAt);
  await own.standing.resumeStandingProgram({ id });
  expect(await polled(own, id, resumedAt)).toMatchObject({ found: 1 });
  expect((await own.runs(id, 1)).map(({ rowCount }) => rowCount)).toEqual([1]);
});

test("a backfill with `again` forgets what is known of a list: the next poll finds all of it, and a poll under way counts for nothing", async () => {
  world.goTo("2026-03-08T09:00:00Z");
  const own = await project();
  const { id, first } = await stand(own, definitionOf({ args: { limit: 4 }, keep: ["id"] }));
  expect(first).toMatchObject({ outcome: "ok", found: 0, seen: 8, primed: true });
  const refused = async (request: object) => {
    const { code, reason, field } = await refusalOf(own.standing.backfillStandingProgram({ id, ...request }));
    return [code, reason, field];
  };
  expect(await refused({})).toEqual(["FailedPrecondition", "BACKFILL_NOT_POSSIBLE", "again"]);
  const since = timestampFromMs(world.now());
  expect(await refused({ again: true, since })).toEqual(["FailedPrecondition", "BACKFILL_NOT_POSSIBLE", "since"]);
  const forgetAll = () => own.standing.backfillStandingProgram({ id, again: true });
  const forgottenAt = world.now();
  const { backfill } = await forgetAll();
  expect(backfill).toMatchObject({ state: BackfillState.DONE, total: 0 });
  const found = await settled(async () => {
    const state = await polled(own, id, forgottenAt);
    return state.found === 8 && state;
  });
  expect(found).toMatchObject({ seen: 8, primed: true });
  expect((await own.runs(id, 1)).map(({ rowCount }) => rowCount)).toEqual([8]);
  expect(await pollAgain(own, id)).toMatchObject({ found: 0 });
  // The known rows are forgotten after the poll has read its rows and before it stores them. If it stored them, all rows would count as
  // known.
  meanwhile = forgetAll;
  world.goTo(world.now() + 5 * minute + 1_000);
  const again = await own.runs(id, 2);
  expect(again.map(({ rowCount }) => rowCount)).toEqual([8, 8]);
  expect(await pollAgain(own, id)).toMatchObject({ found: 0 });
  expect(await own.runs(id, 2)).toHaveLength(2);
});

test("a definition that cannot be polled is refused with every fault, each at its place", async () => {
  const own = await project();
  const faultsOf = async (changes: object, more: object = {}) => {
    const definitionJson = definitionOf(changes, more);
    return (await refusalsOf(own.standing.createStandingProgram({ slug: "faulty", definitionJson }))).details;
  };
  const at = (field: string) => ["POLL_INVALID", `definitionJson/source/poll${field}`];
  const told = async (changes: object) => (await faultsOf(changes)).map(({ reason, field }) => [reason, field]);
  expect(
    await told({ every: "10s", first: "none", on: "old", per: "page", args: { status: "lost?", page: { $ref: "x" } } }),
  ).toEqual(expect.arrayContaining([at("/args/page"), at("/every"), at("/first"), at("/on"), at("/per")]));
  expect(await told({ args: { status: "lost?", sort: 1 }, keep: ["id", "age"], id: "uuid" })).toEqual(
    expect.arrayContaining([at("/args/status"), at("/args/sort"), at("/keep/1"), at("/id")]),
  );
  expect(await told({ args: { cursor: "x" } })).toEqual([at("/args/cursor")]);
  expect(await told({ call: "sales_crm.create_deal" })).toEqual([at("/call")]);
  expect(await told({ call: "sales_crm.list_deal" })).toEqual([at("/call")]);
  expect(await told({ entity: "nobody" })).toEqual([at("/entity")]);
  expect(await told({ call: "sales_crm.list_pipelines", args: {} })).toEqual([at("")]);
  expect(await told({ call: "sales_crm.list_persons", args: { sort_by: "id" }, keep: ["id"] })).toEqual([
    at("/args/sort_by"),
  ]);
  expect(await told({ cursor: { kind: "after", arg: "since" } })).toEqual([at("/cursor/arg")]);
  expect(await told({ on: "changed", cursor: { kind: "newest", args: { status: "open" } } })).toEqual([at("/on")]);
  const collected = await faultsOf({}, { collect: { quiet: "30s" } });
  expect(collected).toEqual([{ reason: "POLICY_INVALID", field: "definitionJson/collect" }]);
  const wrong = await faultsOf({}, { input: { rows: { $ref: "rows.0.age" } }, when: "row.age > 1" });
  expect(wrong.map(({ reason, field }) => [reason, field])).toEqual([
    ["EXPRESSION_INVALID", "definitionJson/input/rows"],
    ["EXPRESSION_INVALID", "definitionJson/when"],
  ]);
});
