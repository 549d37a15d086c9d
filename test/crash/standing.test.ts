import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createId, createSealer, isoTime, type ProjectId, parseVaultKeys, systemClock, uuidOfId } from "@svc/core";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import { JobsService } from "@svc/gen/jobs";
import { BackfillState, StandingService } from "@svc/gen/standing";
import { bundled } from "@svc/testing/bundled";
import { catalogOf } from "@svc/testing/catalog";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode, type TestNode } from "@svc/testing/node";
import { startTestReceiver } from "@svc/testing/receiver";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { vaultKey } from "@svc/testing/server-process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// Nodes die while they decide about starts, before and after the commit. Each due time or event must still make exactly one run and one
// job.

const rounds = Number(process.env["SVC_CRASH_ROUNDS"] ?? 1);
/** Number of nodes that die one after the other, at any point of their work. */
const kills = Number(process.env["SVC_STANDING_ROUNDS"] ?? 2);
// Each round has its own time limits, and ten rounds take longer than a test may.
if (rounds > 1) vi.setConfig({ testTimeout: 300_000 });
const vault = vaultKey();
let database: TestDatabase;
let node: TestNode;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  database = await createTestDatabase();
  node = createTestNode(database.db, {
    clock: systemClock,
    sealer: createSealer(parseVaultKeys(vault)),
    catalog: catalogOf({ toolkits: [sampleToolkits.watcher] }),
    variable: (name) => (name === "SVC_WEBHOOK_SECRET_WATCHER" ? token : undefined),
  });
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await node[Symbol.asyncDispose]();
  await database.drop();
});

const fixture = fileURLToPath(new URL("standing.fixture.ts", import.meta.url));

