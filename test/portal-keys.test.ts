import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { portal } from "@svc/gen/options";
import { SandboxService } from "@svc/gen/sandbox";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { StatsService } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { openPortal, type TestPortal } from "@svc/testing/console-session";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Tests every call of every service in the portal of the entity ada. The data that it must not reach: the portal of the entity bob,
// subscriptions and replays that the project itself made (also for ada), and events of types that the project does not offer.

const json = JSON.stringify;
let svc: TestServer;
let receiver: TestReceiver;
let ada: TestPortal;
let reader: TestPortal;
/** Ids of what ada's portal reaches, and of what it must not reach. */
const own: Record<string, string> = {};
const foreign: Record<string, string> = {};
/** Texts that no answer to ada's portal may contain, unless the request contains them. */
const secrets = () => [...Object.values(foreign), "payroll", "for-bob", '"bob"', "of-the-project"];

async function made(method: string, body: object = {}) {
  const answer = await svc.call(`svc.v1.TriggersService/${method}`, body);
  if (answer.status !== 200) throw new Error(`${method}: ${json(answer.json)}`);
  return answer.json;
}

async function asAda(method: string, body: object = {}, by: TestPortal = ada): Promise<TestAnswer> {
  return by.call(`svc.v1.TriggersService/${method}`, body);
}

async function madeBy(by: TestPortal, method: string, body: object = {}) {
  const answer = await asAda(method, body, by);
  if (answer.status !== 200) throw new Error(`${method}: ${json(answer.json)}`);
  return answer.json;
}

const publish = async (type: string, entityId: string, text = `for-${entityId}`) =>
  (await made("PublishEvent", { type, entityId, payloadJson: json({ text, amount: 7 }) })).eventId;

/** Returns the delivery of an event to a subscription when it has ended. */
async function deliveryOf(eventId: string | undefined, subscriptionId: string | undefined): Promise<string> {
  let id = "";
  await until(async () => {
    const { deliveries } = await made("ListDeliveries", { eventId, subscriptionId });
    id = deliveries[0]?.id ?? "";
    return deliveries[0]?.state === "delivered";
  }, `a delivery of ${eventId} to ${subscriptionId}`);
  return id;
}

const since = "2026-01-01T00:00:00Z";

/** Waits until a replay has ended. */
const endOf = (id: string | undefined) =>
  until(async () => (await made("GetReplay", { id })).replay.endedAt !== undefined, `the end of ${id}`);

beforeAll(async () => {
  receiver = await startTestReceiver();
  svc = await startTestServer();
  await made("PutEventType", { name: "invoice.paid", offered: true });
  await made("PutEventType", { name: "invoice.sent", offered: true });
  await made("PutEventType", { name: "payroll.run" });
  const linkOf = async (entityId: string, more: object = {}) => {
    const { url, linkId } = await made("CreatePortalLink", { entityId, ...more });
    return { portal: await openPortal(svc, url), linkId };
  };
  const [first, bobs] = [await linkOf("ada"), await linkOf("bob")];
  ada = first.portal;
  reader = (await linkOf("ada", { readOnly: true })).portal;
  foreign["link"] = bobs.linkId;
  const endpoint = { endpointUrl: receiver.url };
  own["subscription"] = (await madeBy(ada, "CreateSubscription", endpoint)).subscription.id;
  own["other"] = (await madeBy(ada, "CreateSubscription", endpoint)).subscription.id;
  foreign["bobSubscription"] = (await madeBy(bobs.portal, "CreateSubscription", endpoint)).subscription.id;
  const ofProject = { ...endpoint, description: "of-the-project" };
  foreign["projectSubscription"] = (await made("CreateSubscription", ofProject)).subscription.id;
  foreign["adaSubscriptionOfProject"] = (
    await made("CreateSubscription", { ...ofProject, entityId: "ada" })
  ).subscription.id;
  own["event"] = await publish("invoice.paid", "ada");
  foreign["bobEvent"] = await publish("invoice.paid", "bob");
  foreign["eventOfNobody"] = await publish("invoice.paid", "", "of-the-project");
  foreign["adaPayroll"] = await publish("payroll.run", "ada", "payroll");
  own["delivery"] = await deliveryOf(own["event"], own["subscription"]);
  foreign["bobDelivery"] = await deliveryOf(foreign["bobEvent"], foreign["bobSubscription"]);
  foreign["projectDelivery"] = await deliveryOf(foreign["adaPayroll"], foreign["projectSubscription"]);
  foreign["sameEventDelivery"] = await deliveryOf(own["event"], foreign["adaSubscriptionOfProject"]);
  const replay = async (subscriptionId: string | undefined) =>
    (await made("StartReplay", { since, ...(subscriptionId && { subscriptionId }) })).replay.id;
  own["replay"] = (await madeBy(ada, "StartReplay", { since, subscriptionId: own["subscription"] })).replay.id;
  // A customer has one unfinished replay.
  await endOf(own["replay"]);
  foreign["bobReplay"] = await replay(foreign["bobSubscription"]);
  foreign["projectReplay"] = await replay(foreign["projectSubscription"]);
  const test = await made("SendTestEvent", { subscriptionId: foreign["bobSubscription"] });
  foreign["bobTestEvent"] = test.delivery.eventId;
}, 60_000);
afterAll(async () => {
  await svc?.stop();
  await receiver?.[Symbol.asyncDispose]();
});

