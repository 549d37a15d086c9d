import type { Action, Catalog } from "@svc/catalog";
import { createId, parseTemplateTree } from "@svc/core";
import { catalogOf } from "@svc/testing/catalog";
import { longestTurnMs, processorBudgetMs } from "@svc/testing/processor";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { createToolSearch, searchOf, type ToolQuery } from "./tool-search.ts";
import { prepareIndexes } from "./toolkit-index.ts";

type ToolSource = {
  description: string;
  intents?: readonly string[];
  class?: "read" | "write" | "destructive";
  callable?: boolean;
  args?: readonly string[];
  request?: { method: Action["request"]["method"]; path: string };
};

const sampleAction = actionOf(catalogOf({ toolkits: Object.values(sampleToolkits) }));

function actionOf(catalog: Catalog): Action {
  const action = [...catalog.tools.values()].find((tool) => tool.kind === "action");
  if (action?.kind !== "action") throw new Error("the samples have no action");
  return action;
}

/** Returns a catalog with only the parts that a search reads: toolkits by slug, each with its tools by name. */
function catalogWith(source: Record<string, Record<string, ToolSource>>): Catalog {
  const samples = catalogOf({ toolkits: Object.values(sampleToolkits) });
  const toolkits = Object.entries(source).map(([slug, tools]) => {
    const model = samples.toolkits.get(sampleAction.toolkitSlug);
    if (model === undefined) throw new Error("the sample action has no toolkit");
    const actions = Object.entries(tools).map(([name, tool]) => makeAction(slug, name, tool));
    return { ...model, slug, name: slug.replaceAll("_", " "), description: "", actions, triggers: [] };
  });
  return {
    toolkits: new Map(toolkits.map((toolkit) => [toolkit.slug, toolkit])),
    tools: new Map(toolkits.flatMap(({ actions }) => actions.map((action) => [action.slug, action]))),
  };
}

function makeAction(toolkitSlug: string, name: string, source: ToolSource): Action {
  const properties = Object.fromEntries((source.args ?? []).map((arg) => [arg, { type: "string" }]));
  return {
    ...sampleAction,
    slug: `${toolkitSlug}.${name}`,
    name,
    toolkitSlug,
    class: source.class ?? "write",
    callable: source.callable ?? true,
    description: source.description,
    intents: source.intents ?? [],
    inputSchema: { type: "object", properties },
    request: {
      ...sampleAction.request,
      method: source.request?.method ?? sampleAction.request.method,
      path: parseTemplateTree(source.request?.path ?? "/"),
    },
  };
}

function slugsFor(catalog: Catalog, query: ToolQuery | string): string[] {
  const { results } = createToolSearch(catalog).search(typeof query === "string" ? { query } : query);
  return results.map(({ tool }) => tool.slug);
}

const office = catalogWith({
  tracker: {
    create_issue: { description: "Files a new issue in a team.", intents: ["something is broken on the site"] },
    delete_issue: { description: "Moves an issue to the trash.", class: "destructive", args: ["confirm"] },
    list_issues: { description: "Lists the issues of one team.", class: "read", args: ["assignee_id"] },
    list_legacy_issues: { description: "Lists the issues of the old app.", class: "read", callable: false },
  },
  planner: {
    create_event: { description: "Creates an event with guests and place.", args: ["recurrence"] },
    delete_event: {
      description: "Deletes one event; to empty the whole planner use clear_planner.",
      intents: ["the party is off"],
      class: "destructive",
    },
    clear_planner: { description: "Deletes every entry.", class: "destructive" },
  },
});

test.each([
  ["a word of the name", "new event please", "planner.create_event"],
  ["a word of an intent", "our shop is broken", "tracker.create_issue"],
  ["the name of an argument", "recurrence", "planner.create_event"],
  ["another form of a word", "deleting issues", "tracker.delete_issue"],
  ["a form that only a table knows", "which were sent", "chat.send_message"],
  ["a synonym", "erase the ticket", "tracker.delete_issue"],
  ["a phrase that means one word", "get rid of the event", "planner.delete_event"],
  ["the beginning of a word", "recurr", "planner.create_event"],
  ["a misspelled word", "recurence", "planner.create_event"],
  ["a word in capitals with accents", "RÉCURRENCE", "planner.create_event"],
])("finds a tool by %s", (_, query, slug) => {
  const chat = catalogWith({ chat: { send_message: { description: "Posts a text to a group." } } });
  expect(slugsFor(query.includes("sent") ? chat : office, query)[0]).toBe(slug);
});

