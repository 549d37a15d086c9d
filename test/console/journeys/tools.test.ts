import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import { keyboardOf } from "../keyboard.ts";

const connect = (
  svc: Parameters<NonNullable<NonNullable<Parameters<typeof startConsole>[0]>["seed"]>>[0],
  toolkitSlug: string,
  entityId: string,
) =>
  svc.call("svc.v1.ConnectionsService/InitiateConnection", { toolkitSlug, entityId, scheme: "api_key", apiKey: "k" });

const consoles = startConsole({
  seed: async (svc) => {
    for (const slug of ["messaging_bot", "sales_crm", "bank_link"]) await connect(svc, slug, "ada");
  },
});

const openTool = async (slug: string, search = "") =>
  (await consoles.open({ path: `p/${consoles.projectId}/tools/${slug}${search}` })).page;

async function callsOf(toolSlug: string): Promise<{ outcome: string; idempotencyKey: string }[]> {
  return (await consoles.svc.call("svc.v1.ToolsService/ListToolCalls", { toolSlug })).json.calls;
}

const sent = (page: Page) => page.getByRole("region", { name: "What would be sent" });
const result = (page: Page) => page.getByRole("region", { name: "Result", exact: true });

browserTest("a tool is found in plain words, read, and its call tried again from the ledger", async () => {
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/tools` });
  await page.getByLabel("Search tools").fill("which deals are open in our pipeline");
  await page.getByRole("link", { name: "sales_crm.list_deals", exact: true }).click();
  await sent(page).getByText("GET https://").waitFor();
  await page.getByText("6 optional").click();
  await page.getByLabel("limit").fill("2");
  await sent(page).getByText("limit=2").waitFor();
  await page.getByRole("button", { name: "Send in the sandbox" }).click();
  await result(page).getByText("OK", { exact: true }).waitFor();
  await result(page).getByRole("link", { name: "Call log" }).click();
  await page.getByRole("heading", { name: "sales_crm.list_deals", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Try again" }).click();
  await sent(page).getByText("limit=2").waitFor();
  expect(await page.getByLabel("as user").inputValue()).toBe("ada");
  expect(await page.getByLabel("limit").inputValue()).toBe("2");
});

browserTest(
  "a write shows what is wrong at its fields, is the same as JSON, and a double press sends it once",
  async () => {
    const page = await openTool("messaging_bot.send_message");
    await sent(page).getByText("Fix 2 arguments to see the request.").waitFor();
    expect(await page.getByText("is required").count()).toBe(0);
    await page.getByLabel("chat_id", { exact: true }).focus();
    await page.getByLabel("text", { exact: true }).focus();
    await page.getByText("is required").waitFor();
    await page.getByRole("button", { name: "Send in the sandbox" }).click();
    await page.getByText("is required").nth(1).waitFor();
    await page.getByLabel("chat_id", { exact: true }).fill("4711");
    await page.getByLabel("text", { exact: true }).fill("We are live");
    await sent(page).getByText('"text": "We are live"').waitFor();
    await page.getByRole("tab", { name: "JSON" }).click();
    const json = page.getByLabel("Arguments", { exact: true });
    expect(JSON.parse(await json.inputValue())).toEqual({ chat_id: "4711", text: "We are live" });
    await json.fill('{"chat_id": "4711", "text": 5');
    await page
      .getByText(/^Not JSON/)
      .first()
      .waitFor();
    await json.fill('{"chat_id": "4711", "text": "We are back"}');
    await page.getByRole("tab", { name: "Form" }).click();
    expect(await page.getByLabel("text", { exact: true }).inputValue()).toBe("We are back");
    await sent(page).getByText('"text": "We are back"').waitFor();
    await page.getByRole("button", { name: "Send in the sandbox" }).dblclick();
    await result(page).getByText('"text": "We are back"').waitFor();
    const keys = (await callsOf("messaging_bot.send_message")).map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toHaveLength(1);
    expect(keys[0]).not.toBe("");
  },
);

browserTest("a destructive call is held and shown, and only then confirmed; a change holds it anew", async () => {
  const page = await openTool("messaging_bot.delete_message");
  const confirm = page.getByRole("button", { name: "Confirm and send in the sandbox" });
  await page.getByLabel("chat_id", { exact: true }).fill("4711");
  await page.getByLabel("message_id", { exact: true }).fill("7");
  await sent(page).getByText('"message_id": 7').waitFor();
  expect(await confirm.count()).toBe(0);
  await page.getByRole("button", { name: "Preview" }).dblclick();
  await confirm.waitFor();
  await page.getByLabel("message_id", { exact: true }).fill("8");
  await confirm.waitFor({ state: "detached" });
  await sent(page).getByText('"message_id": 8').waitFor();
  await page.getByRole("button", { name: "Preview" }).click();
  await confirm.waitFor();
  const held = await callsOf("messaging_bot.delete_message");
  expect(new Set(held.map(({ outcome }) => outcome))).toEqual(new Set(["held"]));
  await confirm.dblclick();
  await result(page).getByText("OK", { exact: true }).waitFor();
  const done = (await callsOf("messaging_bot.delete_message")).filter(({ outcome }) => outcome === "ok");
  expect(done).toHaveLength(1);
});

browserTest("by keyboard alone a tool is found, filled in, held, confirmed, and its result read", async () => {
  const { page } = await consoles.open();
  const { press, type, tabTo } = keyboardOf(page);
  await press("Control+k");
  await page.getByRole("combobox", { name: "Search or go to a page" }).waitFor();
  await type("messaging_bot.delete_message");
  await press("Enter");
  await page.locator("h1:focus", { hasText: "Tools" }).waitFor();
  const row = page.getByRole("row", { name: "messaging_bot.delete_message" });
  await row.waitFor();
  await tabTo(page.getByRole("row"));
  for (let n = 0; n < 20 && (await row.and(page.locator(":focus")).count()) === 0; n += 1) await press("j");
  await press("Enter");
  await page.locator("h1:focus", { hasText: "messaging_bot.delete_message" }).waitFor();
  await tabTo(page.getByLabel("chat_id", { exact: true }));
  await press("ControlOrMeta+a");
  await type("4712");
  await tabTo(page.getByLabel("message_id", { exact: true }));
  await press("ControlOrMeta+a");
  await type("11");
  await sent(page).getByText('"message_id": 11').waitFor();
  await tabTo(page.getByRole("button", { name: "Preview" }));
  await press("Enter");
  await tabTo(page.getByRole("button", { name: "Confirm and send in the sandbox" }));
  await press("Enter");
  await result(page).getByText("OK", { exact: true }).waitFor();
  await tabTo(result(page).getByRole("link", { name: "Call log" }));
});

browserTest("arguments as JSON cannot confirm themselves", async () => {
  const page = await openTool("messaging_bot.delete_message", "?args=json");
  await page.getByLabel("Arguments", { exact: true }).fill('{"chat_id": "4711", "message_id": 9, "confirm": true}');
  await page
    .getByText(/^Leave confirm out/)
    .first()
    .waitFor();
  expect(await page.getByRole("button", { name: "Preview" }).getAttribute("aria-disabled")).toBe("true");
});

browserTest("what was filled in last is there again, but for what is sensitive", async () => {
  const page = await openTool("bank_link.create_asset_report");
  await page.getByLabel("days_requested", { exact: true }).fill("60");
  await page.getByRole("button", { name: "Add to access_tokens" }).click();
  await page.getByLabel("access_tokens 1", { exact: true }).fill("a-secret-of-ada");
  await sent(page).getByText("POST https://").waitFor();
  expect(await page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")).not.toContain("a-secret-of-ada");
  await page.reload();
  await sent(page).getByText("to see the request").waitFor();
  expect(await page.getByLabel("days_requested", { exact: true }).inputValue()).toBe("60");
  expect(await page.getByLabel("access_tokens 1", { exact: true }).count()).toBe(0);
});

browserTest("a call that a job made leads to the job, and the ledger is narrowed to its calls", async () => {
  const program = {
    version: 1,
    title: "List the deals",
    steps: [
      {
        id: "fetch",
        call: "sales_crm.list_deals",
        entity: "ada",
        rows: { from: "data[]", key: "id", keep: ["id", "title"] },
      },
    ],
  };
  const submitted = await consoles.svc.call("svc.v1.JobsService/SubmitJob", { programJson: JSON.stringify(program) });
  expect(submitted.status, JSON.stringify(submitted.json)).toBe(200);
  const jobId: string = submitted.json.job.id;
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/calls?job=${jobId}` });
  await page.getByRole("link", { name: "Sales CRM: List deals" }).click();
  await page.getByRole("link", { name: jobId }).click();
  await page.getByRole("heading", { name: "List the deals", level: 1 }).waitFor();
});

