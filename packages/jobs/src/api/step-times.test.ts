import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JobStep } from "@svc/gen/jobs";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createWorld } from "@svc/testing/desk";
import { createTestNode, jobOf, programText } from "@svc/testing/jobs-node";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: "x" } };

/** Returns what each span of a step says besides its times, which must be in order. */
function spansOf(step: JobStep | undefined) {
  let last = 0;
  return step?.spans.map(({ attempt, round, state, startedAt, finishedAt }) => {
    for (const at of [startedAt, finishedAt]) {
      if (at === undefined) continue;
      expect(timestampMs(at)).toBeGreaterThanOrEqual(last);
      last = timestampMs(at);
    }
    return [attempt, round, state];
  });
}

test("a step in a loop has a span for each round, and its block names it", async () => {
  const world = createWorld();
  let asked = 0;
  world.script = () => ({ status: 200, body: { id: "x", text: ++asked < 2 ? "no" : "yes" } });
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const steps = [{ id: "poll", until: 'steps.look.text == "yes"', do: [look], every: "1s", max: 5 }];
  const { id } = jobOf(await client.submitJob({ programJson: programText({ steps }) }));
  await node.reach(id, "succeeded");
  const [poll, looked] = (await client.listSteps({ jobId: id })).steps;
  expect(spansOf(looked)).toEqual([
    [1, 1, "completed"],
    [1, 2, "completed"],
  ]);
  expect(looked).toMatchObject({ parentStepId: "poll", title: "Get item", attempts: 2 });
  expect(spansOf(poll)).toEqual([[1, 0, "completed"]]);
  expect(poll?.waits.map(({ reason, until }) => [reason, until !== undefined])).toEqual([["wait", true]]);
  expect(poll).toMatchObject({ parentStepId: "", title: 'Repeat until steps.look.text == "yes"' });
});

test("a step that another attempt of the job continued has a span for each attempt", async () => {
  const world = createWorld();
  let isBroken = true;
  world.script = () => (isBroken ? { status: 404, body: {} } : undefined);
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const { id } = jobOf(await client.submitJob({ programJson: programText({ steps: [look] }) }));
  await node.reach(id, "failed");
  isBroken = false;
  await client.retryJob({ id });
  await node.reach(id, "succeeded");
  const [looked] = (await client.listSteps({ jobId: id })).steps;
  expect(spansOf(looked)).toEqual([
    [1, 0, "failed"],
    [2, 0, "completed"],
  ]);
});

test("a step that asks says whom and since when; a paused step and one that sleeps say so, too", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const points = {
    sure: {
      question: "Is it sure?",
      continuations: ["proceed", "abort"],
      escalation: [{ principal: "owner", timeout: "1h" }],
    },
  };
  const steps = [{ id: "gate", judge: "sure" }, { id: "rest", wait: "1h" }, look];
  const { id } = jobOf(await client.submitJob({ programJson: programText({ steps, points }) }));
  await node.reach(id, "parked");
  const waitsNow = async () => {
    const listed = (await client.listSteps({ jobId: id })).steps;
    return listed.map(({ stepId, title, waits }) => [
      `${stepId}: ${title}`,
      ...waits.map(
        ({ reason, principalId, until }) => `${reason} ${principalId} ${until === undefined ? "goes on" : "ended"}`,
      ),
    ]);
  };
  expect(await waitsNow()).toEqual([
    ["gate: Ask owner", "judgment owner goes on"],
    ["rest: Wait 1h"],
    ["look: Get item"],
  ]);
  await client.answerAsk({ jobId: id, principalId: "owner", continuation: "proceed" });
  await node.reach(id, "parked");
  await expect
    .poll(waitsNow)
    .toEqual([["gate: Ask owner", "judgment owner ended"], ["rest: Wait 1h", "wait  goes on"], ["look: Get item"]]);
  await client.cancelJob({ id });
});