test("puts reading tools first for questions, and changing tools first for commands", () => {
  expect(slugsFor(office, "which issues are there")[0]).toBe("tracker.list_issues");
  expect(slugsFor(office, "add an issue")[0]).toBe("tracker.create_issue");
});

test("takes a verb after an article for a noun, and a question word for a question when it opens the query", () => {
  const desk = catalogWith({
    desk: {
      search_east: { description: "Opens the search for the office.", class: "write" },
      search_west: { description: "Opens the search for the office.", class: "read" },
    },
  });
  expect(slugsFor(desk, "for the search: open it")[0]).toBe("desk.search_east");
  expect(slugsFor(desk, "open the search who is there")[0]).toBe("desk.search_east");
  expect(slugsFor(desk, "who opened the search")[0]).toBe("desk.search_west");
});

test("puts removing tools last if removal is not requested", () => {
  const shelf = catalogWith({
    shelf: {
      delete_book: { description: "A book of the shelf.", class: "destructive" },
      update_book: { description: "A book of the shelf." },
    },
  });
  expect(slugsFor(shelf, "rename the book on the shelf")[0]).toBe("shelf.update_book");
  expect(slugsFor(shelf, "discard the book on the shelf")[0]).toBe("shelf.delete_book");
});

test("text about another tool in a description does not count for the tool itself", () => {
  expect(slugsFor(office, "empty the whole planner")[0]).toBe("planner.clear_planner");
});

test("lists neither uncallable tools nor triggers, whatever is asked for", () => {
  expect(slugsFor(office, "issues of the old app legacy")).not.toContain("tracker.list_legacy_issues");
  const samples = catalogOf({ toolkits: Object.values(sampleToolkits) });
  const triggers = [...samples.tools.values()].filter(({ kind }) => kind === "trigger");
  expect(triggers.length).toBeGreaterThan(0);
  for (const { description, slug, name } of triggers) {
    for (const query of [description, name, slug]) expect(slugsFor(samples, { query, limit: 50 })).not.toContain(slug);
  }
  expect(slugsFor(samples, { query: "new bugs", kind: "trigger" })).toEqual([]);
});

test("keeps to the toolkit, class and kind that are asked for", () => {
  const query = "issue event";
  const all = ["create", "delete"].flatMap((verb) => [`planner.${verb}_event`, `tracker.${verb}_issue`]);
  expect(slugsFor(office, query)).toEqual(expect.arrayContaining(all));
  expect(slugsFor(office, { query, toolkitSlug: "planner" }).every((slug) => slug.startsWith("planner."))).toBe(true);
  expect(slugsFor(office, { query, toolkitSlug: "unknown" })).toEqual([]);
  expect(slugsFor(office, { query, accessClass: "read" })).toEqual(["tracker.list_issues"]);
  expect(slugsFor(office, { query, kind: "action" })).toEqual(slugsFor(office, query));
  expect(slugsFor(office, { query, kind: "code" })).toEqual([]);
});

test("returns eight tools, or as many as are asked for, of falling score", () => {
  const many = catalogWith({
    shop: Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`sell_${index}`, { description: `Sells thing ${index} to a buyer.` }]),
    ),
  });
  expect(slugsFor(many, "sell")).toHaveLength(8);
  expect(slugsFor(many, { query: "sell", limit: 50 })).toHaveLength(50);
  const scores = createToolSearch(many).search({ query: "sell", limit: 50 }).results;
  expect(scores.map(({ score }) => score)).toEqual(scores.map(({ score }) => score).toSorted((a, b) => b - a));
});

test("orders tools of one score by slug, whichever order the catalog has", () => {
  const twins = { a: { ring: { description: "Rings a bell." } }, b: { ring: { description: "Rings a bell." } } };
  expect(slugsFor(catalogWith(twins), "ring")).toEqual(["a.ring", "b.ring"]);
  expect(slugsFor(catalogWith({ b: twins.b, a: twins.a }), "ring")).toEqual(["a.ring", "b.ring"]);
});

test("names the words of the query that a tool was found by, as they are indexed", () => {
  const { results } = createToolSearch(office).search({ query: "Please file the broken tickets for Zebulon" });
  const [found] = results;
  expect(found?.tool.slug).toBe("tracker.create_issue");
  expect(found?.matchedTerms).toEqual(["file", "broken", "ticket"].map((word) => (word === "broken" ? "break" : word)));
});

