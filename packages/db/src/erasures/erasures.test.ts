import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createId, uuidOfId } from "@svc/core";
import { bundled } from "@svc/testing/bundled";
import { createTestDatabase } from "@svc/testing/database";
import { getTableName } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import { openDatabase } from "../connect.ts";
import { exportEntity } from "../entity-export/walk.ts";
import { recordEvents } from "../events/record.ts";
import { createProject } from "../projects/repo.ts";
import { erasedTables } from "../schema/erased-tables.ts";
import { storedColumns } from "../schema/stored-columns.ts";
import { addSubscription, newEvent } from "../test-rows.ts";
import { beginErasure, type Erasure, findErasure, previewErasure, unsearchedTables } from "./repo.ts";
import { stepErasure } from "./step.ts";
import { type PlantedOwner, plantRows, tablesWith } from "./test-planted.ts";

const { url, db, drop } = await createTestDatabase();
afterAll(drop);

const nowMs = Date.UTC(2026, 0, 5, 9);
const times = { graceMs: 0, jobsMs: 600_000, pollMs: 1_000 };

async function finish(begun: Erasure): Promise<Erasure> {
  for (let steps = 0; steps < 1_000; steps++) {
    const moved = await stepErasure(db, nowMs, times);
    if (moved === undefined) break;
  }
  return (await findErasure(db, begun.id)) as Erasure;
}

test("every table says how an erasure finds its rows, once", () => {
  const declared = erasedTables.map(({ table }) => getTableName(table));
  expect(declared.toSorted()).toEqual([...new Set(storedColumns().map(({ table }) => table))].toSorted());
});

test("a column that names an entity is one that the declaration of its table goes by", () => {
  const naming = new Set(
    erasedTables.flatMap(({ table, entity }) =>
      typeof entity === "object" && "none" in entity ? [] : [getTableName(table)],
    ),
  );
  const columns = storedColumns().filter(({ column }) => /entity/.test(column));
  expect(columns.filter(({ table }) => !naming.has(table) && table !== "erasures")).toEqual([]);
});

test("an erased entity is in no table any more; another of its project, and one of its name in another project, lose nothing", async () => {
  const here = (await createProject(db, "here", nowMs)).id;
  const there = (await createProject(db, "there", nowMs)).id;
  const owner = (projectId: typeof here, entityId: string, number: number): PlantedOwner => {
    return { projectId, entityId, number, marker: `marker-${number}` };
  };
  const [ada, bob, otherAda] = [owner(here, "ada", 101), owner(here, "adam", 102), owner(there, "ada", 103)];
  for (const one of [ada, bob, otherAda]) expect(await plantRows(db, one)).not.toHaveLength(0);
  const before = await tablesWith(db, bob.marker);
  const versionOf = async (id: typeof here) =>
    (await db.sql`select catalog_version::int4 as version from projects where id = ${uuidOfId(id)}::uuid`)[0]?.[
      "version"
    ];
  const versions = [await versionOf(here), await versionOf(there)];
  expect(before.length).toBeGreaterThan(30);
  const erasure = await beginErasure(db, { projectId: here, entityId: "ada" }, { nowMs });
  expect(await beginErasure(db, { projectId: here, entityId: "ada" }, { nowMs })).toEqual(erasure);
  const done = await finish(erasure);
  expect(done).toMatchObject({ state: "done", entityId: "", finishedAt: nowMs });
  // The erasure also removes the entity's skills from the catalogs that nodes cache.
  expect(await versionOf(here)).toBeGreaterThan(versions[0]);
  expect(await versionOf(there)).toBe(versions[1]);
  // A browser session belongs to no entity, because it may have the keys of several entities. So the erasure keeps it.
  expect(await tablesWith(db, ada.marker)).toEqual(["console_sessions"]);
  expect(await tablesWith(db, bob.marker)).toEqual(before);
  expect(await tablesWith(db, otherAda.marker)).toEqual(before);
});

