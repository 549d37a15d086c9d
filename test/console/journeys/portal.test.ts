import { openPortal } from "@svc/testing/console-session";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect } from "vitest";
import { findBarriers } from "../axe.ts";
import { browserTest, startConsole } from "../browser.ts";
import { keyboardOf } from "../keyboard.ts";

const consoles = startConsole();
let receiver: TestReceiver;
const logo = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
beforeAll(async () => {
  receiver = await startTestReceiver();
  if (!consoles.isStarted) return;
  const schemaJson = '{"type":"object","required":["amount"],"properties":{"amount":{"type":"number"}}}';
  const paid = { name: "invoice.paid", description: "A customer paid an invoice", schemaJson, offered: true };
  await call("PutEventType", paid);
  await call("PutEventType", { name: "invoice.sent", offered: true });
  await call("PutEventType", { name: "payroll.run" });
  await call("PutEventSettings", { settings: { portal: { name: "Acme", color: "#ffd000", logo } } });
});
afterAll(() => receiver[Symbol.asyncDispose]());

async function call(name: string, body: object) {
  const { status, json } = await consoles.svc.call(`svc.v1.TriggersService/${name}`, body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
}

const publish = (entityId: string, payloadJson = '{"amount":5}') =>
  call("PublishEvent", { type: "invoice.paid", payloadJson, entityId });
const linkOf = async (entityId: string, more: object = {}): Promise<{ url: string; linkId: string }> =>
  call("CreatePortalLink", { entityId, ...more });
const openLink = async (entityId: string, more: object = {}) =>
  consoles.open({ path: (await linkOf(entityId, more)).url, key: null });
/** Checks that a page has no word that only the API and its operators use. */
const expectPlain = async (page: Page) =>
  expect(await page.locator("body").textContent()).not.toMatch(
    /\bsvc\b|dead_letter|backing_off|\bpending\b|deactivated/,
  );
const bodies = () => receiver.requests.map(({ body }) => JSON.parse(String(body)));

browserTest(
  "a link opens the portal, in which a customer creates an endpoint and sees what arrives there",
  async () => {
    const { page } = await openLink("ada");
    await page.getByRole("heading", { name: "Endpoints", level: 1 }).waitFor();
    expect(page.url()).toBe(`${consoles.svc.url}/portal/${consoles.projectId}/endpoints`);
    expect(await page.title()).toBe("Endpoints · Acme");
    await page.getByText("No endpoint yet").waitFor();
    await page.getByRole("banner").getByText("Signed in as ada").waitFor();
    await expectPlain(page);
    expect(await page.getByRole("banner").locator("img").getAttribute("src")).toBe(`data:image/png;base64,${logo}`);
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole("link", { name: "New endpoint" }).click();
    await page.getByLabel("Endpoint").fill(receiver.url);
    await page.getByLabel("Description").fill("Billing");
    await page.getByRole("combobox", { name: /^Only these event types/ }).click();
    expect(await page.getByRole("option").allTextContents()).not.toContain("payroll.run");
    await page.getByRole("option", { name: "invoice.paid" }).click();
    await page.getByLabel("Filter").fill("event.payload.amount > 3");
    await page.getByText("No past event to try it on.").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Create the endpoint" }).click();
    const secret = (await page.getByText(/^whsec_/).textContent()) ?? "";
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole("link", { name: "Continue: send a test event" }).click();
    await page.getByRole("button", { name: "Send a test event" }).click();
    await until(() => bodies().some(({ type }) => type === "test"));
    await publish("ada");
    await publish("ada", '{"amount":1}');
    await publish("bob");
    await until(() => bodies().some(({ type }) => type === "event"));
    const request = receiver.requests.find(({ body }) => String(body).includes('"amount":5'));
    expect(() => new Webhook(secret).verify(String(request?.body), request?.headers ?? {})).not.toThrow();
    const deliveries = page.getByRole("region", { name: "Deliveries" });
    await until(async () => (await deliveries.getByRole("group").count()) === 2);
    await deliveries.getByText("invoice.paid").waitFor();
    await deliveries.getByText("test event").waitFor();
    await deliveries.getByText("1 attempt").first().click();
    await deliveries.getByText("Attempt 1", { exact: true }).waitFor();
    await deliveries.getByText("200", { exact: true }).waitFor();
    await expectPlain(page);
    expect(await findBarriers(page)).toEqual([]);
    await deliveries.getByRole("link", { name: "Open the event to resend it" }).click();
    await page.getByRole("region", { name: "Event" }).getByText('"amount": 5').waitFor();
    await expectPlain(page);
    expect(await findBarriers(page)).toEqual([]);
    const before = receiver.requests.length;
    await page.getByRole("button", { name: "Send again" }).click();
    await until(() => receiver.requests.length > before);
    expect(String(receiver.requests.at(-1)?.body)).toContain('"amount":5');
  },
);

browserTest("a customer changes, pauses, replays to and deletes an endpoint, and replaces its secret", async () => {
  const { page } = await openLink("cy");
  const created = await call("CreateSubscription", { endpointUrl: `${receiver.url}/of-the-project`, entityId: "cy" });
  await page.getByRole("link", { name: "New endpoint" }).click();
  await page.getByLabel("Endpoint").fill(receiver.url);
  await page.getByRole("button", { name: "Create the endpoint" }).click();
  await page.getByRole("link", { name: "Continue: send a test event" }).click();
  await page.getByRole("link", { name: "Change", exact: true }).click();
  await page.getByLabel("Description").fill("Of Cy");
  await page.getByText("Format", { exact: true }).click();
  const formats = page.getByLabel("Format of deliveries");
  const names = await formats.locator("option").allTextContents();
  expect(names).toContain("Default");
  expect(names.join()).not.toMatch(/your own body|svc/);
  await formats.selectOption("standard");
  await page.getByText("Headers and authentication", { exact: true }).click();
  await page.getByLabel("Authentication", { exact: true }).selectOption("bearer");
  await page.getByLabel("Token").fill("a-token-of-the-customer");
  await page.getByRole("button", { name: "Save the changes" }).click();
  const facts = page.getByRole("region", { name: "Endpoint", exact: true });
  await facts.getByText("fixed token").waitFor();
  await facts.getByText("Standard Webhooks").waitFor();
  expect(await page.content()).not.toContain("a-token-of-the-customer");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused. Events are kept").waitFor();
  const before = receiver.requests.length;
  await publish("cy", '{"amount":71}');
  await page.getByRole("button", { name: "Resume" }).click();
  const ofCy = () => receiver.requests.slice(before).filter(({ headers }) => headers["authorization"] !== undefined);
  await until(() => ofCy().length === 1);
  await page.getByRole("button", { name: "Replace the secret" }).click();
  await page.getByRole("button", { name: "Replace it" }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("button", { name: "I've saved it" }).click();
  await page.getByText("Two secrets sign every delivery.").waitFor();
  await page.getByRole("button", { name: "Send a time range again" }).click();
  const dialog = page.getByRole("dialog", { name: "Resend events" });
  await dialog.getByRole("button", { name: "Resend 1 delivery" }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Resend 1 delivery" }).click();
  await until(() => ofCy().length === 2);
  expect(ofCy().at(-1)?.headers["webhook-signature"]?.split(" ")).toHaveLength(2);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.getByText("No endpoint yet").waitFor();
  const { subscriptions } = await call("ListSubscriptions", { entityId: "cy" });
  expect(subscriptions.map(({ id }: { id: string }) => id)).toEqual([created.subscription.id]);
});

browserTest("event types have their schema, a sample, code that verifies, and a document to download", async () => {
  const { page } = await openLink("dee");
  await page.getByRole("navigation").getByRole("link", { name: "Event types" }).click();
  await page.getByRole("link", { name: "invoice.sent" }).waitFor();
  expect(await page.getByText("payroll.run").count()).toBe(0);
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole("link", { name: "invoice.paid" }).click();
  await page.getByRole("region", { name: "Schema" }).getByText('"required"').waitFor();
  await page.getByRole("region", { name: "Sample" }).getByText('"amount"').waitFor();
  for (const code of ["new Webhook(process.env", "hmac.compare_digest"])
    await page.getByRole("region", { name: "Verify the signature" }).getByText(code).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await expectPlain(page);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await findBarriers(page, "colours")).toEqual([]);
  await page.emulateMedia({ colorScheme: null });
  await page.getByRole("button", { name: "Download document" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download", exact: true }).click();
  expect((await download).suggestedFilename()).toBe("invoice.paid.openapi.json");
  await page.setViewportSize({ width: 390, height: 844 });
  await until(() => page.evaluate("document.documentElement.scrollWidth <= innerWidth"));
});

browserTest(
  "a link of another customer signs in only after a question, and the other tab says what happened",
  async () => {
    const { page, faults } = await openLink("hal");
    faults.expectStatus(401);
    await page.getByText("No endpoint yet").waitFor();
    const { url } = await linkOf("ivy");
    const other = await consoles.open({ path: url, context: page.context() });
    await other.page.getByRole("heading", { name: "Sign in as ivy?" }).waitFor();
    await other.page.getByText("This browser is signed in as hal (Acme).").waitFor();
    expect(other.page.url()).not.toContain("#");
    expect(await findBarriers(other.page)).toEqual([]);
    await other.page.getByRole("button", { name: "Stay signed in as hal" }).click();
    await other.page.getByText("Signed in as hal").waitFor();
    await other.page.goto(url);
    await other.page.getByRole("button", { name: "Sign in as ivy" }).click();
    await other.page.getByText("Signed in as ivy").waitFor();
    await page.getByRole("heading", { name: "You are signed in as someone else" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await other.page.reload();
    await other.page.getByText("Signed in as ivy").waitFor();
    await page.getByRole("button", { name: "Continue as ivy" }).click();
    await page.getByText("Signed in as ivy").waitFor();
  },
);

browserTest(
  "another link of the same customer opens at once, and the other tab continues with its session",
  async () => {
    const { page, faults } = await openLink("kim", { readOnly: true });
    faults.expectStatus(401);
    await page.getByText("No endpoint yet").waitFor();
    expect(await page.getByRole("link", { name: "New endpoint" }).count()).toBe(0);
    const other = await consoles.open({ path: (await linkOf("kim")).url, context: page.context() });
    await other.page.getByRole("link", { name: "New endpoint" }).waitFor();
    await page.getByRole("link", { name: "New endpoint" }).waitFor();
  },
);

browserTest("a pause of the project is shown with its name, and the customer cannot end it", async () => {
  const { subscription } = await createAs("lou");
  const { page } = await openLink("lou");
  await page.getByRole("link", { name: receiver.url }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await call("UpdateSubscription", { id: subscription.id, paused: true });
  await page.getByText("Paused by Acme").waitFor();
  await page.getByText("Acme paused it. Events are kept for 30 days").waitFor();
  expect(await page.getByRole("button", { name: /resume|re-enable/i }).count()).toBe(0);
  await expectPlain(page);
  expect(await findBarriers(page)).toEqual([]);
  await call("UpdateSubscription", { id: subscription.id, paused: false });
  await page.getByRole("button", { name: "Pause" }).waitFor();
});

browserTest("by keyboard alone an endpoint is created, tested and deleted", async () => {
  const { page } = await openLink("jo");
  const { press, type, tabTo } = keyboardOf(page);
  await tabTo(page.getByRole("link", { name: "New endpoint" }));
  await press("Enter");
  await page.locator("h1:focus", { hasText: "New endpoint" }).waitFor();
  await tabTo(page.getByLabel("Endpoint"));
  await type(`${receiver.url}/by-keyboard`);
  await press("Enter");
  await tabTo(page.getByRole("link", { name: "Continue: send a test event" }));
  await press("Enter");
  await tabTo(page.getByRole("button", { name: "Send a test event" }));
  await press("Enter");
  await until(() => receiver.requests.some(({ path }) => path.endsWith("/by-keyboard")));
  await tabTo(page.getByRole("button", { name: "Delete" }));
  await press("Enter");
  await tabTo(page.getByRole("button", { name: "Delete it" }));
  await press("Enter");
  await page.getByText("No endpoint yet").waitFor();
});

browserTest("a read-only link shows everything and no action", async () => {
  const { subscription } = await createAs("eve");
  const { page } = await openLink("eve", { readOnly: true });
  await page.getByRole("link", { name: receiver.url }).click();
  await page.getByText("Nothing was delivered yet.").waitFor();
  await call("SendTestEvent", { subscriptionId: subscription.id });
  await page.getByRole("region", { name: "Deliveries" }).getByText("1 attempt").click();
  await page.getByRole("link", { name: "Open the event to resend it" }).click();
  await page.getByText("a test event").waitFor();
  const buttons = /pause|change|delete|replace|replay|send again|send a|new endpoint|re-enable/i;
  expect(await page.getByRole("button", { name: buttons }).count()).toBe(0);
  await page.goBack();
  await page.getByRole("region", { name: "Signing secret" }).waitFor();
  expect(await page.getByRole("button", { name: buttons }).count()).toBe(0);
  expect(await page.getByRole("link", { name: /^(?:Change|New endpoint)$/ }).count()).toBe(0);
  expect(await findBarriers(page)).toEqual([]);
});

/** Creates an endpoint in the portal of a customer. */
async function createAs(entityId: string) {
  const portal = await openPortal(consoles.svc, (await linkOf(entityId)).url);
  return (await portal.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl: receiver.url })).json;
}

browserTest(
  "after a revocation an open page is signed out at its next call, says so, and shows nothing more",
  async () => {
    await createAs("fay");
    const { page, faults } = await openLink("fay");
    await page.getByText(receiver.url).waitFor();
    await page.reload();
    await page.getByText(receiver.url).waitFor();
    faults.expectStatus(401);
    await call("RevokePortalLinks", { entityId: "fay" });
    await page.getByRole("heading", { name: "Your access has ended" }).waitFor();
    expect(await page.getByText(receiver.url).count()).toBe(0);
    expect(await findBarriers(page)).toEqual([]);
    await page.reload();
    await page.getByRole("heading", { name: "Open your link again" }).waitFor();
  },
);

browserTest("a customer signs out; a dead link opens nothing; the next link opens in the same page", async () => {
  const { page, faults } = await openLink("gus");
  faults.expectStatus(401);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  const dead = await linkOf("gus");
  await call("RevokePortalLinks", { linkId: dead.linkId });
  await page.goto(dead.url);
  await page.getByRole("heading", { name: "This link does not work" }).waitFor();
  expect(page.url()).not.toContain("#");
  expect(await findBarriers(page)).toEqual([]);
  await page.goto((await linkOf("gus")).url);
  await page.getByText("No endpoint yet").waitFor();
});
