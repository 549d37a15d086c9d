import { noConfirmRule } from "@svc/core";
import {
  findGrantClient,
  findGrantCode,
  insertGrantClient,
  insertGrantCode,
  noteGrantOfCode,
  spendGrantCode,
  sweepGrantCodes,
  sweepUnusedGrantClients,
  sweepUsedGrantClients,
  touchGrantClient,
} from "../src/grants/codes.ts";
import { findGrant, findListedGrant, insertGrant, listGrants, narrowGrant } from "../src/grants/repo.ts";
import {
  deleteGrantTokens,
  findGrantToken,
  insertGrantTokens,
  spendGrantToken,
  sweepGrantTokens,
} from "../src/grants/tokens.ts";
import { findCallerKeyById, lockApiKey } from "../src/keys/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const digest = Buffer.alloc(32, 7);
const grantId = seededId("grt", 7);
const keyId = seededId("key", 7);
const projectId = seededId("prj", 1);
const client = { id: "client_new", name: "", redirectUris: [], createdAt: nowMs, usedAt: null };
const code = {
  ...{ digest, projectId, voucherKeyId: keyId, clientId: "", clientName: "", redirectUri: "", challenge: "" },
  ...{ entityId: "", accessClasses: [], toolkitSlugs: [], agentTools: [] },
  ...{ resource: "", expiresAt: nowMs, spentAt: null, grantId: null },
};
const key = {
  ...{
    id: seededId("key", 500_001),
    projectId,
    role: "member" as const,
    name: "",
    digest: Buffer.alloc(32, 9),
    hint: "",
  },
  ...{ createdAt: nowMs, expiresAt: null, revokedAt: null, lastUsedAt: null },
  ...{
    entityId: "",
    accessClasses: [],
    toolkitSlugs: [],
    agentTools: [],
    confirm: noConfirmRule,
    makerKeyId: null,
    purpose: "" as const,
  },
};
const grant = {
  ...{ id: seededId("grt", 500_000), projectId, keyId: key.id, voucherKeyId: keyId },
  ...{ clientId: "", clientName: "", clientOrigin: "", resource: "", createdAt: nowMs },
};
const token = { digest, grantId, kind: "access" as const, expiresAt: nowMs, spentAt: null };

// Recorded query plans of statements on OAuth grants, their clients, codes and tokens.
plan(["store a client", "forget_unused_grant_clients"], (db) => insertGrantClient(db, client, 1_000));
plan("a client by its id", (db) => findGrantClient(db, "client_7"));
plan("note the use of a client", (db) => touchGrantClient(db, "client_7", nowMs));
plan("sweep_used_grant_clients", (db) => sweepUsedGrantClients(db, seededAt(500), 100));
plan("sweep_unused_grant_clients", (db) => sweepUnusedGrantClients(db, seededAt(500), 100));
plan("store a code", (db) => insertGrantCode(db, code));
plan("a code by its digest", (db) => findGrantCode(db, digest));
plan("spend a code", (db) => spendGrantCode(db, digest, nowMs));
plan("note what a code became", (db) => noteGrantOfCode(db, digest, grantId));
plan("sweep_grant_codes", (db) => sweepGrantCodes(db, seededAt(500), 100));
plan("store a grant", (db) => insertGrant(db, grant, key));
plan("list_grants", (db) => listGrants(db, projectId, { after: undefined, limit: 51, nowMs }));
plan("read_grant", (db) => findListedGrant(db, projectId, { id: grantId, nowMs }));
plan("lock a key", (db) => lockApiKey(db, keyId));
plan("narrow a grant", (db) => {
  const bounds = { accessClasses: ["read" as const], toolkitSlugs: [], agentTools: [], confirm: noConfirmRule };
  return narrowGrant(db, { keyId, projectId }, bounds, nowMs);
});
plan("a grant by its id", (db) => findGrant(db, grantId));
plan("forget the tokens of a grant", (db) => deleteGrantTokens(db, grantId));
plan("a caller by the id of their key", (db) => findCallerKeyById(db, keyId));
plan("store tokens", (db) => insertGrantTokens(db, [token]));
plan("read_grant_token", (db) => findGrantToken(db, digest));
plan("spend a refresh token", (db) => spendGrantToken(db, digest, nowMs));
plan("sweep_grant_tokens", (db) => sweepGrantTokens(db, seededAt(500), 100));
