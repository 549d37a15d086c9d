import { createHash } from "node:crypto";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { startTestReceiver } from "@svc/testing/receiver";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postIncident } from "./test-alerts.ts";
import { createStandingWorld, definitionText, type StandingWorld, settled, stateOf } from "./test-standing.ts";

// Tests of starts that always fail, because the database refuses their jobs.

let database: TestDatabase;
let world: StandingWorld;
beforeAll(async () => {
  database = await createTestDatabase();
  world = createStandingWorld(database.db, {
    engines: ["jobs", "standing", "deliveries"],
    observer: {
      standing: { decided: () => {}, polled: () => {}, paused: () => {}, rearmed: () => {}, failed: () => {} },
    },
  });
  await database.db.sql.unsafe(`create table refused_jobs (call_seed bytea);
    create function refuse_job() returns trigger language plpgsql as $$ begin
      if exists (select from refused_jobs where call_seed = new.call_seed) then raise exception 'no such job'; end if;
      return new; end $$;
    create trigger refuse_jobs before insert on jobs for each row execute function refuse_job()`);
});
afterAll(async () => {
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

/** Makes the database refuse the job of one run of a program's version 1. */
async function refuse(programId: string, sourceKey: string): Promise<void> {
  const seed = createHash("sha256")
    .update(JSON.stringify([programId, 1, sourceKey]))
    .digest();
  await database.db.sql`insert into refused_jobs values (${seed})`;
}

const source = { trigger: { slug: "alerts.incident_opened" } };
const waiting = { version: 1, title: "Wait", steps: [{ id: "w", wait: "20h" }] };

/** Creates a project whose endpoint gets notices of failed starts, and a program in it. */
async function stand(slug: string, definition: object) {
  const project = await world.project();
  const receiver = await startTestReceiver();
  await project.jobs.createAskEndpoint({ endpointUrl: receiver.url, eventTypes: ["standing_start_failed"] });
  const definitionJson = definitionText({ source, program: waiting, ...definition });
  const { standingProgram } = await project.standing.createStandingProgram({ slug, definitionJson });
  const id = standingProgram?.id ?? "";
  const told = () => receiver.requests.map(({ body }) => JSON.parse(body.toString("utf8")));
  return { ...project, id, told, [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose]() };
}

/** The run that an incident started, with its state and its job. */
type Stood = { readonly state: string; readonly detail: string; readonly jobId: string; readonly sourceKey: string };

async function incident({ standing, runs, id }: Awaited<ReturnType<typeof stand>>, name: string, service: string) {
  const before = (await standing.listStandingRuns({ standingProgramId: id })).runs.length;
  await postIncident(world.node, { id: name, service });
  const run = (await runs(id, before + 1)).at(-1);
  const now = async (): Promise<Stood> => {
    const { run: found } = await standing.getStandingRun({ id: run?.id ?? "" });
    if (found === undefined) throw new Error("it is gone");
    const { detail, jobId, eventIds } = found;
    return { state: stateOf(found), detail, jobId, sourceKey: `e:${eventIds[0]}` };
  };
  return now;
}

/** Moves the clock forward until the condition is true. */
const inTime = (ask: () => Promise<boolean>) =>
  settled(async () => {
    if (await ask()) return true;
    world.goTo(world.now() + 10_000);
    return undefined;
  });

test("a waiting run whose start always fails is refused after a time, told of once, and keeps no other lane waiting", async () => {
  world.goTo("2026-08-03T09:00:00Z");
  await using program = await stand("lanes", {
    overlap: { policy: "queueAll", key: { $ref: "event.payload.service" } },
  });
  const first = await incident(program, "a1", "a");
  const poison = await incident(program, "a2", "a");
  const behind = await incident(program, "a3", "a");
  const other = await incident(program, "b1", "b");
  const next = await incident(program, "b2", "b");
  expect([(await poison()).state, (await behind()).state, (await next()).state]).toEqual(
    Array(3).fill("queued overlap"),
  );
  await refuse(program.id, (await poison()).sourceKey);
  for (const run of [first, other]) await program.jobs.cancelJob({ id: (await run()).jobId });
  // The same claim also starts the next run of the other concurrency key.
  await settled(async () => (await next()).state === "started");
  await settled(async () => (await poison()).state === "queued start_failed");
  const failingFrom = world.now();
  expect(await poison()).toMatchObject({ detail: expect.stringContaining("could not be created") });
  expect([(await behind()).state, program.told()]).toEqual(["queued overlap", []]);
  await inTime(async () => (await poison()).state === "refused start_failed");
  expect(world.now() - failingFrom).toBeGreaterThan(600_000);
  await inTime(async () => (await behind()).state === "started");
  await settled(async () => program.told().length > 0);
  expect(program.told()).toEqual([
    expect.objectContaining({ type: "standing_start_failed", standingProgramId: program.id, count: 1 }),
  ]);
});

test("a run whose start failed for a while starts once that is over", async () => {
  world.goTo("2026-08-04T09:00:00Z");
  await using program = await stand("mended", { overlap: { policy: "queueAll" } });
  const first = await incident(program, "c1", "c");
  const failing = await incident(program, "c2", "c");
  await refuse(program.id, (await failing()).sourceKey);
  await program.jobs.cancelJob({ id: (await first()).jobId });
  await settled(async () => (await failing()).state === "queued start_failed");
  await database.db.sql`delete from refused_jobs`;
  await inTime(async () => (await failing()).state === "started");
  expect(await failing()).toMatchObject({ detail: "" });
  expect(program.told()).toEqual([]);
});

test("a window that closes and whose start always fails is refused after a time; the next one starts", async () => {
  world.goTo("2026-08-05T09:00:00Z");
  await using program = await stand("windows", {
    collect: { quiet: "1s", take: "all" },
    input: { ids: { $ref: "events" } },
    program: {
      ...waiting,
      inputSchema: { type: "object", properties: { ids: { type: "array", items: { type: "object" } } } },
      input: { ids: [] },
    },
  });
  const window = await incident(program, "d1", "d");
  const [row] = await database.db.sql<{ key: string }[]>`
    select source_key as key from standing_runs where state = 'collecting'`;
  await refuse(program.id, row?.key ?? "");
  await inTime(async () => (await window()).state === "queued start_failed");
  await inTime(async () => (await window()).state === "refused start_failed");
  const after = await incident(program, "d2", "d");
  await inTime(async () => (await after()).state === "started");
  await settled(async () => program.told().length > 0);
  expect(program.told()).toHaveLength(1);
});
