import { expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";

const consoles = startConsole();

const open = async (path: string) => (await consoles.open({ path: `p/${consoles.projectId}/${path}` })).page;

browserTest("a tool without an account leads to connecting one by key, and the account is there", async () => {
  const page = await open("tools/messaging_bot.send_message");
  await page.getByLabel("as user").fill("grace");
  await page.getByRole("link", { name: "Connect an account" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect an account" });
  expect(await dialog.getByLabel("User").inputValue()).toBe("grace");
  await dialog.getByLabel("API key").fill("a-key-of-grace");
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await dialog.getByText("Connected: messaging_bot as grace").waitFor();
  expect(await page.content()).not.toContain("a-key-of-grace");
  await dialog.getByRole("button", { name: "Open the account" }).click();
  await page.getByRole("heading", { name: "messaging_bot as grace", level: 1 }).waitFor();
  await page.getByText("Active", { exact: true }).waitFor();
});

browserTest("consent is given in a tab of its own, and the page goes on by itself", async () => {
  const page = await open("accounts?connect=issue_tracker&for=ada");
  const dialog = page.getByRole("dialog", { name: "Connect an account" });
  await dialog.getByRole("button", { name: "Continue" }).click();
  const tab = page.context().waitForEvent("page");
  await dialog.getByRole("link", { name: "Open the app" }).click();
  const consent = await tab;
  await consent.getByRole("button", { name: "Allow" }).click();
  await dialog.getByText("Connected: issue_tracker as ada").waitFor();
  await dialog.getByRole("button", { name: "Open the account" }).click();
  await page.getByRole("region", { name: "Scopes" }).getByText("granted").first().waitFor();
});

browserTest("a link by which somebody else connects is made, and shown once", async () => {
  const page = await open("accounts?connect=messaging_bot&for=linus");
  const dialog = page.getByRole("dialog", { name: "Connect an account" });
  await dialog.getByRole("button", { name: "Create a link for the owner" }).click();
  await dialog.getByText(/\/console\/connect#/).waitFor();
  await dialog
    .getByText("in 6 d")
    .or(dialog.getByText(/^\d{4}-/))
    .first()
    .waitFor();
});

browserTest("an expired account says why and is connected anew from its row", async () => {
  const entityId = "sandbox:unauthorized";
  const { svc } = consoles;
  const initiated = { toolkitSlug: "sales_crm", entityId, scheme: "api_key", apiKey: "k" };
  await svc.call("svc.v1.ConnectionsService/InitiateConnection", initiated);
  await svc.call("svc.v1.ToolsService/CallTool", { toolSlug: "sales_crm.list_deals", entityId, argumentsJson: "{}" });
  const page = await open("accounts?state=expired");
  await page.getByRole("link", { name: "Reconnect" }).click();
  const dialog = page.getByRole("dialog", { name: "Reconnect an account" });
  expect(await dialog.getByLabel("User").inputValue()).toBe(entityId);
  await dialog.getByLabel("API key").fill("another-key");
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await dialog.getByText("Connected: sales_crm").waitFor();
});

browserTest("references are changed, and an account is deleted after it was said what that means", async () => {
  const answer = await consoles.svc.call("svc.v1.ConnectionsService/InitiateConnection", {
    toolkitSlug: "messaging_bot",
    entityId: "ada",
    scheme: "api_key",
    apiKey: "k",
  });
  const page = await open(`accounts/${answer.json.account.id}`);
  const references = page.getByRole("region", { name: "References" });
  await references.getByRole("button", { name: "Change" }).click();
  await references.getByLabel("References, one a line").fill("channel-7\n\n channel-8 ");
  await references.getByRole("button", { name: "Save the references" }).click();
  await references.getByText("channel-8").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete the account" }).click();
  await page.getByText("Deleted", { exact: true }).waitFor();
});

browserTest("a member sees why references are not changed", async () => {
  const { json } = await consoles.svc.admin("CreateApiKey", {
    projectId: consoles.projectId,
    role: "ROLE_MEMBER",
    name: "m",
  });
  const { accounts } = (await consoles.svc.call("svc.v1.ConnectionsService/ListConnections", {})).json;
  const { page } = await consoles.open({ key: json.key, path: `p/${consoles.projectId}/accounts/${accounts[0].id}` });
  const change = page.getByRole("region", { name: "References" }).getByRole("button", { name: "Change" });
  await change.waitFor();
  expect(await change.getAttribute("aria-disabled")).toBe("true");
});

browserTest(
  "an account's credential is tested, and the page says what came of it and what is known since",
  async () => {
    const { accounts } = (await consoles.svc.call("svc.v1.ConnectionsService/ListConnections", { state: "active" }))
      .json;
    const page = await open(`accounts/${accounts[0].id}`);
    const credential = page.getByRole("region", { name: "Credential" });
    await credential.getByText("not tried: sandbox").waitFor();
    await credential.getByRole("button", { name: "Test the credential" }).click();
    await credential.getByText("svc can't tell whether the credential works.").waitFor();
    await credential.getByText("nothing was tried: the sandbox answers in place of the app").waitFor();
  },
);

browserTest("a list that a bound key may not read whole says so, empty or not", async () => {
  const { json } = await consoles.svc.admin("CreateApiKey", {
    ...{ projectId: consoles.projectId, role: "ROLE_MEMBER", name: "bound" },
    ...{ entityId: "nobody-yet", toolkitSlugs: ["calendar"] },
  });
  const { page } = await consoles.open({ key: json.key, path: `p/${consoles.projectId}/accounts` });
  await page.getByText('Your key may read only the entity "nobody-yet" and tools of calendar.').waitFor();
  await page.getByText("No accounts yet").waitFor();
  await page.goto(new URL("tools", page.url()).href);
  await page.getByText("Your key may read only tools of calendar.").waitFor();
});