test.each([
  ["a parked delivery", "'infinity'", 110],
  ["a delivery in flight within a pace", "to_timestamp(0)", 111],
])(
  "the task of %s goes with the entity, although it is due at another time than its delivery",
  async (what, dueAt, number) => {
    const projectId = (await createProject(db, what, nowMs)).id;
    await plantRows(db, { projectId, entityId: "ada", number, marker: `marker-${number}` });
    const ofProject = db.sql`project_id = ${uuidOfId(projectId)}::uuid`;
    await db.sql`update delivery_tasks set due_at = ${db.sql.unsafe(dueAt)} where ${ofProject}`;
    await finish(await beginErasure(db, { projectId, entityId: "ada" }, { nowMs }));
    expect(await db.sql`select from delivery_tasks where ${ofProject}`).toEqual([]);
  },
);

test("events without an entity that name an account of the entity are erased, also of an account that has ended; others stay", async () => {
  const projectId = (await createProject(db, "before", nowMs)).id;
  const project = uuidOfId(projectId);
  const account = (entityId: string, state: string, references: string) =>
    db.sql.unsafe(
      `insert into connected_accounts (id, project_id, toolkit_slug, is_private, entity_id, scheme, state, variables, "references", created_at, updated_at)
       values (gen_random_uuid(), '${project}', 'crm', false, '${entityId}', 'oauth2', '${state}', '{}', '${references}', now(), now())`,
    );
  await account("ada", "active", '{team-1,"quote\\"d"}');
  await account("ada", "revoked", "{team-2}");
  await account("bob", "active", "{team-3}");
  const event = (
    name: string,
    entityId: string,
    named: string,
    { payload = "{}", toolkit = "crm", kind = "event" } = {},
  ) =>
    db.sql.unsafe(
      `insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key, account)
       values ('${project}', gen_random_uuid(), '${kind}', '${toolkit}', '${name}', $1, $2, now(), now(), '', ${named})`,
      [entityId, payload],
    );
  await event("of the entity", "ada", "'team-9'");
  await event("before the account", "", "'team-1'");
  await event("of an ended account", "", "'team-2'");
  await event("before the column", "", "null", { payload: '{"team":"team-1"}' });
  await event("before the column, escaped", "", "null", { payload: '{"team":"quote\\"d"}' });
  await event("kept: a longer reference", "", "null", { payload: '{"team":"team-10"}' });
  await event("kept: another account", "", "'team-3'", { payload: '{"team":"team-1"}' });
  await event("kept: no account", "", "null");
  await event("kept: another entity", "bob", "'team-1'");
  await event("kept: another toolkit", "", "'team-1'", { toolkit: "chat" });
  const names = async () => {
    const rows = await db.sql.unsafe(
      `select trigger_slug from events where project_id = '${project}' order by trigger_slug`,
    );
    return rows.map((row) => String(row["trigger_slug"]));
  };
  const before = await names();
  const preview = await previewErasure(db, { projectId, entityId: "ada" }, () => true);
  expect(preview).toMatchObject({ counts: { events: 5, connected_accounts: 2 }, isPartial: false });
  expect(preview.samples).toEqual(
    expect.arrayContaining([{ table: "events", ids: Array(5).fill(expect.stringMatching(/^evt_/)) }]),
  );
  expect(await names()).toEqual(before);
  expect(await previewErasure(db, { projectId, entityId: "ada" }, () => false)).toMatchObject({ isPartial: true });
  const done = await finish(await beginErasure(db, { projectId, entityId: "ada" }, { nowMs }));
  expect(done.counts).toMatchObject({ events: 5, connected_accounts: 2 });
  expect(await names()).toEqual(before.filter((name) => name.startsWith("kept")));
});

