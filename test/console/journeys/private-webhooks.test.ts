import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { ProjectId } from "@svc/core";
import { deskDefinition, ticketPost } from "@svc/testing/private-webhook";
import { until } from "@svc/testing/until";
import { beforeAll, expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import { lookAt } from "../look.ts";

// Each test continues where the one before it ended.
const consoles = startConsole();
let secret = "";

const publishDesk = async (definitionJson: string) => {
  const { status, json } = await consoles.svc.call("svc.v1.CatalogService/PublishToolkit", { definitionJson });
  expect(status, JSON.stringify(json)).toBe(200);
};

beforeAll(async () => {
  if (consoles.isStarted) await publishDesk(deskDefinition());
});

/** Posts a ticket to the private toolkit as the app would. */
const post = (fields: object) => {
  const { target = "", headers, body } = ticketPost(consoles.projectId as ProjectId, secret, { ...fields });
  return fetch(`${consoles.svc.url}${target}`, {
    method: "POST",
    headers: headers as Record<string, string>,
    body: new Uint8Array(body),
  });
};

const openDesk = async (key = consoles.svc.key) => {
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/ingest`, key });
  const section = page.getByRole("region", { name: "Your own apps" });
  await section.getByText("desk", { exact: true }).click();
  return { page, section };
};

browserTest(
  "a private toolkit's address is listed with its verifier, and its secret is made and shown once",
  async () => {
    const { page, section } = await openDesk();
    await section.getByText("No secret", { exact: true }).waitFor();
    await section.getByText(`/webhooks/${consoles.projectId}/desk`).first().waitFor();
    await section.getByText("How a post is verified").click();
    await section.getByText("x-desk-signature").first().waitFor();
    await section.getByRole("button", { name: "Add a secret" }).click();
    await page
      .getByRole("dialog", { name: "Add a secret to desk" })
      .getByRole("button", { name: "Add the secret" })
      .click();
    const made = page.getByRole("dialog", { name: "The new secret of the webhook" });
    secret = (await made.locator("pre").textContent()) ?? "";
    expect(secret.length).toBeGreaterThan(20);
    await made.getByRole("button", { name: "I've saved it" }).click();
    await section.getByText("Secret set").waitFor();
    await lookAt(page, "private-webhook");
    await section.getByText("The same post with curl").click();
    const command = (await section.locator("pre").filter({ hasText: "curl" }).textContent()) ?? "";
    const env = { PATH: process.env["PATH"], SECRET: secret };
    const { stdout } = await promisify(execFile)("bash", ["-c", command], { env });
    expect(JSON.parse(stdout)).toEqual({ accepted: 1 });
  },
);

browserTest("a second secret gives the first an end, and a deleted one verifies no more posts", async () => {
  const { page, section } = await openDesk();
  const former = secret;
  await section.getByRole("button", { name: "Add a secret" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a secret to desk" });
  secret = "the-second-secret-of-the-desk";
  await dialog.getByLabel("Secret", { exact: true }).fill(secret);
  await dialog.getByLabel("The present secrets also verify posts for").selectOption("3600");
  await dialog.getByRole("button", { name: "Add the secret" }).click();
  const items = section.getByRole("list", { name: "Secrets of desk" }).getByRole("listitem");
  await until(async () => (await items.count()) === 2);
  await items.last().getByText("It ends").waitFor();
  expect((await post({ id: "t-second" })).status).toBe(202);
  await items.last().getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the secret" }).click();
  await until(async () => (await items.count()) === 1);
  const [second, first] = [secret, former];
  secret = first;
  expect((await post({ id: "t-first" })).status).toBe(401);
  secret = second;
});

browserTest("a member sees the secrets, and is told that changing them takes an approver", async () => {
  const created = await consoles.svc.admin("CreateApiKey", {
    projectId: consoles.projectId,
    role: "ROLE_MEMBER",
    name: "m",
  });
  const { section } = await openDesk(created.json.key);
  await section.getByRole("list", { name: "Secrets of desk" }).getByText(/^wsc_/).waitFor();
  for (const name of ["Add a secret", "Delete"])
    expect(await section.getByRole("button", { name }).getAttribute("aria-disabled")).toBe("true");
});

browserTest("a post that became no event is found, read and released once its toolkit takes it", async () => {
  expect(await (await post({ type: "ticket.closed", id: "t-closed" })).json()).toEqual({ accepted: 0 });
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/quarantine` });
  const row = page.getByRole("row", { name: "No trigger" });
  await row.waitFor();
  await lookAt(page, "quarantine");
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: "Post to desk", level: 1 }).waitFor();
  await page.getByText("ticket.closed").first().waitFor();
  await lookAt(page, "quarantined-post");
  await publishDesk(deskDefinition({ trigger: { match: { body: { type: ["ticket.opened", "ticket.closed"] } } } }));
  await page.getByRole("button", { name: "Release…" }).click();
  const dialog = page.getByRole("dialog", { name: "Release this post" });
  await dialog.getByRole("button", { name: "Dry run" }).click();
  await dialog.getByText("1 would become an event").waitFor();
  await dialog.getByRole("button", { name: "Release 1" }).click();
  await dialog.getByText("1 became an event").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByText("Released").first().waitFor();
  const { events } = (await consoles.svc.call("svc.v1.TriggersService/ListEvents", { toolkitSlug: "desk" })).json;
  expect(events.map(({ payloadJson }: { payloadJson: string }) => JSON.parse(payloadJson).id)).toContain("t-closed");
});
