import { createId, digestSecret, type KeyId, noConfirmRule, type PersonId, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { getTableName } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import { insertConsoleSession } from "../console/sessions.ts";
import { insertGrant } from "../grants/repo.ts";
import { insertGrantTokens } from "../grants/tokens.ts";
import { decideDeviceCode, insertDeviceCode } from "../people/device-codes.ts";
import { insertInvitation } from "../people/invitations.ts";
import { enterPerson } from "../people/people.ts";
import { setSeats } from "../people/seats.ts";
import { createProject } from "../projects/repo.ts";
import { erasedTables } from "../schema/erased-tables.ts";
import { beginErasure, findErasure } from "./repo.ts";
import { stepErasure } from "./step.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const nowMs = Date.UTC(2026, 0, 5, 9);
const times = { graceMs: 0, jobsMs: 600_000, pollMs: 1_000 };

/** Stores a person with a session, a seat, an invitation, a sign-in of a program and a grant of an assertion in a project. */
async function settle(projectId: ProjectId, name: string): Promise<{ personId: PersonId; seatId: KeyId }> {
  const facts = { issuer: "https://login.example.com", subject: name, mail: "", name, isAdministrator: false };
  const { id: personId } = await enterPerson(db, facts, nowMs);
  const digest = (what: string) => digestSecret(`${what} of ${name}`);
  await insertConsoleSession(db, {
    ...{ id: createId("ses", nowMs), cookieDigest: digest("cookie"), halfDigest: digest("half"), adminDigest: null },
    ...{ personId, providerSession: null, userAgent: "", createdAt: nowMs, usedAt: nowMs },
  });
  const [seatId] = (await setSeats(db, personId, new Map([[projectId, "member"]]), nowMs)).keys;
  if (seatId === undefined) throw new Error("the person got no seat");
  const expiresAt = nowMs + 600_000;
  const invitation = { digest: digest("invitation"), projectId, role: "member" as const, mail: "" };
  await insertInvitation(db, { ...invitation, createdAt: nowMs, expiresAt });
  const code = { digest: digest("code"), userDigest: digest("typed"), clientName: "", expiresAt };
  await insertDeviceCode(db, code);
  await decideDeviceCode(db, code.digest, seatId, nowMs);
  const keyId = createId("key", nowMs);
  const grant = {
    ...{ id: createId("grt", nowMs), keyId, voucherKeyId: seatId, projectId, clientId: "c", clientName: "c" },
    ...{ clientOrigin: "https://login.example.com", resource: "https://svc.example.com/mcp", createdAt: nowMs },
  };
  await insertGrant(db, grant, {
    ...{ id: keyId, projectId, role: "member", name: "c", hint: "", entityId: "", accessClasses: ["read"] },
    ...{ toolkitSlugs: [], agentTools: [], confirm: noConfirmRule, makerKeyId: null, purpose: "" },
    ...{ digest: digest("key"), createdAt: nowMs, expiresAt: null, revokedAt: null, lastUsedAt: null },
  });
  await insertGrantTokens(db, [
    { grantId: grant.id, kind: "access", digest: digest("access"), expiresAt, spentAt: null },
  ]);
  return { personId, seatId };
}

/** Returns the number of rows of each table that belong to a project, without the tables that have none. */
async function rowsOf(projectId: ProjectId): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { table, project } of erasedTables) {
    if (project === undefined) continue;
    const [row] = await db.sql.unsafe<{ count: number }[]>(
      `select count(*)::int4 as count from ${getTableName(table)} where "${project.name}" = '${uuidOfId(projectId)}'`,
    );
    if (row !== undefined && row.count > 0) counts[getTableName(table)] = row.count;
  }
  return counts;
}

test("an erased project leaves no seat, key, invitation or grant of its people; the people and their sessions stay, without its keys", async () => {
  const [here, there] = [(await createProject(db, "here", nowMs)).id, (await createProject(db, "there", nowMs)).id];
  const [ada, bob] = [await settle(here, "ada"), await settle(there, "bob")];
  const before = await rowsOf(there);
  const own = { person_seats: 1, api_keys: 2, invitations: 1, grants: 1 };
  expect([await rowsOf(here), before]).toMatchObject([own, own]);

  const { id } = await beginErasure(db, { projectId: here, entityId: undefined }, { nowMs });
  for (let steps = 0; steps < 1_000 && (await stepErasure(db, nowMs, times)) !== undefined; steps++);
  expect(await findErasure(db, id)).toMatchObject({ state: "done", finishedAt: nowMs });

  expect([await rowsOf(here), await rowsOf(there)]).toEqual([{}, before]);
  const count = async (from: string) => (await db.sql.unsafe(`select from ${from}`)).length;
  expect(await count("grant_tokens")).toBe(1);
  expect(await count("console_seats")).toBe(1);
  // A person belongs to the deployment: `svc people remove` deletes the row with the sessions.
  expect(await count("people")).toBe(2);
  expect(await count(`console_sessions where person_id = '${uuidOfId(ada.personId)}'`)).toBe(1);
  // A code names only the id of a key that is gone, and is swept when it has expired.
  expect(await count(`device_codes where voucher_key_id = '${uuidOfId(ada.seatId)}'`)).toBe(1);
  expect(await count(`device_codes where voucher_key_id = '${uuidOfId(bob.seatId)}'`)).toBe(1);
});
