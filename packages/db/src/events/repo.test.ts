import { createId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, newEvent, nowMs } from "../test-rows.ts";
import { recordEvents } from "./record.ts";
import { eventsForProject, uuidAfterEvent, uuidOfEvent } from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const everything = { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined };
const lease = { owner: createId("node", nowMs), untilMs: nowMs };

test("events of one project are listed newest first; tests and what was swept stand in no list", async () => {
  const [projectId, other] = [await addProject(db), await addProject(db)];
  const events = [0, 1, 2, 3].map((offset) =>
    newEvent(projectId, [], { receivedAtMs: nowMs + offset, dedupeKey: `k${offset}` }),
  );
  const isTest = newEvent(projectId, [], { kind: "test" });
  await recordEvents(db, [...events, isTest, newEvent(other)], undefined, lease);
  await db.sql`update events set kind = 'swept', payload = '' where dedupe_key = 'k3'`;
  const repository = eventsForProject(db, projectId);
  const list = async (filter: object, after = undefined as (typeof events)[0]["id"] | undefined) =>
    (await repository.list({ ...everything, ...filter }, { after, limit: 10 })).map(({ id }) => id);
  const [first, second, third, swept] = events.map(({ id }) => id);
  expect(await list({})).toEqual([third, second, first]);
  expect(await list({ sinceMs: nowMs + 1, untilMs: nowMs + 2 })).toEqual([second]);
  expect(await list({ toolkitSlug: "payments" })).toEqual([]);
  expect(await list({}, second)).toEqual([first]);
  expect(await repository.find(isTest.id)).toMatchObject({ kind: "test" });
  expect(await repository.find(swept!)).toBeUndefined();
  expect(await eventsForProject(db, other).find(first!)).toBeUndefined();
});

test("the bounds of one event hold this event alone", () => {
  const id = createId("evt", nowMs);
  expect(uuidAfterEvent(id) > uuidOfEvent(id)).toBe(true);
  expect(
    BigInt(`0x${uuidAfterEvent(id).replaceAll("-", "")}`) - BigInt(`0x${uuidOfEvent(id).replaceAll("-", "")}`),
  ).toBe(1n);
});
