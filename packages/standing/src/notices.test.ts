import { createHmac } from "node:crypto";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { refusalOf } from "@svc/testing/project-client";
import { startTestReceiver } from "@svc/testing/receiver";
import { afterAll, beforeAll, expect, test } from "vitest";
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

type Told = { readonly type: string; readonly standingProgramId: string };

/** A receiver of a project's notices, with what it was told. */
async function listening(project: Awaited<ReturnType<StandingWorld["project"]>>, eventTypes: string[]) {
  const receiver = await startTestReceiver();
  const { signingSecret, askEndpoint } = await project.jobs.createAskEndpoint({
    endpointUrl: receiver.url,
    eventTypes,
  });
  const told = () => receiver.requests.map(({ body }) => JSON.parse(body.toString("utf8")) as Told);
  return {
    ...receiver,
    signingSecret,
    askEndpoint,
    told,
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}

/** It is refused by its input's schema at each start. */
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
  // Resumed, it pauses again within the hour: nobody is told of that.
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
    rows: await database.db.sql<{ count: number }[]>`select count(*)::int4 as count from events where kind = 'notice'`,
  };
  expect(all.told()).toMatchObject([{ type: "standing_budget", count: 1, reason: "" }]);
  // One of this test, two of the one before.
  expect(rows).toEqual([{ count: 3 }]);
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
