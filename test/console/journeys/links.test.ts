import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import { lookAt } from "../look.ts";

const consoles = startConsole();

const jobs = async (name: string, body: object) => (await consoles.svc.call(`svc.v1.JobsService/${name}`, body)).json;
const connections = async (name: string, body: object) =>
  (await consoles.svc.call(`svc.v1.ConnectionsService/${name}`, body)).json;

beforeAll(async () => {
  if (!consoles.isStarted) return;
  for (const principalId of ["lead", "head"]) {
    const contact = { principalId, name: principalId === "lead" ? "Ada Lead" : "Bo Head" };
    await consoles.svc.call("svc.v1.ContactsService/PutContact", { contact });
  }
});

const changes = {
  overrides: { target: "params", rerunFrom: "rows" },
  answerSchema: {
    ...{ type: "object", additionalProperties: false },
    properties: { minValue: { type: "number", description: "Deals that are worth less are left out." } },
  },
};

/**
 * Submits a job that asks lead, and returns the path of the page with its question. `withChanges` adds a step before the question, which
 * the answer `retry-with` can change; that step takes some time.
 */
async function ask({ withChanges = false } = {}): Promise<{ jobId: string; requestId: string; path: string }> {
  const program = {
    ...{ version: 1, title: "Remind the team", params: { minValue: 500 } },
    steps: [...(withChanges ? [{ id: "rows", wait: "1s" }] : []), { id: "gate", judge: "large" }],
    points: {
      large: {
        question: "12 reminders would go out to people outside of the team. Send them?",
        continuations: ["proceed", ...(withChanges ? ["retry-with"] : []), "abort"],
        ...(withChanges && changes),
        escalation: [
          { principal: "lead", timeout: "4h" },
          { principal: "head", timeout: "20h" },
        ],
        default: { continuation: "abort" },
      },
    },
  };
  const submitted = await jobs("SubmitJob", { programJson: JSON.stringify(program) });
  expect(submitted.job, JSON.stringify(submitted)).toBeDefined();
  const jobId: string = submitted.job.id;
  let requestId = "";
  await until(async () => {
    requestId = (await jobs("ListAsks", { jobId })).asks[0]?.requestId ?? "";
    return requestId !== "";
  });
  const { url } = await jobs("CreateAnswerLink", { jobId, requestId, principalId: "lead" });
  return { jobId, requestId, path: url.split("/console/")[1] };
}

const decisionOf = async ({ jobId, requestId }: { jobId: string; requestId: string }) =>
  (await jobs("GetAsk", { jobId, requestId })).ask.decision;

const open = (path: string, isPhone = false) => consoles.open({ key: null, path, isPhone });
const storageOf = (page: Page) => page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})");