test("test events without an entity, as earlier versions stored them, belong to the entity of the subscription", async () => {
  const projectId = (await createProject(db, "tested", nowMs)).id;
  const [ada, bob] = [await addSubscription(db, projectId, "ada"), await addSubscription(db, projectId, "bob")];
  const send = async (to: typeof ada, entityId: string) => {
    const event = { ...newEvent(projectId, [to], { entityId }), kind: "test" as const };
    await recordEvents(db, [event], undefined, { owner: createId("node", nowMs), untilMs: nowMs });
    return event.id;
  };
  const gone = [await send(ada, ""), await send(ada, "ada")];
  const kept = [await send(bob, ""), await send(await addSubscription(db, projectId), "")];
  const exported: unknown[] = [];
  for await (const { table, rows } of exportEntity(db, { projectId, entityId: "ada" }))
    if (table === "events") exported.push(...rows.map(({ values }) => values["id"]));
  expect(exported.toSorted()).toEqual(gone.toSorted());
  const done = await finish(await beginErasure(db, { projectId, entityId: "ada" }, { nowMs }));
  expect(done.counts).toEqual({ events: 2, deliveries: 2, delivery_tasks: 2, subscriptions: 1 });
  const rows = await db.sql`select id::text as id from events where project_id = ${uuidOfId(projectId)}`;
  expect(rows.map(({ id }) => id).toSorted()).toEqual(kept.map(uuidOfId).toSorted());
});

test("a dry run counts what an erasure then deletes, in every table", async () => {
  const projectId = (await createProject(db, "counted", nowMs)).id;
  await plantRows(db, { projectId, entityId: "ada", number: 601, marker: "marker-601" });
  const { counts } = await previewErasure(db, { projectId, entityId: "ada" }, () => true);
  const done = await finish(await beginErasure(db, { projectId, entityId: "ada" }, { nowMs }));
  expect(Object.keys(counts).length).toBeGreaterThan(30);
  expect(done.counts).toEqual(counts);
});

test("every table that an erasure does not search for an entity's texts is named with a reason", () => {
  expect(
    unsearchedTables("entity")
      .map(({ place }) => place)
      .toSorted(),
  ).toEqual([
    ...["audit_events", "call_hooks", "call_limits", "event_settings", "event_type_versions", "event_types"],
    "failure_groups",
    ...["private_toolkits", "project_policies", "projects"],
    ...["quarantined_posts", "secrets", "toolkit_clients", "toolkit_sources", "webhook_secrets"],
  ]);
  expect(
    unsearchedTables("project")
      .map(({ place }) => place)
      .toSorted(),
  ).toEqual(["audit_events", "quarantined_posts"]);
});

test("a deleted project is in no table any more, and another loses nothing", async () => {
  const gone = (await createProject(db, "gone", nowMs)).id;
  const kept = (await createProject(db, "kept", nowMs)).id;
  const owners = [gone, kept].map((projectId, index) => {
    return { projectId, entityId: "ada", number: 201 + index, marker: `marker-${201 + index}` };
  });
  for (const owner of owners) await plantRows(db, owner);
  const before = await tablesWith(db, "marker-202");
  const done = await finish(await beginErasure(db, { projectId: gone, entityId: undefined }, { nowMs }));
  expect(done).toMatchObject({ state: "done", kind: "project" });
  expect(await tablesWith(db, "marker-201")).toEqual(["console_sessions"]);
  expect(await tablesWith(db, "marker-202")).toEqual(before);
  expect(done.counts).toMatchObject({ projects: 1, tool_calls: 1, jobs: 1 });
});

