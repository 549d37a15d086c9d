import { createHmac } from "node:crypto";
import { createId, type DeliveryId, generateSigningSecret, idOfUuid, type SubscriptionId } from "@svc/core";
import { expireDeliveries } from "@svc/db/deliveries/expire";
import { deliveriesForProject } from "@svc/db/deliveries/repo";
import { eventsForProject } from "@svc/db/events/repo";
import { askEndpointsForProject } from "@svc/db/subscriptions/ask-endpoints";
import { type Dispatcher, signingSecretContext } from "@svc/delivery";
import { createTestDatabase } from "@svc/testing/database";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { readAskDeliveries, readAskFates } from "./delivery-state.ts";
import { type AskBench, createAskBench } from "./test-asks.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
const second = 1_000;

/** Returns a test bench whose delivery engine runs and makes two attempts for each delivery. */
async function publishing(): Promise<AskBench & AsyncDisposable & { readonly dispatcher: Dispatcher }> {
  const limits = { deliveries: { endpointConcurrency: 4, retryScheduleMs: [second] } };
  const bench = await createAskBench(db, { limits, engines: ["deliveries"] });
  const { node } = bench;
  return { ...bench, dispatcher: node.dispatcher, [Symbol.asyncDispose]: () => node[Symbol.asyncDispose]() };
}

async function register({ db, clock, sealer, projectId }: AskBench, endpointUrl: string) {
  const id = createId("sub", clock.now());
  const secret = generateSigningSecret();
  const signingSecret = sealer.seal(Buffer.from(secret, "utf8"), signingSecretContext(projectId, id));
  await askEndpointsForProject(db, projectId).create({ id, endpointUrl, signingSecret, createdAt: clock.now() });
  return { id, secret };
}

async function deliveryOf(bench: AskBench, jobId: Awaited<ReturnType<AskBench["job"]>>, id: `${string}`) {
  const ask = await bench.ask(jobId, id as never);
  return (await readAskFates(bench.db, bench.projectId, [ask]))[0];
}

/** Moves the clock until the endpoint has no pending delivery. */
async function settled(bench: AskBench, endpoint: SubscriptionId): Promise<void> {
  await untilMoved(async () => {
    bench.clock.advance(100);
    const page = { after: undefined, limit: 100 };
    const found = await deliveriesForProject(db, bench.projectId).list(
      { eventId: undefined, subscriptionId: endpoint },
      page,
    );
    return found.length > 0 && found.every(({ state }) => state !== "pending");
  });
}

const changes = async (bench: AskBench, jobId: Awaited<ReturnType<AskBench["job"]>>) =>
  (await bench.log(jobId))
    .filter(({ type }) => type === "ask-delivery-changed")
    .map(({ payload }) => JSON.parse(payload) as { from: string; to: string })
    .map(({ from, to }) => `${from}>${to}`);

test("every hop is published once, signed, with the ask as it is then; the fate of it is read and logged", async () => {
  await using receiver = await startTestReceiver();
  await using bench = await publishing();
  const { id: endpoint, secret } = await register(bench, receiver.url);
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  // The publication is `pending` as soon as the ask is stored, before any of its tasks has run.
  expect(await deliveryOf(bench, jobId, id)).toBe("pending");
  expect(await bench.work()).toEqual(["publish"]);
  expect(["pending", "delivered"]).toContain(await deliveryOf(bench, jobId, id));
  await settled(bench, endpoint);
  expect(await deliveryOf(bench, jobId, id)).toBe("delivered");
  const [first] = receiver.requests;
  const body = JSON.parse(first?.body.toString("utf8") ?? "");
  expect(Object.keys(body)).toEqual(["id", "type", "jobId", "ask"]);
  expect(body).toMatchObject({
    type: "ask_raised",
    jobId,
    ask: {
      requestId: id,
      jobId,
      state: "ASK_STATE_PENDING",
      question: "Continue?",
      principalId: "lead",
      hopIndex: 0,
      delivery: "pending",
      toolSlug: "",
      exhausted: false,
      continuations: ["proceed", "retry-with", "abort"],
    },
  });
  const signature = createHmac("sha256", secret)
    .update(first?.body ?? "")
    .digest("hex");
  expect(first?.headers["x-svc-signature"]).toBe(`sha256=${signature}`);
  const delivery = await deliveriesForProject(db, bench.projectId).find(
    first?.headers["x-svc-delivery-id"] as DeliveryId,
  );
  expect(delivery).toMatchObject({ eventId: body.id, subscriptionId: endpoint, state: "delivered", attempts: 1 });
  bench.clock.advance(3_600_000);
  await bench.work();
  await settled(bench, endpoint);
  expect(receiver.requests).toHaveLength(2);
  expect(JSON.parse(receiver.requests[1]?.body.toString("utf8") ?? "")).toMatchObject({
    ask: { requestId: id, principalId: "head", hopIndex: 1, deliveredPrincipals: ["lead", "head"] },
  });
  bench.clock.advance(10 * second);
  await bench.work();
  expect((await changes(bench, jobId)).at(-1)).toMatch(/>delivered$/);
  expect((await changes(bench, jobId))[0]).toMatch(/^>/);
  expect(await bench.tasks(jobId)).toEqual([]);
  expect((await bench.ask(jobId, id)).eventIds).toHaveLength(2);
});

