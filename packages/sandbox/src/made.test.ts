import { expect, test } from "vitest";
import { createApps } from "./test-apps.ts";

type Row = Readonly<Record<string, unknown>>;

/** Returns the value at a path of names in an answer. */
function at(body: unknown, path: string): unknown {
  const steps = path === "" ? [] : path.split(".");
  return steps.reduce<unknown>((held, step) => (held as Record<string, unknown> | undefined)?.[step], body);
}

/** The start of the tests' clock. */
const startMs = Date.UTC(2026, 0, 5, 9);
const hourMs = 3_600_000;
const isoOf = (ms: number) => new Date(ms).toISOString();

test("what was made has the time at which it was, and what was changed the time of the change", async () => {
  const apps = createApps();
  apps.clock.advance(hourMs);
  const { body } = await apps.call("sales_crm.create_deal", { title: "Harbour" });
  const one = { deal_id: at(body, "data.id") };
  const read = async () => at((await apps.call("sales_crm.get_deal", one)).body, "data") as Row;
  const made = isoOf(startMs + hourMs);
  expect(await read()).toMatchObject({ title: "Harbour", status: "open", add_time: made, update_time: made });
  apps.clock.advance(hourMs);
  await apps.call("sales_crm.update_deal", { ...one, status: "won" });
  expect(await read()).toMatchObject({ status: "won", add_time: made, update_time: isoOf(startMs + 2 * hourMs) });
  const since = { updated_since: isoOf(startMs + hourMs) };
  const before = await apps.call("sales_crm.list_persons", since);
  expect(at(before.body, "data")).toEqual([]);
  await apps.call("sales_crm.create_person", { name: "Ann" });
  const after = at((await apps.call("sales_crm.list_persons", since)).body, "data") as Row[];
  expect(after.map(({ name }) => name)).toEqual(["Ann"]);
});

test("a made issue is unassigned until somebody assigns it, and begins in a state", async () => {
  const apps = createApps();
  const made = await apps.call("issue_tracker.create_issue", { team_id: "T1", title: "Broken gate" });
  const one = { issue_id: at(made.body, "data.issueCreate.issue.id") };
  const read = async () => at((await apps.call("issue_tracker.get_issue", one)).body, "data.issue") as Row;
  expect(await read()).not.toHaveProperty("assignee");
  expect(await read()).not.toHaveProperty("project");
  expect(at(await read(), "state.name")).toEqual(expect.any(String));
  const users = at((await apps.call("issue_tracker.list_users", {})).body, "data.users.nodes") as Row[];
  const [, second] = users;
  const mine = async () => {
    const asked = { team_id: "T1", assignee_id: second?.["id"] };
    const { body } = await apps.call("issue_tracker.list_issues", asked);
    return (at(body, "data.issues.nodes") as Row[]).map(({ title }) => title);
  };
  expect(await mine()).not.toContain("Broken gate");
  await apps.call("issue_tracker.assign_issue", { ...one, assignee_id: second?.["id"] });
  expect(await read()).toMatchObject({ assignee: { id: second?.["id"], name: second?.["name"] } });
  expect(await mine()).toContain("Broken gate");
});

test("an event is in the window in which it is, and in no other; one of whole days has no hour", async () => {
  const apps = createApps();
  const calendar = { calendar_id: "primary" };
  const timed = { start_time: "2026-03-14T10:00:00Z", end_time: "2026-03-14T11:00:00Z", time_zone: "UTC" };
  const { body } = await apps.call("calendar.create_event", { ...calendar, summary: "Review", ...timed });
  const listed = async (from: string, to: string) => {
    const window = { ...calendar, time_min: `${from}:00Z`, time_max: `${to}:00Z` };
    return at((await apps.call("calendar.list_events", window)).body, "items") as Row[];
  };
  const names = (rows: Row[]) => rows.map(({ summary }) => summary);
  expect(names(await listed("2026-03-14T10:30", "2026-03-14T12:00"))).toEqual(["Review"]);
  expect(await listed("2026-03-14T11:30", "2026-03-14T12:00")).toEqual([]);
  expect(await listed("2026-03-15T00:00", "2026-03-16T00:00")).toEqual([]);
  const one = { ...calendar, event_id: at(body, "id") };
  await apps.call("calendar.delete_event", { ...one, confirm: true });
  expect((await apps.call("calendar.get_event", one)).status).toBe(404);
  expect(await listed("2026-03-14T10:30", "2026-03-14T12:00")).toEqual([]);
  const days = { ...calendar, summary: "Fair", start_date: "2026-03-20", end_date: "2026-03-22" };
  await apps.call("calendar.create_event", days);
  const [fair] = await listed("2026-03-21T00:00", "2026-03-21T01:00");
  expect(fair).toMatchObject({ summary: "Fair", start: { date: "2026-03-20" } });
  expect(at(fair, "start")).not.toHaveProperty("dateTime");
});

test("there is nothing in what was just made but what is put there", async () => {
  const apps = createApps();
  const board = await apps.call("work_mgmt.create_board", { board_name: "Relaunch" });
  const id = at(board.body, "data.create_board.id");
  const items = async () => {
    const { body } = await apps.call("work_mgmt.list_items", { board_id: id });
    return (at(body, "data.boards.0.items_page.items") as Row[]).map(({ name }) => name);
  };
  expect(await items()).toEqual([]);
  await apps.call("work_mgmt.create_item", { board_id: id, item_name: "Write texts" });
  expect(await items()).toEqual(["Write texts"]);
});

