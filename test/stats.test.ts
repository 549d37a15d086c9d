import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  createSvcClient,
  JobStatus,
  NoticeKind,
  type QuerySeriesResponse,
  Series,
  type SvcClient,
  svcErrorDetails,
} from "@svc/sdk";
import { programText } from "@svc/testing/jobs-node";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { calendarSecret, postCalendar } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

// The statistics that a project sees of itself, from two nodes on one database.

const variables = { SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret, SVC_SANDBOX: "force", SVC_RETRY_SCHEDULE: "1h" };
let one: TestServer;
let two: TestServer;
let receiver: TestReceiver;
let client: SvcClient;
let stranger: SvcClient;

beforeAll(async () => {
  one = await startTestServer({ variables });
  two = await startTestServer({ variables: { ...variables, SVC_DATABASE_URL: one.database.url } });
  receiver = await startTestReceiver();
  client = createSvcClient({ baseUrl: one.url, apiKey: one.key });
  const { json: other } = await one.admin("CreateProject", { name: "other" });
  const { json: made } = await one.admin("CreateApiKey", {
    ...{ projectId: other.project.id, role: "ROLE_MEMBER", name: "theirs" },
  });
  stranger = createSvcClient({ baseUrl: one.url, apiKey: made.key });
});
afterAll(async () => {
  await two?.stop();
  await one?.stop();
  await receiver?.[Symbol.asyncDispose]();
});

async function reasonOf(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return svcErrorDetails(error)[0]?.reason;
}

function total({ lines }: QuerySeriesResponse, series: Series, outcome: string): number {
  const line = lines.find((found) => found.series === series && found.outcome === outcome);
  return line?.counts.reduce((sum, count) => sum + count, 0) ?? 0;
}

test("the counts of the overview equal those of the lists within 15 s, whichever of two nodes did the work", async () => {
  receiver.script({ status: 200 }, { status: 200 }, { status: 200 }, { status: 410 });
  const since = timestampFromMs(Date.now() - 60_000);
  const { subscription } = await client.triggers.createSubscription({ endpointUrl: receiver.url });
  for (const [index, server] of [one, two, one, two].entries()) {
    expect(await postCalendar(server, "channel", index + 1)).toBe(202);
    await until(() => receiver.requests.length === index + 1);
  }
  for (const server of [one, two]) {
    const caller = createSvcClient({ baseUrl: server.url, apiKey: one.key });
    await caller.tools.callTool({ toolSlug: "calendar.list_events", argumentsJson: "{}", entityId: "ada" });
    const steps = [{ id: "pause", wait: "1s" }];
    const { job } = await caller.jobs.submitJob({ programJson: programText({ title: "Pause", steps }) });
    await until(async () => (await caller.jobs.getJob({ id: job!.id })).job?.status === JobStatus.SUCCEEDED);
  }
  const asking = {
    steps: [{ id: "gate", judge: "sure" }],
    points: { sure: { question: "Sure?", continuations: ["proceed", "abort"], escalation: [{ principal: "lead" }] } },
  };
  await client.contacts.putContact({ contact: { principalId: "lead", name: "Lead" } });
  await client.jobs.submitJob({ programJson: programText(asking) });
  await until(async () => (await client.jobs.listAsks({})).asks.length === 1);

  const startMs = performance.now();
  const counts = async () => {
    const found = await client.stats.querySeries({ since });
    return {
      events: total(found, Series.EVENTS, "calendar"),
      delivered: total(found, Series.DELIVERIES, "delivered"),
      retried: total(found, Series.DELIVERIES, "retried"),
      jobs: total(found, Series.JOBS, "succeeded"),
      calls: found.lines
        .filter(({ series }) => series === Series.CALLS)
        .flatMap(({ counts: all }) => all)
        .reduce((sum, count) => sum + count, 0),
    };
  };
  const delivered = (await client.triggers.listDeliveries({ state: "delivered", since })).deliveries;
  const listed = {
    events: (await client.triggers.listEvents({ since })).events.length,
    delivered: delivered.length,
    retried: 1,
    jobs: (await client.jobs.listJobs({ statuses: [JobStatus.SUCCEEDED], since })).jobs.length,
    calls: (await client.tools.listToolCalls({ since })).calls.length,
  };
  expect(listed).toMatchObject({ events: 4, delivered: 3, jobs: 2, calls: 2 });
  await until(async () => JSON.stringify(await counts()) === JSON.stringify(listed));
  expect(performance.now() - startMs).toBeLessThan(15_000);

  const found = await client.stats.querySeries({
    since,
    series: [Series.DELIVERY_LATENCY],
    subscriptionId: subscription!.id,
  });
  const [latency] = found.latencies;
  expect(latency?.total).toMatchObject({ count: 3 });
  expect(latency!.total!.p50Ms).toBeGreaterThan(0);
  expect(latency!.total!.p99Ms).toBeGreaterThanOrEqual(latency!.total!.p50Ms);
  expect(latency!.total!.buckets.reduce((sum, count) => sum + count, 0)).toBe(3);

  const backlog = await client.stats.getBacklog({});
  const pending = (await client.triggers.listDeliveries({ state: "pending", since })).deliveries;
  expect(backlog).toMatchObject({
    pendingDeliveries: pending.length,
    pendingByAge: [
      { belowSeconds: 60, count: 1 },
      { count: 0 },
      { count: 0 },
      { count: 0 },
      { belowSeconds: 0, count: 0 },
    ],
    worstSubscriptions: [
      {
        subscriptionId: subscription!.id,
        pendingDeliveries: 1,
        health: { state: expect.stringMatching(/^(?:failing|backing_off)$/) },
      },
    ],
    failingSubscriptions: 1,
    givenUpSubscriptions: 0,
    deadLetters: 0,
    jobs: [{ status: JobStatus.PARKED, count: 1 }],
    pendingAsks: 1,
    expiredAccounts: 0,
  });
  expect(backlog.oldestAskAt).toBeDefined();
});

