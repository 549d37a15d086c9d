import { expect, test } from "vitest";
import { createApps } from "./test-apps.ts";

type Row = Readonly<Record<string, unknown>>;

/** Returns the value at a path of names in an answer. */
function at(body: unknown, path: string): unknown {
  const steps = path === "" ? [] : path.split(".");
  return steps.reduce<unknown>((held, step) => (held as Record<string, unknown> | undefined)?.[step], body);
}

/**
 * Creates a separate sandbox, and a function that returns the rows of a list. The function takes the tool, its arguments and the path of
 * the rows.
 */
function createLists() {
  const apps = createApps();
  const rows = async (slug: string, args: object, path: string) =>
    at((await apps.call(slug, { ...args })).body, path) as Row[];
  return { ...apps, rows };
}

/** Lists with a filter: the tool, its required arguments, the path of the rows, the field by which they are filtered, and a value of it. */
const choices: [slug: string, args: object, path: string, field: string, value: unknown][] = [
  ["incident_mgmt.list_incidents", { status: "triggered" }, "incidents", "status", "triggered"],
  ["incident_mgmt.list_incidents", { status: "resolved" }, "incidents", "status", "resolved"],
  ["sales_crm.list_deals", { status: "won" }, "data", "status", "won"],
  ["sales_crm.list_activities", { done: true }, "data", "done", true],
  ["sales_crm.list_activities", { done: false }, "data", "done", false],
  [
    "email_marketing.list_members",
    { dc: "us1", list_id: "l1", status: "unsubscribed" },
    "members",
    "status",
    "unsubscribed",
  ],
  ["search_ingestion.list_tasks", { action: ["partial"] }, "tasks", "action", "partial"],
  ["work_mgmt.list_workspaces", { kind: "closed" }, "data.workspaces", "kind", "closed"],
];

test.each(choices)("%s %j: every row of it says so itself", async (slug, args, path, field, value) => {
  const apps = createLists();
  const rows = await apps.rows(slug, args, path);
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row[field]).toBe(value);
});

test("a row that a filter found is the same by its id, and those of other values are not among them", async () => {
  const apps = createLists();
  const ids = new Map<string, unknown[]>();
  for (const status of ["open", "won", "lost"]) {
    const deals = await apps.rows("sales_crm.list_deals", { status }, "data");
    ids.set(
      status,
      deals.map(({ id }) => id),
    );
    for (const { id } of deals) {
      const { body } = await apps.call("sales_crm.get_deal", { deal_id: id });
      expect(at(body, "data.status")).toBe(status);
    }
  }
  const all = [...ids.values()].flat();
  expect(new Set(all).size).toBe(all.length);
  for (const deal of await apps.rows("sales_crm.list_deals", {}, "data")) {
    expect(ids.get(String(deal["status"]))).toContain(deal["id"]);
  }
});

test("what is left out means what the description says: open incidents, and no deleted deals", async () => {
  const apps = createLists();
  const statuses = (rows: Row[]) => rows.map(({ status }) => status);
  const incident = { from_email: "a@example.com", service_id: "S1", title: "Checkout is down" };
  const { body } = await apps.call("incident_mgmt.create_incident", incident);
  const listed = await apps.rows("incident_mgmt.list_incidents", {}, "incidents");
  expect(statuses(listed)).not.toContain("resolved");
  expect(listed.map(({ title }) => title)).toContain("Checkout is down");
  const one = { from_email: "a@example.com", incident_id: at(body, "incident.id"), confirm: true };
  await apps.call("incident_mgmt.resolve_incident", one);
  const after = await apps.rows("incident_mgmt.list_incidents", {}, "incidents");
  expect(after.map(({ title }) => title)).not.toContain("Checkout is down");
  const resolved = await apps.rows("incident_mgmt.list_incidents", { status: "resolved" }, "incidents");
  expect(resolved.map(({ title }) => title)).toContain("Checkout is down");
});

test("a range of time holds rows of that time alone", async () => {
  const apps = createLists();
  const [from, to] = ["2025-11-01T00:00:00Z", "2025-12-01T00:00:00Z"];
  const isInside = (time: unknown) => String(time) >= from && String(time) < to;
  const incidents = await apps.rows("incident_mgmt.list_incidents", { since: from, until: to }, "incidents");
  expect(incidents.length).toBeGreaterThan(0);
  for (const { created_at: time } of incidents) expect(time).toSatisfy(isInside);
  const persons = await apps.rows("sales_crm.list_persons", { updated_since: from, updated_until: to }, "data");
  expect(persons.length).toBeGreaterThan(0);
  for (const { id } of persons) {
    const { body } = await apps.call("sales_crm.get_person", { person_id: id });
    expect(at(body, "data.update_time")).toSatisfy(isInside);
  }
  const campaigns = { dc: "us1", since_send_time: from, before_send_time: to };
  const sent = await apps.rows("email_marketing.list_campaigns", campaigns, "campaigns");
  expect(sent.length).toBeGreaterThan(0);
  for (const { send_time: time } of sent) expect(time).toSatisfy(isInside);
  const events = { calendar_id: "primary", time_min: from, time_max: to };
  const items = await apps.rows("calendar.list_events", events, "items");
  expect(items.length).toBeGreaterThan(0);
  for (const item of items) expect(at(item, "start.dateTime")).toSatisfy(isInside);
  const later = { since: "2090-01-01T00:00:00Z" };
  expect(await apps.rows("incident_mgmt.list_incidents", later, "incidents")).toEqual([]);
});

