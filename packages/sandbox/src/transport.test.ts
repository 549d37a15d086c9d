import { catalogOf } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { expect, test } from "vitest";
import { scenarios } from "./scenarios.ts";
import { createApps } from "./test-apps.ts";

const list = ["calendar.list_events", { calendar_id: "primary" }] as const;

test("the scenario 429 says when to come back, and changes nothing", async () => {
  const apps = createApps();
  const made = await apps.call("sales_crm.create_deal", { title: "Not made" }, { entityId: "sandbox:429" });
  expect(made).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  expect(JSON.stringify((await apps.call("sales_crm.list_deals", {})).body)).not.toContain("Not made");
});

test("the scenarios 500 and unauthorized answer as their names say", async () => {
  const apps = createApps();
  expect((await apps.call(...list, { entityId: "sandbox:500" })).status).toBe(500);
  expect((await apps.call(...list, { entityId: "sandbox:unauthorized" })).status).toBe(401);
});

test("the scenario slow does what is asked and outlasts the caller's patience", async () => {
  const apps = createApps();
  const sent = apps.send("sales_crm.create_deal", { title: "Made late" }, { entityId: "sandbox:slow" });
  await expect.poll(() => apps.clock.waiting()).toBe(1);
  apps.clock.advance(5000);
  expect(await sent).toMatchObject({ kind: "timeout", sent: true });
  expect(JSON.stringify((await apps.call("sales_crm.list_deals", {})).body)).toContain("Made late");
});

test("the scenario cut does what is asked and breaks off", async () => {
  const apps = createApps();
  const sent = await apps.send("sales_crm.create_deal", { title: "Made silently" }, { entityId: "sandbox:cut" });
  expect(sent).toMatchObject({ kind: "broken", sent: true });
  expect(JSON.stringify((await apps.call("sales_crm.list_deals", {})).body)).toContain("Made silently");
});

test("a scenario with a number fails so often for each tool, then works", async () => {
  const apps = createApps();
  const options = { entityId: "sandbox:500=2" };
  const statusOf = async (slug: string) => (await apps.call(slug, {}, options)).status;
  const statuses = [];
  for (let round = 0; round < 4; round++) statuses.push(await statusOf("sales_crm.list_deals"));
  expect(statuses).toEqual([500, 500, 200, 200]);
  expect(await statusOf("sales_crm.list_persons")).toBe(500);
  expect((await apps.call("sales_crm.list_deals", {}, { ...options, projectId: "prj_b" })).status).toBe(500);
  apps.clock.advance(10 * 60_000);
  expect(await statusOf("sales_crm.list_deals")).toBe(500);
});

test("a rate limit and a timeout that happen once", async () => {
  const apps = createApps();
  const limited = { entityId: "sandbox:429=1" };
  const first = await apps.call("sales_crm.list_deals", {}, limited);
  expect(first).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  expect((await apps.call("sales_crm.list_deals", {}, limited)).status).toBe(200);
  const slow = { entityId: "sandbox:slow=1" };
  const sent = apps.send("sales_crm.list_deals", {}, slow);
  await expect.poll(() => apps.clock.waiting()).toBe(1);
  apps.clock.advance(5000);
  expect(await sent).toMatchObject({ kind: "timeout" });
  expect((await apps.call("sales_crm.list_deals", {}, slow)).status).toBe(200);
});

test("a scenario of one tool leaves the others alone", async () => {
  const apps = createApps();
  const statusOf = async (slug: string, entityId: string) => (await apps.call(slug, {}, { entityId })).status;
  expect(await statusOf("sales_crm.list_deals", "sandbox:500@list_deals")).toBe(500);
  expect(await statusOf("sales_crm.list_persons", "sandbox:500@list_deals")).toBe(200);
  const once = "sandbox:429=1@list_persons";
  expect(await statusOf("sales_crm.list_deals", once)).toBe(200);
  expect([await statusOf("sales_crm.list_persons", once), await statusOf("sales_crm.list_persons", once)]).toEqual([
    429, 200,
  ]);
});

