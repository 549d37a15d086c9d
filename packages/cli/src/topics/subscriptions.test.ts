import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

// Tests the commands about subscriptions, events and deliveries as an operator uses them: with a real server and a real endpoint.

const secret = { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };
let server: TestServer;
let receiver: TestReceiver;

beforeAll(async () => {
  // The only retry comes after an hour, so a delivery that failed once does not change during the tests.
  server = await startTestServer({ variables: { ...secret, SVC_RETRY_SCHEDULE: "1h" } });
});
afterAll(() => server.stop());
beforeEach(async () => {
  receiver = await startTestReceiver();
});
afterEach(async () => {
  for (const { id } of await json("subscriptions", "list")) await svc("subscriptions", "delete", id);
  await receiver[Symbol.asyncDispose]();
});

function svc(...argv: string[]) {
  return runTestCommand(argv, { SVC_URL: server.url, SVC_API_KEY: server.key, ...secret });
}

/** Runs a command with `--json` and returns the printed value. */
async function json(...argv: string[]) {
  const { code, printed, noted } = await svc(...argv, "--json");
  expect({ code, printed: printed.length }, noted.join("\n")).toEqual({ code: 0, printed: 1 });
  return JSON.parse(printed[0] ?? "");
}

async function subscribe(...options: string[]): Promise<string> {
  return (await json("subscriptions", "create", receiver.url, ...options)).subscription.id;
}

/** Posts a sample event. Resolves to the event's id when svc has sent the event to the endpoint and recorded the result. */
async function receiveEvent(state = "delivered"): Promise<string> {
  const before = receiver.requests.length;
  expect(await svc("trigger", "calendar")).toMatchObject({ code: 0 });
  await until(() => receiver.requests.length > before);
  const [{ id }] = await json("events", "list", "--limit", "1");
  await until(async () => {
    const [delivery] = await json("deliveries", "--event", id);
    return delivery.state === state && delivery.attempts === 1;
  });
  return id;
}

test("endpoints tells where providers post to, and whether the secret is set", async () => {
  const { code, printed, noted } = await svc("endpoints");
  expect({ code, noted }).toEqual({ code: 0, noted: [] });
  expect(printed).toEqual([
    expect.stringMatching(/^TOOLKIT +SCHEME +SECRET +SET +URL$/),
    expect.stringMatching(
      new RegExp(`^calendar +token_query +SVC_WEBHOOK_SECRET_CALENDAR +yes +${server.url}/webhooks/calendar$`),
    ),
  ]);
  expect(await json("endpoints")).toMatchObject([{ toolkitSlug: "calendar", secretSet: true }]);
});

test("subscriptions create prints id and secret, and asks for the secret to be kept", async () => {
  const { code, printed, noted } = await svc(
    "subscriptions",
    "create",
    receiver.url,
    "--trigger",
    "calendar.events_changed",
  );
  expect(code).toBe(0);
  expect(printed).toEqual([
    expect.stringMatching(/^subscription {4}sub_\w{26}$/),
    expect.stringMatching(/^signing secret {2}whsec_\S+$/),
  ]);
  expect(noted).toEqual([
    "Keep the secret: it is not shown again.",
    expect.stringMatching(/^`svc subscriptions test sub_\w+` sends/),
  ]);
  expect((await svc("subscriptions")).printed).toEqual([
    expect.stringMatching(/^ID +STATE +EVENTS +CREATED +ENDPOINT$/),
    expect.stringMatching(new RegExp(`^sub_\\w+ +active +calendar\\.events_changed +\\S+Z +${receiver.url}$`)),
  ]);
});