test("finds a project's own tools in its view alone, and none of a toolkit that its view hides", () => {
  const own = catalogWith({ own_bells: { ring_bell: { description: "Rings a bell in the hall." } } });
  const view = {
    toolkits: new Map([...office.toolkits, ...own.toolkits]),
    tools: new Map([...office.tools, ...own.tools]),
  };
  expect(slugsFor(view, "ring the bell")).toEqual(["own_bells.ring_bell"]);
  expect(slugsFor(office, "ring the bell")).toEqual([]);
  const hidden = { ...office, toolkits: new Map([...office.toolkits].filter(([slug]) => slug !== "planner")) };
  expect(slugsFor(hidden, "create an event")).not.toContain("planner.create_event");
});

test("makes one search for a view", () => {
  expect(searchOf(office)).toBe(searchOf(office));
  expect(searchOf({ ...office })).not.toBe(searchOf(office));
});

test.each([
  ["a thousand letters", "a".repeat(1000)],
  ["a thousand characters of words", "issue ".repeat(166)],
  ["hundreds of words that nothing holds", Array.from({ length: 150 }, (_, index) => `qx${index}z`).join(" ")],
  ["stop words", "what is it that I want to do with the of"],
  ["emoji", "🔥🔥 🎉 👩‍👩‍👧"],
  ["signs of regular expressions", "(.*)+ [a-z]{99999} \\d \\ ^$ (?:"],
  ["names of Object.prototype", "__proto__ constructor toString hasOwnProperty valueOf"],
  ["control characters", "\u0000\u0007\u202e\ud800"],
  ["nothing", "   "],
])("takes %s", (_, query) => {
  for (const { score, tool } of createToolSearch(office).search({ query, limit: 50 }).results) {
    expect(score).toBeGreaterThan(0);
    expect(tool.callable).toBe(true);
  }
});

test("a word that no tool holds does not change what is found", () => {
  const query = "delete the issue";
  expect(slugsFor(office, `${query} xylophonist`)).toEqual(slugsFor(office, query));
  for (const unknown of ["constructor", "🔥", "the of", "__proto__"]) expect(slugsFor(office, unknown)).toEqual([]);
});

test("searches 10,000 tools in a few milliseconds", () => {
  const apps = Array.from({ length: 100 }, (_, app) => {
    const tools = Array.from({ length: 100 }, (_, tool) => [
      `create_thing_${tool}`,
      { description: `Creates thing number ${tool} of app ${app} for a customer.`, intents: [`add thing ${tool}`] },
    ]);
    return [`app_${app}`, Object.fromEntries(tools) as Record<string, ToolSource>];
  });
  const search = createToolSearch(catalogWith(Object.fromEntries(apps) as Record<string, Record<string, ToolSource>>));
  const query = "add a new thing 7 for the custmer and tell everybody about it tomorrow";
  for (let round = 0; round < 20; round++) search.search({ query });
  const startedAt = performance.now();
  for (let round = 0; round < 20; round++) search.search({ query });
  // A loose limit that also holds if other tests run on a small machine. The benchmark measures exactly.
  expect((performance.now() - startedAt) / 20).toBeLessThan(100);
});

/** Hostile texts that have the maximum length of a request. */
const hostile = [
  "z",
  "\u0301a",
  "Ab ",
  "move ",
  "move x to ",
  "put x on ",
  "kick off ",
  "a's ",
  "l'a ",
  "qwrtz ",
  "(",
  "a=b ",
  '"a" ',
  "wiki ",
];

test.each(hostile)("no text holds the loop for long: %j again and again", async (piece) => {
  const search = searchOf(await shippedCatalog());
  const query = piece.repeat(1_000).slice(0, 1_000);
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5; tries++) {
    const before = process.threadCpuUsage();
    search.search({ query });
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  expect(least).toBeLessThan(processorBudgetMs(10));
});

test("contacts of a mailing list are found as its members, among the tools of every toolkit", async () => {
  const found = slugsFor(await shippedCatalog(), "list contacts of a mailing list");
  expect(found.slice(0, 5)).toContain("email_marketing.list_members");
});

test("finds a tool by what people say, which nothing of its definition holds", () => {
  const view = { ...office, toolkits: new Map(office.toolkits) };
  const planner = view.toolkits.get("planner");
  if (planner === undefined) throw new Error("no planner");
  const sayings = new Map([["delete_event", ["(call|ring) the whole wedding off", "(torpedo|sink) the gig"]]]);
  view.toolkits.set("planner", { ...planner, sayings });
  expect(slugsFor(office, "torpedo that gig")).toEqual([]);
  expect(slugsFor(view, "torpedo that gig")[0]).toBe("planner.delete_event");
});

