import type { Action, Toolkit } from "@svc/catalog";
import { createId } from "@svc/core";
import { createTestClock, type TestClock } from "@svc/testing/clock";
import { expect, test } from "vitest";
import { deskAction, testCatalog } from "../test-toolkits.ts";
import { answer, createScriptedApp, cut, cutBefore, type Move, timedOut, unreachable } from "../test-transport.ts";
import { callTimeoutMs, sendCall } from "./send.ts";

const toolkit = testCatalog().toolkits.get("desk") as Toolkit;
const [read, write, keyed] = [deskAction("read_ticket"), deskAction("add_note"), deskAction("charge")];
const request = { method: "POST", url: "https://desk.example.com/x", headers: { "idempotency-key": "k" }, body: "{}" };
const good = answer(200, { id: "t1" });

/** Sends a request with a clock that moves forward at once when code waits for it. */
async function sent(
  action: Action,
  moves: Move[],
  {
    clock = createTestClock(),
    repeatsAreSafe = action === read,
    turns = { begin: (): Promise<void> | undefined => undefined, next: async () => {} },
  } = {},
) {
  const app = createScriptedApp(...moves);
  const startMs = clock.now();
  const call = { projectId: createId("prj", 1), toolkit, action, entityId: "e", scheme: "api_key" };
  const impatient = { ...clock, wait: async (ms: number) => clock.advance(ms) };
  const sending = {
    request,
    call,
    repeatsAreSafe,
    untilMs: startMs + callTimeoutMs,
    redact: (text: string) => text,
    turns,
  };
  const result = await sendCall({ transport: app.transport, clock: impatient }, sending);
  return { result, app, tookMs: clock.now() - startMs };
}

test.each([429, 502, 503, 504])("a read is sent again once after %d", async (status) => {
  const again = await sent(read, [answer(status), good]);
  expect([again.result.outcome, again.app.requests.length]).toEqual(["ok", 2]);
  const failed = await sent(read, [answer(status), answer(status), good]);
  expect(failed.app.requests).toHaveLength(2);
  expect(failed.result).toMatchObject({ providerStatus: status, retryable: true });
});

test.each([400, 401, 404, 500, 501])("a read is not sent again after %d", async (status) => {
  expect((await sent(read, [answer(status)])).app.requests).toHaveLength(1);
});

test("a read is sent again once after a broken connection, and the second answer counts", async () => {
  const { result, app } = await sent(read, [cut, good]);
  expect([result.outcome, app.requests.length]).toEqual(["ok", 2]);
  const broken = await sent(read, [cut, cut, good]);
  expect(broken.app.requests).toHaveLength(2);
  expect(broken.result).toMatchObject({ outcome: "unreachable", retryable: true });
  const refused = await sent(read, [cut, unreachable]);
  expect(refused.result).toMatchObject({ outcome: "unreachable", message: "the connection was refused" });
});

test("a read that is not answered in time is a timeout, and not sent again", async () => {
  const { result, app } = await sent(read, [timedOut]);
  expect([result.outcome, result.retryable, app.requests.length]).toEqual(["timeout", true, 1]);
});

test.each([
  ["a cut connection", cut, "outcome_unknown"],
  ["a timeout", timedOut, "outcome_unknown"],
  ["429", answer(429), "rate_limited"],
  ["401", answer(401), "provider_error"],
  ["503", answer(503), "provider_error"],
] as const)("a write is never sent twice: %s", async (_name, move, outcome) => {
  const { result, app } = await sent(write, [move, good]);
  expect([result.outcome, app.requests.length]).toEqual([outcome, 1]);
  expect(result.retryable).toBe(outcome === "rate_limited");
});

test("a request that never left is tried once more, even a write", async () => {
  for (const move of [unreachable, cutBefore]) {
    const { result, app } = await sent(write, [move, good]);
    expect([result.outcome, app.requests.length]).toEqual(["ok", 2]);
    const failed = await sent(write, [move, move, good]);
    expect([failed.result.outcome, failed.result.retryable, failed.app.requests.length]).toEqual([
      "unreachable",
      true,
      2,
    ]);
  }
  const cutLater = await sent(write, [unreachable, cut, good]);
  expect([cutLater.result.outcome, cutLater.app.requests.length]).toEqual(["outcome_unknown", 2]);
});

test("an address that may not be dialled is unreachable, and not tried again", async () => {
  const { result, app } = await sent(write, [{ kind: "refused", message: "10.0.0.1 may not be dialled" }]);
  expect(app.requests).toHaveLength(1);
  expect(result).toMatchObject({ outcome: "unreachable", retryable: false, message: "10.0.0.1 may not be dialled" });
});

