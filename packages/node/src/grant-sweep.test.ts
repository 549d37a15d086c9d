import { createId, digestSecret, noConfirmRule } from "@svc/core";
import { insertGrantClient, insertGrantCode, touchGrantClient } from "@svc/db/grants/codes";
import { insertGrant } from "@svc/db/grants/repo";
import { insertGrantTokens } from "@svc/db/grants/tokens";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { grantSweep } from "./grant-sweep.ts";

const nowMs = Date.parse("2026-11-26T12:00:00Z");
const dayMs = 86_400_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

/** Creates the grant of an agent that uses it, with an authorization code and two tokens. */
async function plant(): Promise<void> {
  const { db } = database;
  const { id: projectId } = await createProject(db, "agents", nowMs);
  const keyOf = (name: string) => ({
    ...{ id: createId("key", nowMs), projectId, role: "member" as const, name, hint: "", digest: digestSecret(name) },
    ...{ createdAt: nowMs, expiresAt: null, revokedAt: null, lastUsedAt: null },
    ...{
      entityId: "ada",
      accessClasses: [],
      toolkitSlugs: [],
      agentTools: [],
      confirm: noConfirmRule,
      makerKeyId: null,
      purpose: "" as const,
    },
  });
  const [voucher, key] = [keyOf("person"), keyOf("agent")];
  await createApiKey(db, voucher);
  const of = { projectId, voucherKeyId: voucher.id, clientId: "client_used", clientName: "agent", resource: "" };
  const grant = { ...of, id: createId("grt", nowMs), keyId: key.id, clientOrigin: "", createdAt: nowMs };
  await insertGrant(db, grant, key);
  await insertGrantCode(db, {
    ...of,
    ...{ digest: digestSecret("code"), redirectUri: "", challenge: "", expiresAt: nowMs + 60_000, spentAt: nowMs },
    ...{ entityId: "ada", accessClasses: [], toolkitSlugs: [], agentTools: [], grantId: grant.id },
  });
  const token = { grantId: grant.id, spentAt: null };
  await insertGrantTokens(db, [
    { ...token, kind: "access", digest: digestSecret("access"), expiresAt: nowMs + dayMs / 24 },
    { ...token, kind: "refresh", digest: digestSecret("refresh"), expiresAt: nowMs + 30 * dayMs },
  ]);
  for (const id of ["client_idle", "client_used"])
    await insertGrantClient(db, { id, name: id, redirectUris: [], createdAt: nowMs, usedAt: null }, 1_000);
  await touchGrantClient(db, "client_used", nowMs);
}

/** Returns the rows that are left after a round of the sweep at the time `atMs`. */
async function leftAfter(atMs: number): Promise<string[]> {
  for await (const isFull of grantSweep(database).round(atMs)) expect(isFull).toBe(false);
  const rows = await database.db.sql<{ what: string }[]>`
    select 'code' as what from grant_codes union all select kind from grant_tokens union all select id from grant_clients
    union all select 'grant' from grants order by 1`;
  return rows.map(({ what }) => what);
}

test("codes, tokens and clients go at their times and none of them before: of a client in use only what is over", async () => {
  await plant();
  const all = ["access", "client_idle", "client_used", "code", "grant", "refresh"];
  expect(await leftAfter(nowMs)).toEqual(all);
  expect(await leftAfter(nowMs + dayMs / 24)).toEqual(all);
  expect(await leftAfter(nowMs + dayMs / 24 + 1)).toEqual(all.filter((one) => one !== "access"));
  // A used code is kept for a day after it expired. If it is used a second time within that day, its grant ends.
  expect(await leftAfter(nowMs + dayMs)).toContain("client_idle");
  expect(await leftAfter(nowMs + dayMs + 60_000)).toEqual(["client_used", "code", "grant", "refresh"]);
  expect(await leftAfter(nowMs + dayMs + 60_001)).toEqual(["client_used", "grant", "refresh"]);
  expect(await leftAfter(nowMs + 30 * dayMs)).toEqual(["client_used", "grant", "refresh"]);
  expect(await leftAfter(nowMs + 90 * dayMs)).toEqual(["client_used", "grant"]);
  expect(await leftAfter(nowMs + 90 * dayMs + 1)).toEqual(["grant"]);
});