test("the scenario error speaks each app's own form", async () => {
  const apps = createApps();
  const options = { entityId: "sandbox:error" };
  const message = expect.any(String);
  const inErrors = await apps.call("issue_tracker.get_current_user", {}, options);
  expect(inErrors).toMatchObject({ status: 200, body: { errors: [{ message }] } });
  const unlessOk = await apps.call("messaging_bot.get_me", {}, options);
  expect(unlessOk).toMatchObject({ status: 200, body: { ok: false, description: message } });
  expect(await apps.call("sales_crm.list_deals", {}, options)).toMatchObject({
    status: 422,
    body: { error: { message } },
  });
});

test("the scenario pages=80 serves 80 full pages, then no further token", async () => {
  const apps = createApps();
  const options = { entityId: "sandbox:pages=80" };
  const ids = new Set<string>();
  let token: string | undefined;
  let pages = 0;
  do {
    const args = { calendar_id: "primary", max_results: 10, ...(token !== undefined && { page_token: token }) };
    const { body } = await apps.call("calendar.list_events", args, options);
    const { items, nextPageToken } = body as { items: { id: string }[]; nextPageToken?: string };
    expect(items).toHaveLength(10);
    for (const { id } of items) ids.add(id);
    token = nextPageToken;
    pages += 1;
  } while (token !== undefined);
  expect(pages).toBe(80);
  expect(ids.size).toBe(800);
});

test("a page is as long as the default of its size, else 250", async () => {
  const apps = createApps();
  const options = { entityId: "sandbox:pages=2" };
  const events = (await apps.call(...list, options)).body as { items: unknown[] };
  expect(events.items).toHaveLength(250);
  const audiences = (await apps.call("email_marketing.list_audiences", { dc: "us1" }, options)).body;
  expect(audiences).toMatchObject({ lists: { length: 10 }, total_items: 20 });
  const teams = (await apps.call("incident_mgmt.list_teams", {}, options)).body;
  expect(teams).toMatchObject({ teams: { length: 250 }, more: true });
});

test("lists by offset and by page number end after their pages too", async () => {
  const apps = createApps();
  const options = { entityId: "sandbox:pages=2" };
  const users = (offset: number) => apps.call("incident_mgmt.list_users", { limit: 5, offset }, options);
  expect((await users(0)).body).toMatchObject({ users: { length: 5 }, more: true });
  expect((await users(5)).body).toMatchObject({ users: { length: 5 }, more: false });
  expect((await users(10)).body).toMatchObject({ users: { length: 0 }, more: false });
  const apis = (page: number) => apps.call("esignature.list_templates", { page, page_size: 4 }, options);
  expect((await apis(2)).body).toMatchObject({
    templates: { length: 4 },
    list_info: { num_pages: 2, num_results: 8, page: 2 },
  });
  expect((await apis(3)).body).toMatchObject({ templates: { length: 0 } });
});

test("without a scenario a list has three items, or as many as asked for, and no further page", async () => {
  const apps = createApps();
  expect((await apps.call(...list)).body).toMatchObject({ items: { length: 3 } });
  expect((await apps.call(...list)).body).not.toHaveProperty("nextPageToken");
  const short = await apps.call("calendar.list_events", { calendar_id: "primary", max_results: 1 });
  expect(short.body).toMatchObject({ items: { length: 1 } });
});

test.each([
  "sandbox:",
  "sandbox:nope",
  "sandbox:500=0",
  "sandbox:500=100",
  "sandbox:500@",
  "sandbox:usual=1",
  "sandbox:pages=0",
  "sandbox:pages=99999",
  "sandbox:429 ",
])("%j is no scenario, and the refusal names those there are", async (entityId) => {
  const { status, body } = await createApps().call(...list, { entityId });
  expect(status).toBe(400);
  for (const { name } of scenarios) expect(JSON.stringify(body)).toContain(`sandbox:${name}`);
});

const samples = catalogOf({ toolkits: [sampleToolkits.payments] });
const refund = ["payments.refund_payment", { payment_id: "p1", confirm: true }] as const;

