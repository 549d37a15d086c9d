import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

// Runs `svc stats` at a terminal against a real server, which returns the figures of one project.

const secret = { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };
let server: TestServer;
let receiver: TestReceiver;
let subscription: string;
let event: string;

beforeAll(async () => {
  server = await startTestServer({ variables: { ...secret, SVC_RETRY_SCHEDULE: "1h" } });
  receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  subscription = (await json("subscriptions", "create", receiver.url)).subscription.id;
  expect(await svc("trigger", "calendar")).toMatchObject({ code: 0 });
  await until(async () => (await json("deliveries", "--subscription", subscription))[0]?.attempts === 1);
  event = (await json("events"))[0].id;
});
afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await server?.stop();
});

function svc(...argv: string[]) {
  return runTestCommand(argv, { SVC_URL: server.url, SVC_API_KEY: server.key, ...secret });
}

async function json(...argv: string[]) {
  const { code, printed, noted } = await svc(...argv, "--json");
  expect({ code, printed: printed.length }, noted.join("\n")).toEqual({ code: 0, printed: 1 });
  return JSON.parse(printed[0] ?? "");
}

test("stats tells what waits, and which endpoint it waits for", async () => {
  const { code, printed } = await svc("stats");
  expect(code).toBe(0);
  expect(printed).toContainEqual(expect.stringMatching(/^pending deliveries +1$/));
  expect(printed).toContainEqual(expect.stringMatching(new RegExp(`^${subscription} +1 .* (backing off|failing)$`)));
  expect(await json("stats")).toMatchObject({
    pendingDeliveries: 1,
    worstSubscriptions: [{ subscriptionId: subscription }],
  });
});

test("stats --since tells what happened, and refuses what does not fit", async () => {
  await until(async () => (await json("stats", "--since", "1h")).lines.length > 1);
  const { printed } = await svc("stats", "--since", "1h");
  expect(printed).toContainEqual(expect.stringMatching(/^deliveries +retried +1$/));
  expect(printed).toContainEqual(expect.stringMatching(/^events +calendar +1$/));
  expect(await svc("stats", "--since", "1h", "--subscription", "sub_1")).toMatchObject({ code: 1, printed: [] });
});

test("a subscription and a delivery are shown one by one, and lists are narrowed", async () => {
  const shown = await svc("subscriptions", "show", subscription);
  expect(shown.printed).toContainEqual(expect.stringMatching(/^pending +1$/));
  expect((await json("subscriptions", "show", subscription)).health.pendingDeliveries).toBe(1);
  const [pending] = await json("deliveries", "--state", "pending", "--since", "1h");
  expect(pending.eventId).toBe(event);
  expect(await json("deliveries", "--state", "dead_letter", "--since", "1h")).toEqual([]);
  expect(await svc("deliveries", "--state", "pending")).toMatchObject({ code: 2 });
  expect((await svc("deliveries", "show", pending.id)).printed).toContainEqual(
    expect.stringMatching(/^state +pending$/),
  );
  expect((await json("deliveries", "show", pending.id)).id).toBe(pending.id);
  expect(await json("events", "--text", "no event has this")).toEqual([]);
  expect(await json("tool-calls", "--key", "key_01h455vb4pex5vsknk084sn02q")).toEqual([]);
  expect(await json("jobs", "--title", "no job has this")).toEqual([]);
  expect(await svc("jobs", "undo-entries", "job_01h455vb4pex5vsknk084sn02q")).toMatchObject({ code: 1 });
});
