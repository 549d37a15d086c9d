import { createId, digestSecret, type KeyId, type ProjectId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { isUniqueViolation } from "../driver.ts";
import { createProject, findProject, findProjectByName, listProjects, setProjectPolicy } from "../projects/repo.ts";
import { addProject, nowMs } from "../test-rows.ts";
import {
  type ApiKey,
  createApiKey,
  ensureApiKey,
  findCallerKey,
  listApiKeys,
  revokeApiKey,
  touchApiKeys,
} from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

/** Confirmation rule of the test's keys. A project without a policy has the same rule. */
const confirm = { person: "never", contact: "" } as const;

function newKey(projectId: ProjectId, text: string, id: KeyId = createId("key", nowMs)): ApiKey {
  const unset = {
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    entityId: "",
    accessClasses: [],
    toolkitSlugs: [],
    agentTools: [],
    makerKeyId: null,
    purpose: "" as const,
    confirm,
  };
  return {
    ...unset,
    id,
    projectId,
    role: "member",
    name: "n",
    digest: digestSecret(text),
    hint: "svc_",
    createdAt: nowMs,
  };
}

test("a key is found by its digest, also when it is revoked, and stored once", async () => {
  const projectId = await addProject(db);
  const key = newKey(projectId, "one");
  await createApiKey(db, key);
  expect(await findCallerKey(db, digestSecret("one"))).toEqual({
    ...key,
    quotas: {},
    projectConfirm: confirm,
    hold: "",
    movedTo: "",
  });
  expect(await findCallerKey(db, digestSecret("two"))).toBeUndefined();
  const twice = await createApiKey(db, newKey(projectId, "one")).catch((error: unknown) => error);
  expect(isUniqueViolation(twice, "api_keys_digest")).toBe(true);
  await revokeApiKey(db, key.id, nowMs + 1);
  // A bootstrap key (made from the configuration) that was revoked stays revoked.
  await ensureApiKey(db, newKey(projectId, "one"));
  expect(await findCallerKey(db, digestSecret("one"))).toEqual({
    ...key,
    quotas: {},
    projectConfirm: confirm,
    ...{ hold: "", movedTo: "" },
    revokedAt: nowMs + 1,
  });
});

test("a key revoked twice keeps its time; a missing one is reported", async () => {
  const key = newKey(await addProject(db), "three");
  await createApiKey(db, key);
  expect(await revokeApiKey(db, key.id, nowMs + 1)).toMatchObject({ key: { revokedAt: nowMs + 1 } });
  expect(await revokeApiKey(db, key.id, nowMs + 2)).toMatchObject({ key: { revokedAt: nowMs + 1 } });
  expect(await revokeApiKey(db, createId("key", 0), nowMs)).toBeUndefined();
});

test("with a key, the keys end that it made, and those that these made, also below one that was revoked before", async () => {
  const projectId = await addProject(db);
  const keys = ["root", "made", "below", "last"].map((text) => newKey(projectId, text));
  for (const [index, key] of keys.entries()) {
    const revokedAt = index === 1 ? nowMs : null;
    await createApiKey(db, { ...key, makerKeyId: keys[index - 1]?.id ?? null, revokedAt });
  }
  const [root, , below, last] = keys.map(({ id }) => id);
  expect((await revokeApiKey(db, root!, nowMs + 1))?.endedIds).toEqual([root, below, last]);
});

test("the last use moves forward only, and keys are listed newest first within their project", async () => {
  const [projectId, other] = [await addProject(db), await addProject(db)];
  const keys = ["a", "b", "c"].map((text, index) => newKey(projectId, text, createId("key", nowMs + index)));
  for (const key of [...keys, newKey(other, "d")]) await createApiKey(db, key);
  const ids = keys.map(({ id }) => id).reverse();
  await touchApiKeys(db, ids.slice(0, 2), nowMs + 10);
  await touchApiKeys(db, ids, nowMs + 5);
  const listed = await listApiKeys(db, projectId, { purpose: "", after: undefined, limit: 10 });
  expect(listed.map(({ id, lastUsedAt }) => [id, lastUsedAt])).toEqual([
    [ids[0], nowMs + 10],
    [ids[1], nowMs + 10],
    [ids[2], nowMs + 5],
  ]);
  expect((await listApiKeys(db, projectId, { purpose: "", after: ids[0]!, limit: 1 })).map(({ id }) => id)).toEqual([
    ids[1],
  ]);
});

test("a project has a name of its own, and default policies until some are set", async () => {
  const project = await createProject(db, "named", nowMs);
  expect(project).toMatchObject({ planApproval: "never", redirectUrls: [] });
  expect(await findProject(db, project.id)).toEqual(project);
  expect(await findProjectByName(db, "named")).toEqual(project);
  expect(await findProjectByName(db, "Named")).toBeUndefined();
  const taken = await createProject(db, "named", nowMs).catch((error: unknown) => error);
  expect(isUniqueViolation(taken, "projects_name")).toBe(true);
  for (const policy of [
    { planApproval: "always" as const, redirectUrls: ["https://example.com/a,b", 'https://example.com/"{}'] },
    { planApproval: "destructive" as const, redirectUrls: [] },
  ]) {
    await setProjectPolicy(db, project.id, policy);
    expect(await findProject(db, project.id)).toEqual({ ...project, ...policy });
  }
});

test("projects are listed newest first, a page at a time", async () => {
  const [older, newer] = [
    await createProject(db, "older", nowMs + 1_000),
    await createProject(db, "newer", nowMs + 2_000),
  ];
  expect((await listProjects(db, { after: undefined, limit: 2 })).map(({ id }) => id)).toEqual([newer.id, older.id]);
  expect((await listProjects(db, { after: newer.id, limit: 1 })).map(({ id }) => id)).toEqual([older.id]);
});
