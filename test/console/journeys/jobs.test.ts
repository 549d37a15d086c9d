import type { Page } from "playwright-core";
import { expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import {
  announcingProgram,
  askingProgram,
  deletingProgram,
  jobWithStatus,
  seedPeople,
  submitProgram,
} from "../jobs-seed.ts";
import { keyboardOf } from "../keyboard.ts";

const consoles = startConsole({ seed: seedPeople });
const path = (page: string) => `p/${consoles.projectId}/${page}`;

/** Opens the tab with the result and the receipt of a job, and waits until the receipt says that all was done. */
async function waitForReceipt(page: Page): Promise<void> {
  await page.getByRole("tab", { name: "Result and receipt" }).click();
  await page.getByRole("region", { name: "Receipt" }).getByText("complete").waitFor();
}

/** Two steps with five faults: an unknown tool, an unknown set, a missing account, a wrong argument, a missing confirmation. */
const faulty = `{
  "version": 1,
  "title": "Five faults",
  "steps": [
    { "id": "a", "call": "sales_crm.list_dealz", "entity": "ops" },
    { "id": "b", "filter": "nothing", "where": "row.value > 1.0" },
    { "id": "c", "call": "sales_crm.list_deals", "entity": "nobody" },
    { "id": "d", "call": "sales_crm.list_deals", "entity": "ops", "args": { "limit": "many" } },
    { "id": "e", "call": "sales_crm.delete_deal", "entity": "ops", "args": { "deal_id": 1 } }
  ]
}`;

const mended = `{
  "version": 1,
  "title": "No fault",
  "steps": [{ "id": "a", "call": "sales_crm.list_deals", "entity": "ops" }]
}`;

browserTest(
  "five faults are shown at once, each at its line; mended, the program is simulated, submitted and followed to its receipt",
  async () => {
    const { page } = await consoles.open({ path: path("programs/new") });
    await page.getByRole("radio", { name: "JSON" }).check();
    const editor = page.getByRole("textbox", { name: "Program" });
    const write = async (text: string) => {
      await editor.click();
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.insertText(text);
    };
    await write(faulty);
    await page.getByRole("heading", { name: "5 problems", exact: true }).waitFor();
    for (const line of [5, 6, 7, 8, 9]) await page.getByRole("button", { name: `Line ${line} ` }).waitFor();
    await page.locator(".cm-lint-marker-error").nth(4).waitFor();
    await write(faulty.replace("list_dealz", "list_deals"));
    await page.getByRole("heading", { name: "4 problems", exact: true }).waitFor();
    await write(mended);
    await page.getByText("No approval needed").waitFor();
    await page.getByRole("button", { name: "Simulate" }).click();
    await page.getByRole("heading", { name: "No fault", level: 1 }).waitFor();
    await waitForReceipt(page);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Edit program" }).click();
    await page.getByRole("button", { name: "Submit", exact: true }).click();
    await page.getByRole("heading", { name: "No fault", level: 1 }).waitFor();
    await waitForReceipt(page);
    await page.getByRole("tab", { name: "Log" }).click();
    await page.getByText("job-status-changed").last().waitFor();
    const { jobs } = (await consoles.svc.call("svc.v1.JobsService/ListJobs", { mode: "live" })).json;
    expect(jobs.map(({ title }: { title: string }) => title)).toEqual(["No fault"]);
  },
);

browserTest("a job that is cancelled says first what will be undone, and then what was", async () => {
  const id = await submitProgram(consoles.svc, askingProgram);
  await jobWithStatus(consoles.svc, id, "PARKED");
  const { page } = await consoles.open({ path: path(`jobs/${id}`) });
  await page.getByRole("button", { name: "Continue the job" }).click();
  await page.getByText("Sleeping").waitFor();
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("3 calls are undone, newest first").waitFor();
  await dialog.getByRole("button", { name: "Cancel the job" }).click();
  await page.getByText("Cancelled", { exact: true }).first().waitFor();
  await page.getByRole("tab", { name: "Result and receipt" }).click();
  await page
    .getByRole("region", { name: "Undo entries, compensated" })
    .getByText("Undone", { exact: true })
    .nth(2)
    .waitFor();
});

const failing = {
  version: 1,
  title: "Look for a deal",
  steps: [
    { id: "deals", call: "sales_crm.list_deals", entity: "ops" },
    // The sandbox answers every call of this user with an error.
    { id: "lost", call: "sales_crm.get_deal", entity: "sandbox:error", args: { deal_id: 1 } },
  ],
};

browserTest("the trace of a failed job leads to its calls and back, and fits a phone", async () => {
  const account = { toolkitSlug: "sales_crm", entityId: "sandbox:error", apiKey: "any-key" };
  await consoles.svc.call("svc.v1.ConnectionsService/InitiateConnection", account);
  const id = await submitProgram(consoles.svc, failing);
  await jobWithStatus(consoles.svc, id, "FAILED");
  const { page } = await consoles.open({ path: path(`jobs/${id}`) });
  const trace = page.getByRole("navigation", { name: "Trace" });
  await trace.locator("[aria-current]", { hasText: "This job" }).waitFor();
  await trace.getByRole("link", { name: "2 calls 1 failed" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/calls\\?job=${id}$`));
  await page.getByRole("row", { name: "Sales CRM: Get deal" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "sales_crm.get_deal", level: 1 }).waitFor();
  await trace.locator("[aria-current]", { hasText: "This call" }).waitFor();
  await trace.getByText("Look for a deal").waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await trace.getByText("Look for a deal").waitFor({ state: "hidden" });
  await trace.getByText("This call").waitFor();
  await trace.getByRole("link", { name: "Job" }).click();
  await page.getByRole("heading", { name: "Look for a deal", level: 1 }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
});

const answers = [
  { name: "Continue the job", shows: "lead answered proceed" },
  { name: "Skip", shows: "lead answered skip" },
  { name: "Stop the job", shows: "lead answered abort" },
  { name: "Retry with changes", shows: "0 reminders would go out", minValue: "1000000000" },
];

browserTest.each(answers)("$name is answered on a phone and by keyboard alone", async ({ name, shows, minValue }) => {
  const id = await submitProgram(consoles.svc, askingProgram);
  await jobWithStatus(consoles.svc, id, "PARKED");
  const { asks } = (await consoles.svc.call("svc.v1.JobsService/ListAsks", { jobId: id })).json;
  // The page of the job continues with the next question. The page of the question shows how this one was settled.
  const where = minValue === undefined ? `asks/${id}/${asks[0].requestId}` : `jobs/${id}`;
  const { page } = await consoles.open({ path: path(where), isPhone: true });
  const button = page.getByRole("button", { name, exact: true });
  await button.waitFor();
  if (minValue !== undefined) {
    await page.getByLabel("minValue").focus();
    await page.keyboard.type(minValue);
  }
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByText(shows).first().waitFor();
  await consoles.svc.call("svc.v1.JobsService/CancelJob", { id });
});

browserTest(
  "by keyboard alone a question is found in the inbox, answered with a note, and its job opened",
  async () => {
    const id = await submitProgram(consoles.svc, askingProgram);
    await jobWithStatus(consoles.svc, id, "PARKED");
    const { page } = await consoles.open({ path: path("home") });
    const { press, type, tabTo, goTo } = keyboardOf(page);
    await goTo("Approvals");
    await tabTo(page.getByRole("row", { name: "reminders would go out" }));
    await press("Enter");
    await page.locator("h1:focus").waitFor();
    await tabTo(page.getByLabel("Note"));
    await type("Read and agreed");
    await tabTo(page.getByRole("button", { name: "Skip", exact: true }));
    await press("Enter");
    await page.getByText("lead answered skip").first().waitFor();
    await page.getByText("Read and agreed").waitFor();
    await tabTo(page.getByRole("main").locator(`a[href$="/jobs/${id}"]`));
    await press("Enter");
    await page.locator("h1:focus", { hasText: askingProgram.title }).waitFor();
    await consoles.svc.call("svc.v1.JobsService/CancelJob", { id });
  },
);

browserTest("an answer that lost the race says who settled the question, and how", async () => {
  const id = await submitProgram(consoles.svc, askingProgram);
  await jobWithStatus(consoles.svc, id, "PARKED");
  const { asks } = (await consoles.svc.call("svc.v1.JobsService/ListAsks", { jobId: id })).json;
  const { page, faults } = await consoles.open({ path: path(`asks/${id}/${asks[0].requestId}`) });
  faults.expectStatus(400);
  await page.getByRole("button", { name: "Continue the job" }).waitFor();
  // This answer arrives between two refreshes of the page.
  const other = consoles.svc.call("svc.v1.JobsService/AnswerAsk", {
    ...{ jobId: id, requestId: asks[0].requestId, principalId: "lead", continuation: "abort", note: "not today" },
  });
  await other;
  await page.getByText("lead answered abort").waitFor();
  await page.getByText("not today").waitFor();
  await page.getByRole("button", { name: "Continue the job" }).waitFor({ state: "detached" });
});

browserTest("an approval shows the plan literally, and is decided by the right seat alone", async () => {
  const id = await submitProgram(consoles.svc, deletingProgram);
  await jobWithStatus(consoles.svc, id, "PENDING_PLAN_APPROVAL");
  const { asks } = (await consoles.svc.call("svc.v1.JobsService/ListAsks", { jobId: id })).json;
  const where = path(`asks/${id}/${asks[0].requestId}`);
  const keyOf = async (role: string) =>
    (await consoles.svc.admin("CreateApiKey", { projectId: consoles.projectId, role, name: role })).json.key;
  for (const [role, why] of [
    ["ROLE_MEMBER", "Approvals need a key with the role approver"],
    ["ROLE_APPROVER", "Only the key that submitted the program can approve it"],
  ] as const) {
    const { page } = await consoles.open({ path: where, key: await keyOf(role) });
    await page.getByText(why).waitFor();
    expect(await page.getByRole("button", { name: "Approve" }).getAttribute("aria-disabled")).toBe("true");
    expect(await page.getByRole("button", { name: "Reject" }).getAttribute("aria-disabled")).toBe("true");
  }
  const { page } = await consoles.open({ path: where });
  const plan = page.getByRole("region", { name: "Exactly what will run" });
  await plan.getByText("Deletes", { exact: true }).waitFor();
  await plan.getByText('"confirm": true').waitFor();
  await page.getByRole("combobox", { name: "Answer as: owner" }).click();
  await page.getByRole("option", { name: "lead" }).click();
  await page.getByText("lead is not an approver").waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("combobox", { name: "Answer as: lead" }).click();
  await page.getByRole("option", { name: "owner" }).click();
  await page.goto(`${consoles.svc.url}/console/${path(`jobs/${id}`)}`);
  await page.getByText('"confirm": true').waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("dialog", { name: /^Approve up to [\d,]+ destructive calls?\?$/ }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect((await consoles.svc.call("svc.v1.JobsService/GetJob", { id })).json.job.status).toMatch(/PENDING/);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("button", { name: /^Approve [\d,]+ destructive calls?$/ }).click();
  await jobWithStatus(consoles.svc, id, "SUCCEEDED");
  await page.goto(`${consoles.svc.url}/console/${where}`);
  await page.getByText("owner approved").waitFor();
});

browserTest("a job that succeeded is made a skill, which is called", async () => {
  const id = await submitProgram(consoles.svc, announcingProgram);
  await jobWithStatus(consoles.svc, id, "SUCCEEDED");
  const { page } = await consoles.open({ path: path(`jobs/${id}`) });
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Save as a tool" }).click();
  await page.getByLabel("Name", { exact: true }).fill("announce");
  await page.getByLabel("Description").fill("Announces a text.");
  await page.getByRole("button", { name: "Save as a tool" }).click();
  await page.getByText("skills.announce is there, version 1.").first().waitFor();
  await page.goto(`${consoles.svc.url}/console/${path("skills/announce")}`);
  await page.getByRole("textbox", { name: "Input", exact: true }).fill('{"text": "Coffee is ready"}');
  await page.getByRole("button", { name: "Call skills.announce" }).click();
  await page.getByRole("link", { name: "Open the job" }).click();
  await waitForReceipt(page);
});

browserTest("a job that met its own limit leads to its program, where the limit is raised", async () => {
  const { svc } = consoles;
  // The check cannot know how many rows there will be. So the ban on writing shows only at the first write.
  const send = {
    id: "send",
    call: "messaging_bot.send_message",
    entity: "ops",
    args: { chat_id: "@team", text: "Hi" },
  };
  const fetch = { id: "fetch", call: "sales_crm.list_deals", entity: "ops", rows: { from: "data[]", keep: ["id"] } };
  const limited = {
    ...{ version: 1, title: "Tell of each deal", limits: { writes: 0 } },
    steps: [fetch, { id: "tell", map: "fetch", do: [send] }],
  };
  const id = await submitProgram(svc, limited);
  await jobWithStatus(svc, id, "FAILED");
  const { page } = await consoles.open({ path: path(`jobs/${id}`) });
  await page.getByText("A retry has the same limit.").waitFor();
  await page.getByRole("link", { name: "Raise the limit in the program" }).click();
  await page.getByText(/^Input, constants, limits and result/).click();
  expect(await page.getByLabel("Limits", { exact: true }).inputValue()).toContain('"writes"');
  expect(new URL(page.url()).searchParams.get("from")).toBe(id);
});
