import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../../test-command.ts";

let server: TestServer;

// Submits jobs in a database where no node runs them, so each job stays in the state that the test gives it.
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_ROLE: "api", SVC_SANDBOX: "force" } });
  await svc("connect", "messaging_bot", "--entity", "ops");
});
afterAll(() => server.stop());

function svc(...argv: string[]) {
  const variables = { SVC_URL: server.url, SVC_API_KEY: server.key, SVC_ADMIN_TOKEN: server.adminToken };
  return runTestCommand(argv, variables, JSON.stringify(program));
}

const program = {
  version: 1,
  title: "Announce",
  steps: [{ id: "send", call: "messaging_bot.send_message", entity: "ops", args: { chat_id: "@team", text: "Hello" } }],
};

async function submit(): Promise<string> {
  return (await svc("jobs", "submit", "-")).printed[0] ?? "";
}

test("a job is parked, a watch that does not wait ends with 3 and says so, and it is released to where it stood", async () => {
  const id = await submit();
  const parked = await svc("jobs", "park", id);
  expect(parked).toMatchObject({ code: 0, printed: [`${id} is parked (administrator at step send)`] });
  expect(parked.noted.join("\n")).toContain(`svc jobs release ${id}`);
  expect((await svc("jobs", "show", id)).printed.join("\n")).toContain("parked (administrator at step send)");
  const watched = await svc("jobs", "watch", id, "--no-wait");
  expect(watched).toMatchObject({ code: 3, printed: [] });
  expect(watched.noted.at(-1)).toContain(`${id} is parked (administrator at step send); an administrator continues it`);
  expect((await svc("jobs", "log", id)).printed.join("\n")).toContain("administrator");
  expect(await svc("jobs", "release", id, "--project", "default")).toMatchObject({
    code: 0,
    printed: [`${id} is queued`],
  });
});

test("a job is paused and resumed by a key of its project, and a watch that does not wait says how it goes on", async () => {
  const id = await submit();
  const paused = await svc("jobs", "pause", id);
  expect(paused).toMatchObject({ code: 0, printed: [`${id} is parked (paused at step send)`] });
  expect(paused.noted).toEqual([`\`svc jobs resume ${id}\` continues it, \`svc jobs cancel ${id}\` ends it.`]);
  const watched = await svc("jobs", "watch", id, "--no-wait");
  expect(watched.code).toBe(3);
  expect(watched.noted.at(-1)).toContain("`svc jobs resume` continues it");
  expect(await svc("jobs", "resume", id)).toMatchObject({ code: 0, printed: [`${id} is queued`] });
  const again = await svc("jobs", "resume", id);
  expect(again).toMatchObject({ code: 1, printed: [] });
  expect(again.noted.join("\n")).toContain("JOB_NOT_PAUSED");
  expect(JSON.parse((await svc("jobs", "pause", id, "--json")).printed.join("\n"))).toMatchObject({
    park: { reason: "paused" },
  });
});

test("a job is run again and its steps are listed; one that has not ended is not taken on", async () => {
  const id = await submit();
  const refused = await svc("jobs", "retry", id, "--resend-unknown");
  expect(refused).toMatchObject({ code: 1, printed: [] });
  expect(refused.noted.join("\n")).toContain("JOB_NOT_RETRYABLE");
  const rerun = await svc("jobs", "rerun", id);
  expect(rerun).toMatchObject({ code: 0, noted: [] });
  const steps = await svc("jobs", "steps", rerun.printed[0] ?? "");
  expect(steps.code).toBe(0);
  expect(steps.printed.join("\n")).toMatch(/STEP +KIND +STATE.*send +call +waiting/s);
  expect(JSON.parse((await svc("jobs", "rerun", id, "--repin", "--json")).printed.join("\n"))).toMatchObject({
    drift: [],
  });
});

test("--json prints the job, and what is refused says where the job stands", async () => {
  const id = await submit();
  const again = await svc("jobs", "release", id);
  expect(again).toMatchObject({ code: 1, printed: [] });
  expect(again.noted.join("\n")).toMatch(/is queued; only a job that is parked as poisoned .*JOB_NOT_RELEASABLE/s);
  const parked = JSON.parse((await svc("jobs", "park", id, "--json")).printed.join("\n"));
  expect(parked).toMatchObject({ id, status: "JOB_STATUS_PARKED", park: { reason: "administrator" } });
  const refused = await svc("jobs", "park", id);
  expect(refused).toMatchObject({ code: 1, printed: [] });
  expect(refused.noted.join("\n")).toMatch(/is parked \(administrator\).*JOB_NOT_PARKABLE/s);
  const elsewhere = await svc("jobs", "park", id, "--project", "prj_00000000000000000000000000");
  expect(elsewhere.noted.join("\n")).toContain("JOB_NOT_FOUND");
  expect(JSON.parse((await svc("jobs", "release", id, "--json")).printed.join("\n"))).toMatchObject({ id });
});

test.each([
  ["jobs park", ["job_01h455vb4pex5vsknk084sn02q"]],
  ["projects quotas", ["default", "--set", "jobs=7"]],
  ["projects list", []],
])("`svc %s` with a project's key names itself, and the token that it needs", async (command, args) => {
  const { code, noted } = await svc(...command.split(" "), ...args, "--admin-token", server.key);
  expect({ code, noted }).toEqual({
    code: 1,
    noted: [
      `svc: \`svc ${command}\` needs the administrator token of the deployment; a key with the role approver cannot call it (ROLE_REQUIRED). Give that token with --admin-token or SVC_ADMIN_TOKEN.`,
    ],
  });
});

test("a project's command with the administrator's token names itself, and the key that it needs", async () => {
  const { noted } = await svc("jobs", "list", "--api-key", server.adminToken);
  expect(noted).toEqual([expect.stringMatching(/^svc: `svc jobs list` needs a project's key; .* with --api-key or /)]);
});