const toolkitFile = (category: string) => `slug: shop
name: Shop
description: Orders of our own shop, as its back office keeps them.
version: 1.0.0
category: ${category}
baseUrl: https://shop.example.com/api
auth:
  - { type: api_key, placement: header, name: X-Key, value: "{{credential.key}}" }
`;

const toolFile = `kind: action
class: read
description: Reads one order of the shop with its lines and its state of payment.
intents: [where is my parcel, what did they buy, show the purchase]
input:
  type: object
  additionalProperties: false
  required: [id]
  properties: { id: { type: string, description: Id of the order. } }
output: { type: object, properties: { id: { type: string } } }
request: { method: GET, path: "/orders/{{params.id}}" }
`;

browserTest("a toolkit's folder is checked with its faults at their lines, published, and deleted again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-shop-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "tools"));
  await writeFile(join(folder, "toolkit.yaml"), toolkitFile("fun"));
  await writeFile(join(folder, "tools", "read_order.yaml"), toolFile);
  const { page, faults } = await consoles.open({ path: `p/${consoles.projectId}/tools` });
  faults.expectStatus(400);
  await page.getByRole("link", { name: "Add an app" }).click();
  await page.getByRole("link", { name: "Write a definition" }).click();
  await page.getByText("Ready to publish").waitFor();
  await page.getByLabel("Choose a folder").setInputFiles(folder);
  const fault = page.getByRole("region", { name: "1 problem" }).getByRole("button", { name: "Line 7" });
  await fault.getByText("toolkit › category").waitFor();
  const publish = page.getByRole("button", { name: "Publish", exact: true });
  expect(await publish.getAttribute("aria-disabled")).toBe("true");

  await writeFile(join(folder, "toolkit.yaml"), toolkitFile("sales"));
  await page.getByLabel("Choose a folder").setInputFiles(folder);
  await page.getByText("Ready to publish").waitFor();
  await publish.click();
  await page.getByRole("heading", { name: "Shop", level: 1 }).waitFor();
  await page.getByRole("link", { name: "shop.read_order" }).waitFor();
  const ofShop = { slug: "shop", projectId: consoles.projectId };
  expect((await consoles.svc.call("svc.v1.CatalogService/GetToolkit", ofShop)).status).toBe(200);

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByText("its accounts are deleted").waitFor();
  await page.getByRole("button", { name: "Delete the app" }).click();
  await page.getByRole("heading", { name: "Apps", level: 1 }).waitFor();
  expect((await consoles.svc.call("svc.v1.CatalogService/GetToolkit", ofShop)).status).toBe(404);
});

