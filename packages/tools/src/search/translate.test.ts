import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import { createToolSearch } from "./tool-search.ts";
import { translate } from "./translate.ts";
import { wordsOf } from "./words.ts";

const search = createToolSearch(await shippedCatalog());

test.each([
  ["leg den Newsletter auf Eis", "pause the newsletter"],
  ["sag den Termin ab, bitte", "cancel the appointment please"],
  ["der Termin wurde abgesagt", "the appointment is cancel"],
  ["tráeme los contactos", "get the contacts"],
  ["vide l index", "clear the index"],
  ["lösche den Termin am Freitag", "delete the appointment at freitag"],
  ["loesche den Kontakt", "delete the contact"],
  ["lege einen neuen Kontakt an", "create the new contact"],
  ["Ticket schließen", "ticket close"],
  ["Kundendaten löschen", "customer data delete"],
  ["crear una tarea nueva en el tablero", "create the task new in the board"],
  ["quel est le solde du compte", "which is the balance of account"],
  ["trage das Kaffeekraenzchen ein", "add the kaffeekranzchen"],
  ["trage das Kaffeekränzchen ein", "add the kaffeekranzchen"],
])("reads what is German, Spanish or French as English: %s", (text, english) => {
  expect(translate(wordsOf(text)).words.join(" ")).toBe(english);
});

test.each([
  "list overdue invoices",
  "note the customer call",
  "why die the servers",
  "sign contract",
  "comment on it",
  "table of events",
])("leaves English as it is: %s", (text) => {
  expect(translate(wordsOf(text)).words.join(" ")).toBe(text);
});

test.each([
  ["zeige mir alle Termine von heute", "calendar.list_events"],
  ["sag den Termin am Montag ab", "calendar.delete_event"],
  ["bitte Vertrag zur Unterschrift schicken", "esignature.send_signature_request"],
  ["envía un mensaje al grupo", "messaging_bot.send_message"],
  ["leg den Juni-Newsletter auf Eis", "email_marketing.unschedule_campaign"],
  ["tráeme la lista de clientes", "sales_crm.list_persons"],
  ["crea un ticket para el lunes", "issue_tracker.create_issue"],
  ["rappelle à Paul de signer", "esignature.remind_signature_request"],
  ["rembourser le paiement 4471", "payments_checkout.post_payments_payment_psp_reference_refunds"],
  ["qui est d'astreinte cette semaine", "incident_mgmt.list_oncalls"],
])("finds what is asked for in another language: %s", (query, slug) => {
  const found = search.search({ query });
  expect(found.confidence).toBeDefined();
  expect(found.results.slice(0, 5).map(({ tool }) => tool.slug)).toContain(slug);
});

test.each([
  ["remnd the sigenr", "esignature.remind_signature_request"],
  ["reshcedule the meeitng", "calendar.update_event"],
  ["schedual the newsleter", "email_marketing.schedule_campaign"],
  ["delte the opportunty", "sales_crm.delete_deal"],
  ["aknowledge the incidnet", "incident_mgmt.acknowledge_incident"],
])("finds what is misspelled: %s", (query, slug) => {
  expect(
    search
      .search({ query })
      .results.slice(0, 3)
      .map(({ tool }) => tool.slug),
  ).toContain(slug);
});

test("unknown words of another language lower the confidence", () => {
  const [plain, unsure] = ["lösche den Termin", "lösche den Termin Quorbel Zwimpf Brolsch"].map(
    (query) => search.search({ query }).confidence,
  );
  expect([plain, unsure]).toEqual(["high", "low"]);
  expect(search.search({ query: "je ne sais pas quoi dire" }).confidence).not.toBe("high");
});