/** Starts a node as a process of its own. `arm` is the fault point at which it dies. */
async function startNode(
  arm?: { point: string; nth: number },
  engines: readonly string[] = ["standing"],
): Promise<ChildProcess> {
  const given = JSON.stringify({ databaseUrl: database.url, vaultKey: vault, engines, ...(arm && { arm }) });
  const env = { ...compileCache, PATH: process.env["PATH"] };
  const child = fork(await bundled(fixture), [given], { execArgv: [], env });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

const token = "the-watchers-token";
const events = 20;

/** Creates a project with programs that events start. The last program collects five events for each run. */
async function standListeners(): Promise<ProjectId> {
  const { projectId, client } = await newProject();
  const source = { trigger: { slug: "watcher.changed" } };
  for (let index = 0; index < 3; index++) {
    const collect = index === 2 && { collect: { wait: "2s", max: 5 } };
    const definition = { version: 1, source, overlap: { policy: "allow" }, ...collect, program };
    await client.createStandingProgram({ slug: `e${index}`, definitionJson: JSON.stringify(definition) });
  }
  return projectId;
}

/** Posts changes, each of them twice, as providers do. */
async function postChanges(channel: string): Promise<void> {
  for (let number = 0; number < 2 * events; number++) {
    const { outcome } = await node.ingest.accept({
      toolkitSlug: "watcher",
      headers: {
        "x-watch-state": "exists",
        "x-watch-channel": channel,
        "x-watch-number": String(Math.floor(number / 2)),
      },
      query: new URLSearchParams({ token }),
      body: Buffer.alloc(0),
    });
    expect(outcome).toBe("accepted");
  }
}

const program = { version: 1, title: "Wait", steps: [{ id: "wait", wait: "1h" }] };
const programs = 6;
const times = 10;

/** Creates a project, and a client for the calls on its standing programs. */
async function newProject() {
  const nowMs = systemClock.now();
  const { id: projectId } = await createProject(database.db, `standing-${nowMs}`, nowMs);
  const keyId = createId("key", nowMs);
  const key = { id: keyId, projectId, role: "approver", name: "", hint: "", createdAt: nowMs } as const;
  const open = { expiresAt: null, revokedAt: null, lastUsedAt: null };
  await createApiKey(database.db, { ...key, ...open, digest: Buffer.from(keyId) });
  return { projectId, keyId, client: node.client(StandingService, { projectId, keyId, role: "approver" }) };
}

/** Creates a project with programs that are each due at the same number of times, which follow soon. */
async function standPrograms(): Promise<ProjectId> {
  const { projectId, client } = await newProject();
  const firstMs = systemClock.now() + 3_000;
  for (let index = 0; index < programs; index++) {
    const at = Array.from({ length: times }, (_, place) => isoTime(firstMs + place * 100 + index));
    const definition = { version: 1, source: { schedule: { at } }, overlap: { policy: "allow" }, program };
    await client.createStandingProgram({ slug: `p${index}`, definitionJson: JSON.stringify(definition) });
  }
  return projectId;
}

type Found = { runs: number; sources: number; jobs: number; orphans: number; doubles: number };

async function found(projectId: ProjectId): Promise<Found> {
  const id = uuidOfId(projectId);
  const [row] = await database.db.sql<Found[]>`
    select count(*)::int as runs, count(distinct (r.program_id, r.source_key))::int as sources, count(j.id)::int as jobs,
      (select count(*) from jobs o where o.project_id = ${id} and not exists (
         select from standing_runs s where s.job_id = o.id))::int as orphans,
      (count(r.job_id) - count(distinct r.job_id))::int as doubles
    from standing_runs r left join jobs j on j.id = r.job_id where r.project_id = ${id} and r.state = 'started'`;
  return row ?? { runs: 0, sources: 0, jobs: 0, orphans: 0, doubles: 0 };
}

/** Creates a program that fails and pauses at its first time, which is soon, and an endpoint that is notified of the pause. */
async function standFailing(endpointUrl: string) {
  const { projectId, keyId, client } = await newProject();
  const jobs = node.client(JobsService, { projectId, keyId, role: "approver" });
  await jobs.createAskEndpoint({ endpointUrl, eventTypes: ["standing_paused"] });
  const inputSchema = { type: "object", required: ["text"], properties: { text: { type: "string", maxLength: 3 } } };
  const definition = {
    version: 1,
    // A second time is needed: a program without further times has ended, and does not pause.
    source: { schedule: { at: [1_500, 3_600_000].map((ms) => isoTime(systemClock.now() + ms)) } },
    input: { text: { $ref: "fire.at" } },
    pauseAfter: 1,
    program: { ...program, inputSchema, input: { text: "" } },
  };
  const made = await client.createStandingProgram({ slug: "fails", definitionJson: JSON.stringify(definition) });
  return { projectId, client, id: made.standingProgram?.id ?? "" };
}

// This test comes first, so that nodes decide only about its own program. The notifications to people are stored in the same commit as the
// decision.
test.each(rounds > 1 ? ["before-decided", "after-decided"] : ["after-decided"])(
  "a kill -9 %s leaves what people are told of told once",
  async (point) => {
    await using receiver = await startTestReceiver();
    for (let round = 0; round < rounds; round++) {
      receiver.requests.length = 0;
      const { projectId, client, id } = await standFailing(receiver.url);
      const [, signal] = (await once(await startNode({ point, nth: 1 }), "exit")) as [number | null, string | null];
      expect(signal).toBe("SIGKILL");
      const paused = async () => (await client.getStandingProgram({ id })).standingProgram?.pauseReason;
      expect(await paused()).toBe(point === "after-decided" ? "failures" : "");
      expect(receiver.requests).toEqual([]);
      const others = await Promise.all([1, 2].map(() => startNode(undefined, ["standing", "deliveries"])));
      for (const end = performance.now() + 40_000; receiver.requests.length === 0; await wait(50))
        if (performance.now() > end) throw new Error(`${await paused()}, and nobody was told`);
      // A node that would notify a second time has lost its lease by then.
      await wait(1_200);
      expect(await paused()).toBe("failures");
      expect(receiver.requests.map(({ body }) => JSON.parse(body.toString("utf8")))).toEqual([
        expect.objectContaining({ type: "standing_paused", standingProgramId: id, reason: "failures" }),
      ]);
      const events = await database.db.sql`
        select 1 from events where toolkit_slug = 'svc' and project_id = ${uuidOfId(projectId)}`;
      expect(events).toHaveLength(1);
      for (const other of others) other.kill("SIGKILL");
    }
  },
);

const occurrences = programs * times;

// `npm test` runs one point of each test: here the decision is already stored; below it is made again.
test.each(rounds > 1 ? ["before-decided", "after-decided"] : ["after-decided"])(
  "acceptance 5: a kill -9 %s leaves exactly one run and job an occurrence",
  async (point) => {
    for (let round = 0; round < rounds; round++) {
      const doomed = await startNode({ point, nth: 2 + round });
      const exit = once(doomed, "exit") as Promise<[number | null, string | null]>;
      const projectIds: ProjectId[] = [];
      // If the node decides about everything in fewer turns than the fault needs, more programs are created.
      do projectIds.push(await standPrograms());
      while (!(await Promise.race([exit.then(() => true), wait(6_000, false)])));
      expect((await exit)[1]).toBe("SIGKILL");
      const others = await Promise.all([startNode(), startNode()]);
      const runs = async () => (await Promise.all(projectIds.map(found))).reduce((sum, one) => sum + one.runs, 0);
      for (const end = performance.now() + 40_000; (await runs()) < occurrences * projectIds.length; await wait(50)) {
        if (performance.now() > end) throw new Error(JSON.stringify(await Promise.all(projectIds.map(found))));
      }
      // A node that would start a run a second time has lost its lease by then.
      await wait(1_200);
      for (const projectId of projectIds)
        expect(await found(projectId)).toEqual({
          runs: occurrences,
          sources: occurrences,
          jobs: occurrences,
          orphans: 0,
          doubles: 0,
        });
      for (const other of others) other.kill("SIGKILL");
    }
  },
);

/**
 * Counts the runs, collected events and jobs of a project. Each event must be in one run of each program: in its own run, or in that of the
 * window that collected it.
 */
async function heard(
  projectId: ProjectId,
): Promise<{ runs: number; sources: number; collected: number; jobs: number; left: number }> {
  const id = uuidOfId(projectId);
  const [row] = await database.db.sql<
    { runs: number; sources: number; collected: number; jobs: number; left: number }[]
  >`select count(*) filter (where c.events is null)::int as runs, count(distinct r.source_key)::int as sources,
      coalesce(sum(c.events), 0)::int as collected, count(distinct j.id)::int as jobs,
      (select count(*) from standing_arrivals where project_id = ${id})::int as left
    from standing_runs r left join jobs j on j.id = r.job_id
      left join lateral (select nullif(count(*), 0) as events from standing_run_events where run_id = r.id) c on true
    where r.project_id = ${id}`;
  return row ?? { runs: 0, sources: 0, collected: 0, jobs: 0, left: 0 };
}

const points = ["arrivals-claimed", "before-decided", "after-decided"];

test.each(rounds > 1 ? points : points.slice(1, 2))(
  "a kill -9 %s leaves each event in exactly one run of each program",
  async (point) => {
    for (let round = 0; round < rounds; round++) {
      const projectId = await standListeners();
      const doomed = await startNode({ point, nth: 1 + (round % 3) });
      const exit = once(doomed, "exit") as Promise<[number | null, string | null]>;
      let all = 0;
      // If the node decides about all events in fewer turns than the fault needs, more are posted.
      do {
        await postChanges(`c-${all}-${projectId}`);
        all += events;
      } while (!(await Promise.race([exit.then(() => true), wait(6_000, false)])));
      expect((await exit)[1]).toBe("SIGKILL");
      const others = await Promise.all([startNode(), startNode()]);
      const isDone = ({ runs, collected, jobs, left }: Awaited<ReturnType<typeof heard>>) =>
        left === 0 && runs === 2 * all && collected === all && jobs >= 2 * all + all / 5;
      for (const end = performance.now() + 40_000; !isDone(await heard(projectId)); await wait(50)) {
        if (performance.now() > end) throw new Error(`${JSON.stringify(await heard(projectId))}`);
      }
      // A node that would decide about an event a second time has lost its lease by then.
      await wait(1_200);
      const { runs, collected, left } = await heard(projectId);
      expect({ runs, collected, left }).toEqual({ runs: 2 * all, collected: all, left: 0 });
      for (const other of others) other.kill("SIGKILL");
    }
  },
);

const made = 40;

/** Creates a program with a number of due times in the past, or with events from before the program existed. */
async function standWithPast(kind: "schedule" | "trigger") {
  const { projectId, client } = await newProject();
  if (kind === "trigger")
    for (let round = 0; round < made / events; round++) await postChanges(`${round}-${projectId}`);
  const source =
    kind === "trigger"
      ? { trigger: { slug: "watcher.changed" } }
      : { schedule: { every: "1m", catchUp: { runs: "none" } } };
  const definition = { version: 1, source, overlap: { policy: "allow" }, program };
  const { standingProgram } = await client.createStandingProgram({
    slug: "past",
    definitionJson: JSON.stringify(definition),
  });
  return { projectId, client, id: standingProgram?.id ?? "" };
}

test.each(
  rounds > 1
    ? ["schedule before-decided", "schedule after-decided", "trigger before-decided", "trigger after-decided"]
    : ["trigger before-decided"],
)("a kill -9 in a backfill leaves each occurrence of the past in exactly one run: %s", async (what) => {
  const [kind, point] = what.split(" ") as ["schedule" | "trigger", string];
  let kills = 0;
  for (let round = 0; round < rounds; round++) {
    const { projectId, client, id } = await standWithPast(kind);
    const nowMs = systemClock.now();
    // The next minute belongs to the schedule itself.
    const range = kind === "trigger" ? { since: nowMs - 600_000 } : { since: nowMs - made * 60_000, until: nowMs };
    const { backfill } = await client.backfillStandingProgram({
      id,
      since: timestampFromMs(range.since),
      ...(range.until !== undefined && { until: timestampFromMs(range.until) }),
      perMinute: 600,
    });
    expect(backfill?.total).toBe(made);
    const ended = async () => (await client.getBackfill({ id: backfill?.id ?? "" })).backfill;
    const doomed = await startNode({ point, nth: 1 + (round % 3) });
    const exited = once(doomed, "exit") as Promise<[number | null, string | null]>;
    const isOver = async () => (await ended())?.state === BackfillState.DONE;
    while (doomed.signalCode === null && !(await isOver())) await Promise.race([exited, wait(500)]);
    await Promise.race([exited, wait(5_000)]);
    // A late node decides about the past of a schedule in fewer turns. It may be done before the fault happens.
    if (doomed.signalCode === "SIGKILL") kills++;
    else doomed.kill("SIGKILL");
    const others = await Promise.all([startNode(), startNode()]);
    for (const end = performance.now() + 40_000; (await ended())?.state !== BackfillState.DONE; await wait(50)) {
      if (performance.now() > end) throw new Error(`${await ended()}`);
    }
    expect(await ended()).toMatchObject({ total: made, started: made, skipped: 0, passed: 0 });
    // A node that would start a run twice has lost its lease by then.
    await wait(1_200);
    const [row] = await database.db.sql<{ runs: number; sources: number; jobs: number }[]>`
      select count(*)::int as runs, count(distinct r.source_key)::int as sources, count(distinct j.id)::int as jobs
      from standing_runs r join jobs j on j.id = r.job_id
      where r.project_id = ${uuidOfId(projectId)} and r.backfill_id is not null`;
    expect(row).toEqual({ runs: made, sources: made, jobs: made });
    for (const other of others) other.kill("SIGKILL");
  }
  expect(kills).toBeGreaterThanOrEqual(Math.ceil(rounds / 3));
});

test("acceptance 5: of three nodes one dies after the other, at any moment: a backfill and what is due meanwhile make each run once", {
  timeout: 60_000 + kills * 10_000,
}, async () => {
  const { projectId, client } = await newProject();
  const source = { schedule: { every: "1m", catchUp: { runs: "none" } } };
  // Each run has a lane of its own, because no job ends in this test.
  const definition = { version: 1, source, overlap: { policy: "queueAll", key: { $ref: "fire.at" } }, program };
  const definitionJson = JSON.stringify(definition);
  const { standingProgram } = await client.createStandingProgram({ slug: "rounds", definitionJson });
  const nowMs = systemClock.now();
  const total = 20 + Math.min(1_000, 10 * kills);
  const { backfill } = await client.backfillStandingProgram({
    ...{ id: standingProgram?.id ?? "", perMinute: 600 },
    ...{ since: timestampFromMs(nowMs - total * 60_000), until: timestampFromMs(nowMs) },
  });
  expect(backfill?.total).toBe(total);
  const live = await standPrograms();
  const nodes = await Promise.all([startNode(), startNode(), startNode()]);
  for (let kill = 0; kill < kills; kill++) {
    // The kill comes at different points within the time of a lookup, its decision and a lease.
    await wait(50 + ((kill * 137) % 900));
    nodes[kill % nodes.length]?.kill("SIGKILL");
    nodes[kill % nodes.length] = await startNode();
  }
  const now = async () => (await client.getBackfill({ id: backfill?.id ?? "" })).backfill;
  for (
    const end = performance.now() + 60_000 + total * 150;
    (await now())?.state !== BackfillState.DONE;
    await wait(50)
  )
    if (performance.now() > end) throw new Error(`${await now()}`);
  expect(await now()).toMatchObject({ total, started: total, skipped: 0, passed: 0 });
  for (const end = performance.now() + 40_000; (await found(live)).runs < occurrences; await wait(50))
    if (performance.now() > end) throw new Error(`${JSON.stringify(await found(live))}`);
  // A node that would start a run twice has lost its lease by then.
  await wait(1_200);
  expect(await found(live)).toEqual({
    runs: occurrences,
    sources: occurrences,
    jobs: occurrences,
    orphans: 0,
    doubles: 0,
  });
  const [row] = await database.db.sql<{ runs: number; sources: number; jobs: number }[]>`
    select count(*)::int as runs, count(distinct r.source_key)::int as sources, count(distinct j.id)::int as jobs
    from standing_runs r join jobs j on j.id = r.job_id
    where r.project_id = ${uuidOfId(projectId)} and r.backfill_id is not null`;
  expect(row).toEqual({ runs: total, sources: total, jobs: total });
  for (const other of nodes) other.kill("SIGKILL");
});