browserTest(
  "a contact answers with changes by a link on a phone, by keyboard, and its token stays nowhere",
  async () => {
    const asked = await ask({ withChanges: true });
    const { page } = await open(asked.path, true);
    await page.getByText("12 reminders would go out").waitFor();
    expect(page.url()).toBe(`${consoles.svc.url}/console/answer`);
    expect(await storageOf(page)).toBe("{}");
    await page.getByRole("radio", { name: "Continue" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.getByLabel("minValue").fill("900");
    await page.getByLabel("Note (optional)").fill("Only the large ones.");
    await lookAt(page, "answer");
    await page.getByRole("button", { name: "Send: Retry with changes" }).press("Enter");
    await page.getByRole("status").filter({ hasText: "You answered “Retry with changes”." }).waitFor();
    await page.getByText("12 reminders would go out").waitFor();
    await lookAt(page, "answer-settled");
    const { keyId } = (await consoles.svc.call("svc.v1.IdentityService/GetIdentity")).json;
    expect(await decisionOf(asked)).toMatchObject({
      ...{ continuation: "retry-with", principalId: "lead", keyId, note: "Only the large ones." },
      overridesJson: '{"minValue":900}',
    });
  },
);

browserTest("of two tabs the second is told who settled it and how, and its answer is not taken", async () => {
  const asked = await ask();
  const [first, second] = [await open(asked.path), await open(asked.path)];
  second.faults.expectStatus(400);
  for (const { page } of [first, second]) await page.getByRole("radio", { name: "Continue" }).waitFor();
  await first.page.getByRole("radio", { name: "Continue" }).check();
  await first.page.getByRole("button", { name: "Send: Continue" }).click();
  await first.page.getByRole("status").filter({ hasText: "You answered “Continue”." }).waitFor();
  await second.page.getByRole("radio", { name: "Stop" }).check();
  await second.page.getByRole("button", { name: "Send: Stop" }).click();
  await second.page
    .getByRole("status")
    .filter({ hasText: "Too late: it is settled. You answered “Continue”." })
    .waitFor();
  expect((await decisionOf(asked)).continuation).toBe("proceed");
});

browserTest("what does not fit is said at its field in plain words, and what was filled in stays", async () => {
  const { page, faults } = await open((await ask({ withChanges: true })).path);
  faults.expectStatus(400);
  await page.getByRole("radio", { name: "Retry with changes" }).check();
  await page.getByLabel("minValue").fill("many");
  await page.getByRole("button", { name: "Send: Retry with changes" }).click();
  await page.getByRole("alert").filter({ hasText: "Your entries are not valid." }).waitFor();
  await page.getByText("must be a number").waitFor();
  expect(await page.getByLabel("minValue").getAttribute("aria-invalid")).toBe("true");
  expect(await page.getByRole("main").textContent()).not.toMatch(/json|schema/i);
  expect(await page.getByLabel("minValue").inputValue()).toBe("many");
});

browserTest(
  "a dead link says why and whom to ask; the page without its secret says to open the link again",
  async () => {
    const asked = await ask();
    const { page, faults } = await open("answer");
    faults.expectStatus(401);
    await page.goto(`${consoles.svc.url}/console/answer#no-link-that-there-ever-was-in-this-service`);
    await page.getByRole("heading", { name: "This link does not work" }).waitFor();
    await page.getByRole("alert").filter({ hasText: "Ask the sender for another one." }).waitFor();
    await lookAt(page, "answer-dead");
    // In the same tab the browser changes only the fragment of the address.
    await page.goto(`${consoles.svc.url}/console/${asked.path}`);
    await page.getByText("12 reminders would go out").waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Open the link again" }).waitFor();
  },
);

browserTest("a key that is filled in at a connect link is in the vault, and the link is used up", async () => {
  const { url } = await connections("CreateConnectLink", { toolkitSlug: "sales_crm", entityId: "ada" });
  const path = url.split("/console/")[1];
  const { page } = await open(path, true);
  await page.getByLabel("API key").fill("a-key-of-the-journey");
  await lookAt(page, "connect-link");
  await page.getByRole("button", { name: "Connect" }).press("Enter");
  await page.getByRole("heading", { name: "is connected" }).waitFor();
  expect(await storageOf(page)).toBe("{}");
  const { accounts } = await connections("ListConnections", { toolkitSlug: "sales_crm" });
  expect(accounts).toEqual([expect.objectContaining({ state: "active", entityId: "ada" })]);
  const again = await open("connect");
  again.faults.expectStatus(401);
  await again.page.goto(`${consoles.svc.url}/console/${path}`);
  await again.page.getByRole("alert").filter({ hasText: "used already" }).waitFor();
});

browserTest("a connect link in another browser leads to the app's consent, and the account is there", async () => {
  const { url } = await connections("CreateConnectLink", { toolkitSlug: "calendar", entityId: "eve" });
  const { page } = await open(url.split("/console/")[1]);
  await page.getByRole("button", { name: "Continue to" }).click();
  await page.getByRole("button", { name: /allow/i }).click();
  await page.getByRole("heading", { name: "Connected" }).waitFor();
  const { accounts } = await connections("ListConnections", { toolkitSlug: "calendar" });
  expect(accounts).toEqual([expect.objectContaining({ state: "active", entityId: "eve" })]);
});

browserTest(
  "what an agent would destroy is put before a person whole; the agent's own seat may not answer, and a link refuses it",
  async () => {
    const { svc, projectId } = consoles;
    const setPolicy = (confirm: object) => svc.admin("SetProjectPolicy", { projectId, confirm });
    await setPolicy({ person: "destructive", contact: "lead" });
    const bearer: string = (await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "person" })).json
      .key;
    await connections("InitiateConnection", { toolkitSlug: "sales_crm", entityId: "ada" });
    const call = { toolSlug: "sales_crm.delete_deal", entityId: "ada" };
    const argumentsJson = JSON.stringify({ deal_id: 9_001, confirm: true });
    const { jobId } = (await svc.call("svc.v1.ToolsService/CallTool", { ...call, argumentsJson })).json;
    let requestId = "";
    await until(async () => {
      requestId = (await jobs("ListAsks", { jobId })).asks[0]?.requestId ?? "";
      return requestId !== "";
    });

    const path = `p/${projectId}/asks/${jobId}/${requestId}`;
    const own = await consoles.open({ path });
    await own.page.getByText("Your key created this call, so another key").waitFor();
    expect(await own.page.getByRole("button", { name: "Allow it" }).getAttribute("aria-disabled")).toBe("true");

    const { page } = await consoles.open({ key: bearer, path });
    const title = 'Carry out sales_crm.delete_deal (destructive) with the account of "ada"?';
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    await page.getByText("Asked for by the key").waitFor();
    await page.getByRole("region", { name: "With these arguments" }).getByText('"deal_id": 9001').waitFor();
    await page.getByText("If nobody answers by then, the call is refused").waitFor();
    await lookAt(page, "ask-confirm");

    const made = await svc.call(
      "svc.v1.JobsService/CreateAnswerLink",
      { jobId, requestId, principalId: "lead" },
      { bearer },
    );
    const linked = await open(made.json.url.split("/console/")[1], true);
    await linked.page.getByRole("radio", { name: "Refuse" }).check();
    await linked.page.getByRole("region", { name: "Arguments" }).getByText('"deal_id": 9001').waitFor();
    await lookAt(linked.page, "answer-confirm");
    await linked.page.getByRole("button", { name: "Send: Refuse" }).click();
    await linked.page.getByRole("status").filter({ hasText: "You answered “Refuse”." }).waitFor();
    expect(await decisionOf({ jobId, requestId })).toMatchObject({ continuation: "abort", principalId: "lead" });
    await setPolicy({ person: "never" });
  },
);
