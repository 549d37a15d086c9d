import { until } from "@svc/testing/until";
import { beforeAll, expect } from "vitest";
import { findBarriers } from "../axe.ts";
import { browserTest, startConsole } from "../browser.ts";
import { keyboardOf } from "../keyboard.ts";
import { lookAt } from "../look.ts";
import { calendarSecret, postCalendar } from "../post-calendar.ts";

const consoles = startConsole();
const asAdmin = (path: string) => consoles.open({ key: consoles.svc.adminToken, path: `admin/${path}` });

beforeAll(async () => {
  if (!consoles.isStarted) return;
  // No trigger of the calendar takes an event of this state. The post with a body is sent last, so it comes first in the list.
  for (let n = 0; n < 2; n += 1) await postCalendar(consoles.svc, { state: "of-no-trigger" });
  await fetch(`${consoles.svc.url}/webhooks/calendar?token=${calendarSecret}&from=test`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"of": "no trigger"}',
  });
});

browserTest("a project is created, gets a key whose text is shown once, and the key is revoked", async () => {
  const { page } = await asAdmin("projects");
  await page.getByRole("button", { name: "Create a project" }).click();
  await page.getByLabel("Name").fill("of the journey");
  await page.getByRole("button", { name: "Create the project" }).press("Enter");
  await page.getByRole("heading", { name: "of the journey", level: 1 }).waitFor();
  await page.getByRole("heading", { name: "No keys yet" }).waitFor();
  await page.getByRole("button", { name: "Create a key" }).click();
  // On a phone, the button that continues must be in sight without scrolling, however long the dialog is.
  await page.setViewportSize({ width: 390, height: 844 });
  const goesOn = await page.getByRole("button", { name: "Create the key" }).boundingBox();
  expect((goesOn?.y ?? Number.NaN) + (goesOn?.height ?? 0)).toBeLessThanOrEqual(844);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByText("Enter a purpose.").waitFor();
  await page.getByLabel("Name").fill("its first");
  await page.getByLabel("It expires").selectOption("in 30 days");
  await page.getByText("Limit this key:").click();
  await page.getByRole("radio", { name: "Approver" }).check();
  await page.getByLabel("Only for the user").fill("ada");
  await page.getByRole("radio", { name: "Reads", exact: true }).check();
  await page.getByLabel("Only of the apps").fill("calendar, notes_wiki");
  await page.getByRole("button", { name: "Create the key" }).click();
  const dialog = page.getByRole("dialog", { name: "The key is created" });
  const key = await dialog.locator("pre").textContent();
  const { json } = await consoles.svc.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: key });
  expect(json).toMatchObject({ projectName: "of the journey", role: "ROLE_APPROVER" });
  expect(json).toMatchObject({ entityId: "ada", accessClasses: ["read"], toolkitSlugs: ["calendar", "notes_wiki"] });
  await dialog.getByRole("button", { name: "I've saved it" }).click();
  const item = page.getByRole("list", { name: "Keys" }).getByRole("listitem").filter({ hasText: "its first" });
  await item.getByText("Valid").waitFor();
  await item.getByText("Limited to user ada, read tools of calendar, notes_wiki").waitFor();
  expect(await page.content()).not.toContain(key);
  await lookAt(page, "admin-project-keys");
  await item.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke the key" }).click();
  await item.getByText("Revoked", { exact: true }).waitFor();
  expect((await consoles.svc.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: key })).status).toBe(401);
});

browserTest("a store that was restored tells that it is held, and goes on when it is told to", async () => {
  const { sql } = consoles.svc.database.db;
  await sql`insert into restores (key, backup_ends_at, restored_at) values ('of the journey', now() - interval '1 hour', now())`;
  const { page } = await asAdmin("projects");
  await page.getByText("was restored from a backup. svc sends nothing").waitFor();
  await page.getByText("0 deliveries and 0 jobs wait").waitFor();
  await lookAt(page, "admin-held-store");
  await page.getByRole("button", { name: "Resume" }).click();
  const dialog = page.getByRole("dialog", { name: "Resume the restored service?" });
  await dialog.getByRole("checkbox", { name: "The old service did nothing after the end of the backup" }).check();
  await lookAt(page, "admin-resume-store");
  await dialog.getByRole("button", { name: "Resume" }).click();
  await page.getByText("was restored from a backup. svc sends nothing").waitFor({ state: "detached" });
  const { restore } = (await consoles.svc.admin("GetRestore")).json;
  expect(restore).toMatchObject({ nothingSince: true, resumedAt: expect.any(String) });
  await sql`delete from restores`;
});