test("rows that were there were made at different times before now, by different people, and changed later", async () => {
  const apps = createApps();
  const rows = async (slug: string, args: object, path: string) =>
    at((await apps.call(slug, { ...args })).body, path) as Row[];
  const incidents = await rows("incident_mgmt.list_incidents", {}, "incidents");
  const made = incidents.map(({ created_at: time }) => Date.parse(String(time)));
  expect(new Set(made).size).toBe(incidents.length);
  for (const time of made) expect(time).toBeLessThan(startMs);
  expect(new Set(made.map((time) => new Date(time).getUTCMinutes())).size).toBeGreaterThan(1);
  const issues = await rows("issue_tracker.list_issues", { team_id: "T1" }, "data.issues.nodes");
  for (const { id } of issues) {
    const issue = at((await apps.call("issue_tracker.get_issue", { issue_id: id })).body, "data.issue") as Row;
    expect(Date.parse(String(issue["createdAt"]))).toBeLessThan(Date.parse(String(issue["updatedAt"])));
    expect(Date.parse(String(issue["updatedAt"]))).toBeLessThan(startMs);
  }
  const users = await rows("issue_tracker.list_users", {}, "data.users.nodes");
  const names = new Set(users.map(({ name }) => name));
  const authors = new Set<unknown>();
  for (const issue_id of ["I1", "I2", "I3"]) {
    const comments = await rows("issue_tracker.list_comments", { issue_id }, "data.issue.comments.nodes");
    for (const comment of comments) authors.add(at(comment, "user.name"));
  }
  expect(authors.size).toBeGreaterThan(1);
  for (const author of authors) expect(names).toContain(author);
});

test("rows of the last days are there whatever the day is", async () => {
  const apps = createApps();
  const since = isoOf(startMs - 14 * 24 * hourMs);
  const { body } = await apps.call("incident_mgmt.list_incidents", { since });
  expect((at(body, "incidents") as Row[]).length).toBeGreaterThan(0);
});

test("a search shows the objects that the list and the get show, whole, and those that were made", async () => {
  const apps = createApps();
  const search = async (term: string) => {
    const { body } = await apps.call("sales_crm.search_deals", { term });
    return (at(body, "data.items") as Row[]).map((found) => found["item"] as Row);
  };
  for (const found of await search("relaunch")) {
    expect(found["title"]).toBe("Website relaunch");
    const { body } = await apps.call("sales_crm.get_deal", { deal_id: found["id"] });
    expect(at(body, "data")).toMatchObject(found);
  }
  await apps.call("sales_crm.create_deal", { title: "Harbour lights", value: 7 });
  expect(await search("harbour")).toEqual([expect.objectContaining({ title: "Harbour lights", value: 7 })]);
});

test("notes, members of a list and pages are found once they were made", async () => {
  const apps = createApps();
  const incident = { from_email: "a@example.com", service_id: "S1", title: "Down" };
  const id = at((await apps.call("incident_mgmt.create_incident", incident)).body, "incident.id");
  const note = { incident_id: id, from_email: "a@example.com", content: "Looking at it" };
  await apps.call("incident_mgmt.add_incident_note", note);
  const notes = (await apps.call("incident_mgmt.list_incident_notes", { incident_id: id })).body;
  expect(at(notes, "notes")).toMatchObject([{ content: "Looking at it", created_at: isoOf(startMs) }]);
  const list = { dc: "us1", list_id: "L" };
  await apps.call("email_marketing.add_list_member", { ...list, email_address: "Ann@example.com" });
  // The MD5 of ann@example.com.
  const hash = { subscriber_hash: "257c57037d384ae37ea27a07e8a01665" };
  const member = (await apps.call("email_marketing.get_list_member", { ...list, ...hash })).body;
  expect(member).toMatchObject({ email_address: "Ann@example.com", status: "subscribed" });
  const addresses = async (status: string) => {
    const { body } = await apps.call("email_marketing.list_members", { ...list, status });
    return (at(body, "members") as Row[]).map(({ email_address: address }) => address);
  };
  expect(await addresses("subscribed")).toContain("Ann@example.com");
  await apps.call("email_marketing.update_list_member", { ...list, ...hash, status: "unsubscribed" });
  expect(await addresses("subscribed")).not.toContain("Ann@example.com");
  expect(await addresses("unsubscribed")).toContain("Ann@example.com");
  await apps.call("notes_wiki.create_page", { parent_page_id: "P", title: "Holiday plan" });
  const pages = (await apps.call("notes_wiki.search_pages", { query: "holiday" })).body;
  expect(at(pages, "results")).toHaveLength(1);
});

test("documents are found by their words, an archived board says so, and nothing new is complete", async () => {
  const apps = createApps();
  const books = { collectionName: "books" };
  await apps.call("search_engine.index_document", { ...books, document: { id: "1", title: "Dune", year: 1965 } });
  await apps.call("search_engine.index_document", { ...books, document: { id: "2", title: "Emma", year: 1815 } });
  const found = async (q: string, collectionName = "books") => {
    const { body } = await apps.call("search_engine.search_collection", { collectionName, q, query_by: "title" });
    return at(body, "hits") as Row[];
  };
  expect(await found("dune")).toMatchObject([{ document: { id: "1", title: "Dune", year: 1965 } }]);
  expect(await found("alien")).toEqual([]);
  expect(await found("dune", "films")).toEqual([]);
  const board = (await apps.call("work_mgmt.create_board", { board_name: "Old" })).body;
  const one = { board_id: at(board, "data.create_board.id") };
  await apps.call("work_mgmt.archive_board", { ...one, confirm: true });
  expect(at((await apps.call("work_mgmt.get_board", one)).body, "data.boards.0.state")).toBe("archived");
  const signers = [{ email_address: "b@example.com", name: "Ben" }];
  const request = { file_urls: ["https://example.com/a.pdf"], signers, title: "Contract" };
  const sent = (await apps.call("esignature.send_signature_request", request)).body;
  expect(at(sent, "signature_request.is_complete")).toBe(false);
});