const services = [
  ...[AdminService, CatalogService, ConnectionsService, ConsoleService, ContactsService, GrantsService],
  ...[
    IdentityService,
    JobsService,
    SandboxService,
    SecretsService,
    StandingService,
    StatsService,
    ToolsService,
    TriggersService,
  ],
];
const methods: readonly DescMethod[] = services.flatMap((service) => service.methods);
const nameOf = ({ parent, name }: DescMethod) => `${parent.name}/${name}`;

/** A valid request of each portal call, with what ada's portal reaches. */
const requests: Readonly<Record<string, () => Record<string, unknown>>> = {
  GetIdentity: () => ({}),
  CreateSubscription: () => ({
    ...{ endpointUrl: receiver.url, toolkitSlug: "events", entityId: "ada", description: "d" },
    match: { triggerSlugs: ["invoice.paid"] },
  }),
  ListSubscriptions: () => ({ entityId: "ada" }),
  GetSubscription: () => ({ id: own["subscription"] }),
  UpdateSubscription: () => ({ id: own["subscription"], description: "mine" }),
  DeleteSubscription: () => ({ id: own["created"] }),
  RotateSubscriptionSecret: () => ({ id: own["subscription"] }),
  PreviewSubscription: () => ({ match: { filter: "event.payload.amount > 1" } }),
  SendTestEvent: () => ({ subscriptionId: own["subscription"] }),
  ListDeliveries: () => ({ subscriptionId: own["subscription"], eventId: own["event"] }),
  GetDelivery: () => ({ id: own["delivery"] }),
  ListDeliveryAttempts: () => ({ deliveryId: own["delivery"] }),
  GetEvent: () => ({ id: own["event"] }),
  ReplayEvent: () => ({ eventId: own["event"], subscriptionId: own["subscription"] }),
  StartReplay: () => ({ since, subscriptionId: own["other"], toolkitSlug: "events", triggerSlug: "invoice.paid" }),
  GetReplay: () => ({ id: own["replay"] }),
  ListReplays: () => ({}),
  UpdateReplay: () => ({ id: own["replay"], perSecond: 7 }),
  CancelReplay: () => ({ id: own["replay"] }),
  GetEventDocument: () => ({ format: "EVENT_DOCUMENT_FORMAT_OPENAPI_3_1", types: ["invoice.paid"] }),
  GetEventType: () => ({ name: "invoice.paid" }),
  ListEventTypes: () => ({}),
};

/** Values that a request may name and that ada's portal must not reach, by the field. */
const forbidden = (field: string): readonly unknown[] => {
  if (/^(?:id|.*Id)$/.test(field) && field !== "entityId")
    return [...Object.values(foreign), ...["sub", "evt", "dlv", "rpl"].map((kind) => `${kind}_${"0".repeat(26)}`)];
  if (field === "entityId") return ["bob", "Ada", "ada ", "*"];
  if (field === "toolkitSlug") return ["calendar", "svc", "*"];
  if (field === "triggerSlug" || field === "name")
    return ["payroll.run", "events.payroll.run", "calendar.events_changed"];
  if (field === "types") return [["payroll.run"], ["invoice.paid", "payroll.run"]];
  if (field === "match")
    return ["payroll.run", "events.payroll.run", "calendar.events_changed"].map((one) => ({ triggerSlugs: [one] }));
  return [];
};