test("a write whose app takes a key is repeated once after a cut connection, with the same key", async () => {
  const { result, app } = await sent(keyed, [cut, good]);
  expect(result.outcome).toBe("ok");
  expect(app.requests).toEqual([request, request]);
  expect((await sent(keyed, [cut, cut, good])).app.requests).toHaveLength(2);
  for (const move of [timedOut, answer(429), answer(503)])
    expect((await sent(keyed, [move])).app.requests).toHaveLength(1);
});

test.each([unreachable, cutBefore, cut, timedOut, answer(429), answer(401), answer(409), answer(503)])(
  "a keyed write that was cut stays in doubt when the second try says nothing of it: %j",
  async (second) => {
    const { result } = await sent(keyed, [cut, second], { repeatsAreSafe: true });
    expect(result).toMatchObject({ outcome: "outcome_unknown", retryable: true });
    expect(result.message).toContain("safe");
  },
);

test("the app's answer to the second try settles the first", async () => {
  expect((await sent(keyed, [cut, answer(422, "no")])).result).toMatchObject({
    outcome: "provider_error",
    providerStatus: 422,
  });
});

test("Retry-After is waited for when it is short, and left to the caller when it is long", async () => {
  const short = await sent(read, [answer(429, "", { "retry-after": "4" }), good]);
  expect([short.result.outcome, short.tookMs]).toEqual(["ok", 4_000]);
  const long = await sent(read, [answer(429, "", { "retry-after": "6" }), good]);
  expect([long.result.outcome, long.result.retryAfterMs, long.app.requests.length]).toEqual(["rate_limited", 6_000, 1]);
});

test("both tries share one deadline of 30 s", async () => {
  const clock = createTestClock();
  const slowly = (ms: number, then: Move) => () => {
    clock.advance(ms);
    return then as ReturnType<typeof answer>;
  };
  const { app } = await sent(read, [slowly(20_000, cut), good], { clock });
  expect(app.timeouts).toEqual([30_000, 9_800]);
  const late = await sent(read, [slowly(29_000, answer(503)), good], { clock });
  expect([late.app.requests.length, late.result.outcome]).toEqual([1, "provider_error"]);
});

test("a wait that takes longer than the deadline ends with the first answer", async () => {
  const clock: TestClock = createTestClock();
  const app = createScriptedApp(answer(503), good);
  const call = { projectId: createId("prj", 1), toolkit, action: read, entityId: "e", scheme: "api_key" };
  const sending = {
    request,
    call,
    repeatsAreSafe: true,
    untilMs: clock.now() + callTimeoutMs,
    redact: (text: string) => text,
    turns: { begin: () => undefined, next: async () => {} },
  };
  const late = { ...clock, wait: async () => clock.advance(60_000) };
  const result = await sendCall({ transport: app.transport, clock: late }, sending);
  expect([app.requests.length, result.providerStatus]).toEqual([1, 503]);
});

test("more than 8 MiB is a provider_error of a read that says so, and a warning of a write that was taken", async () => {
  const taken = await sent(write, [{ kind: "too_large", status: 201 }]);
  expect(taken.result).toMatchObject({ outcome: "ok", retryable: false, warnings: [expect.stringContaining("8 MiB")] });
  const { result } = await sent(read, [{ kind: "too_large", status: 200 }]);
  expect(result).toMatchObject({
    outcome: "provider_error",
    providerStatus: 200,
    message: expect.stringContaining("8 MiB"),
  });
});

test("the answer of a row is read when there is spare time, a large one in time slices, and a small one at once", async () => {
  const lines = Array.from({ length: 40_000 }, (_, at) => `line ${at} of the ticket`);
  const order: string[] = [];
  const turns = {
    async begin() {
      order.push("begin");
    },
    async next() {
      order.push("next");
    },
  };
  const small = await sent(read, [answer(200, { id: "t1", lines: ["a"] })], { turns });
  expect(small.result).toMatchObject({ outcome: "ok", value: { id: "t1", lines: ["a"] } });
  expect(order.splice(0)).toEqual(["begin"]);
  const large = await sent(read, [answer(200, { id: "t1", lines })], { turns });
  expect(large.result).toMatchObject({ outcome: "ok", value: { id: "t1", lines } });
  expect(order.slice(0, 2)).toEqual(["begin", "next"]);
  expect(order.length).toBeGreaterThan(3);
});
