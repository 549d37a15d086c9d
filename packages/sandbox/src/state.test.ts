import { expect, test } from "vitest";
import { createApps } from "./test-apps.ts";

/** Returns the value at a path in an answer. */
function at(body: unknown, ...steps: (string | number)[]): unknown {
  return steps.reduce<unknown>((held, step) => (held as Record<string | number, unknown> | undefined)?.[step], body);
}

/** The life of one object: the tools that create, read, change and delete it. Paths lead to the object in the answers. */
type Life = {
  readonly toolkit: string;
  readonly create: [tool: string, args: Record<string, unknown>, path: string[]];
  readonly get: [tool: string, idArgument: string, path: (string | number)[]];
  readonly id: string;
  readonly shows: Record<string, unknown>;
  readonly update: [tool: string, args: Record<string, unknown>, shows: Record<string, unknown>];
  readonly list: [tool: string, path: (string | number)[]];
  readonly remove: string | undefined;
  readonly scope?: Record<string, unknown>;
};

const lives: Life[] = [
  {
    toolkit: "issue_tracker",
    create: [
      "create_issue",
      { team_id: "T1", title: "Login fails", due_date: "2026-03-14" },
      ["data", "issueCreate", "issue"],
    ],
    get: ["get_issue", "issue_id", ["data", "issue"]],
    id: "id",
    shows: { title: "Login fails", dueDate: "2026-03-14" },
    update: [
      "update_issue",
      { title: "Login fails on phones" },
      { title: "Login fails on phones", dueDate: "2026-03-14" },
    ],
    list: ["list_my_issues", ["data", "viewer", "assignedIssues", "nodes"]],
    remove: "delete_issue",
  },
  {
    toolkit: "calendar",
    create: ["create_event", { summary: "Lunch", start_date: "2026-03-14", end_date: "2026-03-15" }, []],
    get: ["get_event", "event_id", []],
    id: "id",
    shows: { summary: "Lunch", start: { date: "2026-03-14" } },
    update: ["update_event", { location: "Canteen" }, { summary: "Lunch", location: "Canteen" }],
    list: ["list_events", ["items"]],
    remove: "delete_event",
    scope: { calendar_id: "primary" },
  },
  {
    toolkit: "sales_crm",
    create: ["create_deal", { title: "Big deal", value: 1200, currency: "EUR" }, ["data"]],
    get: ["get_deal", "deal_id", ["data"]],
    id: "id",
    shows: { title: "Big deal", value: 1200, currency: "EUR" },
    update: ["update_deal", { value: 900 }, { title: "Big deal", value: 900 }],
    list: ["list_deals", ["data"]],
    remove: "delete_deal",
  },
  {
    toolkit: "work_mgmt",
    create: ["create_board", { board_name: "Relaunch" }, ["data", "create_board"]],
    get: ["get_board", "board_id", ["data", "boards", 0]],
    id: "id",
    shows: { name: "Relaunch" },
    update: ["rename_board", { new_name: "Relaunch 2" }, { name: "Relaunch 2" }],
    list: ["list_boards", ["data", "boards"]],
    remove: undefined,
  },
  {
    toolkit: "email_marketing",
    create: [
      "create_audience",
      {
        dc: "us1",
        name: "Readers",
        from_email: "ana@example.com",
        from_name: "Ana",
        language: "en",
        permission_reminder: "You signed up.",
        subject_default: "News",
      },
      [],
    ],
    get: ["get_audience", "list_id", []],
    id: "id",
    shows: { name: "Readers", permission_reminder: "You signed up." },
    update: [
      "update_audience",
      { name: "All readers" },
      { name: "All readers", permission_reminder: "You signed up." },
    ],
    list: ["list_audiences", ["lists"]],
    remove: "delete_audience",
    scope: { dc: "us1" },
  },
  {
    toolkit: "data_pipeline",
    create: ["create_tracking_plan", { name: "Checkout", type: "LIVE" }, ["data", "trackingPlan"]],
    get: ["get_tracking_plan", "tracking_plan_id", ["data", "trackingPlan"]],
    id: "id",
    shows: { name: "Checkout" },
    update: [
      "update_tracking_plan",
      { description: "What checkout sends" },
      { name: "Checkout", description: "What checkout sends" },
    ],
    list: ["list_tracking_plans", ["data", "trackingPlans"]],
    remove: "delete_tracking_plan",
  },
  {
    toolkit: "search_ingestion",
    create: ["create_source", { name: "Shop", type: "push" }, []],
    get: ["get_source", "sourceID", []],
    id: "sourceID",
    shows: { name: "Shop", type: "push" },
    update: ["update_source", { name: "Web shop" }, { name: "Web shop", type: "push" }],
    list: ["list_sources", ["sources"]],
    remove: "delete_source",
  },
];

