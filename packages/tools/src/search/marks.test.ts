import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { createToolSearch } from "./tool-search.ts";

const search = createToolSearch(await shippedCatalog());

test.each([
  'post "lunch is here" in #general',
  "post in #general: lunch is here",
  'send "hello" to #general',
  "send hello to general",
  "post in general",
  "post #general",
  "post lunch is here in general",
  'post "hi" in the channel',
  'say "hi" in #general',
  "announce in #dev that build is done",
  'send "hello" to the #general channel',
  'drop "we are live" into #launch',
  'shout "well done" at the team in #sales',
  "ping @lukas about the outage",
  "message @petra that the deck is ready",
  'write "brb" to @tom',
  "tell #support we're back online",
  'schreib "Mittag ist da" in #general',
  "poste in #general: das Essen ist da",
  'schick "hallo" an #team',
  "sag @petra, dass das Deck fertig ist",
  'écris "on est en ligne" dans #support',
  'envoie "salut" à #general',
  "annonce dans #dev que le build est fini",
  'escribe "hola" en #general',
  "publica en #general: ya llegó la comida",
  'envía "hola" a #general',
])("what is said to a marked name or quoted is a message: %s", (query) => {
  const { confidence, results } = search.search({ query });
  expect(results[0]?.tool.slug).toBe("messaging_bot.send_message");
  expect(confidence).toBe("high");
});

test.each([
  ["post a photo in #general", "messaging_bot.send_photo"],
  ["send the report.pdf to #finance", "messaging_bot.send_document"],
  ["pin the last message in #announcements", "messaging_bot.pin_chat_message"],
  ['write "cannot reproduce" on WEB-204', "issue_tracker.create_comment"],
  ["assign MOB-12 to @lukas", "issue_tracker.assign_issue"],
  ["add the label #urgent to WEB-9", "issue_tracker.add_label_to_issue"],
  ['write a new page called "Onboarding checklist"', "notes_wiki.create_page"],
])("what a verb names stays its object: %s", (query, slug) => {
  expect(search.search({ query }).results[0]?.tool.slug).toBe(slug);
});