test("an erasure whose process is killed continues in another, and counts each row once", async () => {
  const projectId = (await createProject(db, "killed", nowMs)).id;
  const [ada, bob] = [301, 302].map((number, index) => {
    return { projectId, entityId: index === 0 ? "ada" : "bob", number, marker: `marker-${number}` };
  }) as [PlantedOwner, PlantedOwner];
  for (const owner of [ada, bob]) await plantRows(db, owner);
  const rows = 12_000;
  await db.sql.unsafe(
    `insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
     select '${uuidOfId(projectId)}', gen_random_uuid(), 'event', '', '', case when n % 4 = 0 then 'bob' else 'ada' end,
       case when n % 4 = 0 then 'marker-302' else 'marker-301' end, now(), now(), '' from generate_series(1, ${rows}) n`,
  );
  const before = await tablesWith(db, bob.marker);
  const begun = await beginErasure(db, { projectId, entityId: "ada" }, { nowMs });
  const child = fork(await bundled(fileURLToPath(new URL("erasure.fixture.ts", import.meta.url))), [url], {
    execArgv: [],
  });
  const ended = once(child, "exit");
  child.on("message", ({ events = 0 }: { events?: number }) => void (events > 2_000 && child.kill("SIGKILL")));
  expect(await ended).toEqual([null, "SIGKILL"]);
  const left = (await findErasure(db, begun.id)) as Erasure;
  expect(left.finishedAt).toBeNull();
  expect(left.counts["events"]).toBeGreaterThan(2_000);
  expect(await tablesWith(db, ada.marker)).toContain("events");
  const done = await finish(begun);
  expect(done).toMatchObject({ state: "done", counts: { events: (rows * 3) / 4 + 1 } });
  expect(await tablesWith(db, ada.marker)).toEqual(["console_sessions"]);
  expect(await tablesWith(db, bob.marker)).toEqual(before);
  const [kept] = await db.sql`select count(*)::int4 as count from events where project_id = ${uuidOfId(projectId)}`;
  expect(kept?.["count"]).toBe(rows / 4 + 1);
});

test.each([
  ["is bound to it", "estimate = (select estimate from jobs where id = md5('none')::uuid), standing_run_id = null"],
  ["names it in its program", "binding = null, standing_run_id = null"],
  ["was begun by its event", "binding = null, estimate = (select estimate from jobs where id = md5('none')::uuid)"],
])(
  "a job that %s is told to end, waited for, and erased as it stands once that took too long",
  async (name, without) => {
    const projectId = (await createProject(db, name, nowMs)).id;
    const number = 400 + name.length;
    const neutral = { projectId, entityId: "bob", number: 900 + number, marker: `marker-of-bob-${number}` };
    await plantRows(db, neutral);
    await db.sql.unsafe(`update jobs set id = md5('none')::uuid where project_id = '${uuidOfId(projectId)}'`);
    await plantRows(db, { projectId, entityId: "ada", number, marker: `marker-${number}` });
    const own = `project_id = '${uuidOfId(projectId)}' and id <> md5('none')::uuid`;
    await db.sql.unsafe(`update jobs set finished_at = null, cancel_requested_at = null, ${without} where ${own}`);
    // The standing program of these runs no longer names the entity, so the erasure keeps the program and its runs.
    await db.sql.unsafe(`update standing_programs set binding = null where project_id = '${uuidOfId(projectId)}'`);
    await db.sql.unsafe(
      "update standing_versions set estimate = (select estimate from jobs where id = md5('none')::uuid)",
    );
    const begun = await beginErasure(db, { projectId, entityId: "ada" }, { nowMs });
    while ((await stepErasure(db, nowMs, times)) !== undefined);
    expect(await findErasure(db, begun.id)).toMatchObject({ state: "waiting", jobsLeft: 1, finishedAt: null });
    const jobs = () => db.sql.unsafe(`select cancel_requested_at is not null as told from jobs where ${own}`);
    expect(await jobs()).toEqual([{ told: true }]);
    while ((await stepErasure(db, nowMs + times.jobsMs, times)) !== undefined);
    expect(await findErasure(db, begun.id)).toMatchObject({ state: "done", counts: { jobs: 1 } });
    expect(await jobs()).toEqual([]);
    await db.sql.unsafe("delete from jobs where id = md5('none')::uuid");
  },
);