browserTest("a policy is set as a whole, and its use is shown", async () => {
  await consoles.svc.call("svc.v1.ContactsService/PutContact", { contact: { principalId: "lead", name: "Ada Lead" } });
  const { page } = await asAdmin(`projects/${consoles.projectId}?tab=policy`);
  await page.getByRole("radio", { name: "Always" }).check();
  await page.getByRole("radio", { name: "Deletes only" }).check();
  await page.getByLabel("Who is asked to confirm").fill("lead");
  await page.getByLabel("Hosts of http steps").fill("api.example.com");
  await page.getByLabel("Subscriptions for all users", { exact: true }).fill("7");
  await lookAt(page, "admin-project-policy");
  await page.getByRole("button", { name: "Save the policy" }).click();
  await until(async () => {
    const { projects } = (await consoles.svc.admin("ListProjects", {})).json;
    const { policy } = projects.find(({ id }: { id: string }) => id === consoles.projectId);
    return (
      policy.planApproval === "always" &&
      policy.confirm.person === "destructive" &&
      policy.confirm.contact === "lead" &&
      policy.http.hosts[0] === "api.example.com" &&
      policy.quotas.subscriptions === 7
    );
  });
  await page.getByRole("tab", { name: "Usage" }).click();
  const quotas = page.getByRole("list", { name: "Quotas" });
  await quotas.getByRole("listitem").filter({ hasText: "Subscriptions" }).getByText("0 of 7").waitFor();
  await lookAt(page, "admin-project-usage");
});

browserTest("held posts are looked at, tried without effect, and released page after page", async () => {
  const { page } = await asAdmin("quarantine");
  await page.getByRole("row", { name: "calendar" }).first().waitFor();
  await lookAt(page, "admin-quarantine");
  await page.getByRole("row", { name: "calendar" }).nth(0).getByRole("link").click();
  await page.getByRole("heading", { name: "Post to calendar", level: 1 }).waitFor();
  await page.getByText('"no trigger"').first().waitFor();
  await lookAt(page, "admin-quarantined-post");
  await page.getByRole("tab", { name: "Bytes" }).click();
  await page.getByText("7b 22 6f 66").waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Release all…" }).click();
  const dialog = page.getByRole("dialog", { name: "Release posts" });
  expect(await dialog.getByRole("button", { name: "Release", exact: true }).getAttribute("aria-disabled")).toBe("true");
  await dialog.getByRole("button", { name: "Dry run" }).click();
  await dialog.getByRole("status").filter({ hasText: "Result of the dry run: 3 posts" }).waitFor();
  await lookAt(page, "admin-release");
  await dialog.getByRole("button", { name: "Release anyway" }).click();
  await dialog.getByRole("status").filter({ hasText: "Nothing was released: 3 posts" }).waitFor();
});

browserTest("who did what is listed", async () => {
  await consoles.svc.call("svc.v1.SecretsService/PutSecret", { name: "audited_token", value: "a-secret-of-audits" });
  const { page } = await asAdmin("audit");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.reload();
  const row = page.getByRole("row", { name: "SecretsService.PutSecret" });
  await row.getByText("audited_token").waitFor();
  const who = row.getByText(/^key_.{4}…[0-9a-z]{4}$/);
  const [shown, whole] = [(await who.textContent()) ?? "", await who.getAttribute("title")];
  expect(whole).toMatch(/^key_[0-9a-z]{26}$/);
  // The administrator has no project, so a stream of a project's changes would be refused again and again.
  expect(asked.filter((url) => url.includes("WatchProject"))).toEqual([]);
  expect(whole?.slice(-4)).toBe(shown.slice(-4));
  expect(await findBarriers(page)).toEqual([]);
});