test("an endpoint that may not be dialled, or a filter that names nothing, is refused with its reason", async () => {
  const inside = await svc("subscriptions", "create", "http://10.0.0.1/hook");
  expect(inside).toMatchObject({
    code: 1,
    printed: [],
    noted: [expect.stringMatching(/^svc: the endpoint's URL "http:.*ENDPOINT_URL_NOT_HTTPS/)],
  });
  const unknown = await svc("subscriptions", "create", receiver.url, "--trigger", "calendar.nothing");
  expect(unknown).toMatchObject({
    code: 1,
    noted: [expect.stringMatching(/TRIGGER_NOT_FOUND\). `svc toolkits show <toolkit>` names the triggers\.$/)],
  });
});

test("what waits for an endpoint that refuses connections says so, and is tried now", async () => {
  const closed = await startTestReceiver();
  await closed[Symbol.asyncDispose]();
  const { printed } = await svc("subscriptions", "create", closed.url, "--json");
  const { id } = JSON.parse(printed.join("\n")).subscription;
  await svc("subscriptions", "test", id, "--no-wait");
  const show = async () => (await svc("subscriptions", "show", id)).printed.join("\n");
  await until(async () => /health +(failing|backing off)/.test(await show()));
  expect(await show()).toMatch(/because +attempts fail since \S+Z, last with connection_refused/);
  expect((await svc("subscriptions", "list")).printed.join("\n")).toMatch(
    new RegExp(`${id} +(failing|backing off): connection_refused`),
  );
  const listed = await svc("deliveries", "--subscription", id);
  expect(listed.printed[0]).toMatch(/NEXT ATTEMPT +WAITS FOR$/);
  const [, delivery = ""] = /(dlv_\w+)/.exec(listed.printed[1] ?? "") ?? [];
  const tried = await svc("deliveries", "try", delivery);
  expect(tried).toMatchObject({ code: 0, printed: [expect.stringMatching(/^\d deliver(y is|ies are) due now$/)] });
  expect((await svc("subscriptions", "try", id)).code).toBe(0);
});

test("subscriptions update moves the endpoint and ends or begins what it receives; delete removes it", async () => {
  const id = await subscribe();
  const moved = await svc("subscriptions", "update", id, "--endpoint", `${receiver.url}/v2`, "--deactivate");
  expect(moved).toMatchObject({ code: 0, noted: [] });
  expect(moved.printed[1]).toMatch(new RegExp(`^${id} +deactivated .*/hook/v2$`));
  const again = await svc("subscriptions", "update", id, "--activate");
  expect(again.printed[1]).toMatch(new RegExp(`^${id} +active .*/hook/v2$`));
  expect(again.noted).toEqual([expect.stringContaining(`svc replay --since <when> --subscription ${id}`)]);
  expect(await svc("subscriptions", "delete", id)).toMatchObject({ code: 0, printed: [`${id} is deleted`] });
  expect(await json("subscriptions", "list")).toEqual([]);
  const missing = await svc("subscriptions", "update", id, "--activate");
  expect(missing).toMatchObject({ code: 1, noted: [expect.stringContaining("SUBSCRIPTION_NOT_FOUND")] });
});

test("subscriptions update leaves every setting that no option names", async () => {
  const trigger = "calendar.events_changed";
  const waits = ["--retry", "10s,1m", "--timeout", "5s", "--pace", "10/1s", "--concurrency", "2"];
  const id = await subscribe("--triggers", trigger, "--filter", "event.entityId == 'ada'", ...waits);
  const update = (...options: string[]) => json("subscriptions", "update", id, ...options);
  const filter = "event.entityId == 'bob'";
  expect(await update("--filter", filter)).toMatchObject({ match: { triggerSlugs: [trigger], filter } });
  expect(await update("--filter", "")).toMatchObject({ match: { triggerSlugs: [trigger] } });
  expect(await update("--filter", filter, "--triggers", "")).toMatchObject({ match: { filter } });
  expect(await update("--triggers", trigger)).toMatchObject({ match: { triggerSlugs: [trigger], filter } });
  const retry = { schedule: ["10s", "60s"], giveUpAfter: "7200s", timeoutMs: 5_000 };
  expect(await update("--give-up-after", "2h")).toMatchObject({ retry });
  const never = await update("--give-up-after", "never");
  expect(never.retry).toEqual({ schedule: ["10s", "60s"], neverGiveUp: true, timeoutMs: 5_000 });
  expect(await update("--pace", "5/1m")).toMatchObject({ pace: { max: 5, per: "1m", concurrency: 2 } });
  const pace = (await update("--concurrency", "")).pace;
  expect(pace).toMatchObject({ max: 5, per: "1m" });
  expect(pace.concurrency ?? 0).toBe(0);
  expect((await update("--body", '{"a": 1}')).format).toEqual({ kind: "custom", bodyJson: '{"a": 1}' });
  expect((await update("--form", "custom")).format).toEqual({ kind: "custom", bodyJson: '{"a": 1}' });
  expect((await update("--form", "standard")).format).toMatchObject({ kind: "standard" });
});

test("subscriptions test shows what the endpoint answered, and ends with 1 when that was no success", async () => {
  const id = await subscribe();
  const taken = await svc("subscriptions", "test", id);
  expect(taken).toMatchObject({ code: 0, noted: [expect.stringMatching(/^dlv_\w+ is queued/)] });
  expect(taken.printed).toEqual([
    expect.stringMatching(/^ATTEMPT +AT +HTTP +ERROR +MS +ADDRESS +ANSWER$/),
    expect.stringMatching(/^1 +\S+Z +200 +- +\d+ +127\.0\.0\.1\S* +-$/),
  ]);
  expect(JSON.parse(receiver.requests[0]?.body.toString() ?? "")).toMatchObject({ type: "test" });
  receiver.script({ status: 500, body: "not today" });
  const refused = await svc("subscriptions", "test", id);
  expect(refused.code).toBe(1);
  expect(refused.printed[1]).toMatch(/^1 +\S+Z +500 +http_500\S* .*not today$/);
  expect(refused.noted.at(-1)).toMatch(/^svc: the endpoint did not accept it: http_500/);
});

test("subscriptions test --no-wait prints the delivery's id alone, whose attempts are read later", async () => {
  const id = await subscribe();
  const { printed, noted } = await svc("subscriptions", "test", id, "--no-wait");
  const [deliveryId = ""] = printed;
  expect({ printed, noted }).toEqual({
    printed: [expect.stringMatching(/^dlv_\w{26}$/)],
    noted: [`\`svc deliveries attempts ${deliveryId}\` shows the result.`],
  });
  await until(async () => (await json("deliveries", "attempts", deliveryId)).length === 1);
  const attempts = await svc("deliveries", "attempts", deliveryId);
  expect(attempts.printed[1]).toMatch(/^1 +\S+Z +200 /);
  expect(await json("deliveries", "attempts", deliveryId)).toMatchObject([{ number: 1, statusCode: 200, error: "" }]);
});

test("an event is listed by time and trigger, shown with its payload, and its deliveries and attempts are read", async () => {
  const subscription = await subscribe("--toolkit", "calendar");
  const event = await receiveEvent();
  const listed = await json("events", "list", "--trigger", "calendar.events_changed", "--since", "1h");
  expect(listed[0]).toMatchObject({ id: event, toolkitSlug: "calendar" });
  expect(await json("events", "list", "--until", "1h")).toEqual([]);
  const { printed } = await svc("events", "show", event);
  expect(printed).toContain(`event     ${event}`);
  expect(printed.join("\n")).toContain('"resource_state": "exists"');
  expect(await json("events", "show", event)).toMatchObject({ id: event });
  const between = await svc("deliveries", "list", "--event", event, "--subscription", subscription);
  expect(between.printed[1]).toMatch(new RegExp(`^dlv_\\w+ +${subscription} +delivered +1 +\\S+Z +-$`));
});

test("a toolkit that the project does not see is named where it has no events", async () => {
  const { code, printed, noted } = await svc("events", "list", "--toolkit", "calendr");
  expect({ code, rows: printed.length }).toEqual({ code: 0, rows: 1 });
  expect(noted).toEqual(["The project has no toolkit calendr; `svc toolkits list` lists its toolkits."]);
  expect((await svc("events", "list", "--toolkit", "calendar", "--until", "30d")).noted).toEqual([]);
});

test("replay of a range counts first, then queues what an endpoint has not taken", async () => {
  const id = await subscribe();
  receiver.script({ status: 500 });
  const event = await receiveEvent("pending");
  await svc("subscriptions", "update", id, "--deactivate");
  await svc("subscriptions", "update", id, "--activate");
  receiver.script({ status: 200 });
  const { receivedAt } = await json("events", "show", event);
  const range = ["replay", "--since", receivedAt, "--subscription", id, "--only-undelivered"];
  expect(await svc(...range, "--dry-run")).toEqual({
    code: 0,
    printed: ["1 delivery would be queued"],
    noted: [],
  });
  const { printed, noted } = await svc(...range);
  expect(printed[1]).toMatch(new RegExp(`^dlv_\\w+ +${id} +pending `));
  expect(noted).toEqual([expect.stringMatching(/^1 delivery queued\./)]);
  expect(await svc(...range, "--dry-run")).toEqual({
    code: 0,
    printed: ["0 deliveries would be queued"],
    noted: [expect.stringContaining("pending or succeeded are left out. `svc subscriptions try <id>`")],
  });
  await until(async () => {
    const states = (await json("deliveries", "--event", event)).map(({ state }: { state: string }) => state);
    return states.includes("delivered");
  });
  expect(await json(...range)).toMatchObject({ count: 0 });
  expect(await json("replay", event)).toMatchObject({ deliveries: [{ subscriptionId: id }] });
  expect(await json("replay", event, "--subscription", id)).toMatchObject({ deliveries: [{ subscriptionId: id }] });
});
