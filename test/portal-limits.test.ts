import { type ReplayId, type SubscriptionId, uuidOfId } from "@svc/core";
import { expirePauses } from "@svc/db/replays/pause";
import { openPortal, type TestPortal } from "@svc/testing/console-session";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// The work that a customer causes in the portal is limited, and never takes what belongs to the project or to other customers. Each test has
// entities (customers) of its own.

const json = JSON.stringify;
const since = "2026-01-01T00:00:00Z";
const dead = "http://127.0.0.1:9/nothing-listens-here";
let svc: TestServer;
let receiver: TestReceiver;
let projectId = "";
beforeAll(async () => {
  receiver = await startTestReceiver();
  svc = await startTestServer();
  projectId = (await svc.call("svc.v1.IdentityService/GetIdentity")).json.projectId;
  await made("PutEventType", { name: "invoice.paid", offered: true });
  await made("PutEventType", { name: "never.published", offered: true });
});
afterAll(async () => {
  await svc?.stop();
  await receiver?.[Symbol.asyncDispose]();
});

const ask = (method: string, body: object = {}) => svc.call(`svc.v1.TriggersService/${method}`, body);
const askAs = (portal: TestPortal, method: string, body: object = {}) =>
  portal.call(`svc.v1.TriggersService/${method}`, body);

function answered({ status, json: body }: TestAnswer) {
  if (status !== 200) throw new Error(json(body));
  return body;
}

const made = async (method: string, body: object = {}) => answered(await ask(method, body));
const madeBy = async (portal: TestPortal, method: string, body: object = {}) =>
  answered(await askAs(portal, method, body));

async function portalOf(entityId: string, more: object = {}): Promise<TestPortal> {
  return openPortal(svc, (await made("CreatePortalLink", { entityId, ...more })).url);
}

const endpointOf = async (portal: TestPortal, endpointUrl = receiver.url): Promise<string> =>
  (await madeBy(portal, "CreateSubscription", { endpointUrl })).subscription.id;

const publish = (entityId: string, count: number) =>
  made("PublishEvents", {
    events: Array.from({ length: count }, () => ({ type: "invoice.paid", entityId, payloadJson: "{}" })),
  });

const outcomeOf = ({ status, code, reason }: TestAnswer) => (status === 200 ? "ok" : `${code} ${reason}`);

describe("pending deliveries", () => {
  test("a customer queues no delivery to an endpoint with 1,000 pending ones, and the project still does", async () => {
    const portal = await portalOf("piling");
    const [subscriptionId, other] = [await endpointOf(portal, dead), await endpointOf(portal)];
    const { results } = await publish("piling", 998);
    const replay = { eventId: results[0].eventId, subscriptionId };
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => askAs(portal, "ReplayEvent", replay)),
      ...Array.from({ length: 4 }, () => askAs(portal, "SendTestEvent", { subscriptionId })),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const answer of refused) {
      expect(answer).toMatchObject({
        ...{ code: "resource_exhausted", reason: "PORTAL_DELIVERIES_TOO_MANY", field: "subscriptionId" },
      });
      expect(answer.json.message).toContain("1000");
    }
    expect(outcomeOf(await ask("ReplayEvent", replay))).toBe("ok");
    expect(outcomeOf(await askAs(portal, "ReplayEvent", { ...replay, subscriptionId: other }))).toBe("ok");
    await made("DeleteSubscription", { id: subscriptionId });
  });
});

