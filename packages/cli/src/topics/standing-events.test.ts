import { createHmac } from "node:crypto";
import { createSvcClient } from "@svc/sdk";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

// This file runs the example definitions in docs/examples/standing that events start. They run unchanged, against the sandbox.

const examples = `${import.meta.dirname}/../../../../docs/examples/standing`;
const secret = "incident-secret";
let server: TestServer;
let variables: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({
    variables: {
      SVC_SANDBOX: "force",
      SVC_TOOLKITS: `${import.meta.dirname}/../../../../toolkits,${examples}/toolkits`,
      SVC_WEBHOOK_SECRET_INCIDENT_HOOKS: secret,
      SVC_WEBHOOK_SECRET_CALENDAR: secret,
    },
  });
  variables = { SVC_URL: server.url, SVC_API_KEY: server.key };
  const client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  for (const toolkitSlug of ["incident_mgmt", "messaging_bot"]) {
    await client.connections.initiateConnection({ toolkitSlug, entityId: "ops", scheme: "api_key", apiKey: "sandbox" });
  }
});
afterAll(() => server.stop());

const run = (...args: string[]) => runTestCommand(["standing", ...args], variables);

/** Posts an incident in the same way as its app: with a signature. */
async function postIncident(id: string, incident: object): Promise<number> {
  const event = { id, type: "incident.opened", incident };
  const body = JSON.stringify({ event });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-incident-signature": `sha256=${signature}` };
  const { status } = await fetch(`${server.url}/webhooks/incident_hooks`, { method: "POST", headers, body });
  return status;
}

test("when an incident opens, the lead is paged and the chat is told: a signed post, and the job's receipt", async () => {
  const client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  const listed = await client.tools.callTool({ toolSlug: "incident_mgmt.list_incidents", entityId: "ops" });
  const [incident] = (JSON.parse(listed.resultJson) as { incidents: { id: string }[] }).incidents;
  const created = await run("create", "page", `${examples}/page-when-incident-opens.json`);
  expect(created).toMatchObject({ code: 0, printed: [expect.stringMatching(/^stp_/)] });
  expect(created.noted.join(" ")).toBe("It is active, and starts with each event of its trigger.");
  for (const [post, urgency] of [
    ["post-1", "high"],
    ["post-1", "high"],
    ["post-2", "high"],
    ["post-3", "low"],
  ] as const) {
    expect(await postIncident(post, { id: incident?.id, title: "It is down", urgency })).toBe(202);
  }
  const rows = async () => (await run("runs", "page")).printed.slice(1);
  const isOver = async () => {
    const found = await rows();
    return found.length === 2 && found.some((row) => /event +ended \(/.test(row));
  };
  await until(isOver, "the job, and what is a duplicate");
  const [first, second, ...others] = (await rows()).toReversed();
  expect([first, second, others]).toEqual([
    expect.stringMatching(/ srn_\w+ +event +ended \(succeeded\) +job_/),
    expect.stringMatching(/ srn_\w+ +event +skipped \(duplicate\) +-/),
    [],
  ]);
  const jobId = /job_\w+/.exec(first ?? "")?.[0] ?? "";
  const { job } = await client.jobs.getJob({ id: jobId });
  expect(job?.stepReceipts.map(({ stepId, toolSlug, state }) => `${stepId} ${toolSlug} ${state}`)).toEqual([
    "page incident_mgmt.escalate_incident completed",
    "post messaging_bot.send_message completed",
  ]);
  expect(job?.receipt?.outcome).toBe("complete");
  const preview = await run("preview", "--program", "page");
  expect(preview.printed).toEqual(["2 of the last 3 events would have started it."]);
  const shown = JSON.parse((await run("show", "page", "--json")).printed.join(""));
  expect(shown.standingProgram.counts).toMatchObject({ seen: "3", filtered: "1", started: "1", skipped: "1" });
});

test("changes that follow each other are one run, when the calendar is quiet", async () => {
  expect(await run("create", "tell", `${examples}/tell-of-calendar-changes.json`)).toMatchObject({ code: 0 });
  for (const number of ["1", "2", "3"]) {
    const headers = {
      "x-calendar-channel-id": "c1",
      "x-calendar-message-number": number,
      "x-calendar-resource-id": "r1",
      "x-calendar-resource-state": "exists",
      "x-calendar-resource-uri": "https://calendar.example.com/calendars/team/events",
    };
    await fetch(`${server.url}/webhooks/calendar?token=${secret}`, { method: "POST", headers });
  }
  const rows = async () => (await run("runs", "tell")).printed.slice(1);
  await until(async () => (await rows()).some((row) => /event +collecting x 3/.test(row)), "the window");
  expect(await rows()).toHaveLength(1);
  const client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  const { runs } = await client.standing.listStandingRuns({ standingProgramId: "tell" });
  const eventId = runs[0]?.eventIds[0] ?? "";
  const watched = await run("run", "tell", "--event", eventId, "--watch");
  expect(watched).toMatchObject({ code: 0 });
});