test("another project's counts and backlog are its own", async () => {
  // In this test posts reach every project, so only the events are the other project's too.
  const { lines } = await stranger.stats.querySeries({});
  expect(lines.filter(({ series }) => series !== Series.EVENTS)).toEqual([]);
  expect(await stranger.stats.getBacklog({})).toMatchObject({
    pendingDeliveries: 0,
    jobs: [],
    pendingAsks: 0,
    worstSubscriptions: [],
  });
});

test("QuerySeries refuses steps, ranges and subjects that do not fit", async () => {
  const at = (ms: number) => timestampFromMs(Date.now() - ms);
  const { stats } = client;
  expect(await reasonOf(stats.querySeries({ stepSeconds: 90 }))).toBe("STEP_INVALID");
  expect(await reasonOf(stats.querySeries({ since: at(72 * 3_600_000), stepSeconds: 60 }))).toBe("STEP_INVALID");
  expect(await reasonOf(stats.querySeries({ since: at(40 * 3_600_000), stepSeconds: 60 }))).toBe("STEP_INVALID");
  expect(await reasonOf(stats.querySeries({ since: at(0), until: at(1_000) }))).toBe("TIME_RANGE_INVALID");
  expect(await reasonOf(stats.querySeries({ subscriptionId: "sub_1" }))).toBe("ID_MALFORMED");
  expect(await reasonOf(stats.querySeries({ series: [Series.JOBS], toolSlug: "a.b" }))).toBe("SUBJECT_INVALID");
  expect(await reasonOf(stats.querySeries({ series: [99 as Series] }))).toBe("ENUM_VALUE_UNKNOWN");
  const week = await stats.querySeries({ since: at(7 * 86_400_000) });
  expect([week.stepSeconds, week.steps]).toEqual([3_600, 169]);
});

test("WatchProject tells of what the other node did, from a time on, and of nobody else's", async () => {
  const stopped = new AbortController();
  const told: string[] = [];
  const theirs: string[] = [];
  const watch = async (caller: SvcClient, into: string[], request: object) => {
    try {
      for await (const { notice } of caller.stats.watchProject(request, { signal: stopped.signal })) {
        if (notice !== undefined)
          into.push(
            `${notice.kind} ${notice.id} ${notice.event?.payloadJson === undefined ? notice.state : "payload"}`,
          );
      }
    } catch (error) {
      if (!stopped.signal.aborted) throw error;
    }
  };
  const watching = [watch(client, told, {}), watch(stranger, theirs, {})];
  receiver.script({ status: 200 });
  await client.triggers.updateSubscription({
    id: (await client.triggers.listSubscriptions({})).subscriptions[0]!.id,
    active: true,
  });
  expect(await postCalendar(two, "channel", 50)).toBe(202);
  const [event] = (await client.triggers.listEvents({})).events;
  await until(() => told.some((line) => line.includes(event!.id)));
  expect(told.find((line) => line.includes(event!.id))).toMatch(/payload$/);
  const { job } = await createSvcClient({ baseUrl: two.url, apiKey: one.key }).jobs.submitJob({
    programJson: programText({ steps: [{ id: "pause", wait: "2s" }] }),
  });
  await until(() => told.some((line) => line.includes(job!.id) && line.endsWith("parked")));
  await until(() => told.some((line) => line.includes(job!.id) && line.endsWith("succeeded")));
  expect(theirs.filter((line) => told.includes(line) || !line.startsWith(`${NoticeKind.EVENT} `))).toEqual([]);
  stopped.abort();
  await Promise.all(watching);

  const again = new AbortController();
  const missed: string[] = [];
  const request = { kinds: [NoticeKind.EVENT], since: event!.receivedAt! };
  for await (const { notice } of client.stats.watchProject(request, { signal: again.signal })) {
    if (notice !== undefined) missed.push(notice.id);
    if (missed.includes(event!.id)) break;
  }
  again.abort();
  expect(missed).toContain(event!.id);
});

test("streams end within seconds of their key's end, at every node: one that is revoked, and one that expires", async () => {
  const { projectId } = (await one.call("svc.v1.IdentityService/GetIdentity")).json;
  const keyOf = async (more: object) =>
    (await one.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "watches", ...more })).json;
  const { job } = await client.jobs.submitJob({
    programJson: programText({ limits: { deadline: "2h" }, steps: [{ id: "pause", wait: "1h" }] }),
  });
  const revoked = await keyOf({});
  const expiring = await keyOf({ expiresAt: new Date(Date.now() + 2_000).toISOString() });
  const opened = [one, two].flatMap((server) =>
    [revoked.key, expiring.key].flatMap((apiKey) => {
      const { stats, jobs } = createSvcClient({ baseUrl: server.url, apiKey });
      return [stats.watchProject({}), jobs.watchJob({ jobId: job!.id })].map((stream) => {
        const messages = stream[Symbol.asyncIterator]();
        return { messages, first: messages.next() };
      });
    }),
  );
  await Promise.all(opened.map(({ first }) => first));
  await one.admin("RevokeApiKey", { id: revoked.apiKey.id });
  const endedAt = performance.now();
  const reasons = opened.map(async ({ messages }) => {
    const ended = (async () => {
      while ((await messages.next()).done !== true);
    })();
    return reasonOf(ended);
  });
  expect(new Set(await Promise.all(reasons))).toEqual(new Set(["API_KEY_INVALID"]));
  // The limit is two seconds, plus some for other work on the machine.
  expect(performance.now() - endedAt).toBeLessThan(8_000);
});