browserTest(
  "by keyboard alone the audit log is narrowed by action, key, project and time, and cleared again",
  async () => {
    for (const name of ["narrowed_token", "other_token"])
      await consoles.svc.call("svc.v1.SecretsService/PutSecret", { name, value: "a-secret-of-audits" });
    await consoles.svc.call("svc.v1.SecretsService/DeleteSecret", { name: "narrowed_token" });
    const { page, faults } = await asAdmin("audit");
    const keys = keyboardOf(page);
    const rows = page.getByRole("grid", { name: "Audit log" }).getByRole("row");
    await rows.filter({ hasText: "SecretsService.PutSecret" }).first().waitFor();
    await keys.tabTo(
      page.getByRole("searchbox", { name: "Action" }).or(page.getByRole("combobox", { name: "Action" })),
    );
    await keys.type("SecretsService.DeleteSecret");
    await page.waitForURL(/action=SecretsService\.DeleteSecret/);
    await rows.filter({ hasText: "SecretsService.PutSecret" }).first().waitFor({ state: "detached" });
    const deed = rows.filter({ hasText: "narrowed_token" });
    expect(await rows.count()).toBe(2);
    await keys.tabTo(deed.getByRole("link", { name: /^key_/ }));
    await keys.press("Enter");
    await page.waitForURL(/who=key_[0-9a-z]{26}/);
    await keys.tabTo(page.getByRole("combobox", { name: "Project: any" }));
    await keys.press("Enter");
    await page.getByRole("option", { name: "default" }).waitFor();
    await keys.type("default");
    await keys.press("Enter");
    await page.waitForURL(/project=prj_[0-9a-z]{26}/);
    await keys.tabTo(page.getByRole("combobox", { name: "Done: any time" }));
    await keys.press("Enter");
    await page.getByRole("option", { name: "last hour" }).waitFor();
    await keys.press("ArrowDown", "Enter");
    await page.waitForURL(/range=1h/);
    await deed.waitFor();
    await lookAt(page, "admin-audit");
    faults.expectStatus(400);
    const who = page.getByRole("searchbox", { name: "Who" }).or(page.getByRole("combobox", { name: "Who" }));
    await keys.tabTo(who);
    await keys.press("Control+a");
    await keys.type("nobody");
    await page.getByRole("alert").filter({ hasText: "ACTOR_INVALID (actor)" }).waitFor();
    await keys.press("Control+a");
    await keys.type("link");
    await page.getByRole("heading", { name: "No entry matches" }).waitFor();
    await keys.tabTo(page.getByRole("main").getByRole("button", { name: "Clear filters" }).last());
    await keys.press("Enter");
    await rows.filter({ hasText: "other_token" }).waitFor();
    expect(page.url()).toMatch(/\/audit$/);
  },
);

browserTest("a job that cannot be parked or released says why", async () => {
  const program = { version: 1, title: "Waits", steps: [{ id: "pause", wait: "1h" }] };
  const { json } = await consoles.svc.call("svc.v1.JobsService/SubmitJob", { programJson: JSON.stringify(program) });
  const { page, faults } = await asAdmin(`projects/${consoles.projectId}?tab=jobs`);
  await page.getByLabel("Job id").fill(json.job.id);
  faults.expectStatus(400);
  await page.getByRole("button", { name: "Stop" }).click();
  const dialog = page.getByRole("dialog", { name: `Park ${json.job.id}?` });
  await dialog.getByRole("button", { name: "Stop the job" }).click();
  await dialog.getByRole("alert").filter({ hasText: "JOB_NOT_PARKABLE" }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("alert").filter({ hasText: "JOB_NOT_RELEASABLE" }).waitFor();
});

browserTest(
  "without the administrator's seat the administration asks for its token, and a project's key opens none of it",
  async () => {
    const { page, faults } = await consoles.open({ path: "admin/quarantine" });
    await page.getByRole("heading", { name: "Administration" }).waitFor();
    faults.expectStatus(403);
    faults.expectStatus(401);
    await page.getByLabel("API key").fill(consoles.svc.adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Quarantine", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Administration" }).click();
    await page.getByRole("menuitemradio", { name: "default" }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
  },
);

browserTest("a key is given what its agent may use beside the tools of apps, and who confirms its calls", async () => {
  await consoles.svc.call("svc.v1.ContactsService/PutContact", { contact: { principalId: "lead", name: "Ada Lead" } });
  const { page } = await asAdmin(`projects/${consoles.projectId}`);
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Name").fill("of an agent");
  await page.getByText("Limit this key:").click();
  await page.getByRole("checkbox", { name: "Programs" }).check();
  await page.getByRole("checkbox", { name: "Operate" }).check();
  await page.getByRole("radio", { name: "Deletes only" }).check();
  await page.getByLabel("Who is asked to confirm").fill("lead");
  await page.getByRole("button", { name: "Create the key" }).click();
  const dialog = page.getByRole("dialog", { name: "The key is created" });
  await dialog.locator("pre").waitFor();
  const { apiKeys } = (await consoles.svc.admin("ListApiKeys", { projectId: consoles.projectId })).json;
  const made = apiKeys.find((key: { name: string }) => key.name === "of an agent");
  const confirm = { person: "destructive", contact: "lead" };
  expect(made).toMatchObject({ agentTools: ["programs", "operate"], confirm });
  await dialog.getByRole("button", { name: "I've saved it" }).click();
  await page.getByText("lead must confirm calls that delete data.").waitFor();
});
