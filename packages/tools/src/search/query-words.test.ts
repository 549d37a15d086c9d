import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { readQuery } from "./query-words.ts";
import { createToolSearch } from "./tool-search.ts";

const toldIn = (text: string) =>
  readQuery(text, () => false).telling.flatMap(({ term, isData }) => (isData ? [] : [term]));
const dataIn = (text: string) =>
  readQuery(text, () => false).telling.flatMap(({ term, isData }) => (isData ? [term] : []));

test("text after an app's name is the request, and text after a verb's colon is data", () => {
  expect(toldIn("task app: add section Backlog")).toEqual(expect.arrayContaining(["task", "app", "add", "section"]));
  expect(toldIn("search server: find docs with timeout")).toEqual(expect.arrayContaining(["find", "document"]));
  expect(dataIn("create an issue: the login page is slow")).toEqual(expect.arrayContaining(["login", "slow"]));
});

test("`called off` introduces no name, `called X` does", () => {
  expect(toldIn("the Friday class has to be called off, the trainer is ill")).toContain("cancel");
  expect(dataIn("make a new board called garden party")).toEqual(expect.arrayContaining(["garden", "parti"]));
});

test("a capitalized name ends dictated text, lower case does not", () => {
  expect(toldIn("drop anything named Cart Viewed before it reaches the warehouse")).toEqual(
    expect.arrayContaining(["filter", "destin", "warehous"]),
  );
  expect(dataIn("create a deal called Roof of Spring Hall for the choir")).toEqual(
    expect.arrayContaining(["roof", "spring", "hall"]),
  );
  expect(toldIn("create a deal called Roof of Spring Hall for the choir")).toContain("choir");
});

test("a word of another language that is misspelled is read as the one that is meant", () => {
  expect(toldIn("schreib bitte einen Komentar zu dem Ticket")).toContain("comment");
  expect(toldIn("muéstrame las fcturas de mi cliente")).toContain("invoic");
});

test.each([
  ["move my one-on-one with Ana to 4:30", true],
  ["push the review from 3 to 4", true],
  ["shift lunch to next Thursday", true],
  ["bring the call back by half an hour", true],
  ["move the ticket to review", false],
  ["push the card to the next group", false],
])("a verb of moving before a time means another time: %s", (query, isRetimed) => {
  expect(toldIn(query).includes("reschedul")).toBe(isRetimed);
});

test("a comparison asks for a filter, but not inside a formula", () => {
  expect(toldIn("guests whose diet = vegan")).toContain("filter");
  expect(toldIn("solve x = 4")).not.toContain("filter");
});

test("idioms match in any form, and their meaning counts in full", () => {
  const [complete] = readQuery("ticking the catering off", () => true).telling;
  expect(complete).toMatchObject({ term: "complet", share: 1, isVague: false });
  expect(toldIn("chucked these files into the index")).toContain("add");
  expect(toldIn("make Olu responsible for the banners")).toContain("assign");
});

test("a first word is a name only before another name or a possessive", () => {
  const namesIn = (text: string) => readQuery(text, () => true).telling.filter(({ isName }) => isName);
  expect(namesIn("Tom Reyes signed").map(({ term }) => term)).toEqual(["tom", "rey"]);
  expect(namesIn("Hallam's slot is free")[0]?.form).toMatch(/^hallam/);
  expect(namesIn("List the slots")).toEqual([]);
  expect(namesIn("Add Kenji to the board").map(({ term }) => term)).toEqual(["kenji"]);
});

test.each([
  ["are we yellow or red on the search box right now", "search_engine.health"],
  ["this outage is for the storage people, hand it over to Mira", "incident_mgmt.assign_incident"],
  ["index the wiki again from the beginning, half of it is out of date", "search_ingestion.run_task"],
  ["the old leaflet should not turn up in the search results any longer, drop it", "search_engine.delete_document"],
  ["which vectors belong to the safety manual", "vector_db.scroll_points"],
  ["wiki page 4711 set Owner = Legal", "notes_wiki.update_page_properties"],
  ["firma electrónica: cambiar el correo del firmante, solicitud 90ab", "esignature.update_signature_request"],
  ["mrs novak doesn't want to hear from us any more", "email_marketing.update_list_member"],
  ["keep anything named Tab Closed from reaching the ads destination", "data_pipeline.create_destination_filter"],
  ["which five are the most like point 88", "vector_db.query_points"],
  ["the kiosk should get its own secret that can only look things up", "search_engine.create_key"],
  ["the ferry trip is off, take it out of my diary", "calendar.delete_event"],
])("finds what somebody asks in passing: %s", async (query, slug) => {
  const found = createToolSearch(await shippedCatalog())
    .search({ query })
    .results.slice(0, 5);
  expect(found.map(({ tool }) => tool.slug)).toContain(slug);
});