test("each scheme's credential is asked for in its own place", async () => {
  const apps = createApps(samples);
  for (const scheme of ["oauth2", "api_key", "client_credentials"]) {
    expect((await apps.call(...refund, { scheme })).status).toBe(200);
  }
  const inHeader = await apps.call(...refund, {
    scheme: "api_key",
    change: (request) => ({
      ...request,
      url: request.url.split("?")[0] ?? "",
      headers: { ...request.headers, key: "k" },
    }),
  });
  expect(inHeader.status).toBe(401);
  expect(JSON.stringify(inHeader.body)).toContain("query parameter key");
  expect((await apps.call(...refund, { scheme: "basic" })).status).toBe(401);
});

test.each(["", "Bearer", "Bearer ", "Basic k", "bearer k", "k"])(
  "a key rendered as %j is refused",
  async (authorization) => {
    const { status, body } = await createApps().call(
      "data_pipeline.get_workspace",
      {},
      {
        change: (request) => ({ ...request, headers: { Authorization: authorization } }),
      },
    );
    expect(status).toBe(401);
    expect(JSON.stringify(body)).toContain("Bearer <key>");
  },
);

test("an access token is good for its own app, for an hour, and must be one given out here", async () => {
  const apps = createApps();
  const calendar = await apps.accessToken("calendar");
  const statusWith = async (token: string) => {
    const change = (request: { headers: object }) =>
      ({ ...request, headers: { authorization: `Bearer ${token}` } }) as never;
    return (await apps.call(...list, { change })).status;
  };
  expect(await statusWith(calendar)).toBe(200);
  expect(await statusWith(await apps.accessToken("scheduling"))).toBe(401);
  expect(await statusWith(await createApps().accessToken("calendar"))).toBe(401);
  expect(await statusWith(`${calendar}x`)).toBe(401);
  apps.clock.advance(3_599_999);
  expect(await statusWith(calendar)).toBe(200);
  apps.clock.advance(1);
  expect(await statusWith(calendar)).toBe(401);
});

test("a request is refused where it differs from the definition, with every fault named", async () => {
  const apps = createApps();
  const args = { team_id: "T1", title: "x" };
  const refused = await apps.call("issue_tracker.create_issue", args, {
    change: (request) => {
      const body = JSON.parse(request.body ?? "");
      body.variables.input = { teamId: 5, unheard: true };
      return { ...request, body: JSON.stringify(body), headers: { ...request.headers, "content-type": "text/plain" } };
    },
  });
  expect(refused.status).toBe(400);
  const faults = (refused.body as { error: { details: string[] } }).error.details;
  expect(faults).toContain("body.variables.input.title is required");
  expect(faults).toContain("body.variables.input.unheard is not known here");
  expect(faults).toContain("content-type must be application/json, not text/plain");
});

test("values inside a body are held against the schema of their argument", async () => {
  const change = (request: { body: string | undefined }) =>
    ({ ...request, body: JSON.stringify({ ...JSON.parse(request.body ?? ""), value: "much" }) }) as never;
  const { status, body } = await createApps().call("sales_crm.create_deal", { title: "x", value: 1 }, { change });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain("value must be number");
});

test("a path below the declared base path is the app's as well, and no other is", async () => {
  const apps = createApps();
  const statusAt = async (path: string) => {
    const change = (request: { url: string }) =>
      ({ ...request, url: `https://calendar.sandbox.invalid${path}` }) as never;
    return (await apps.call("calendar.get_event", { calendar_id: "primary", event_id: "e1" }, { change })).status;
  };
  expect(await statusAt("/calendars/primary/events/e1")).toBe(200);
  expect(await statusAt("/calendar/v3/calendars/primary/events/e1")).toBe(200);
  expect(await statusAt("/calendars/a%2Fb/events/e1")).toBe(200);
  expect(await statusAt("/calendars/a/b/events/e1")).toBe(404);
  expect(await statusAt("/calendars//events/e1")).toBe(404);
  expect(await statusAt("/calendars/%/events/e1")).toBe(404);
  expect(await statusAt("/calendar/v4/calendars/primary/events/e1")).toBe(404);
});

test("a result that has nothing to say is a 204 without body", async () => {
  const gone = await createApps().call("calendar.delete_event", {
    calendar_id: "primary",
    event_id: "e1",
    confirm: true,
  });
  expect(gone).toEqual({ status: 204, headers: {}, body: undefined });
});
