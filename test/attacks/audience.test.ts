import { startTestServer, type TestServer } from "@svc/testing/server";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { expect, onTestFinished, test } from "vitest";
import { rounds } from "./rounds.ts";

// Starts a server. All servers of a database have one vault key, and the audience of events is set only if a test sets it.
async function start(variables: Record<string, string> = {}): Promise<TestServer> {
  const svc = await startTestServer({
    variables: {
      SVC_TOOLKITS: fewToolkits,
      SVC_WEBHOOK_SECRET_CALENDAR: "swordfish",
      SVC_WEBHOOK_AUDIENCE: "",
      ...variables,
    },
  });
  onTestFinished(() => svc.stop());
  return svc;
}

const create = (svc: TestServer, name: string) => svc.admin("CreateProject", { name });
const undeclared = { status: 400, code: "failed_precondition", reason: "AUDIENCE_UNDECLARED" };

/** Posts an event of the calendar. Returns the answer. */
async function post({ url }: TestServer): Promise<unknown> {
  const headers = {
    "x-calendar-resource-state": "exists",
    "x-calendar-channel-id": "channel",
    "x-calendar-message-number": "1",
    "x-calendar-resource-id": "resource",
    "x-calendar-resource-uri": "https://example.com/calendars/c1/events",
  };
  return (await fetch(`${url}/webhooks/calendar?token=swordfish`, { method: "POST", headers })).json();
}

test("while nobody says who receives events there is one project, over both nodes and however many ask at once", async () => {
  // With this variable empty, no project is created at the start.
  const one = await start({ SVC_BOOTSTRAP_KEY: "" });
  const two = await start({ SVC_BOOTSTRAP_KEY: "", SVC_DATABASE_URL: one.database.url });
  const names = Array.from({ length: 20 * rounds }, (_, index) => `tenant ${index}`);
  const answers = await Promise.all(names.map((name, index) => create(index % 2 === 0 ? one : two, name)));
  const made = answers.filter(({ code }) => code === "ok");
  expect(made).toHaveLength(1);
  for (const answer of answers) if (answer.code !== "ok") expect(answer).toMatchObject(undeclared);
  const { name } = made[0]?.json.project ?? {};
  expect(await create(two, name)).toMatchObject({ code: "already_exists", reason: "PROJECT_NAME_TAKEN" });
  expect((await one.admin("ListProjects")).json.projects).toHaveLength(1);
});

test("project default alone is as it was, and a second one is refused", async () => {
  const svc = await start();
  expect(await create(svc, "second")).toMatchObject(undeclared);
  expect(await create(svc, "default")).toMatchObject({ code: "already_exists" });
  expect(await post(svc)).toEqual({ accepted: 1 });
  expect(svc.logs.join("")).not.toContain("every project receives every event");
});

test("SVC_WEBHOOK_AUDIENCE says which: accounts keeps the events of others away, projects means every one", async () => {
  for (const [audience, accepted] of [
    ["accounts", 0],
    ["projects", 1],
  ] as const) {
    const svc = await start({ SVC_WEBHOOK_AUDIENCE: audience });
    expect((await create(svc, "second")).code).toBe("ok");
    expect(await post(svc), audience).toEqual({ accepted });
    expect(svc.logs.join("")).not.toContain("every project receives every event");
  }
});

test("a start that forgets what an earlier one was told keeps the projects apart all the same, and says so", async () => {
  const told = await start({ SVC_WEBHOOK_AUDIENCE: "accounts" });
  expect((await create(told, "second")).code).toBe("ok");
  const shared = { SVC_DATABASE_URL: told.database.url };
  const forgetful = await start(shared);
  expect(
    forgetful.logs.filter((line) => line.includes("SVC_WEBHOOK_AUDIENCE and SVC_DEPLOYMENT are unset")),
  ).toHaveLength(1);
  expect(await post(forgetful)).toEqual({ accepted: 0 });
  // The setting that this server uses is not stored as if it had been configured.
  expect(await post(await start(shared))).toEqual({ accepted: 0 });
  expect((await create(forgetful, "third")).code).toBe("ok");
  expect(await post(await start({ ...shared, SVC_WEBHOOK_AUDIENCE: "projects" }))).toEqual({ accepted: 1 });
  const after = await start(shared);
  expect(after.logs.join("")).toContain("every project receives every event");
});

test("projects made before go on, with a warning at each start, and no further one is made", async () => {
  const before = await start({ SVC_WEBHOOK_AUDIENCE: "projects" });
  expect((await create(before, "second")).code).toBe("ok");
  for (let times = 0; times < 2; times++) {
    const svc = await start({ SVC_DATABASE_URL: before.database.url });
    const warnings = svc.logs.filter((line) => line.includes("every project receives every event"));
    expect(warnings).toEqual([expect.stringContaining('"level":"warn"')]);
    expect(await create(svc, "third")).toMatchObject(undeclared);
    expect(await create(svc, "second")).toMatchObject({ reason: "PROJECT_NAME_TAKEN" });
  }
});

test("a start does not make project default beside another one that nobody keeps apart", async () => {
  const svc = await start({ SVC_BOOTSTRAP_KEY: "" });
  expect((await create(svc, "acme")).code).toBe("ok");
  const shared = { SVC_DATABASE_URL: svc.database.url };
  await expect(start(shared)).rejects.toThrow(/SVC_WEBHOOK_AUDIENCE: is unset, and SVC_BOOTSTRAP_KEY/);
  expect((await start({ ...shared, SVC_WEBHOOK_AUDIENCE: "accounts" })).server.url).toMatch(/^http/);
});