test("a day as the end of a range belongs to it, and transactions are those of accounts", async () => {
  const apps = createLists();
  const token = { access_token: "t" };
  const month = { ...token, start_date: "2025-11-01", end_date: "2025-11-30" };
  const [first] = await apps.rows("bank_link.get_transactions", month, "transactions");
  const date = first?.["date"];
  const day = await apps.rows(
    "bank_link.get_transactions",
    { ...token, start_date: date, end_date: date },
    "transactions",
  );
  expect(day.map(({ transaction_id: id }) => id)).toContain(first?.["transaction_id"]);
  for (const row of day) expect(row["date"]).toBe(date);
  const accounts = await apps.rows("bank_link.get_accounts", token, "accounts");
  const [id] = accounts.map(({ account_id: account }) => account);
  const { body } = await apps.call("bank_link.get_transactions", { ...month, account_ids: [id] });
  const ofAccount = at(body, "transactions") as Row[];
  expect(ofAccount.length).toBeGreaterThan(0);
  for (const row of ofAccount) expect(row["account_id"]).toBe(id);
  expect(at(body, "total_transactions")).toBe(ofAccount.length);
});

test("rows refer to rows of other lists, and are found by them", async () => {
  const apps = createLists();
  const [service] = await apps.rows("incident_mgmt.list_services", {}, "services");
  const incidents = await apps.rows("incident_mgmt.list_incidents", { service_id: service?.["id"] }, "incidents");
  expect(incidents.length).toBeGreaterThan(0);
  for (const incident of incidents) {
    expect(incident["service"]).toEqual({ id: service?.["id"], summary: service?.["name"] });
  }
  const path = "data.issues.nodes";
  const users = await apps.rows("issue_tracker.list_users", {}, "data.users.nodes");
  const team = { team_id: "T1" };
  for (const { id, name } of users) {
    const issues = await apps.rows("issue_tracker.list_issues", { ...team, assignee_id: id }, path);
    for (const issue of issues) {
      expect(at(issue, "assignee.name")).toBe(name);
      const { body } = await apps.call("issue_tracker.get_issue", { issue_id: issue["id"] });
      expect(at(body, "data.issue")).toMatchObject({ assignee: { id, name }, team: { id: "T1" } });
    }
  }
  expect(await apps.rows("issue_tracker.list_issues", { ...team, assignee_id: "nobody" }, path)).toEqual([]);
});

test("several filters hold at once", async () => {
  const apps = createLists();
  const [stage] = await apps.rows("sales_crm.list_stages", {}, "data");
  const asked = { stage_id: stage?.["id"], status: "open" };
  const deals = await apps.rows("sales_crm.list_deals", asked, "data");
  expect(deals.length).toBeGreaterThan(0);
  for (const deal of deals) expect(deal).toMatchObject(asked);
});

test("a search finds rows that have its words, and a made one by a word of its title", async () => {
  const apps = createLists();
  const path = "data.searchIssues.results";
  const found = await apps.rows("issue_tracker.search_issues", { query: "LOGIN fails" }, path);
  expect(found.length).toBeGreaterThan(0);
  for (const { title } of found) expect(title).toBe("Login fails on mobile");
  expect(await apps.rows("issue_tracker.search_issues", { query: "zebra" }, path)).toEqual([]);
  await apps.call("issue_tracker.create_issue", { team_id: "T1", title: "A zebra in the garden" });
  const made = await apps.rows("issue_tracker.search_issues", { query: "zebra" }, path);
  expect(made.map(({ title }) => title)).toEqual(["A zebra in the garden"]);
});

test("a list counts what it was asked for, and shows it in the order asked for", async () => {
  const apps = createLists();
  const members = { dc: "us1", list_id: "l1", status: "subscribed" };
  const { body } = await apps.call("email_marketing.list_members", members);
  expect(at(body, "total_items")).toBe((at(body, "members") as Row[]).length);
  for (const [order, sign] of [
    ["asc", 1],
    ["desc", -1],
  ] as const) {
    const tasks = await apps.rows("search_ingestion.list_tasks", { sort: "createdAt", order }, "tasks");
    const times = tasks.map((task) => Date.parse(String(task["createdAt"])));
    expect(times).toEqual(times.toSorted((a, b) => sign * (a - b)));
    expect(new Set(times).size).toBeGreaterThan(1);
  }
});

test("a change moves a row from one filter to the other", async () => {
  const apps = createLists();
  const [deal] = await apps.rows("sales_crm.list_deals", { status: "open" }, "data");
  await apps.call("sales_crm.update_deal", { deal_id: deal?.["id"], status: "won" });
  const open = await apps.rows("sales_crm.list_deals", { status: "open" }, "data");
  expect(open.map(({ id }) => id)).not.toContain(deal?.["id"]);
  const won = await apps.rows("sales_crm.list_deals", { status: "won" }, "data");
  expect(won.map(({ id }) => id)).toContain(deal?.["id"]);
});

test("of what calls made a list looks through the newest five hundred, and one that asks for nothing has all of it", async () => {
  const apps = createLists();
  for (let nth = 0; nth < 501; nth++) await apps.call("sales_crm.create_person", { name: `Person ${nth}` });
  const found = async (term: string) => {
    const { body } = await apps.call("sales_crm.search_persons", { term });
    return JSON.stringify(body).includes(`"${term}"`);
  };
  expect([await found("Person 500"), await found("Person 1")]).toEqual([true, true]);
  expect(await found("Person 0")).toBe(false);
  const all = await apps.rows("sales_crm.list_persons", { limit: 2 }, "data");
  expect(all.map(({ name }) => name)).toEqual(["Person 0", "Person 1"]);
});
