import { generateVaultKey, parseVaultKeys, systemClock } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/server-process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cancelMove, type MoveFaultPoint, type MoveOptions, moveProject, removeMoved } from "./move-project.ts";

const vaultKey = generateVaultKey();
let [one, two]: (TestServer | undefined)[] = [];
let receiver: TestReceiver;

const cell = (name: string) =>
  startTestServer({
    variables: {
      SVC_CELL: name,
      SVC_VAULT_KEY: vaultKey,
      SVC_BOOTSTRAP_KEY: `bootstrap-key-of-cell-${name}-0123456789`,
    },
  });

beforeAll(async () => {
  receiver = await startTestReceiver();
  [one, two] = await Promise.all([cell("c1"), cell("c2")]);
}, 120_000);

afterAll(async () => {
  await Promise.all([one?.stop(), two?.stop()]);
  await receiver[Symbol.asyncDispose]();
});

function served(server: TestServer | undefined): TestServer {
  if (server === undefined) throw new Error("the server did not start");
  return server;
}

/** Runs `run` with the options of a move from the first cell to the second. */
async function withMove<Result>(
  project: string,
  changes: Partial<MoveOptions>,
  run: (options: MoveOptions) => Promise<Result>,
): Promise<Result> {
  const [from, to] = [one, two].map((server) => openDatabase({ url: served(server).database.url }));
  if (from === undefined || to === undefined) throw new Error("no database");
  try {
    return await run({
      ...{ from, to, clock: systemClock, vaultKeys: parseVaultKeys(vaultKey), project, cell: "c2", name: undefined },
      ...{ leavesSharedPosts: false, waitMs: 3_000, signal: new AbortController().signal, onProgress: () => {} },
      ...changes,
    });
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}

/** Creates a project with a key, a subscription, a secret, a job that waits, and an event. */
async function fill(name: string) {
  const source = served(one);
  const { json: made } = await source.admin("CreateProject", { name });
  const projectId: string = made.project.id;
  const { json: keyed } = await source.admin("CreateApiKey", { projectId, name: "app", role: "ROLE_APPROVER" });
  const key: string = keyed.key;
  const call = async (server: TestServer | undefined, method: string, body: object) => {
    const answer = await served(server).call(`svc.v1.${method}`, body, { bearer: key });
    return answer;
  };
  const ok = async (method: string, body: object) => {
    const answer = await call(one, method, body);
    expect(answer.status, JSON.stringify(answer.json)).toBe(200);
    return answer.json;
  };
  await ok("TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  await ok("SecretsService/PutSecret", { name: "token", value: "a-value-that-is-kept" });
  const schemaJson = '{"type":"object"}';
  await ok("TriggersService/PutEventType", {
    name: "noted",
    description: "A note of a test.",
    schemaJson,
    sampleJson: '{"a":1}',
  });
  await ok("TriggersService/PublishEvent", { type: "noted", payloadJson: `{"name":"${name}"}`, key: "first" });
  const program = { version: 1, title: "Wait", steps: [{ id: "pause", wait: "6s" }] };
  const { job } = await ok("JobsService/SubmitJob", { programJson: JSON.stringify(program) });
  return { projectId, key, jobId: String(job.id), call };
}

/** Returns the states of the project in both cells; undefined where it is not. */
async function holds(projectId: string) {
  const states = await Promise.all(
    [one, two].map(async (server) => {
      const rows = await served(server).database.db.sql<
        { hold: string; id: string }[]
      >`select hold, name as id from projects`;
      return rows.find(({ id }) => id === projectId)?.hold;
    }),
  );
  return states;
}

test("a move brings everything of a project to the other cell, where it goes on", async () => {
  const { key, jobId, call } = await fill("whole");
  const moved = await withMove("whole", {}, moveProject);
  expect(moved).toMatchObject({ cell: "c2" });
  expect(await holds("whole")).toEqual(["moved", ""]);
  await until(async () => (await call(two, "IdentityService/GetIdentity", {})).status === 200);
  expect(await call(one, "IdentityService/GetIdentity", {})).toMatchObject({ status: 503, reason: "PROJECT_MOVING" });
  const again = await call(two, "TriggersService/PublishEvent", {
    type: "noted",
    payloadJson: '{"name":"b"}',
    key: "first",
  });
  expect(again.json).toMatchObject({ outcome: "PUBLISH_OUTCOME_DUPLICATE" });
  const other = await call(two, "TriggersService/PublishEvent", {
    type: "noted",
    payloadJson: '{"name":"c"}',
    key: "next",
  });
  expect(other.json).toMatchObject({ outcome: "PUBLISH_OUTCOME_STORED" });
  await until(() => receiver.requests.some(({ body }) => body.includes('"name":"c"')));
  await until(
    async () => (await call(two, "JobsService/GetJob", { id: jobId })).json.job?.status === "JOB_STATUS_SUCCEEDED",
  );
  // The audit log of the project goes on in its chain.
  const audit = await served(two).admin("VerifyAudit", {});
  expect(audit.status).toBeLessThan(500);
  expect(key).toMatch(/^svc_c1_/);
  expect(await withMove("whole", {}, removeMoved)).toBeGreaterThan(5);
  expect(await holds("whole")).toEqual([undefined, ""]);
}, 60_000);

class Killed extends Error {}

/** Ends a move at a point as a killed process would: nothing after the point runs. */
async function killAt(project: string, point: MoveFaultPoint): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const never = new Promise<void>(() => {});
  const dead = withMove(
    project,
    {
      onFaultPoint: (reached) => {
        if (reached !== point) return;
        resolve();
        return never;
      },
    },
    (options) => Promise.race([moveProject(options), promise.then(() => Promise.reject(new Killed()))]),
  );
  await expect(dead).rejects.toThrow(Killed);
}

test.each(["held", "quiet", "copied", "switched", "released"] as const)(
  "a move that is killed when it is %s leaves at most one cell that works, and goes on",
  async (point) => {
    const name = `killed-${point}`;
    const { call } = await fill(name);
    await killAt(name, point);
    const states = await holds(name);
    expect(states.filter((state) => state === "").length).toBe(point === "released" ? 1 : 0);
    await until(async () => (await withMove(name, {}, moveProject).catch(() => undefined)) !== undefined);
    expect(await holds(name)).toEqual(["moved", ""]);
    await until(async () => (await call(two, "IdentityService/GetIdentity", {})).status === 200);
  },
  60_000,
);

test("a cancelled move leaves the project in its cell, with its work", async () => {
  const { call, jobId } = await fill("cancelled");
  await killAt("cancelled", "copied");
  await until(async () => (await withMove("cancelled", {}, cancelMove).catch(() => undefined)) !== undefined);
  expect(await holds("cancelled")).toEqual(["", undefined]);
  await until(
    async () => (await call(one, "JobsService/GetJob", { id: jobId })).json.job?.status === "JOB_STATUS_SUCCEEDED",
  );
}, 60_000);

test("a name that the destination has, and another vault key, are refused before anything is held", async () => {
  await expect(withMove("default", {}, moveProject)).rejects.toThrow('the destination has another project "default"');
  await fill("refused");
  await expect(withMove("refused", { vaultKeys: parseVaultKeys(generateVaultKey()) }, moveProject)).rejects.toThrow(
    "sealed with another key",
  );
  expect(await holds("refused")).toEqual(["", undefined]);
});