test("an address of mail, a name or a number does not lead to a tool", () => {
  const desk = catalogWith({
    desk: {
      add_person: { description: "Adds a person to the guests." },
      list_examples: { description: "Shows an example of a com port.", class: "read" },
    },
  });
  expect(slugsFor(desk, "add jane@example.com to the guests")[0]).toBe("desk.add_person");
  expect(slugsFor(desk, "jane@example.com")).toEqual([]);
});

test("words about the place count less than the object", () => {
  const agenda = catalogWith({
    agenda: {
      delete_calendar: { description: "Deletes a calendar.", class: "destructive" },
      delete_event: { description: "Deletes an event.", class: "destructive" },
    },
  });
  expect(slugsFor(agenda, "delete an event from my calendar")[0]).toBe("agenda.delete_event");
  expect(slugsFor(agenda, "delete a calendar with its event")[0]).toBe("agenda.delete_calendar");
});

test("unconnected tools come after similar connected ones, and unbound ones after both", () => {
  const twins = catalogWith({
    a: { ring_bell: { description: "Rings a bell." } },
    b: { ring_bell: { description: "Rings a bell." } },
    c: { ring_bell: { description: "Rings a bell." } },
  });
  const reaches = { a: "unbound", b: "unconnected", c: "connected" } as const;
  const availabilityOf = ({ toolkitSlug }: { toolkitSlug: string }) => reaches[toolkitSlug as keyof typeof reaches];
  expect(slugsFor(twins, { query: "ring the bell", availabilityOf })).toEqual([
    "c.ring_bell",
    "b.ring_bell",
    "a.ring_bell",
  ]);
});

test("words that people fill sentences with count less than the thing they ask for", () => {
  const catalog = catalogWith({
    a: { describe: { description: "Provides specific information about various options.", class: "read" } },
    b: { menu: { description: "Reads the dishes of a restaurant.", class: "read" } },
  });
  expect(slugsFor(catalog, "provide information about dishes")[0]).toBe("b.menu");
});

test.each([
  ["who gets called if nobody answers the page", "incident_mgmt.list_escalation_policies"],
  ["has the landlord signed yet", "esignature.get_signature_request"],
  ["we won the deal, mark it", "sales_crm.update_deal"],
  ["kick the spammer out of the group", "messaging_bot.ban_chat_member"],
  ["how many people opened the last newsletter", "email_marketing.get_campaign_report"],
])("finds by everyday words: %s", async (query, slug) => {
  expect(slugsFor(await shippedCatalog(), query)[0]).toBe(slug);
});

test("a tool that its app has deprecated comes behind the one that replaces it, and is found where that does not pass", () => {
  const store = catalogWith({
    store: {
      search_points: { description: "Finds points near a vector.", class: "read" },
      query_all: { description: "Answers every kind of question.", class: "read" },
      drop_points: { description: "Deletes points.", class: "destructive" },
    },
  });
  const replaced = (replacedBy: string) => {
    const toolkit = store.toolkits.get("store");
    if (toolkit === undefined) throw new Error("no store");
    const actions = toolkit.actions.map((action) =>
      action.name === "search_points" ? { ...action, replacedBy } : action,
    );
    return { ...store, toolkits: new Map([["store", { ...toolkit, actions }]]) };
  };
  expect(slugsFor(store, "search points")[0]).toBe("store.search_points");
  const [first, second] = slugsFor(replaced("store.query_all"), "search points");
  expect([first, second]).toEqual(["store.query_all", "store.search_points"]);
  const destructive = slugsFor(replaced("store.drop_points"), { query: "search points", accessClass: "read" });
  expect(destructive[0]).toBe("store.search_points");
});

test.each([
  ["search points", "vector_db.query_points", "vector_db.search_points"],
  ["recommend points like these", "vector_db.query_points", "vector_db.recommend_points"],
  ["search a batch of points", "vector_db.query_batch_points", "vector_db.search_batch_points"],
  ["recommend point groups", "vector_db.query_points_groups", "vector_db.recommend_point_groups"],
])("the query tools come before those that the app has deprecated: %s", async (query, replacement, deprecated) => {
  const found = slugsFor(await shippedCatalog(), { query, limit: 50 });
  expect(found).toContain(deprecated);
  expect(found.indexOf(replacement)).toBeLessThan(found.indexOf(deprecated));
});