function expectNothingForeign(answer: TestAnswer, body: object): void {
  const [text, asked] = [json(answer.json), json(body)];
  for (const one of secrets()) if (!asked.includes(one.replaceAll('"', ""))) expect(text, one).not.toContain(one);
}

const outcomeOf = ({ status, code, reason }: TestAnswer) => (status === 200 ? "ok" : `${code} ${reason}`);

test("the requests have every call of the portal, and no other", () => {
  const declared = methods.filter((method) => getOption(method, portal)).map(({ name }) => name);
  expect(Object.keys(requests).toSorted()).toEqual(declared.toSorted());
  expect(declared).toHaveLength(22);
});

test.each(methods.map((method) => [nameOf(method), method] as const))(
  "%s does what it may in the portal",
  async (_, method) => {
    const isPortal = getOption(method, portal);
    const isRead = /^(?:Get|List|Preview)/.test(method.name);
    if (method.methodKind !== "unary") return;
    if (method.name === "DeleteSubscription") {
      const { subscription } = await madeBy(ada, "CreateSubscription", { endpointUrl: receiver.url });
      own["created"] = subscription.id;
    }
    const body = isPortal ? (requests[method.name]?.() ?? {}) : {};
    const call = `svc.v1.${nameOf(method)}`;
    const isAdmin = method.parent.name === "AdminService";
    const refused = isAdmin ? "permission_denied ROLE_REQUIRED" : "permission_denied ENTITY_BOUND";
    // A call for approvers is refused to a portal's key because of its role.
    const isRefused = (outcome: string) => [refused, "permission_denied ROLE_REQUIRED"].includes(outcome);
    const read = outcomeOf(await reader.call(call, body));
    if (!isPortal) expect(isRefused(read), read).toBe(true);
    else expect(read).toBe(isRead ? "ok" : "permission_denied PORTAL_READ_ONLY");
    const answer = await ada.call(call, body);
    if (!isPortal) expect(isRefused(outcomeOf(answer))).toBe(true);
    else expect([method.name, outcomeOf(answer), answer.json.message]).toEqual([method.name, "ok", undefined]);
    expectNothingForeign(answer, body);
  },
);

test("streams are refused", async () => {
  for (const method of methods.filter(({ methodKind }) => methodKind !== "unary")) {
    const frame = Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d]);
    const response = await fetch(`${svc.url}/svc.v1.${nameOf(method)}`, {
      method: "POST",
      headers: { "content-type": "application/connect+json", origin: new URL(svc.url).origin, ...ada.headers },
      body: frame,
    });
    expect([nameOf(method), await response.text()]).toEqual([
      nameOf(method),
      expect.stringMatching(/ENTITY_BOUND|ROLE_REQUIRED/),
    ]);
  }
});

test("no request that names what is not ada's reaches or reveals it, and it stays as it was", async () => {
  const before = await foreignState();
  let attempts = 0;
  for (const method of methods.filter((one) => getOption(one, portal))) {
    const base = requests[method.name]?.() ?? {};
    for (const { jsonName: field } of method.input.fields) {
      for (const value of forbidden(field)) {
        const body = { ...base, [field]: value };
        const answer = await ada.call(`svc.v1.${nameOf(method)}`, body);
        attempts++;
        expectNothingForeign(answer, body);
        // A list may answer, but with nothing.
        const rows = answer.json.subscriptions ?? answer.json.deliveries ?? answer.json.replays;
        const isEmpty = answer.status === 200 && Array.isArray(rows) && rows.length === 0;
        expect([method.name, field, value, isEmpty || answer.status !== 200]).toEqual([
          method.name,
          field,
          value,
          true,
        ]);
        expect(answer.status, json(answer.json)).toBeLessThan(500);
      }
    }
  }
  expect(attempts).toBeGreaterThan(200);
  expect(await foreignState()).toEqual(before);
});