test("one dead endpoint makes a publication a dead letter, and keeps nobody from answering", async () => {
  await using good = await startTestReceiver();
  await using bad = await startTestReceiver();
  bad.script({ status: 500 });
  await using bench = await publishing();
  await register(bench, good.url);
  const { id: failing } = await register(bench, bad.url);
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  await bench.work();
  await until(() => bad.requests.length === 1 && good.requests.length === 1);
  expect(await deliveryOf(bench, jobId, id)).toBe("pending");
  await settled(bench, failing);
  expect(bad.requests).toHaveLength(2);
  expect(await deliveryOf(bench, jobId, id)).toBe("dead-letter");
  bench.clock.advance(120 * second);
  await bench.work();
  expect(await changes(bench, jobId)).toEqual([">pending", "pending>dead-letter"]);
  expect(await bench.tasks(jobId)).toEqual(["hop"]);
  await bench.answer(jobId);
  // When the deliveries are deleted after their retention, the state comes from the job's log.
  await db.sql`delete from deliveries`;
  expect(await deliveryOf(bench, jobId, id)).toBe("dead-letter");
});

test("an answer's surface is the delivery it came back on; a foreign one proves nothing", async () => {
  await using receiver: TestReceiver = await startTestReceiver();
  await using bench = await publishing();
  const { id: endpoint } = await register(bench, receiver.url);
  const [first, second] = [await bench.job(), await bench.job()];
  const [firstAsk, secondAsk] = [await bench.raise(first), await bench.raise(second)];
  await bench.work();
  await settled(bench, endpoint);
  const idOf = (jobId: string) =>
    receiver.requests.find(({ body }) => JSON.parse(body.toString("utf8")).jobId === jobId)?.headers[
      "x-svc-delivery-id"
    ] ?? "";
  expect(idOf(first)).toMatch(/^dlv_/);
  await bench.answer(first, { deliveryId: idOf(first) });
  expect((await bench.ask(first, firstAsk)).decision).toMatchObject({ surface: idOf(first) });
  await bench.answer(second, { deliveryId: idOf(first) });
  expect((await bench.ask(second, secondAsk)).decision).toMatchObject({ surface: "api" });
  for (const deliveryId of ["dlv_nonsense\0", createId("dlv", 5)]) {
    const jobId = await bench.job();
    const id = await bench.raise(jobId);
    await bench.answer(jobId, { deliveryId });
    expect((await bench.ask(jobId, id)).decision).toMatchObject({ surface: "api" });
  }
});

test("without an endpoint nothing is published; with one that is deleted the publication is dead", async () => {
  const bench = await createAskBench(db);
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  expect(await bench.tasks(jobId)).toEqual(["hop"]);
  const { id: endpoint } = await register(bench, "https://example.com/asks");
  const other = await bench.job();
  const published = await bench.raise(other);
  expect(await bench.work()).toEqual(["publish"]);
  expect(await deliveryOf(bench, other, published)).toBe("pending");
  expect(await askEndpointsForProject(db, bench.projectId).delete(endpoint)).toBe(true);
  await expireDeliveries(db, endpoint, bench.clock.now(), 100);
  expect(await deliveryOf(bench, other, published)).toBe("dead-letter");
  expect(await deliveryOf(bench, jobId, id)).toBe("");
});

test("a publication is no event: no list, no look-up and no other project has it", async () => {
  const bench = await createAskBench(db);
  await register(bench, "https://example.com/asks");
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  await bench.work();
  const eventId = (await bench.ask(jobId, id)).eventIds[0] ?? "";
  const events = eventsForProject(db, bench.projectId);
  expect(await events.find(eventId as never)).toBeUndefined();
  const filter = { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined };
  expect(await events.list(filter, { after: undefined, limit: 10 })).toEqual([]);
  const stranger = idOfUuid("prj", "00000000-0000-7000-8000-000000000000");
  expect(await readAskDeliveries(db, stranger, [await bench.ask(jobId, id)])).toMatchObject([{ delivery: "pending" }]);
  expect(
    await deliveriesForProject(db, stranger).list(
      { eventId: eventId as never, subscriptionId: undefined },
      { after: undefined, limit: 5 },
    ),
  ).toEqual([]);
});

test("what was withdrawn before it was published is not", async () => {
  const bench = await createAskBench(db);
  await register(bench, "https://example.com/asks");
  const jobId = await bench.job();
  await bench.raise(jobId);
  const [task] = await bench.claim();
  await db.sql`update job_asks set state = 'withdrawn' where state = 'pending'`;
  await task?.run();
  expect(await bench.tasks(jobId)).toEqual(["hop"]);
  expect(await changes(bench, jobId)).toEqual([]);
});
