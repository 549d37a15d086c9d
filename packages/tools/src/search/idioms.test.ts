import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { collectIdioms, readIdioms } from "./idioms.ts";
import { createToolSearch } from "./tool-search.ts";

const search = createToolSearch(await shippedCatalog());
const idioms = collectIdioms({ pause: "put * on ice", "create event": "pencil * in, pencil in" }, (idiom) =>
  idiom.split(" "),
);
const read = (text: string) => readIdioms(text.split(" "), idioms, (word) => [word]).map(({ word }) => word);

test("an idiom is read with other words between its own, and nothing else is dropped", () => {
  expect(read("put the june mailing on ice now")).toEqual(["pause", "the", "june", "mailing", "now"]);
  expect(read("pencil lunch in")).toEqual(["create", "event", "lunch"]);
  expect(read("put it on the list")).toEqual(["put", "it", "on", "the", "list"]);
  expect(read("put a b c d e f on ice")).toEqual("put a b c d e f on ice".split(" "));
});

test("among idioms of the same length, the one without a gap is read", () => {
  const both = collectIdioms({ remove: "kick * off the", run: "kick off the" }, (idiom) => idiom.split(" "));
  const readBoth = (text: string) => readIdioms(text.split(" "), both, (word) => [word]).map(({ word }) => word);
  expect(readBoth("kick off the nightly job")).toEqual(["run", "nightly", "job"]);
  expect(readBoth("kick bob off the list")).toEqual(["remove", "bob", "list"]);
});

test.each([
  ["put the spring promo mailing on ice", "email_marketing.unschedule_campaign"],
  ["who is on duty tonight", "incident_mgmt.list_oncalls"],
  ["what do I have on tomorrow", "calendar.list_events"],
  ["where did we write down the vacation rules", "notes_wiki.search_pages"],
  ["put on record that I called the client", "sales_crm.create_activity"],
  ["stop sharing my calendar with Bob", "calendar.delete_acl_rule"],
  ["don't let the Sunday mailing go out", "email_marketing.unschedule_campaign"],
  ["mach das Ticket dringend", "issue_tracker.set_issue_priority"],
  ["cuántos somos en el grupo", "messaging_bot.get_chat_member_count"],
  ["on avait noté où le mot de passe du portail", "notes_wiki.search_pages"],
  ["pack away the 2019 board", "work_mgmt.archive_board"],
  ["give the shopper the money back", "payments_checkout.post_payments_payment_psp_reference_refunds"],
])("finds what is said in an everyday way: %s", (query, slug) => {
  const found = search.search({ query }).results.slice(0, 3);
  expect(found.map(({ tool }) => tool.slug)).toContain(slug);
});
