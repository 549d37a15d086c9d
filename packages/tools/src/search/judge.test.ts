import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { confidenceOf } from "./judge.ts";
import { createToolSearch, type ToolQuery } from "./tool-search.ts";

const search = createToolSearch(await shippedCatalog());
const firstOf = (query: ToolQuery) => search.search(query).results[0]?.tool.slug;

test("a catalog without example phrases needs a smaller share of a query than one with some, and that a smaller one than one with all", () => {
  expect([0.66, 0.5, 0.3, 0.1].map((share) => confidenceOf(share, 1))).toEqual(["high", "medium", "low", undefined]);
  expect([0.66, 0.34, 0.12, 0.09].map((share) => confidenceOf(share, 0))).toEqual(["high", "medium", "low", undefined]);
  expect([0.34, 0.16, 0.14].map((share) => confidenceOf(share, 0.5))).toEqual(["medium", "low", undefined]);
});

test("no meaningless text gets high confidence", () => {
  for (const query of [
    "purple monkey dishwasher",
    "lorem ipsum dolor sit amet",
    "how do volcanoes erupt",
    "capital of Mongolia",
    "how old is the universe",
    "why is the sky blue",
    "good morning, how are you doing today",
    "std::vector<int> v{1,2,3};",
    "SELECT * FROM t WHERE a = 1;",
    "book me a flight to Oslo",
    "water the plants on the balcony",
    "x = lambda y: y ** 2 + 1",
    "MOB-412",
    "9a7c 2026-11-28",
  ]) {
    const { confidence, results } = search.search({ query, limit: 50 });
    expect(confidence, query).not.toBe("high");
    if (confidence === undefined) expect(results, query).toEqual([]);
  }
});

test.each([
  ['comment on issue WEB-204 "cannot reproduce"', "issue_tracker.create_comment"],
  ["set due date MOB-412", "issue_tracker.set_issue_due_date"],
  ["set due date MOB-412 to 2026-12-01", "issue_tracker.set_issue_due_date"],
  ["set the due date of ENG_77 in Zephyr to Friday", "issue_tracker.set_issue_due_date"],
  ["acknowledge incident P0X9QZ", "incident_mgmt.acknowledge_incident"],
  ["refund 25.50 EUR to order 88213-a", "payments_checkout.post_payments_payment_psp_reference_refunds"],
  ['rename the page "Q3 Plan" to "Roadmap 2027"', "notes_wiki.set_page_title"],
  ["create an issue: xylophone of Zebulon squeaks", "issue_tracker.create_issue"],
  ["send a message saying zebulon squeaks at 10:30", "messaging_bot.send_message"],
  ["assign issue OPS-9 to Priya Raghunathan", "issue_tracker.assign_issue"],
  ['upsert points {"id": 7, "vector": [0.1, 0.2]} into collection x9', "vector_db.upsert_points"],
])("ids, numbers, times, names and quoted text do not lower the confidence: %s", (query, slug) => {
  expect(search.search({ query }).confidence).toBe("high");
  expect(firstOf({ query })).toBe(slug);
});

test("data in a query does not lower the confidence", () => {
  const plain = search.search({ query: "snooze the alert" });
  for (const query of ["snooze the alert Q3ZZ", 'snooze the alert "disk full"', "snooze the alert for 20 minutes"]) {
    const found = search.search({ query });
    expect(found.confidence, query).toBe(plain.confidence);
    expect(found.results[0]?.tool.slug, query).toBe(plain.results[0]?.tool.slug);
  }
});

test("a query that names a toolkit finds some of its tools", () => {
  for (const query of ["zebulon squeaks", "MOB-412", "remove blorf from quux", "🔥"]) {
    const { confidence, results } = search.search({ query, toolkitSlug: "calendar" });
    expect(confidence, query).toBe("low");
    expect(results.length, query).toBeGreaterThan(0);
    expect(results.length, query).toBeLessThanOrEqual(3);
    for (const { tool } of results) expect(tool.toolkitSlug).toBe("calendar");
  }
  for (const query of ["zebulon squeaks brimley vorpal in issue_tracker", "issue tracker: zebulon squeaks brimley"])
    expect(search.search({ query }).results.map(({ tool }) => tool.toolkitSlug)).toContain("issue_tracker");
  expect(search.search({ query: "zebulon squeaks" })).toEqual({ confidence: undefined, results: [] });
  expect(search.search({ query: "list events", toolkitSlug: "nope" }).results).toEqual([]);
});

test("confidence falls along the list and begins with that of the answer", () => {
  const { confidence, results } = search.search({ query: "cancel a meeting", limit: 50 });
  const order = ["high", "medium", "low"];
  const levels = results.map((found) => order.indexOf(found.confidence));
  expect(results[0]?.confidence).toBe(confidence);
  expect(levels).toEqual(levels.toSorted());
  expect(levels.at(-1)).toBeGreaterThan(0);
});
