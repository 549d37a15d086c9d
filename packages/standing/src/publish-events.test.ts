import { createHmac } from "node:crypto";
import { createId, type ProjectId, type StandingProgramId, systemClock, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import type { AskEndpointEventType } from "@svc/db/schema/words";
import { askEndpointsForProject } from "@svc/db/subscriptions/ask-endpoints";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { refusalOf } from "@svc/testing/project-client";
import { startTestReceiver } from "@svc/testing/receiver";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DecidedProgram } from "./decide/decide.ts";
import { DecidedRuns } from "./decide/decided-runs.ts";
import { publishScheduleEvents } from "./store/publish-events.ts";
import { createStandingWorld, definitionText, type StandingWorld, settled, stateOf } from "./test-standing.ts";

let database: TestDatabase;
let world: StandingWorld;
beforeAll(async () => {
  database = await createTestDatabase();
  world = createStandingWorld(database.db, { engines: ["jobs", "standing", "deliveries"] });
});
afterAll(async () => {
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

type Told = { readonly id: string; readonly type: string; readonly standingProgramId: string };

/** Returns a receiver of a project's notices, and the notices that it has received. */
async function listening(project: Awaited<ReturnType<StandingWorld["project"]>>, eventTypes: string[]) {
  const receiver = await startTestReceiver();
  const { signingSecret, askEndpoint } = await project.jobs.createAskEndpoint({
    endpointUrl: receiver.url,
    eventTypes,
  });
  // If the clock is moved while a notice is being sent, its lease expires and the notice is sent again with the same id.
  const told = () => {
    const all = receiver.requests.map(({ body }) => JSON.parse(body.toString("utf8")) as Told);
    return [...new Map(all.map((one) => [one.id, one])).values()];
  };
  return {
    ...receiver,
    signingSecret,
    askEndpoint,
    told,
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}

/** Returns the decisions about a program that svc has paused, and that had missed times before. */
function pausedAndMissed(projectId: ProjectId, id: StandingProgramId): DecidedProgram {
  const program = { id, projectId, slug: "herd", title: "Herd", version: 1, state: "active" };
  const nothing = { runs: new DecidedRuns(), failedStarts: [] };
  const decisions = { state: "paused", pauseReason: "drift", pauseDetail: "", missed: 2, ...nothing };
  return { program, version: { definition: {} }, decisions } as unknown as DecidedProgram;
}

/** Returns a connection that reports each statement. */
function counting(tx: Executor, onStatement: () => void): Executor {
  const sql = Object.create(tx.sql) as typeof tx.sql;
  const unsafe: typeof tx.sql.unsafe = (...statement) => {
    onStatement();
    return tx.sql.unsafe(...statement);
  };
  return { ...tx, sql: Object.assign(sql, { unsafe }) };
}

/** No subscription of these tests has a filter. */
const filters = { begin: () => async () => new Map(), countFaults: () => {} };

/** A program whose input does not satisfy its schema, so that each start is refused. */
const refused = {
  input: { text: { $ref: "fire.at" } },
  program: {
    version: 1,
    title: "Refused",
    inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string", maxLength: 3 } } },
    input: { text: "" },
    steps: [{ id: "wait", wait: "1s" }],
  },
};

test("acceptance 17: failures in a row pause a program; the notice arrives, signed, once", async () => {
  const project = await world.project();
  world.goTo("2026-01-06T00:05:00Z");
  await using all = await listening(project, ["standing_paused", "standing_missed"]);
  await using asks = await listening(project, []);
  expect(all.askEndpoint?.eventTypes).toEqual(["standing_paused", "standing_missed"]);
  const definitionJson = definitionText({ source: { schedule: { every: "10m" } }, pauseAfter: 2, ...refused });
  const { standingProgram } = await project.standing.createStandingProgram({ slug: "failing", definitionJson });
  const id = standingProgram?.id ?? "";
  const isPaused = async () =>
    (await project.standing.getStandingProgram({ id })).standingProgram?.pauseReason === "failures";
  for (const nth of [1, 2]) {
    world.goTo(`2026-01-06T00:${nth}0:01Z`);
    await project.runs(id, nth);
  }
  expect((await project.runs(id, 2)).map(stateOf)).toEqual(["refused input_invalid", "refused input_invalid"]);
  await settled(async () => all.told().length > 0);
  const [{ body, headers } = { body: Buffer.alloc(0), headers: {} as Record<string, string> }] = all.requests;
  expect(all.told()).toEqual([
    {
      id: expect.stringMatching(/^evt_/),
      type: "standing_paused",
      ...{ standingProgramId: id, slug: "failing", title: "Refused", version: 1 },
      at: expect.stringMatching(/^2026-01-06T00:20:0/),
      ...{ reason: "failures", detail: "2 runs in a row failed", count: 2 },
    },
  ]);
  const signature = createHmac("sha256", all.signingSecret).update(body).digest("hex");
  expect(headers["x-svc-signature"]).toBe(`sha256=${signature}`);
  // After it is resumed, the program pauses again within the hour. No second notice is sent for that.
  await project.standing.resumeStandingProgram({ id });
  for (const nth of [3, 4]) {
    world.goTo(`2026-01-06T00:${nth}0:01Z`);
    await project.runs(id, nth);
  }
  await settled(isPaused);
  await project.standing.resumeStandingProgram({ id });
  world.goTo("2026-01-06T04:05:00Z");
  await settled(async () => all.told().length > 1);
  expect(all.told().slice(1)).toMatchObject([{ type: "standing_missed", standingProgramId: id, count: 19 }]);
  expect(asks.requests).toEqual([]);
  await project.standing.deleteStandingProgram({ id });
});

test("a budget that is used up is told of once, and no pause that somebody asked for", async () => {
  const project = await world.project();
  world.goTo("2026-01-07T00:00:30Z");
  await using all = await listening(project, ["standing_paused", "standing_budget"]);
  const definition = { source: { schedule: { every: "1m" } }, budget: { runs: 1 }, overlap: { policy: "queueAll" } };
  const definitionJson = definitionText(definition);
  const { standingProgram } = await project.standing.createStandingProgram({ slug: "budget", definitionJson });
  const id = standingProgram?.id ?? "";
  for (const minute of [1, 2, 3]) {
    world.goTo(`2026-01-07T00:0${minute}:01Z`);
    await project.runs(id, minute);
  }
  await settled(async () => all.told().length > 0);
  await project.standing.pauseStandingProgram({ id });
  const { rows } = {
    rows: await database.db.sql<
      { count: number }[]
    >`select count(*)::int4 as count from events where toolkit_slug = 'svc'`,
  };
  expect(all.told()).toMatchObject([{ type: "standing_budget", count: 1, reason: "" }]);
  // One notice is from this test and two are from the test before.
  expect(rows).toEqual([{ count: 3 }]);
});

test("a herd of many projects is told of in as many statements as one program is, each project by its own endpoints alone", async () => {
  const { db } = database;
  const nowMs = world.now();
  const endpointOf = async (projectId: ProjectId, eventTypes: readonly AskEndpointEventType[]) => {
    const id = createId("sub", nowMs);
    const signingSecret = Buffer.from("sealed");
    const endpoint = { id, endpointUrl: "https://example.com/ops", signingSecret, createdAt: nowMs, eventTypes };
    await askEndpointsForProject(db, projectId).create(endpoint);
    return id;
  };
  const herd = await Promise.all(
    Array.from({ length: 5 }, async (_, nth) => {
      const { projectId } = await world.project();
      await endpointOf(projectId, []);
      const paused = nth === 4 ? undefined : await endpointOf(projectId, ["standing_paused"]);
      const both = nth === 0 ? await endpointOf(projectId, ["standing_paused", "standing_missed"]) : undefined;
      return { projectId, paused, both, decided: pausedAndMissed(projectId, createId("stp", nowMs)) };
    }),
  );
  const told = async (of: typeof herd) => {
    let statements = 0;
    const stored = await withTransaction(db, (tx) => {
      const counted = counting(tx, () => statements++);
      const decided = of.map((one) => one.decided);
      return publishScheduleEvents({ clock: { ...systemClock, now: () => nowMs }, filters }, counted, decided);
    });
    return { stored, statements };
  };
  const one = await told(herd.slice(0, 1));
  const others = await told(herd.slice(1));
  expect([one.stored, others.stored, others.statements]).toEqual([true, true, one.statements]);
  expect(await told(herd)).toMatchObject({ stored: false });
  for (const { projectId, paused, both } of herd) {
    const rows = await db.sql<{ type: string; endpoint: string }[]>`
      select replace(e.trigger_slug, 'svc.schedule_', 'standing_') as type, d.subscription_id::text as endpoint
      from events e join deliveries d on d.event_id = e.id
      where e.project_id = ${uuidOfId(projectId)} order by 1, 2`;
    const expected = [
      ...(both === undefined ? [] : [{ type: "standing_missed", endpoint: uuidOfId(both) }]),
      ...(paused === undefined ? [] : [{ type: "standing_paused", endpoint: uuidOfId(paused) }]),
      ...(both === undefined ? [] : [{ type: "standing_paused", endpoint: uuidOfId(both) }]),
    ];
    // Ids of the same millisecond can have any order.
    expect(rows).toHaveLength(expected.length);
    expect(rows).toEqual(expect.arrayContaining(expected));
  }
});

test("an endpoint names what it is told of, or asks alone", async () => {
  const project = await world.project();
  const request = { endpointUrl: "https://example.com/ops", eventTypes: ["ask_raised", "standing"] };
  const { code, reason, field } = await refusalOf(project.jobs.createAskEndpoint(request));
  expect([code, reason, field]).toEqual(["InvalidArgument", "EVENT_TYPE_UNKNOWN", "eventTypes[1]"]);
  const twice = { ...request, eventTypes: ["standing_missed", "standing_missed"] };
  await project.jobs.createAskEndpoint(twice);
  const { askEndpoints } = await project.jobs.listAskEndpoints({});
  expect(askEndpoints.map(({ eventTypes }) => eventTypes)).toEqual([["standing_missed"]]);
});