test("a program that nothing but the erased entity's rows ran goes with them, and one that another's job runs stays", async () => {
  const projectId = (await createProject(db, "programs", nowMs)).id;
  const [ada, bob] = ["ada", "bob"].map((entityId, index) => {
    return { projectId, entityId, number: 501 + index, marker: `marker-${501 + index}` };
  }) as [PlantedOwner, PlantedOwner];
  for (const one of [ada, bob]) await plantRows(db, one);
  const own = `project_id = '${uuidOfId(projectId)}'`;
  await db.sql.unsafe(
    `update jobs set program_digest = (select program_digest from jobs where ${own} and binding ->> 'entityId' = 'ada') where ${own}`,
  );
  const programs = () =>
    db.sql.unsafe(`select encode(digest, 'escape') as digest from job_programs where ${own} order by 1`);
  const ofAda = await finish(await beginErasure(db, { projectId, entityId: "ada" }, { nowMs }));
  expect(ofAda.counts["job_programs"]).toBeUndefined();
  expect(await programs()).toEqual([{ digest: "marker-501/program" }, { digest: "marker-502/program" }]);
  const ofBob = await finish(await beginErasure(db, { projectId, entityId: "bob" }, { nowMs }));
  expect(ofBob).toMatchObject({ state: "done", counts: { job_programs: 2 } });
  expect(await programs()).toEqual([]);
  expect(await db.sql.unsafe("select from erasure_programs")).toEqual([]);
});

test("what was under way while an entity is erased, and is recorded then, goes before the erasure ends; what comes after it is new", async () => {
  const projectId = (await createProject(db, "under way", nowMs)).id;
  const owner = (number: number) => ({ projectId, entityId: "ada", number, marker: `marker-${number}` });
  await plantRows(db, owner(511));
  const begun = await beginErasure(db, { projectId, entityId: "ada" }, { nowMs });
  const slow = { ...times, graceMs: 120_000 };
  while ((await stepErasure(db, nowMs, slow)) !== undefined);
  expect(await findErasure(db, begun.id)).toMatchObject({ state: "waiting", finishedAt: null });
  expect(await tablesWith(db, "marker-511")).toEqual([
    "account_references",
    "console_sessions",
    "erasure_programs",
    "job_programs",
  ]);
  await plantRows(db, owner(512));
  while ((await stepErasure(db, nowMs + slow.graceMs, slow)) !== undefined);
  expect(await findErasure(db, begun.id)).toMatchObject({
    state: "done",
    counts: { events: 2, jobs: 2, job_programs: 2 },
  });
  for (const marker of ["marker-511", "marker-512"]) expect(await tablesWith(db, marker)).toEqual(["console_sessions"]);
  await plantRows(db, owner(513));
  expect(await stepErasure(db, nowMs + slow.graceMs, slow)).toBeUndefined();
  expect(await tablesWith(db, "marker-513")).toContain("events");
});

test("two nodes work on an erasure, and on one of its project at the same time: each row is counted once, and both end", async () => {
  const projectId = (await createProject(db, "two nodes", nowMs)).id;
  // An id with characters that have a meaning in SQL, JSON or regular expressions.
  const entityId = `o'd%_"\\[a-z]+(x|$)^*?{2}. <&> \u00e9\u{1f600}`;
  await plantRows(db, { projectId, entityId, number: 521, marker: "marker-521" });
  await plantRows(db, { projectId, entityId: "bob", number: 522, marker: "marker-522" });
  const before = await tablesWith(db, "marker-522");
  const other = openDatabase({ url });
  const work = async (node: typeof db, id: Erasure["id"]) => {
    while ((await findErasure(node, id))?.finishedAt === null) await stepErasure(node, nowMs, times);
  };
  const both = async (id: Erasure["id"]) => await Promise.all([work(db, id), work(other, id)]);
  const [one, same] = await Promise.all([
    beginErasure(db, { projectId, entityId }, { nowMs }),
    beginErasure(other, { projectId, entityId }, { nowMs }),
  ]);
  expect(same.id).toBe(one.id);
  await both(one.id);
  expect((await findErasure(db, one.id))?.counts).toMatchObject({
    events: 1,
    jobs: 1,
    deliveries: 1,
    delivery_tasks: 1,
  });
  expect(await tablesWith(db, "marker-521")).toEqual(["console_sessions"]);
  expect(await tablesWith(db, "marker-522")).toEqual(before);
  const ofBob = await beginErasure(db, { projectId, entityId: "bob" }, { nowMs });
  const ofProject = await beginErasure(other, { projectId, entityId: undefined }, { nowMs });
  await Promise.all([both(ofBob.id), both(ofProject.id)]);
  expect(await tablesWith(db, "marker-522")).toEqual(["console_sessions"]);
  await other.close();
});