test("other work of the event loop runs while the indexes of many tools are made", async () => {
  const { toolkits, ...catalog } = await shippedCatalog();
  const view = { ...catalog, toolkits: new Map([...toolkits].map(([slug, toolkit]) => [slug, { ...toolkit }])) };
  let isDone = false;
  let rounds = 0;
  const count = () => {
    rounds++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all([prepareIndexes(view), prepareIndexes(view)]);
  isDone = true;
  expect(rounds).toBeGreaterThan(view.toolkits.size);
  expect(prepareIndexes(view)).toBeUndefined();
  expect(searchOf(view).search({ query: "cancel my appointment" })).toEqual(
    createToolSearch(await shippedCatalog()).search({ query: "cancel my appointment" }),
  );
});

test("titles of programs and phrases of private tools are read in slices, and not by the search that follows", async () => {
  const { toolkits, ...catalog } = await shippedCatalog();
  const [slug = "", shipped] = [...toolkits].find(([, { actions }]) => actions.length > 5) ?? [];
  if (shipped === undefined) throw new Error("no toolkit has enough tools");
  const sayingsOf = (name: string) =>
    Array.from({ length: 100 }, (_, n) => `bitte (${name}|Kwibbel) Nummer ${n} ausführen`);
  const makeView = () => {
    const sayings = new Map(shipped.actions.map(({ name }) => [name, sayingsOf(name)]));
    const own = { ...shipped, ownerProjectId: createId("prj", 0), sayings };
    const titles = new Map(shipped.actions.map((tool) => [tool.slug, sayingsOf(`Titel ${tool.name}`)]));
    return { ...catalog, toolkits: new Map([[slug, own]]), titles };
  };
  const views = Array.from({ length: 5 }, makeView);
  const enough = processorBudgetMs(20);
  const searchFirst = async () => {
    const view = views.pop() ?? makeView();
    await prepareIndexes(view);
    await new Promise(setImmediate);
    searchOf(view).search({ query: "Kwibbel Nummer7 ausführen" });
    expect(prepareIndexes(view)).toBeUndefined();
  };
  expect(await longestTurnMs(searchFirst, enough)).toBeLessThan(enough);
});

const returns = {
  create_return: { description: "Retoure anlegen. Legt eine neue Retoure an." },
  delete_return: { description: "Retoure löschen. Nicht umkehrbar.", class: "destructive" },
  delete_position: { description: "Position entfernen.", class: "destructive" },
  search_articles: { description: "Artikel suchen.", class: "read" },
  get_warehouses: { description: "Alle Lager.", class: "read" },
} as const;

test.each([
  ["Retoure anlegen", "create_return"],
  ["eine neue Retoure für Kunde 4711 anlegen", "create_return"],
  ["delete a return", "delete_return"],
  ["lösche die Retoure R-12", "delete_return"],
  ["Position entfernen", "delete_position"],
  ["Artikel suchen", "search_articles"],
  ["alle Lager auflisten", "get_warehouses"],
])("an imported tool without phrases is found among the shipped ones by its own words: %s", async (query, name) => {
  const imported = catalogWith({ returns });
  const own = [...imported.toolkits.values()].map((toolkit) => ({ ...toolkit, ownerProjectId: "prj_1" as never }));
  const shipped = await shippedCatalog();
  const catalog = {
    toolkits: new Map([...shipped.toolkits, ...own.map((toolkit) => [toolkit.slug, toolkit] as const)]),
    tools: new Map([...shipped.tools, ...imported.tools]),
  };
  const [first, second] = createToolSearch(catalog)
    .search({ query })
    .results.map(({ tool }) => tool.slug);
  // Shipped tools with hundreds of phrases fit some of these requests as well.
  expect(["create_return", "get_warehouses"].includes(name) ? [first, second] : [first]).toContain(`returns.${name}`);
  const alone = createToolSearch(imported).search({ query });
  expect(alone.results[0]?.tool.slug).toBe(`returns.${name}`);
});

test("an imported tool without a telling name is found by the path and the method of its request", () => {
  const tool = (class_: Action["class"], method: Action["request"]["method"], path: string): ToolSource => ({
    ...{ description: "Calls the app.", class: class_, request: { method, path } },
  });
  const imported = catalogWith({
    rental: {
      op_1: tool("read", "GET", "/v1/parking-permits"),
      op_2: tool("write", "POST", "/v1/parking-permits"),
      op_3: tool("destructive", "DELETE", "/v1/parking-permits/{{params.permit_id}}"),
      op_4: tool("destructive", "DELETE", "/v1/tenants/{{params.tenant_id}}"),
    },
  });
  expect(slugsFor(imported, "list the parking permits")[0]).toBe("rental.op_1");
  expect(slugsFor(imported, "create a parking permit")[0]).toBe("rental.op_2");
  expect(slugsFor(imported, "delete a parking permit")[0]).toBe("rental.op_3");
  expect(slugsFor(imported, "delete a tenant")[0]).toBe("rental.op_4");
});