browserTest("what is dropped and is no definition says what would be one; a member is told who publishes", async () => {
  const { json } = await consoles.svc.admin("CreateApiKey", {
    ...{ projectId: consoles.projectId, role: "ROLE_MEMBER", name: "of a journey" },
  });
  const { page } = await consoles.open({ key: json.key, path: `p/${consoles.projectId}/tools/publish` });
  await page.getByText("This needs a key with the role approver").first().waitFor();
  expect(await page.getByRole("button", { name: "Publish", exact: true }).getAttribute("aria-disabled")).toBe("true");
  await page
    .getByLabel("Choose a file")
    .setInputFiles({ name: "shop.csv", mimeType: "text/csv", buffer: Buffer.from("a") });
  await page.getByRole("alert").getByText("shop.csv is neither").waitFor();
});

describe("beside real apps", () => {
  const real = startConsole({ variables: { SVC_SANDBOX: "off" } });

  browserTest("a band says that what is sent is real, and so does the button, with the entity", async () => {
    const { page } = await real.open({ path: `p/${real.projectId}/tools/messaging_bot.send_message` });
    await page.getByText("Real app: calls have real effects").waitFor();
    await page.getByLabel("as user").fill("ada");
    await page.getByRole("button", { name: "Send to the real app as ada" }).waitFor();
  });
});