describe("replays", () => {
  const pause = async (id: string) => made("UpdateReplay", { id, paused: true });

  test("a customer has one unfinished replay, which hinders neither another customer nor the project", async () => {
    const [one, two] = [await portalOf("replays-1"), await portalOf("replays-2")];
    const [first, second, third] = [await endpointOf(one), await endpointOf(one), await endpointOf(two)];
    await publish("replays-1", 20);
    const { replay } = await madeBy(one, "StartReplay", { since, subscriptionId: first, perSecond: 1 });
    expect(replay.origin).toBe("portal");
    await madeBy(one, "UpdateReplay", { id: replay.id, paused: true });
    const again = await askAs(one, "StartReplay", { since, subscriptionId: second });
    expect(outcomeOf(again)).toBe("resource_exhausted PORTAL_REPLAYS_TOO_MANY");
    expect(again.json.message).toContain(replay.id);
    expect(outcomeOf(await askAs(one, "StartReplay", { since, subscriptionId: first }))).toBe(
      "failed_precondition REPLAY_RUNNING",
    );
    const others = await madeBy(two, "StartReplay", { since, subscriptionId: third });
    const all = await made("StartReplay", { since });
    expect(all.replay.origin).toBe("");
    await made("CancelReplay", { id: all.replay.id });
    await made("CancelReplay", { id: others.replay.id });
    await madeBy(one, "CancelReplay", { id: replay.id });
    expect(outcomeOf(await askAs(one, "StartReplay", { since, subscriptionId: second }))).toBe("ok");
  });

  test("100 replays of customers may queue deliveries; the project keeps its 10, and waiting ones do not count", async () => {
    const portal = await portalOf("replays-3");
    const subscriptionId = await endpointOf(portal);
    const { replay } = await madeBy(portal, "StartReplay", { since, subscriptionId, perSecond: 1 });
    await until(async () => (await madeBy(portal, "GetReplay", { id: replay.id })).replay.endedAt !== undefined);
    const copy = async (count: number, origin: string) =>
      svc.database.db.sql.unsafe(
        `insert into replays select (r).* from (select jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(),
           'subscription_id', gen_random_uuid(), 'state', 'running', 'ended_at', null, 'origin', $3::text, 'paced_at', 'infinity')) as r
         from replays r, generate_series(1, $2::int4) where r.id = $1::uuid) copies`,
        [uuidOfId(replay.id as ReplayId), count, origin],
      );
    await copy(100, "portal");
    const refused = await askAs(portal, "StartReplay", { since, subscriptionId });
    expect(outcomeOf(refused)).toBe("resource_exhausted PORTAL_REPLAYS_TOO_MANY");
    expect(json(refused.json)).not.toContain("100");
    const ofProject = await made("StartReplay", { since });
    await made("CancelReplay", { id: ofProject.replay.id });
    await svc.database.db.sql`update replays set reason = 'backoff' where origin = 'portal' and ended_at is null`;
    const { replay: fits } = await madeBy(portal, "StartReplay", { since, subscriptionId });
    await madeBy(portal, "CancelReplay", { id: fits.id });
    await copy(10, "");
    expect(outcomeOf(await askAs(portal, "StartReplay", { since, subscriptionId }))).toBe("ok");
    const full = await ask("StartReplay", {
      since,
      subscriptionId: (await made("CreateSubscription", { endpointUrl: dead })).subscription.id,
    });
    expect(outcomeOf(full)).toBe("resource_exhausted REPLAYS_TOO_MANY");
    await svc.database.db.sql`update replays set ended_at = now(), state = 'done' where ended_at is null`;
  });

  test("a customer sees a replay that the project started to its endpoint, and cannot change it", async () => {
    const portal = await portalOf("replays-4");
    const subscriptionId = await endpointOf(portal);
    const { replay } = await made("StartReplay", { since, subscriptionId });
    await pause(replay.id);
    expect((await madeBy(portal, "GetReplay", { id: replay.id })).replay.origin).toBe("");
    for (const [method, body] of [
      ["UpdateReplay", { paused: false }],
      ["UpdateReplay", { perSecond: 100 }],
      ["CancelReplay", {}],
    ] as const)
      expect(outcomeOf(await askAs(portal, method, { id: replay.id, ...body }))).toBe(
        "failed_precondition REPLAY_OF_PROJECT",
      );
    await made("CancelReplay", { id: replay.id });
  });

  test("a customer replays at most 100 deliveries a second", async () => {
    const portal = await portalOf("replays-5");
    const answer = await askAs(portal, "StartReplay", {
      since,
      subscriptionId: await endpointOf(portal),
      perSecond: 101,
    });
    expect(outcomeOf(answer)).toBe("invalid_argument REPLAY_RATE_INVALID");
    expect(answer.json.message).toContain("between 1 and 100");
  });
});

