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

test("events of one project are listed newest first; tests and swept events are in no list", async () => {
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

test("events of a toolkit are merged from its triggers, for any page, time and limit", async () => {
  const projectId = await addProject(db);
  const slugs = ["shop.order_placed", "shop.order_paid", "shop2.order_paid", "shop.order_sent", "sho.p", "shop_x.y"];
  const posted = Array.from({ length: 60 }, (_, n) => {
    const triggerSlug = slugs[(n * n) % slugs.length]!;
    const kind = n % 11 === 0 ? ("test" as const) : ("event" as const);
    return newEvent(projectId, [], {
      ...{ kind, triggerSlug, toolkitSlug: triggerSlug.split(".")[0]! },
      receivedAtMs: nowMs + Math.floor(n / 3),
    });
  });
  const strangers = newEvent(await addProject(db), [], { toolkitSlug: "shop", triggerSlug: "shop.order_paid" });
  await recordEvents(db, [...posted, strangers], undefined, lease);
  const repository = eventsForProject(db, projectId);
  const expected = posted
    .filter(({ kind, toolkitSlug }) => kind === "event" && toolkitSlug === "shop")
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const ofShop = { ...everything, toolkitSlug: "shop" };
  const all = await repository.list(ofShop, { after: undefined, limit: 100 });
  expect(all.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  expect(all[0]).toEqual(await repository.find(all[0]!.id));
  for (const [index, { id }] of expected.entries()) {
    const page = await repository.list(ofShop, { after: id, limit: 4 });
    expect(page.map((event) => event.id)).toEqual(expected.slice(index + 1, index + 5).map((event) => event.id));
  }
  const range = { sinceMs: nowMs + 3, untilMs: nowMs + 9 };
  const inRange = expected.filter(({ receivedAtMs: at }) => at >= range.sinceMs && at < range.untilMs);
  expect(inRange.length).toBeGreaterThan(3);
  const read = await repository.list({ ...ofShop, ...range }, { after: expected[0]!.id, limit: 100 });
  expect(read.map(({ id }) => id)).toEqual(inRange.map(({ id }) => id));
  const paid = { ...everything, triggerSlug: "shop.order_paid" };
  const first = { after: undefined, limit: 100 };
  expect(await repository.list({ ...paid, toolkitSlug: "shop2" }, first)).toEqual([]);
  expect(await repository.list({ ...paid, toolkitSlug: "shop" }, first)).toEqual(await repository.list(paid, first));
});

test("the bounds of one event hold this event alone", () => {
  const id = createId("evt", nowMs);
  expect(uuidAfterEvent(id) > uuidOfEvent(id)).toBe(true);
  expect(
    BigInt(`0x${uuidAfterEvent(id).replaceAll("-", "")}`) - BigInt(`0x${uuidOfEvent(id).replaceAll("-", "")}`),
  ).toBe(1n);
});