test.each(lives)("$toolkit: what was made is found, changed, listed, and gone once deleted", async (life) => {
  const apps = createApps();
  const tool = (name: string) => `${life.toolkit}.${name}`;
  const [createTool, args, createPath] = life.create;
  const [getTool, idArgument, getPath] = life.get;
  const scope = life.scope ?? {};
  const created = at((await apps.call(tool(createTool), { ...scope, ...args })).body, ...createPath);
  const id = at(created, life.id);
  const one = { ...scope, [idArgument]: id };

  const found = at((await apps.call(tool(getTool), one)).body, ...getPath);
  expect(found).toMatchObject({ ...life.shows, [life.id]: id });
  expect(found).toMatchObject(created as object);

  const [updateTool, changes, shows] = life.update;
  expect((await apps.call(tool(updateTool), { ...one, ...changes })).status).toBe(200);
  expect(at((await apps.call(tool(getTool), one)).body, ...getPath)).toMatchObject(shows);

  const [listTool, listPath] = life.list;
  const listed = at((await apps.call(tool(listTool), scope)).body, ...listPath) as Record<string, unknown>[];
  expect(listed).toHaveLength(3);
  expect(listed.map((item) => item[life.id])).toContain(id);
  const elsewhere = at((await apps.call(tool(listTool), scope, { projectId: "prj_b" })).body, ...listPath);
  expect((elsewhere as Record<string, unknown>[]).map((item) => item[life.id])).not.toContain(id);

  if (life.remove === undefined) return;
  const confirmed = { ...one, confirm: true };
  expect((await apps.call(tool(life.remove), confirmed)).status).toBeLessThan(300);
  const gone = await apps.call(tool(getTool), one);
  expect(gone.status).toBe(404);
  expect(JSON.stringify(gone.body)).toContain(String(id));
  expect((await apps.call(tool(updateTool), { ...one, ...changes })).status).toBe(404);
  expect((await apps.call(tool(life.remove), confirmed)).status).toBe(404);
  expect((await apps.call(tool(getTool), one, { projectId: "prj_b" })).status).toBe(200);
  const left = at((await apps.call(tool(listTool), scope)).body, ...listPath) as Record<string, unknown>[];
  expect(left.map((item) => item[life.id])).not.toContain(id);
});

test("whichever tools of a toolkit are pinned, its calls see what the others made", async () => {
  const apps = createApps();
  const pinned = { isPinned: true };
  const created = at((await apps.call("sales_crm.create_deal", { title: "Mine" }, pinned)).body, "data", "id");
  for (const options of [pinned, {}]) {
    const { body } = await apps.call("sales_crm.list_deals", {}, options);
    expect((at(body, "data") as Record<string, unknown>[]).map(({ title }) => title)).toContain("Mine");
    const one = (await apps.call("sales_crm.get_deal", { deal_id: created }, options)).body;
    expect(at(one, "data", "title")).toBe("Mine");
  }
  const plain = await apps.call("issue_tracker.list_issues", { team_id: "T1" });
  expect(await apps.call("issue_tracker.list_issues", { team_id: "T1" }, pinned)).toEqual(plain);
});

test("an object of a list reads the same by its id", async () => {
  const apps = createApps();
  const { body } = await apps.call("sales_crm.list_deals", { status: "won" });
  const [deal] = at(body, "data") as Record<string, unknown>[];
  expect(deal).toMatchObject({ status: "won" });
  const { status: _filtered, ...rest } = deal ?? {};
  expect(at((await apps.call("sales_crm.get_deal", { deal_id: deal?.["id"] })).body, "data")).toMatchObject(rest);
});

