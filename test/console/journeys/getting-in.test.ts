import { createTestDatabase } from "@svc/testing/database";
import { startForwarder } from "@svc/testing/forwarder";
import { startTestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, expect } from "vitest";
import { browserTest, startConsole, wholeBrowserTest } from "../browser.ts";
import { jobWithStatus, submitProgram } from "../jobs-seed.ts";

// The store is reached through a forwarder, which a test can close.
const database = await createTestDatabase();
const store = await startForwarder(database.url);
const consoles = startConsole({ variables: { SVC_DATABASE_URL: store.url } });
afterAll(async () => {
  await store.close();
  await database.drop();
});

const programThatAsks = {
  version: 1,
  title: "Asks, and goes on",
  steps: [{ id: "gate", judge: "sure" }],
  points: { sure: { question: "Go on?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] } },
};

async function signInLink(): Promise<string> {
  const { json } = await consoles.svc.call("svc.v1.ConsoleService/CreateSignInLink", {});
  return json.url.split("/console/")[1];
}

async function createKey(projectId: string, role = "ROLE_MEMBER"): Promise<{ id: string; key: string }> {
  const { json } = await consoles.svc.admin("CreateApiKey", { projectId, role, name: "of a journey" });
  return { id: json.apiKey.id, key: json.key };
}

browserTest("a key signs in, and the page that was asked for is there", async () => {
  const { page } = await consoles.open({ key: null, path: `p/${consoles.projectId}/events?range=24h` });
  await page.getByLabel("API key").fill(consoles.svc.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
  expect(page.url()).toMatch(/\/events\?range=24h$/);
  expect(await page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")).not.toContain(consoles.svc.key);
});

browserTest("a wrong key is refused with what would be right, and nothing is lost", async () => {
  const { page, faults } = await consoles.open({ key: null });
  faults.expectStatus(401);
  await page.getByLabel("API key").fill("not-a-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  expect(await page.getByLabel("API key").inputValue()).toBe("not-a-key");
});

browserTest(
  "a link signs in once: it is out of the address at once, and the second time says how to get another",
  async () => {
    const link = await signInLink();
    const first = await consoles.open({ key: null, path: link });
    await first.page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    expect(first.page.url()).not.toContain("link=");
    const second = await consoles.open({ key: null, path: "" });
    second.faults.expectStatus(401);
    // This also works in an open page: the browser changes only the fragment of the address and loads nothing.
    await second.page.goto(`${consoles.svc.url}/console/${link}`);
    await second.page.getByRole("alert").filter({ hasText: "npx svc console" }).waitFor();
    expect(second.page.url()).not.toContain("link=");
  },
);

browserTest(
  "a link to a project that the browser is not signed in to waits for a word; one to its own does not",
  async () => {
    const { json } = await consoles.svc.admin("CreateProject", { name: "billing" });
    const { key } = await createKey(json.project.id);
    const made = await consoles.svc.call("svc.v1.ConsoleService/CreateSignInLink", {}, { bearer: key });
    const link = made.json.url.split("#")[1];
    const { page } = await consoles.open();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    const projects = () =>
      page.evaluate<string>("JSON.parse(localStorage['svc-session']).seats.map((one) => one.projectName).join()");
    await page.goto(`${consoles.svc.url}/console/p/${json.project.id}/accounts#${link}`);
    const dialog = page.getByRole("dialog", { name: "Sign in to another project?" });
    await dialog.getByText("billing").first().waitFor();
    expect(page.url()).not.toContain("link=");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await projects()).toBe("default");
    // Opening the link did not use it up.
    await page.goto(`${consoles.svc.url}/console/p/${json.project.id}/accounts#${link}`);
    await dialog.getByRole("button", { name: "Sign in to billing" }).click();
    await page.getByRole("heading", { name: "Accounts", level: 1 }).waitFor();
    expect(await projects()).toBe("default,billing");
    await page.goto(`${consoles.svc.url}/console/${await signInLink()}`);
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    expect(await dialog.isVisible()).toBe(false);
  },
);

browserTest("the question of a link that cannot be loaded leaves the page as it is, and is loaded again", async () => {
  const { json } = await consoles.svc.admin("CreateProject", { name: "travel" });
  const { key } = await createKey(json.project.id);
  const made = await consoles.svc.call("svc.v1.ConsoleService/CreateSignInLink", {}, { bearer: key });
  const { page, faults } = await consoles.open({ path: `p/${consoles.projectId}/events` });
  faults.expectStatus(0);
  await page.getByLabel("User").fill("ada");
  await page.route("**/link-offer-*.js", (route) => route.abort("failed"));
  await page.evaluate(`location.hash = ${JSON.stringify(made.json.url.split("#")[1])}`);
  const failed = page.getByRole("alert").filter({ hasText: "This part of the page could not be loaded." });
  await failed.waitFor();
  expect(await page.getByLabel("User").inputValue()).toBe("ada");
  await page.unroute("**/link-offer-*.js");
  await failed.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("dialog", { name: "Sign in to another project?" }).getByText("travel").first().waitFor();
  expect(await failed.count()).toBe(0);
});

browserTest("who signs out has to sign in again, in every tab", async () => {
  const { page } = await consoles.open({ key: (await createKey(consoles.projectId)).key });
  const other = await consoles.open({ context: page.context() });
  await page.goto(`${consoles.svc.url}/console/p/${consoles.projectId}/events`);
  await page.getByLabel("User").fill("ada-of-the-first");
  const stored = () => page.evaluate<string>("JSON.stringify({...localStorage, ...sessionStorage})");
  await until(async () => (await stored()).includes("ada-of-the-first"));
  await page.getByRole("button", { name: "Project default" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByLabel("API key").waitFor();
  await other.page.getByLabel("API key").waitFor();
  // The next user of this browser must not find the earlier search terms. The page is loaded again meanwhile.
  await until(async () => !(await stored().catch(() => "ada-of-the-first")).includes("ada-of-the-first"));
});

browserTest(
  "an address of a project without a seat asks for its key and stays; both projects are there afterwards",
  async () => {
    const { json } = await consoles.svc.admin("CreateProject", { name: "second" });
    const second = await createKey(json.project.id);
    const { page } = await consoles.open({ path: `p/${json.project.id}/deliveries` });
    await page.getByRole("heading", { name: "Another project" }).waitFor();
    await page.getByLabel("API key").fill(second.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
    expect(page.url()).toContain(`${json.project.id}/deliveries`);
    await page.getByRole("button", { name: "Project second" }).click();
    await page.getByRole("menuitemradio", { name: "default" }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    expect(page.url()).toContain(`${consoles.projectId}/home`);
  },
);

browserTest(
  "a page whose key is revoked asks for one within two seconds, over the page, and goes on where it was",
  async () => {
    const { id, key } = await createKey(consoles.projectId);
    const other = await consoles.svc.admin("CreateProject", { name: "elsewhere" });
    const ofOther = await createKey(other.json.project.id);
    const path = `p/${consoles.projectId}/subscriptions/new`;
    const { page, faults } = await consoles.open({ key, path });
    faults.expectStatus(401);
    await page.getByLabel("Endpoint").fill("https://example.com/half-typed");
    await consoles.svc.admin("RevokeApiKey", { id });
    const revokedAt = performance.now();
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.waitFor();
    // The limit is two seconds, plus some for other work on the machine.
    expect(performance.now() - revokedAt).toBeLessThan(6_000);
    await until(async () => !(await page.evaluate<string>("localStorage['svc-session']")).includes(id));
    await dialog.getByLabel("API key").fill(ofOther.key);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.getByRole("alert").getByText("That key belongs to another project.").waitFor();
    await dialog.getByLabel("API key").fill(consoles.svc.key);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await page.getByLabel("Endpoint").inputValue()).toBe("https://example.com/half-typed");
    expect(page.url()).toContain(path);
  },
);

browserTest("a sandbox says so on every page, and a phone has asks, jobs, events and the rest at hand", async () => {
  const { page } = await consoles.open({ isPhone: true });
  await page.getByText(/^Sandbox, except/).waitFor();
  const bar = page.getByRole("navigation", { name: "Main pages" });
  expect(await bar.getByRole("link").allTextContents()).toEqual(["Approvals", "Jobs", "Events"]);
  await bar.getByRole("button", { name: "More" }).click();
  await page.getByRole("option", { name: "Deliveries" }).click();
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
});

wholeBrowserTest("a page whose key expires asks for another, and stays", async () => {
  const expiresAt = new Date(Date.now() + 8_000).toISOString();
  const { json } = await consoles.svc.admin("CreateApiKey", {
    ...{ projectId: consoles.projectId, role: "ROLE_MEMBER", name: "short-lived", expiresAt },
  });
  const { page, faults } = await consoles.open({ key: json.key, path: `p/${consoles.projectId}/replays` });
  faults.expectStatus(401);
  await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
  expect(page.url()).toMatch(/\/replays$/);
});

wholeBrowserTest(
  "while the store is away pages say so, lists that failed differ from empty ones, nothing typed is lost, and all comes back by itself",
  async () => {
    const { page, faults } = await consoles.open({ path: `p/${consoles.projectId}/subscriptions/new` });
    const other = await consoles.open({ context: page.context() });
    for (const seen of [faults, other.faults]) seen.expectStatus(503);
    await page.getByLabel("Endpoint").fill("https://example.com/while-the-store-is-away");
    await store.close();
    await page.getByText("The service can't reach its database. Retrying.").waitFor();
    await page.getByRole("button", { name: "Create only" }).click();
    await page.getByRole("alert").getByText("STORE_UNAVAILABLE").waitFor();
    const empty = other.page.getByRole("heading", { name: /^No .* yet$/ });
    for (const name of ["Jobs", "Accounts", "Schedules", "Calls"]) {
      await other.page.getByRole("link", { name, exact: true }).click();
      await other.page.getByRole("heading", { name, level: 1 }).waitFor();
      const failed = other.page.getByRole("alert").filter({ hasText: "the database is unavailable" });
      await failed.getByRole("button", { name: "Try again" }).waitFor();
      expect(await empty.count(), name).toBe(0);
    }
    await store.reopen();
    await empty.getByText("No calls yet").waitFor();
    for (const one of [page, other.page]) await one.getByText(/Retrying\. Data/).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Create only" }).click();
    await page.getByText(/^whsec_/).waitFor();
    const { json } = await consoles.svc.call("svc.v1.TriggersService/ListSubscriptions", {});
    expect(json.subscriptions).toMatchObject([{ endpointUrl: "https://example.com/while-the-store-is-away" }]);
    await consoles.svc.call("svc.v1.TriggersService/DeleteSubscription", { id: json.subscriptions[0].id });
  },
);

// This test is the last, because it ends the service that the others use.
browserTest(
  "pages outlive a restart of the service: they say that they reconnect, keep what was typed, and a job is followed to its receipt",
  async () => {
    const { svc } = consoles;
    const { page, faults } = await consoles.open({ path: `p/${consoles.projectId}/subscriptions/new` });
    const asking = await submitProgram(svc, programThatAsks);
    const { pendingAsk } = await jobWithStatus(svc, asking, "PARKED");
    const ofJob = await consoles.open({
      path: `p/${consoles.projectId}/jobs/${asking}?tab=log`,
      context: page.context(),
    });
    for (const seen of [faults, ofJob.faults]) {
      seen.expectStatus(0);
      seen.expectStatus(503);
    }
    const entries = ofJob.page.getByRole("region", { name: "Entries of the log" }).getByRole("listitem");
    await entries.filter({ hasText: "ask-raised" }).waitFor();
    await page.getByLabel("Endpoint").fill("https://example.com/before-the-restart");
    await svc.server.stop();
    await page.getByText(/^Connection lost\. Retrying/).waitFor();
    const variables = { SVC_SANDBOX: "force", SVC_DATABASE_URL: store.url, SVC_PORT: new URL(svc.url).port };
    const restarted = await startTestServer({ variables });
    try {
      await page.getByText(/Retrying\. Data/).waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Create only" }).click();
      await page.getByText(/^whsec_/).waitFor();
      const { json } = await restarted.call("svc.v1.TriggersService/ListSubscriptions", {});
      expect(json.subscriptions).toMatchObject([{ endpointUrl: "https://example.com/before-the-restart" }]);
      await restarted.call("svc.v1.JobsService/AnswerAsk", {
        ...{ jobId: asking, requestId: pendingAsk.requestId, principalId: "owner", continuation: "proceed" },
      });
      await ofJob.page.getByText("ended", { exact: true }).waitFor();
      await ofJob.page.getByRole("tab", { name: "Result and receipt" }).click();
      await ofJob.page.getByRole("region", { name: "Receipt" }).getByText("complete").waitFor();
      const seqs = (await entries.allInnerTexts()).map((text) => Number.parseInt(text, 10));
      expect(seqs).toEqual(Array.from(seqs, (_, index) => index + 1));
    } finally {
      await page.context().close();
      await restarted.stop();
    }
  },
);