/** Stores past events without deliveries. The first ones are the oldest. */
async function storeEvents(...groups: readonly (readonly [entityId: string, count: number])[]): Promise<void> {
  for (const [entityId, count] of groups)
    await svc.database.db.sql.unsafe(
      `insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
       select (select id from projects limit 1), uuidv7(), 'event', 'events', 'events.invoice.paid', $1::text, '{}', now(), now(), ''
       from generate_series(1, $2::int4)`,
      [entityId, count],
    );
}

describe("reads of past events", () => {
  test("a preview reads the latest 20,000 events of the project, however few are the customer's", async () => {
    const portal = await portalOf("reader-1");
    await storeEvents(["reader-1", 10], ["others", 19_980], ["reader-1", 30]);
    // On a slow machine, a preview ends after 2 seconds with fewer events.
    expect((await madeBy(portal, "PreviewSubscription")).matched).toBeLessThanOrEqual(30);
    const match = { triggerSlugs: ["invoice.paid"] };
    expect((await madeBy(portal, "PreviewSubscription", { match })).matched).toBeLessThanOrEqual(30);
  });

  test("a portal previews 60 times in a minute, and another portal is not affected", async () => {
    const [portal, other] = [await portalOf("reader-2"), await portalOf("reader-3")];
    const cheap = { match: { triggerSlugs: ["never.published"] } };
    const answers = await Promise.all(Array.from({ length: 61 }, () => askAs(portal, "PreviewSubscription", cheap)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(outcomeOf)).toEqual(["resource_exhausted PORTAL_SCANS_TOO_MANY"]);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    const subscriptionId = await endpointOf(portal);
    for (const dryRun of [true, false])
      expect(outcomeOf(await askAs(portal, "StartReplay", { since, subscriptionId, dryRun }))).toBe(
        "resource_exhausted PORTAL_SCANS_TOO_MANY",
      );
    expect(outcomeOf(await askAs(other, "PreviewSubscription"))).toBe("ok");
  });

  test("a dry run stops when its portal has read enough, and then says that there are more", async () => {
    const [portal, filtered] = [await portalOf("reader-4"), await portalOf("reader-5")];
    await storeEvents(["reader-4", 100], ["others", 40_000]);
    const subscriptionId = await endpointOf(portal);
    const dryRun = { since, subscriptionId, dryRun: true };
    expect((await madeBy(portal, "StartReplay", { ...dryRun, since: new Date().toISOString() })).more).toBe(false);
    // Two of the 60 reads are used by the dry run above and the first one below.
    const cheap = { match: { triggerSlugs: ["never.published"] } };
    for (let n = 0; n < 58; n++) await madeBy(portal, "PreviewSubscription", cheap);
    expect(await madeBy(portal, "StartReplay", dryRun)).toMatchObject({ total: 100, more: true });
    expect(outcomeOf(await askAs(portal, "StartReplay", dryRun))).toBe("resource_exhausted PORTAL_SCANS_TOO_MANY");
    expect(await made("StartReplay", dryRun)).toMatchObject({ total: 100, more: false });
    // With a filter, one statement reads 5,000 events.
    const match = { filter: "event.id != ''" };
    const { subscription } = await madeBy(filtered, "CreateSubscription", { endpointUrl: dead, match });
    const some = await madeBy(filtered, "StartReplay", { since, subscriptionId: subscription.id, dryRun: true });
    expect(some.more).toBe(true);
  }, 60_000);
});

describe("a pause", () => {
  const resumes = [{ paused: false }, { active: true }];

  test("a pause of the project holds: the customer cannot resume it, and can still change the endpoint", async () => {
    const portal = await portalOf("paused-1");
    const id = await endpointOf(portal);
    expect((await made("UpdateSubscription", { id, paused: true })).subscription.pausedBy).toBe("project");
    for (const resume of resumes) {
      const answer = await askAs(portal, "UpdateSubscription", { id, ...resume });
      expect(outcomeOf(answer)).toBe("failed_precondition SUBSCRIPTION_PAUSED_BY_PROJECT");
      expect(answer.field).toBe(Object.keys(resume)[0]);
    }
    await madeBy(portal, "UpdateSubscription", { id, paused: true, description: "changed" });
    const { subscription } = await madeBy(portal, "GetSubscription", { id });
    expect(subscription).toMatchObject({ description: "changed", inactiveReason: "paused", pausedBy: "project" });
    expect((await made("UpdateSubscription", { id, paused: false })).subscription).toMatchObject({
      active: true,
      pausedBy: "",
    });
  });

  test("a pause from a version that did not store who paused holds as one of the project, which may take it over", async () => {
    const portal = await portalOf("paused-4");
    const id = await endpointOf(portal);
    await made("UpdateSubscription", { id, paused: true });
    await svc.database.db.sql`update subscriptions set paused_by = '' where id = ${uuidOfId(id as SubscriptionId)}`;
    for (const resume of resumes)
      expect(outcomeOf(await askAs(portal, "UpdateSubscription", { id, ...resume }))).toBe(
        "failed_precondition SUBSCRIPTION_PAUSED_BY_PROJECT",
      );
    expect((await made("UpdateSubscription", { id, paused: true })).subscription.pausedBy).toBe("project");
    expect((await made("UpdateSubscription", { id, paused: false })).subscription.active).toBe(true);
  });

  test("a customer resumes its own pause, until the project takes the pause over", async () => {
    const portal = await portalOf("paused-2");
    const id = await endpointOf(portal);
    for (const resume of resumes) {
      expect((await madeBy(portal, "UpdateSubscription", { id, paused: true })).subscription.pausedBy).toBe("portal");
      expect((await madeBy(portal, "UpdateSubscription", { id, ...resume })).subscription.active).toBe(true);
    }
    await madeBy(portal, "UpdateSubscription", { id, paused: true });
    await publish("paused-2", 1);
    const taken = await made("UpdateSubscription", { id, paused: true });
    expect(taken.subscription).toMatchObject({ inactiveReason: "paused", pausedBy: "project" });
    expect(outcomeOf(await askAs(portal, "UpdateSubscription", { id, paused: false }))).toBe(
      "failed_precondition SUBSCRIPTION_PAUSED_BY_PROJECT",
    );
    await made("UpdateSubscription", { id, paused: false });
    const deliveries = async () => (await made("ListDeliveries", { subscriptionId: id })).deliveries;
    await until(async () => (await deliveries()).some(({ state }: { state: string }) => state === "delivered"));
    expect(await deliveries()).toHaveLength(1);
  });

  test("after 30 days of its own pause a customer activates the endpoint again, after those of the project's it cannot", async () => {
    const portal = await portalOf("paused-3");
    const [own, ofProject] = [await endpointOf(portal), await endpointOf(portal)];
    await madeBy(portal, "UpdateSubscription", { id: own, paused: true });
    await made("UpdateSubscription", { id: ofProject, paused: true });
    const nowMs = Date.now();
    await expirePauses(svc.database.db, { beforeMs: nowMs + 1_000, nowMs, limit: 100 });
    expect((await madeBy(portal, "GetSubscription", { id: own })).subscription).toMatchObject({
      inactiveReason: "deactivated",
      pausedBy: "portal",
    });
    expect(outcomeOf(await askAs(portal, "UpdateSubscription", { id: ofProject, active: true }))).toBe(
      "invalid_argument PORTAL_FIELD_REFUSED",
    );
    expect((await madeBy(portal, "UpdateSubscription", { id: own, active: true })).subscription).toMatchObject({
      active: true,
      pausedBy: "",
    });
    await made("UpdateSubscription", { id: own, active: false });
    expect(outcomeOf(await askAs(portal, "UpdateSubscription", { id: own, active: true }))).toBe(
      "invalid_argument PORTAL_FIELD_REFUSED",
    );
  });
});

describe("what a customer learns of the project", () => {
  test("a reached quota of the project is reported without its number", async () => {
    const portal = await portalOf("quota-1");
    const subscriptionId = await endpointOf(portal, dead);
    const { results } = await publish("quota-1", 1);
    const limit = async (quotas: object) => answered(await svc.admin("SetProjectPolicy", { projectId, quotas }));
    const calls = {
      QUOTA_PENDING_DELIVERIES: ["ReplayEvent", { eventId: results[0].eventId, subscriptionId }],
      QUOTA_ENTITY_SUBSCRIPTIONS: ["CreateSubscription", { endpointUrl: dead }],
    } as const;
    try {
      await limit({ pendingDeliveries: 1, entitySubscriptions: 1 });
      for (const [reason, [method, body]] of Object.entries(calls)) {
        await expect.poll(async () => (await askAs(portal, method, body)).reason, { timeout: 10_000 }).toBe(reason);
        const { json: refused } = await askAs(portal, method, body);
        expect(refused.message).toBe("the project has reached a limit");
        expect(json(refused).replaceAll(subscriptionId, "")).not.toMatch(/may have|quota of|SetProjectPolicy|has \d/);
      }
      expect((await ask("CreateSubscription", { endpointUrl: dead, entityId: "quota-2" })).json.message).toContain(
        "may have 1 subscription",
      );
    } finally {
      await limit({});
    }
  });

  test("GetIdentity in the portal says nothing of the deployment but its address and the retention of events", async () => {
    const portal = await portalOf("identity");
    const { json: found } = await portal.call("svc.v1.IdentityService/GetIdentity");
    expect(found.deployment).toEqual({
      ...{ version: "", sandbox: false, features: [] },
      publicUrl: svc.url,
      retentions: { events: expect.stringMatching(/s$/) },
    });
    const whole = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
    expect(whole.deployment.version).not.toBe("");
  });

  test("a list of deliveries names the event types that the project offers, and no other", async () => {
    const portal = await portalOf("types");
    const subscriptionId = await endpointOf(portal);
    await made("PutEventType", { name: "invoice.sent", offered: true });
    await made("PublishEvents", {
      events: ["invoice.paid", "invoice.sent"].map((type) => ({ type, entityId: "types", payloadJson: "{}" })),
    });
    await madeBy(portal, "SendTestEvent", { subscriptionId });
    const slugs = async (more: object) =>
      (await madeBy(portal, "ListDeliveries", { subscriptionId, ...more })).deliveries
        .map(({ triggerSlug = "unset" }: { triggerSlug?: string }) => triggerSlug)
        .toSorted();
    await until(async () => (await slugs({})).length === 3);
    expect(await slugs({})).toEqual(["unset", "unset", "unset"]);
    expect(await slugs({ withTriggers: true })).toEqual(["", "events.invoice.paid", "events.invoice.sent"]);
    await made("PutEventType", { name: "invoice.sent" });
    expect(await slugs({ withTriggers: true })).toEqual(["", "events.invoice.paid", "unset"]);
    const { deliveries } = await made("ListDeliveries", { subscriptionId, withTriggers: true });
    expect(deliveries.map(({ triggerSlug }: { triggerSlug: string }) => triggerSlug)).toContain("events.invoice.sent");
  });
});
