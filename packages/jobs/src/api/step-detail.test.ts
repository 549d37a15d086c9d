import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createWorld } from "@svc/testing/desk";
import { createTestNode, jobOf, programText } from "@svc/testing/jobs-node";
import { refusalsOf } from "@svc/testing/project-client";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const fetchItems = {
  id: "fetch",
  call: "desk.list_items",
  entity: "ops",
  rows: { from: "items[]", keep: ["id", "secret"] },
};
const notes = {
  inputSchema: {
    type: "object",
    properties: { greeting: { type: "string" }, token: { type: "string", "x-sensitive": true } },
  },
  input: { greeting: "hello", token: "hidden-token" },
  steps: [
    fetchItems,
    {
      id: "send",
      map: "fetch",
      do: [
        {
          id: "note",
          call: "desk.send_note",
          entity: "ops",
          args: { text: { $text: "{input.greeting} {row.id}" } },
        },
      ],
      tolerate: { count: 10 },
    },
    { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.greeting" } } },
  ],
};

test("a step shows where its arguments come from, the form of its output and its failed rows, and no value of a row", async () => {
  const world = createWorld();
  world.script = ({ method, body }) =>
    method === "POST" && body["text"] === "hello i1" ? { status: 404, body: { error: "gone" } } : undefined;
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const { id } = jobOf(await client.submitJob({ programJson: programText(notes) }));
  await node.reach(id, "succeeded");
  const [fetched, sent, looked] = await Promise.all(
    ["fetch", "send", "look"].map((stepId) => client.getStep({ jobId: id, stepId })),
  );
  expect(sent?.arguments).toMatchObject([
    { callId: "note", path: "/text", source: "text", written: "{input.greeting} {row.id}", type: "text" },
  ]);
  expect(looked?.arguments).toMatchObject([
    { callId: "look", path: "/id", source: "reference", written: "input.greeting", type: "text", length: 5 },
  ]);
  expect(fetched?.outputRows).toBe(3);
  expect(fetched?.output.map(({ path, types, count }) => [path, types, count])).toEqual([
    ["id", ["text"], 3],
    ["secret", ["text"], 3],
  ]);
  expect(looked?.output.map(({ path, types }) => [path, types])).toEqual([
    ["", ["object"]],
    ["id", ["text"]],
    ["text", ["text"]],
  ]);
  expect(sent?.rows).toMatchObject([{ ordinal: 1, state: "failed", errorCode: "provider_error" }]);
  expect(sent?.rows[0]?.message).toContain("404");
  expect(fetched?.rows.map(({ ordinal, state }) => [ordinal, state])).toEqual([
    [0, "in"],
    [1, "in"],
    [2, "in"],
  ]);
  expect(sent).toMatchObject({ canRetry: false, retryWhy: "the job is succeeded", receipt: { stepId: "send" } });
  const told = JSON.stringify([fetched, sent, looked], (_, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  expect(told).not.toMatch(/marker-|hidden-token|hello i/);
});

test("a sensitive value has neither type nor length", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const steps = [{ id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.token" } } }];
  const { id } = jobOf(await client.submitJob({ programJson: programText({ ...notes, steps }) }));
  await node.reach(id, "succeeded", "failed");
  const { arguments: given } = await client.getStep({ jobId: id, stepId: "look" });
  expect(given.map(({ written, type, length }) => [written, type, length])).toEqual([["input.token", "", undefined]]);
});

test("a failed job says of each step if a retry can start there", async () => {
  const world = createWorld();
  world.script = ({ path }) => (path.startsWith("/items/") ? { status: 404, body: {} } : undefined);
  await using node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const { id } = jobOf(await client.submitJob({ programJson: programText(notes) }));
  await node.reach(id, "failed");
  const whyOf = async (stepId: string) => (await client.getStep({ jobId: id, stepId })).retryWhy;
  expect(await whyOf("look")).toBe("");
  expect(await whyOf("send")).toContain("would repeat step send, which has written");
  expect(await refusalsOf(client.getStep({ jobId: id, stepId: "none" }))).toEqual({
    code: "NotFound",
    details: [{ reason: "STEP_NOT_FOUND", field: "stepId" }],
  });
});
