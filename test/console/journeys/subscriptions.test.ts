import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import { lookAt } from "../look.ts";

// Each test continues where the one before it ended.
const consoles = startConsole();
let receiver: TestReceiver;
beforeAll(async () => {
  receiver = await startTestReceiver();
  if (!consoles.isStarted) return;
  for (const name of ["invoice.paid", "invoice.sent", "order.made"]) await call("PutEventType", { name });
  const payloads = ['{"amount":5}', '{"amount":5000}', '{"note":"no amount"}'];
  const events = payloads.map((payloadJson) => ({ type: "invoice.paid", payloadJson, entityId: "customer-7" }));
  await call("PublishEvents", { events: [...events, { type: "order.made", payloadJson: '{"amount":7000}' }] });
});
afterAll(() => receiver[Symbol.asyncDispose]());

const call = async (name: string, body: object) => {
  const { status, json } = await consoles.svc.call(`svc.v1.TriggersService/${name}`, body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
};
const publish = (payloadJson: string) =>
  call("PublishEvent", { type: "invoice.paid", payloadJson, entityId: "customer-7" });
/** Returns the only subscription of the project. */
const stored = async () => (await call("ListSubscriptions", {})).subscriptions[0];
const openStored = async () => consoles.open({ path: `p/${consoles.projectId}/subscriptions/${(await stored()).id}` });

browserTest("types, filter and body are tried on past events while they are written, and then hold", async () => {
  const { page, faults } = await consoles.open({ path: `p/${consoles.projectId}/subscriptions/new` });
  faults.expectStatus(400);
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("All of the last 4 events would be delivered.").waitFor();
  await page.getByLabel("Endpoint").fill(receiver.url);
  await page.getByLabel("Description").fill("Large invoices");
  await page.getByRole("combobox", { name: "Events of: all apps" }).click();
  await page.getByRole("option", { name: "events" }).click();
  for (const type of ["events.invoice.paid", "events.invoice.sent"]) {
    await page.getByRole("combobox", { name: /^Only these event types/ }).click();
    await page.getByRole("option", { name: type }).click();
  }
  await preview.getByText("3 of the last 4 events would be delivered.").waitFor();
  await page.getByLabel("Filter").fill("event.payload.amount >");
  await preview.getByText("See the marked field").waitFor();
  expect(await page.getByLabel("Filter").getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("Filter").fill("event.payload.amount > 1000");
  await preview.getByText("1 of the last 4 events would be delivered.").waitFor();
  await preview.getByText("The filter could not be evaluated for 1 event, so it would not be delivered.").waitFor();
  await page.getByText("Format", { exact: true }).click();
  await page.getByLabel("Format of deliveries").selectOption("custom");
  await page.getByLabel("Body").fill('{"text": {"$text": "{event.payload.amount} of {event.entityId}"}}');
  await preview.getByText("Request for").click();
  await preview.getByText('{"text":"5000 of customer-7"}').waitFor();
  await page.getByText("Headers and authentication", { exact: true }).click();
  await page.getByRole("button", { name: "Add a header" }).click();
  await page.getByLabel("Name of header 1").fill("x-team");
  await page.getByLabel("Value of header 1").fill("seven");
  await page.getByLabel("Authentication", { exact: true }).selectOption("bearer");
  await page.getByLabel("Token").fill("a-token-of-the-endpoint");
  await page.getByText("Retries", { exact: true }).click();
  await page.getByLabel("Waits between attempts").fill("10s, soon");
  await page.getByText('The duration "soon" is not understood').waitFor();
  expect(await page.getByRole("button", { name: "Create only" }).getAttribute("aria-disabled")).toBe("true");
  await page.getByLabel("Waits between attempts").fill("10s, 1m");
  await lookAt(page, "subscription-form");
  await page.getByRole("button", { name: "Create only" }).click();
  await page.getByText(/^whsec_/).waitFor();
  expect(await stored()).toMatchObject({
    ...{
      toolkitSlug: "events",
      description: "Large invoices",
      credentials: { headerNames: ["x-team"], auth: "bearer" },
    },
    match: { triggerSlugs: ["events.invoice.paid", "events.invoice.sent"], filter: "event.payload.amount > 1000" },
    retry: { schedule: ["10s", "60s"] },
  });
  for (const payload of ['{"amount":12}', '{"note":"none"}', '{"amount":2000}']) await publish(payload);
  await until(() => receiver.requests.length > 0);
  expect(
    receiver.requests.map(({ body, headers }) => [String(body), headers["x-team"], headers["authorization"]]),
  ).toEqual([['{"text":"2000 of customer-7"}', "seven", "Bearer a-token-of-the-endpoint"]]);
});

browserTest("the page of a subscription shows its parts and the events without a value, and no secret", async () => {
  const { page } = await openStored();
  await page.getByText("The filter could not be evaluated for 1 event, so it was not delivered.").waitFor();
  await page.getByRole("tab", { name: "Filters and address" }).click();
  const facts = page.getByRole("region", { name: "Subscription" });
  await facts.getByText("event.payload.amount > 1000").waitFor();
  await facts.getByText("headers x-team; fixed token").waitFor();
  await facts.getByText("after 10 s, 1 min").waitFor();
  await page.getByText("The filter could not be evaluated for 1 event, so it was not delivered.").waitFor();
  await lookAt(page, "subscription-parts");
  expect(await page.content()).not.toMatch(/a-token-of-the-endpoint|seven/);
});

browserTest("a change starts with what is stored, sends what differs, and leaves the credentials", async () => {
  const { page } = await openStored();
  await page.getByRole("link", { name: "Change", exact: true }).click();
  await page.getByLabel("Filter").waitFor();
  expect(await page.getByLabel("Filter").inputValue()).toBe("event.payload.amount > 1000");
  expect(await page.getByRole("button", { name: "Save the changes" }).getAttribute("aria-disabled")).toBe("true");
  await page.getByText("Stored: headers x-team; fixed token.").waitFor();
  await page.getByLabel("Filter").fill("has(event.payload.amount)");
  await page.getByRole("button", { name: "Remove events.invoice.sent" }).click();
  await page.getByRole("region", { name: "Preview" }).getByText("4 of the last 6 events would be delivered.").waitFor();
  await page.getByRole("button", { name: "Save the changes" }).click();
  await page.getByRole("tab", { name: "Filters and address" }).click();
  await page.getByRole("region", { name: "Subscription" }).getByText("has(event.payload.amount)").waitFor();
  expect(await stored()).toMatchObject({
    match: { triggerSlugs: ["events.invoice.paid"], filter: "has(event.payload.amount)" },
    ...{ format: { kind: "custom" }, credentials: { headerNames: ["x-team"], auth: "bearer" } },
  });
});

browserTest("a pause keeps what comes in, and after the resumption it arrives once", async () => {
  const { page } = await openStored();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused. Events are kept").waitFor();
  await publish('{"amount":31}');
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  const missed = () => receiver.requests.filter(({ body }) => String(body) === '{"text":"31 of customer-7"}');
  await until(() => missed().length > 0);
  expect(missed()).toHaveLength(1);
  expect(await page.getByRole("link", { name: "Resend missed events" }).count()).toBe(0);
});

browserTest("a secret is replaced: the new one is shown once, and both sign until the former one ends", async () => {
  const { page, faults } = await openStored();
  faults.expectStatus(400);
  const section = page.getByRole("region", { name: "Signing secret" });
  await page.getByRole("tab", { name: "Secret and code" }).click();
  await section.getByRole("button", { name: "Replace the secret" }).click();
  const dialog = page.getByRole("dialog", { name: "Replace the signing secret" });
  await dialog.getByLabel("New secret").fill("short");
  await dialog.getByRole("button", { name: "Replace it" }).click();
  await until(async () => (await dialog.getByLabel("New secret").getAttribute("aria-invalid")) === "true");
  await dialog.getByLabel("New secret").fill("");
  await dialog.getByLabel("The former secret also signs for").selectOption("3600");
  await dialog.getByRole("button", { name: "Replace it" }).click();
  const made = page.getByRole("dialog", { name: "The new signing secret" });
  await made.getByText(/^whsec_/).waitFor();
  await made.getByRole("button", { name: "I've saved it" }).click();
  await section.getByText("Two secrets sign every delivery.").waitFor();
  const before = receiver.requests.length;
  await publish('{"amount":32}');
  await until(() => receiver.requests.length > before);
  expect(receiver.requests.at(-1)?.headers["webhook-signature"]?.split(" ")).toHaveLength(2);
});
