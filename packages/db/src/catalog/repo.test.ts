import { createId, type ProjectId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { withTransaction } from "../connect.ts";
import type { ConnectedAccount } from "../connections/account.ts";
import { connectedAccountsForProject } from "../connections/repo.ts";
import { setProjectPolicy } from "../projects/repo.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { toolkitClientsForProject } from "./clients.ts";
import { privateToolkitsForProject } from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const repositoryOf = (projectId: ProjectId) => privateToolkitsForProject(db, projectId);

function toolkitOf(slug: string, definition = `{"toolkit":{"slug":"${slug}"}}`) {
  return { slug, definition, originDigest: Buffer.alloc(32, slug), toolCount: 1, updatedAt: nowMs };
}

test("what is put is listed as it was written, ordered by slug, to its project only", async () => {
  const [projectId, otherId] = [await addProject(db), await addProject(db)];
  const repository = repositoryOf(projectId);
  const text = '{ "b": 1,  "a": "\u{1f600}\\u0000" }';
  expect(await repository.put(toolkitOf("b_shop", text))).toBeUndefined();
  expect(await repository.put(toolkitOf("a_shop"))).toBeUndefined();
  const { version, toolkits } = await repository.list();
  expect(toolkits.map(({ slug, definition }) => [slug, definition])).toEqual([
    ["a_shop", toolkitOf("a_shop").definition],
    ["b_shop", text],
  ]);
  expect(toolkits[1]?.originDigest).toEqual(Buffer.alloc(32, "b_shop"));
  expect(version).toBe(2);
  expect(await repositoryOf(otherId).list()).toEqual({ version: 0, toolkits: [] });
});

test("a toolkit published again replaces the earlier one, even if the quota is reached", async () => {
  const projectId = await addProject(db);
  await setProjectPolicy(db, projectId, { planApproval: "never", redirectUrls: [], quotas: { privateToolkits: 1 } });
  const repository = repositoryOf(projectId);
  await repository.put(toolkitOf("shop", "1"));
  expect(await repository.put(toolkitOf("shop", "2"))).toBeUndefined();
  expect(await repository.put(toolkitOf("other"))).toEqual({
    quota: "privateToolkits",
    quotaReached: { most: 1, used: 1 },
  });
  expect((await repository.list()).toolkits).toMatchObject([{ slug: "shop", definition: "2" }]);
});

test("a toolkit is refused if all definitions together would have too many bytes, except in place of an earlier one", async () => {
  const projectId = await addProject(db);
  const quotas = { privateToolkitBytes: 10 };
  await setProjectPolicy(db, projectId, { planApproval: "never", redirectUrls: [], quotas });
  const repository = repositoryOf(projectId);
  expect(await repository.put(toolkitOf("shop", "six by"))).toBeUndefined();
  const reached = { quota: "privateToolkitBytes", quotaReached: { most: 10, used: 6 } };
  expect(await repository.put(toolkitOf("other", "\u20ac\u20ac"))).toEqual(reached);
  expect(await repository.put(toolkitOf("other", "four"))).toBeUndefined();
  expect(await repository.put(toolkitOf("shop", "five!"))).toBeUndefined();
});

test("every change moves the version, a change of another project does not", async () => {
  const [projectId, otherId] = [await addProject(db), await addProject(db)];
  const repository = repositoryOf(projectId);
  const versions = [await repository.version()];
  await repository.put(toolkitOf("shop"));
  versions.push(await repository.version());
  await repository.put(toolkitOf("shop"));
  versions.push(await repository.version());
  await repository.delete("shop", nowMs);
  versions.push(await repository.version());
  expect(versions).toEqual([0, 1, 2, 3]);
  expect(await repositoryOf(otherId).version()).toBe(0);
});

test("a toolkit is deleted once, and another project's is not", async () => {
  const [projectId, otherId] = [await addProject(db), await addProject(db)];
  await repositoryOf(projectId).put(toolkitOf("shop"));
  expect(await repositoryOf(otherId).delete("shop", nowMs)).toBe(false);
  expect(await repositoryOf(projectId).delete("shop", nowMs)).toBe(true);
  expect(await repositoryOf(projectId).delete("shop", nowMs)).toBe(false);
  expect((await repositoryOf(projectId).list()).toolkits).toEqual([]);
});

test("deleting a toolkit revokes the accounts connected to it, and no other", async () => {
  const [projectId, otherId] = [await addProject(db), await addProject(db)];
  const addAccount = async (owner: ProjectId, changes: Partial<ConnectedAccount> = {}) => {
    const id = createId("acc", nowMs);
    const account = {
      id,
      toolkitSlug: "shop",
      isPrivate: true,
      isSandbox: false,
      entityId: id,
      scheme: "api_key",
      state: "active" as const,
      variables: {},
      credential: Buffer.from("sealed"),
      originDigest: null,
      grantedScopes: [],
      references: ["ref"],
      lastError: "",
      createdAt: nowMs,
      updatedAt: nowMs,
      expiresAt: null,
      refreshAt: nowMs + 1,
      refreshLeaseUntil: null,
      ...changes,
    };
    await connectedAccountsForProject(db, owner).create(account);
    return () => connectedAccountsForProject(db, owner).find(id);
  };
  const revoked = await Promise.all([
    addAccount(projectId),
    addAccount(projectId, { state: "pending" }),
    addAccount(projectId, { state: "expired" }),
    addAccount(projectId, { state: "superseded" }),
  ]);
  const kept = await Promise.all([
    addAccount(projectId, { isPrivate: false }),
    addAccount(projectId, { toolkitSlug: "other" }),
    addAccount(otherId),
  ]);
  await repositoryOf(projectId).put(toolkitOf("shop"));
  await repositoryOf(otherId).put(toolkitOf("shop"));
  expect(await repositoryOf(projectId).delete("shop", nowMs + 5)).toBe(true);
  // The deleted toolkit's account keeps its references, which identify the owner of its events. Incoming posts are not routed by them any
  // more.
  const erased = { state: "revoked", credential: null, references: ["ref"], refreshAt: null, updatedAt: nowMs + 5 };
  for (const find of revoked) expect(await find()).toMatchObject(erased);
  for (const find of kept)
    expect(await find()).toMatchObject({ state: "active", references: ["ref"], updatedAt: nowMs });
});

test("of publications that race for the last place one is kept", async () => {
  const projectId = await addProject(db);
  await setProjectPolicy(db, projectId, { planApproval: "never", redirectUrls: [], quotas: { privateToolkits: 3 } });
  const repository = repositoryOf(projectId);
  await repository.put(toolkitOf("first"));
  await repository.put(toolkitOf("second"));
  const kept = await Promise.all(["a", "b", "c", "d", "e"].map((slug) => repository.put(toolkitOf(slug))));
  expect(kept.filter((reached) => reached === undefined)).toHaveLength(1);
  expect((await repository.list()).toolkits).toHaveLength(3);
});

test("a publication and its version are committed together with the caller's transaction, or not at all", async () => {
  const projectId = await addProject(db);
  const refused = withTransaction(db, async (tx) => {
    await privateToolkitsForProject(tx, projectId).put(toolkitOf("shop"));
    throw new Error("rolled back");
  });
  await expect(refused).rejects.toThrow("rolled back");
  expect(await repositoryOf(projectId).list()).toEqual({ version: 0, toolkits: [] });
});

test("a list names a version that is not newer than what it holds", async () => {
  const repository = repositoryOf(await addProject(db));
  const writes = (async () => {
    for (let number = 1; number <= 20; number++) await repository.put(toolkitOf("shop", String(number)));
  })();
  let seen = 0;
  while (seen < 20) {
    const { version, toolkits } = await repository.list();
    seen = Number(toolkits[0]?.definition ?? 0);
    expect(seen).toBeGreaterThanOrEqual(version);
  }
  await writes;
});

test("the version of a project that there is not is 0", async () => {
  expect(await repositoryOf(createId("prj", nowMs)).version()).toBe(0);
});

test("a client that needs its toolkit is not stored after the toolkit was deleted", async () => {
  const projectId = await addProject(db);
  const clients = toolkitClientsForProject(db, projectId);
  const client = {
    ...{ slug: "shop", issuer: "https://a.example", tokenUrl: "https://a.example/token", clientId: "c" },
    ...({ clientSecret: null, secretPlace: null, registration: "manual", expiresAt: null } as const),
    updatedAt: nowMs,
  };
  await repositoryOf(projectId).put(toolkitOf("shop"));
  expect(await clients.put(client, { needsToolkit: true })).toBeUndefined();
  await repositoryOf(projectId).delete("shop", nowMs);
  expect(await clients.put(client, { needsToolkit: true })).toBe("deleted");
  expect(await clients.list()).toEqual([]);
  expect(await clients.put(client)).toBeUndefined();
});