test("what a call says of an object shows under its nested name, and unpaired tools echo too", async () => {
  const apps = createApps();
  const issue = at(
    (await apps.call("issue_tracker.create_issue", { team_id: "T1", title: "x" })).body,
    "data",
    "issueCreate",
    "issue",
  );
  const one = { issue_id: at(issue, "id") };
  await apps.call("issue_tracker.assign_issue", { ...one, assignee_id: "U9" });
  await apps.call("issue_tracker.set_issue_priority", { ...one, priority: 1 });
  const { body } = await apps.call("issue_tracker.get_issue", one);
  expect(at(body, "data", "issue")).toMatchObject({
    assignee: { id: "U9" },
    team: { id: "T1" },
    priority: 1,
    title: "x",
  });
  const sent = await apps.call("messaging_bot.send_message", { chat_id: "123", text: "hi" });
  expect(sent.body).toMatchObject({ ok: true, result: { chat: { id: 123 }, text: "hi" } });
});

test("a document without declared fields is kept as it was sent, and merged by an update", async () => {
  const apps = createApps();
  const one = { collectionName: "books", documentId: "d1" };
  await apps.call("search_engine.index_document", {
    collectionName: "books",
    document: { id: "d1", title: "Dune", year: 1965 },
  });
  await apps.call("search_engine.update_document", { ...one, document: { year: 1966 } });
  expect((await apps.call("search_engine.get_document", one)).body).toEqual({ id: "d1", title: "Dune", year: 1966 });
});

test("an id counts within the path it stands in", async () => {
  const apps = createApps();
  const index = (collectionName: string, title: string) =>
    apps.call("search_engine.index_document", { collectionName, document: { id: "1", title } });
  await index("books", "Dune");
  await index("films", "Alien");
  const get = (collectionName: string) => apps.call("search_engine.get_document", { collectionName, documentId: "1" });
  expect((await get("books")).body).toMatchObject({ title: "Dune" });
  expect((await get("films")).body).toMatchObject({ title: "Alien" });
});

test("a list leaves out what its arguments rule out", async () => {
  const apps = createApps();
  await apps.call("issue_tracker.create_issue", { team_id: "T1", title: "mine" });
  const titles = async (team: string) =>
    JSON.stringify((await apps.call("issue_tracker.list_issues", { team_id: team })).body);
  expect(await titles("T1")).toContain("mine");
  expect(await titles("T2")).not.toContain("mine");
});

test("a list shows all that was made, in pages of the size asked for", async () => {
  const apps = createApps();
  for (let number = 0; number < 5; number++) await apps.call("sales_crm.create_deal", { title: `Deal ${number}` });
  const seen: unknown[] = [];
  let cursor: unknown;
  do {
    const args = { limit: 2, ...(cursor !== undefined && { cursor }) };
    const { body } = await apps.call("sales_crm.list_deals", args);
    const page = at(body, "data") as Record<string, unknown>[];
    expect(page.length).toBeLessThanOrEqual(2);
    seen.push(...page.map(({ title }) => title));
    cursor = at(body, "additional_data", "next_cursor");
  } while (cursor !== undefined);
  expect(seen.toSorted()).toEqual(["Deal 0", "Deal 1", "Deal 2", "Deal 3", "Deal 4"]);
});

test("the same request is answered the same, in this process and another", async () => {
  const request = ["work_mgmt.list_items", { board_id: "5" }] as const;
  const first = await createApps().call(...request);
  expect(await createApps().call(...request)).toEqual(first);
  const other = await createApps().call(request[0], { board_id: "6" });
  expect(other.body).not.toEqual(first.body);
});

test("a project keeps no more objects than its limit, and lets go of the least recently used", async () => {
  const apps = createApps(undefined, { objectsPerProjectMax: 2 });
  const make = async (title: string) => at((await apps.call("sales_crm.create_deal", { title })).body, "data", "id");
  const titleOf = async (id: unknown) =>
    at((await apps.call("sales_crm.get_deal", { deal_id: id })).body, "data", "title");
  const [first, second] = [await make("First"), await make("Second")];
  expect(await titleOf(first)).toBe("First");
  await make("Third");
  expect(await titleOf(first)).toBe("First");
  expect(await titleOf(second)).not.toBe("Second");
});