/** What ada's portal must not change: subscriptions, replays, types, and the number of deliveries to other endpoints. */
async function foreignState() {
  const ids = ["bobSubscription", "projectSubscription", "adaSubscriptionOfProject"].map((name) => foreign[name] ?? "");
  const rows = await svc.database.db.sql.unsafe(
    `select s.id, s.endpoint_url, s.active, s.settings, s.signing_secret, (select count(*) from deliveries d where d.subscription_id = s.id)::int as deliveries
     from subscriptions s where s.origin = '' or s.entity_id <> 'ada' order by s.id`,
  );
  const replays = await svc.database.db.sql.unsafe(
    "select r.id, r.per_second from replays r join subscriptions s on s.id = r.subscription_id where s.origin = '' or s.entity_id <> 'ada' order by r.id",
  );
  expect(rows.length).toBe(ids.length);
  return { rows: [...rows], replays: [...replays] };
}

describe("what the project offers", () => {
  test("a customer's endpoint receives offered types of its entity alone, live and by replay, and 'all' follows the project", async () => {
    const port = `/offered`;
    const { subscription } = await madeBy(ada, "CreateSubscription", {
      endpointUrl: receiver.url.replace("/hook", port),
    });
    const got = () =>
      receiver.requests.filter(({ path }) => path === port).map(({ body }) => JSON.parse(body.toString()).payload.text);
    await publish("payroll.run", "ada", "payroll-1");
    await publish("invoice.sent", "bob", "not-for-ada");
    await publish("invoice.sent", "ada", "sent-1");
    await until(() => got().length >= 1);
    await made("PutEventType", { name: "invoice.sent" });
    await made("PutEventType", { name: "audit.made", offered: true });
    await publish("invoice.sent", "ada", "sent-2");
    await publish("audit.made", "ada", "audit-1");
    await until(() => got().includes("audit-1"));
    for (const { id } of (await madeBy(ada, "ListReplays")).replays) await endOf(id);
    const replayed = await madeBy(ada, "StartReplay", { since, subscriptionId: subscription.id });
    await until(
      async () =>
        (await madeBy(ada, "GetReplay", { id: replayed.replay.id })).replay.state === "REPLAY_STATE_DONE" ||
        (await madeBy(ada, "GetReplay", { id: replayed.replay.id })).replay.state === "done",
    );
    await until(() => got().filter((text) => text === "audit-1").length === 2);
    expect(got().filter((text) => !/^(?:sent-1|audit-1|for-ada)$/.test(text))).toEqual([]);
    expect(got().filter((text) => text === "sent-1")).toHaveLength(1);
    await made("PutEventType", { name: "invoice.sent", offered: true });
  });

  test("an event stays readable while its type is offered", async () => {
    const [answer] = [await asAda("GetEvent", { id: own["event"] })];
    expect(JSON.parse(answer.json.event.payloadJson).text).toBe("for-ada");
    await made("PutEventType", { name: "invoice.paid" });
    expect(outcomeOf(await asAda("GetEvent", { id: own["event"] }))).toBe("not_found EVENT_NOT_FOUND");
    expect(outcomeOf(await asAda("GetEventType", { name: "invoice.paid" }))).toBe("not_found EVENT_TYPE_NOT_FOUND");
    await made("PutEventType", { name: "invoice.paid", offered: true });
    expect(outcomeOf(await asAda("GetEvent", { id: own["event"] }))).toBe("ok");
  });

  test("a preview counts the entity's events of offered types alone", async () => {
    const { scanned, matched, requests: shown } = await madeBy(ada, "PreviewSubscription", {});
    const { events } = await made("ListEvents", { entityId: "ada" });
    const offered = events.filter(({ triggerSlug }: { triggerSlug: string }) => triggerSlug !== "events.payroll.run");
    expect([scanned, matched]).toEqual([offered.length, offered.length]);
    expect(json(shown)).not.toContain("payroll");
  });

  test("lists say what they leave out", async () => {
    const types = (await madeBy(ada, "ListEventTypes")).eventTypes.map(({ name }: { name: string }) => name);
    expect(types).not.toContain("payroll.run");
    expect((await madeBy(ada, "ListEventTypes")).limitedTo).toBe("event types that the project offers");
    expect((await madeBy(ada, "ListReplays")).limitedTo).toBe('the entity "ada"');
    expect((await made("ListReplays")).limitedTo).toBe("");
    const { documentJson } = await madeBy(ada, "GetEventDocument", { format: "EVENT_DOCUMENT_FORMAT_ASYNCAPI_3" });
    expect(documentJson).not.toContain("payroll");
  });
});

