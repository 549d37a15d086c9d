import { letIn, registerAgent } from "@svc/testing/agent";
import { openPortal } from "@svc/testing/console-session";
import { until } from "@svc/testing/until";
import { expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";

const consoles = startConsole();
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const settings = (tab = "you") => `p/${consoles.projectId}/settings?tab=${tab}`;

async function createKey(role: string): Promise<string> {
  const { json } = await consoles.svc.admin("CreateApiKey", {
    projectId: consoles.projectId,
    role,
    name: "of a journey",
  });
  return json.key;
}

browserTest("who is signed in is told, a seat is given up, and the others stay", async () => {
  const { json } = await consoles.svc.admin("CreateProject", { name: "second" });
  const other = await consoles.svc.admin("CreateApiKey", {
    ...{ projectId: json.project.id, role: "ROLE_MEMBER", name: "other" },
  });
  const { page } = await consoles.open({ key: await createKey("ROLE_MEMBER"), path: settings() });
  await page.getByRole("region", { name: "Your key" }).getByText("member").waitFor();
  await page.getByRole("link", { name: "Add a key" }).click();
  await page.getByLabel("API key").fill(other.json.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
  await page.goto(`${consoles.svc.url}/console/${settings()}`);
  const seats = page.getByRole("list", { name: "Signed-in keys" });
  await seats.getByRole("listitem").filter({ hasText: "second" }).getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("dialog", { name: "Sign out of" }).getByRole("button", { name: "Sign out" }).click();
  await seats.getByText("second").waitFor({ state: "detached" });
  expect(await seats.getByRole("listitem").count()).toBe(1);
});

browserTest("another browser's session is ended, and asks for a key", async () => {
  const key = await createKey("ROLE_APPROVER");
  const { page } = await consoles.open({ key, path: settings() });
  const sessions = page.getByRole("list", { name: "Sessions" });
  await sessions.getByRole("listitem").first().waitFor();
  const faults = await consoles.open({ key: null, path: "" });
  await faults.page.getByLabel("API key").fill(key);
  await faults.page.getByRole("button", { name: "Sign in" }).click();
  await faults.page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
  faults.faults.expectStatus(401);
  await page.reload();
  await sessions.getByRole("listitem").nth(1).waitFor();
  // The newest session comes first, which is that of the other browser.
  await sessions.getByRole("button", { name: "Sign out" }).first().click();
  await page.getByRole("button", { name: "End the session" }).click();
  await faults.page.getByRole("dialog", { name: "Sign in again" }).waitFor();
  await until(async () => (await sessions.getByRole("listitem").count()) === 1);
});

browserTest(
  "an approver puts a secret, which nobody reads back, and deletes it; a member sees why it may not",
  async () => {
    const { page } = await consoles.open({ key: await createKey("ROLE_APPROVER"), path: settings("secrets") });
    await page.getByRole("button", { name: "Add a secret" }).click();
    await page.getByLabel("Name").fill("billing_token");
    await page.getByLabel("Value").fill("a-value-of-the-journey");
    await page.getByRole("button", { name: "Add the secret" }).press("Enter");
    const item = page.getByRole("list", { name: "Secrets" }).getByRole("listitem").filter({ hasText: "billing_token" });
    await item.waitFor();
    expect(await page.content()).not.toContain("a-value-of-the-journey");
    const member = await consoles.open({ key: await createKey("ROLE_MEMBER"), path: settings("secrets") });
    const add = member.page.getByRole("button", { name: "Add a secret" });
    expect(await add.getAttribute("aria-disabled")).toBe("true");
    await add.hover();
    await member.page.getByText("This needs a key with the role approver").waitFor();
    await item.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete the secret" }).click();
    await page.getByRole("heading", { name: "No secrets yet" }).waitFor();
  },
);

browserTest(
  "what an agent was let do is seen, narrowed and taken back; a member who did not give it sees why it may not",
  async () => {
    const agent = await registerAgent(consoles.svc.url, { name: "Notes helper" });
    const code = (await letIn(consoles.svc, agent)).get("code") ?? "";
    const { refresh_token: token } = (await agent.change(code)).json;
    await consoles.svc.call("svc.v1.ContactsService/PutContact", {
      contact: { principalId: "lead", name: "Ada Lead" },
    });
    const { page } = await consoles.open({ path: settings("agents") });
    const item = page.getByRole("list", { name: "Grants" }).getByRole("listitem").filter({ hasText: "Notes helper" });
    await item.getByText("read and write tools of all apps, only for ada").waitFor();
    const member = await consoles.open({ key: await createKey("ROLE_MEMBER"), path: settings("agents") });
    const others = member.page.getByRole("button", { name: "Revoke" });
    expect(await others.getAttribute("aria-disabled")).toBe("true");
    await others.hover();
    await member.page.getByText("This needs the key that connected the agent").waitFor();

    await item.getByRole("button", { name: "Limit" }).click();
    const dialog = page.getByRole("dialog", { name: "Limit Notes helper" });
    const narrow = dialog.getByRole("button", { name: "Save the limits" });
    expect(await narrow.getAttribute("aria-disabled")).toBe("true");
    await dialog.getByRole("checkbox", { name: "write" }).uncheck();
    await dialog.getByLabel("Apps it can still use").fill("calendar, notes_wiki");
    await dialog.getByRole("radio", { name: "Deletes only" }).check();
    await dialog.getByLabel("Who is asked to confirm").fill("lead");
    await narrow.click();
    await item.getByText("read tools of calendar, notes_wiki, only for ada").waitFor();
    await item.getByText("lead must confirm calls that delete data.").waitFor();
    expect((await agent.refresh(token)).status).toBe(200);

    await item.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("No agent is connected now").waitFor();
    await page.getByText("One has ended").click();
    await page.getByRole("list", { name: "Disconnected agents" }).getByText("Notes helper").waitFor();
    const { grants } = (await consoles.svc.call("svc.v1.GrantsService/ListGrants", {})).json;
    expect(grants).toMatchObject([{ accessClasses: ["read"], toolkitSlugs: ["calendar", "notes_wiki"] }]);
    expect(grants[0].endedAt).toBeDefined();
  },
);

browserTest("an approver makes a key for an agent, whose text is shown once, and ends it", async () => {
  const { page, faults } = await consoles.open({ key: await createKey("ROLE_APPROVER"), path: settings("agents") });
  await page.getByRole("heading", { name: "No keys for agents" }).waitFor();
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Name").fill("assistant");
  await page.getByLabel("It expires").selectOption("in 8 hours");
  faults.expectStatus(400);
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("alert").filter({ hasText: "AGENT_KEY_UNSCOPED" }).waitFor();
  await page.getByLabel("Only for the user").fill("ada");
  await page.getByRole("radio", { name: "Reads", exact: true }).check();
  await page.getByLabel("Only of the apps").fill("calendar");
  await page.getByRole("button", { name: "Create the key" }).click();
  const dialog = page.getByRole("dialog", { name: "The key is created" });
  const key = await dialog.locator("pre").textContent();
  const known = await consoles.svc.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: key });
  expect(known.json).toMatchObject({ role: "ROLE_MEMBER", entityId: "ada", toolkitSlugs: ["calendar"] });
  await dialog.getByRole("button", { name: "I've saved it" }).click();
  expect(await page.content()).not.toContain(key);
  const item = page.getByRole("list", { name: "Keys for agents" }).getByRole("listitem");
  await item.getByText("Limited to user ada, read tools of calendar").waitFor();
  await item.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke the key" }).click();
  await page.getByText("One key has ended").waitFor();
  expect((await consoles.svc.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: key })).status).toBe(401);
});

