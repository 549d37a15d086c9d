import fc from "fast-check";
import { expect, test } from "vitest";
import { createId, firstUuidAt, idOfUuid, parseId, timeOfId, uuidOfId } from "./id.ts";

const times = fc.integer({ min: 0, max: 4_000_000_000_000 });

test("an id survives the way to the store and back", () => {
  fc.assert(
    fc.property(times, (ms) => {
      const id = createId("evt", ms);
      expect(idOfUuid("evt", uuidOfId(id))).toBe(id);
      expect(parseId("evt", id)).toBe(id);
      expect(timeOfId(id)).toBe(ms);
    }),
  );
});

test("ids and their UUIDs sort by time", () => {
  fc.assert(
    fc.property(times, times, (a, b) => {
      fc.pre(a < b);
      expect(createId("evt", a) < createId("evt", b)).toBe(true);
      expect(uuidOfId(createId("evt", a)) < firstUuidAt(b)).toBe(true);
      expect(uuidOfId(createId("evt", b)) >= firstUuidAt(b)).toBe(true);
    }),
  );
});

test("ids of one millisecond sort as they were made, and never repeat", () => {
  const ids = Array.from({ length: 5_000 }, () => createId("evt", 1_700_000_000_000));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("text that is not an id of the wanted kind is not parsed", () => {
  const id = createId("evt", 1);
  for (const text of [
    "",
    "evt_",
    id.slice(4),
    id.replace("evt", "sub"),
    `${id}0`,
    id.toUpperCase(),
    "evt_zzzzzzzzzzzzzzzzzzzzzzzzzz",
    "evt_8zzzzzzzzzzzzzzzzzzzzzzzzz",
    "evt_0000000000000000000000000u",
  ]) {
    expect(parseId("evt", text), text).toBeUndefined();
  }
});
