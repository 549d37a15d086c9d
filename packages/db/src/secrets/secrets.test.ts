import type { ProjectId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, nowMs } from "../test-rows.ts";
import { findSecrets } from "./find.ts";
import { secretsForProject } from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const secretOf = (name: string, value: string, at = nowMs) => {
  return { name, value: Buffer.from(value), createdAt: at, updatedAt: at };
};
const secretsOf = (projectId: ProjectId) => secretsForProject(db, projectId);

test("a secret is listed by name to its project only, without its value, and put again keeps when it was made", async () => {
  const [own, other] = [await addProject(db), await addProject(db)];
  await secretsOf(own).put(secretOf("b", "first"), 10);
  await secretsOf(own).put(secretOf("a", "one"), 10);
  const put = await secretsOf(own).put(secretOf("b", "second", nowMs + 5), 10);
  expect(put).toEqual({ name: "b", createdAt: nowMs, updatedAt: nowMs + 5 });
  expect(await secretsOf(own).list()).toEqual([{ name: "a", createdAt: nowMs, updatedAt: nowMs }, put]);
  const places = [
    { projectId: own, name: "b" },
    { projectId: other, name: "b" },
    { projectId: own, name: "a" },
    { projectId: own, name: "b" },
  ];
  expect((await findSecrets(db, places)).map((value) => value?.toString())).toEqual([
    "second",
    undefined,
    "one",
    "second",
  ]);
  expect([
    await secretsOf(other).delete("a"),
    await secretsOf(own).delete("a"),
    await secretsOf(own).delete("a"),
  ]).toEqual([false, true, false]);
});

test("of puts that race for the last place one is kept", async () => {
  const projectId = await addProject(db);
  await secretsOf(projectId).put(secretOf("first", "1"), 2);
  const put = await Promise.all(["a", "b", "c"].map((name) => secretsOf(projectId).put(secretOf(name, "2"), 2)));
  expect(put.filter(Boolean)).toHaveLength(1);
  expect(await secretsOf(projectId).put(secretOf("first", "3"), 2)).toBeDefined();
});