browserTest("a call limit is put, refused with what is wrong, and changed", async () => {
  const { page, faults } = await consoles.open({ key: await createKey("ROLE_APPROVER"), path: settings("limits") });
  await page.getByRole("button", { name: "Add a limit" }).click();
  await page.getByLabel("Name").fill("crm");
  faults.expectStatus(400);
  await page.getByRole("button", { name: "Add the limit" }).click();
  await page.getByRole("alert").filter({ hasText: "CALL_LIMIT_BOUND_INVALID" }).waitFor();
  await page.getByLabel("Calls at once").fill("4");
  await page.getByRole("button", { name: "Add the limit" }).click();
  const item = page.getByRole("list", { name: "Call limits" }).getByRole("listitem");
  await item.filter({ hasText: "4 at once, for all apps" }).waitFor();
  await item.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Paused: all calls wait").check();
  await page.getByRole("button", { name: "Save the limit" }).click();
  await item.filter({ hasText: "paused: no call goes, 4 at once" }).waitFor();
});

browserTest("the portal gets a look, and a customer a link, which is shown once and revoked", async () => {
  const { page, faults } = await consoles.open({ key: await createKey("ROLE_APPROVER"), path: settings("portal") });
  await page.getByText("No portal links yet").waitFor();
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByLabel("Name").fill("Acme");
  await page.getByLabel("Color").fill("blue");
  await page.getByLabel("Sites that may embed it").fill("https://app.example.com, https://example.com");
  const image = { name: "logo.png", mimeType: "image/png", buffer: Buffer.from(pixel, "base64") };
  await page.getByLabel("Choose a file").setInputFiles(image);
  await page.getByText("Logo: an image of 1 KiB").waitFor();
  faults.expectStatus(400);
  await page.getByRole("button", { name: "Save the changes" }).click();
  await page.getByRole("alert").filter({ hasText: "PORTAL_COLOR_INVALID" }).waitFor();
  await page.getByLabel("Color").fill("#1a73e8");
  await page.getByRole("button", { name: "Save the changes" }).click();
  await page.getByText("https://app.example.com, https://example.com").waitFor();
  const { json } = await consoles.svc.call("svc.v1.TriggersService/GetEventSettings", {});
  expect(json.settings).toMatchObject({ portal: { name: "Acme", color: "#1a73e8", logo: pixel } });
  await page.getByRole("button", { name: "Create a link" }).click();
  await page.getByLabel("User").fill("ada");
  await page.getByLabel("Only for reading").check();
  await page.getByRole("button", { name: "Create the link" }).click();
  const url = (await page.getByText(/#link=/).textContent()) ?? "";
  const portal = await openPortal(consoles.svc, url);
  await page.getByRole("button", { name: "I've saved it" }).click();
  const links = page.getByRole("list", { name: "Portal links" });
  await links.getByText("ada, only for reading").waitFor();
  await links.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke the link" }).click();
  await page.getByText("No portal links yet").waitFor();
  expect((await portal.call("svc.v1.TriggersService/ListSubscriptions")).status).toBe(401);
});

browserTest("theme and time zone are kept in this browser", async () => {
  const { page } = await consoles.open({ path: settings("browser") });
  await page.getByRole("radio", { name: "Dark" }).check();
  await page.getByRole("radio", { name: "UTC", exact: true }).check();
  await page.reload();
  await page.getByRole("radio", { name: "UTC", exact: true }).waitFor();
  expect(await page.getByRole("radio", { name: "Dark" }).isChecked()).toBe(true);
  expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
});
