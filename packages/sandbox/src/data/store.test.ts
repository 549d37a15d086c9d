import type { ProjectId } from "@svc/core";
import { expect, test } from "vitest";
import { ObjectStore } from "./store.ts";

const shelf = { app: "/calendar", kind: "event", scope: "[]" };
const prj = (name: string) => `prj_${name}` as ProjectId;

function put(store: ObjectStore, project: string, id: string, facts: object = {}): void {
  store.put(prj(project), { shelf, id, state: "made", facts: { ...facts } });
}

const has = (store: ObjectStore, project: string, id: string) => store.find(prj(project), shelf, id) !== undefined;

test("the project least recently used goes when there are too many", () => {
  const store = new ObjectStore({ projectsMax: 2 });
  put(store, "a", "1");
  put(store, "b", "1");
  expect(has(store, "a", "1")).toBe(true);
  put(store, "c", "1");
  expect([has(store, "a", "1"), has(store, "b", "1"), has(store, "c", "1")]).toEqual([true, false, true]);
});

test("objects of the project least recently used go first when facts grow too many", () => {
  const store = new ObjectStore({ charactersMax: 4000 });
  put(store, "a", "1", { text: "x".repeat(1000) });
  put(store, "a", "2", { text: "x".repeat(1000) });
  put(store, "b", "1", { text: "x".repeat(1000) });
  expect([has(store, "a", "1"), has(store, "a", "2"), has(store, "b", "1")]).toEqual([false, true, true]);
  for (let round = 0; round < 100; round++) put(store, "b", "1", { text: "x".repeat(1000) });
  expect([has(store, "a", "2"), has(store, "b", "1")]).toEqual([true, true]);
});

test("facts beyond a bound are let go of, the object is not", () => {
  const store = new ObjectStore();
  put(store, "a", "1", { text: "x".repeat(100_000) });
  expect(store.find(prj("a"), shelf, "1")).toMatchObject({ state: "made", facts: {} });
});

test("what stands elsewhere is another object", () => {
  const store = new ObjectStore();
  put(store, "a", "1");
  for (const other of [{ app: "/other" }, { kind: "calendar" }, { scope: '["x"]' }]) {
    expect(store.find(prj("a"), { ...shelf, ...other }, "1")).toBeUndefined();
    expect(store.made(prj("a"), { ...shelf, ...other })).toEqual([]);
  }
  expect(store.made(prj("a"), shelf)).toHaveLength(1);
});
