import type { ProjectId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { sentBy } from "../../plans/planner/explain.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { listDataKeys, type NewDataKey, putDataKeys, removeReplacedDataKeys } from "./data-keys.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const keyOf = (scope: ProjectId | "deployment", rotation: number, use: NewDataKey["use"] = "seal") => {
  return { scope, use, rotation, wrapped: Buffer.from("wrapped") };
};

/** Stores data keys, and returns the number of the last stored key. */
async function put(keys: readonly NewDataKey[]): Promise<number> {
  await putDataKeys(db, keys, nowMs);
  return (await listDataKeys(db, 0)).at(-1)?.number ?? 0;
}

test("a rotation removes the sealing keys that have a newer one of their scope, each found among those of its scope", async () => {
  const ids: ProjectId[] = [];
  for (let n = 0; n < 100; n++) ids.push(await addProject(db));
  const [without, ...others] = ids;
  if (without === undefined) throw new Error("no project was made");
  const scopes = [...others, "deployment" as const];
  const old = [without, ...scopes].flatMap((scope) => [keyOf(scope, 0), keyOf(scope, 0, "digest")]);
  const lastOld = await put(old);
  await put(scopes.map((scope) => keyOf(scope, 1)));

  const [remove] = await sentBy(db, (tx) => removeReplacedDataKeys(tx, lastOld));
  if (remove === undefined) throw new Error("nothing was sent");
  await removeReplacedDataKeys(db, lastOld);
  const left = (await listDataKeys(db, 0)).map(({ scope, use, rotation }) => [scope, use, rotation].join(" "));
  const kept = old.filter(({ scope, use }) => use === "digest" || scope === without);
  expect(left.sort()).toEqual(
    [...kept, ...scopes.map((scope) => keyOf(scope, 1))]
      .map(({ scope, use, rotation }) => [scope, use, rotation].join(" "))
      .sort(),
  );

  // The statement must not compare every old key with every new one. With 10,000 projects, that took 50 million steps, and no key could be
  // created meanwhile.
  await put(scopes.map((scope) => keyOf(scope, 0)));
  const told = await db.sql.unsafe(`explain (analyze, format json) ${remove.text}`, remove.parameters as never[]);
  expect(JSON.stringify(told)).toMatch(/"Actual Rows"/);
  expect(JSON.stringify(told)).not.toMatch(/Rows Removed by Join Filter/);
});