describe("what the project decides", () => {
  test("a replay of the project to all endpoints holds back that of a customer, without its id", async () => {
    const subscriptionId = (await madeBy(ada, "CreateSubscription", { endpointUrl: receiver.url })).subscription.id;
    const { replay } = await made("StartReplay", { since, perSecond: 1 });
    await made("UpdateReplay", { id: replay.id, paused: true });
    const answer = await asAda("StartReplay", { since, subscriptionId });
    expect(answer.reason).toBe("REPLAY_RUNNING");
    expect(json(answer.json)).not.toContain(replay.id);
    await made("CancelReplay", { id: replay.id });
    for (const { id } of (await madeBy(ada, "ListReplays")).replays) await endOf(id);
    expect((await asAda("StartReplay", { since, subscriptionId })).status).toBe(200);
  });

  test.each([
    ["CreateSubscription", { endpointUrl: "https://example.com", retry: { timeoutMs: 2_000 } }, "retry"],
    [
      "CreateSubscription",
      { endpointUrl: "https://example.com", format: { kind: "custom", bodyJson: "{}" } },
      "format.kind",
    ],
    ["UpdateSubscription", { id: "$subscription", retry: {} }, "retry"],
    ["CreateSubscription", { endpointUrl: "https://example.com", pace: { concurrency: 1 } }, "pace"],
    ["UpdateSubscription", { id: "$subscription", pace: { concurrency: 1 } }, "pace"],
    ["UpdateSubscription", { id: "$subscription", format: { kind: "custom", bodyJson: "{}" } }, "format.kind"],
    ["UpdateSubscription", { id: "$subscription", active: false }, "active"],
    ["UpdateSubscription", { id: "$subscription", updateMask: ["retry.timeoutMs"] }, "retry"],
    ["UpdateSubscription", { id: "$subscription", updateMask: ["pace.max"] }, "pace"],
  ])("%s %j is refused in the portal", async (method, given, field) => {
    const body = { ...given, ...("id" in given && { id: own["subscription"] }) };
    expect(await asAda(method, body)).toMatchObject({
      code: "invalid_argument",
      reason: "PORTAL_FIELD_REFUSED",
      field,
    });
  });

  test("a customer pauses, resumes and activates its endpoint, unless the project deactivated it", async () => {
    const id = own["other"];
    expect((await madeBy(ada, "UpdateSubscription", { id, paused: true })).subscription.inactiveReason).toBe("paused");
    expect((await madeBy(ada, "UpdateSubscription", { id, active: true })).subscription.active).toBe(true);
    await made("UpdateSubscription", { id, active: false });
    expect((await asAda("UpdateSubscription", { id, active: true })).reason).toBe("PORTAL_FIELD_REFUSED");
    await made("UpdateSubscription", { id, active: true });
  });

  test("a customer sends ten test events a minute", async () => {
    const id = (await madeBy(ada, "CreateSubscription", { endpointUrl: receiver.url })).subscription.id;
    const sent: TestAnswer[] = [];
    while (sent.length < 12 && sent.every(({ status }) => status === 200))
      sent.push(await asAda("SendTestEvent", { subscriptionId: id }));
    expect(sent.at(-1)).toMatchObject({ code: "resource_exhausted", reason: "PORTAL_TESTS_TOO_MANY" });
    expect(sent.length).toBeLessThanOrEqual(11);
    const event = await asAda("GetEvent", { id: sent[0]?.json.delivery?.eventId ?? own["event"] });
    expect(event.status).toBe(200);
  });

  test("an entity has 50 endpoints, those of the project too", async () => {
    const { url } = await made("CreatePortalLink", { entityId: "many" });
    const many = await openPortal(svc, url);
    await made("CreateSubscription", { endpointUrl: receiver.url, entityId: "many" });
    const create = () => many.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl: receiver.url });
    const answers = await Promise.all(Array.from({ length: 52 }, create));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    expect(answers.find(({ status }) => status !== 200)?.reason).toBe("QUOTA_ENTITY_SUBSCRIPTIONS");
  });
});
