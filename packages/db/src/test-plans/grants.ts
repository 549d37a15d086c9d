import { noConfirmRule } from "@svc/core";
import {
  findGrantClient,
  insertGrantClient,
  sweepUnusedGrantClients,
  sweepUsedGrantClients,
  touchGrantClient,
} from "../grants/clients.ts";
import { findGrantCode, insertGrantCode, noteGrantOfCode, spendGrantCode, sweepGrantCodes } from "../grants/codes.ts";
import { findGrant, findListedGrant, insertGrant, listGrants, narrowGrant } from "../grants/repo.ts";
import {
  deleteGrantTokens,
  findGrantToken,
  insertGrantTokens,
  spendGrantToken,
  sweepGrantTokens,
} from "../grants/tokens.ts";
import { findCallerKeyById, lockApiKey } from "../keys/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

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
  ...{ entityId: "", accessClasses: [], toolkitSlugs: [], agentTools: [], confirm: noConfirmRule, makerKeyId: null },
};
const grant = {
  ...{ id: seededId("grt", 500_000), projectId, keyId: key.id, voucherKeyId: keyId },
  ...{ clientId: "", clientName: "", clientOrigin: "", resource: "", createdAt: nowMs },
};
const token = { digest, grantId, kind: "access" as const, expiresAt: nowMs, spentAt: null };

/** Grants, their clients, codes and tokens. */
export const grantPlans: readonly Plan[] = [
  {
    name: "store a client",
    words: `insert into "grant_clients"`,
    run: (db) => insertGrantClient(db, client, 1_000),
    reads: {},
  },
  {
    name: "forget_unused_grant_clients",
    run: (db) => insertGrantClient(db, client, 1_000),
    reads: { grant_clients: ["grant_clients_used(used_at)", "grant_clients_pkey(id)"] },
  },
  {
    name: "a client by its id",
    run: (db) => findGrantClient(db, "client_7"),
    reads: { grant_clients: "grant_clients_pkey(id)" },
  },
  {
    name: "note the use of a client",
    run: (db) => touchGrantClient(db, "client_7", nowMs),
    reads: { grant_clients: "grant_clients_pkey(id)" },
  },
  {
    name: "sweep_used_grant_clients",
    run: (db) => sweepUsedGrantClients(db, seededAt(500), 100),
    reads: { grant_clients: ["grant_clients_used(used_at)", "grant_clients_pkey(id)"] },
  },
  {
    name: "sweep_unused_grant_clients",
    run: (db) => sweepUnusedGrantClients(db, seededAt(500), 100),
    reads: { grant_clients: ["grant_clients_used(used_at, created_at)", "grant_clients_pkey(id)"] },
  },
  { name: "store a code", run: (db) => insertGrantCode(db, code), reads: {} },
  {
    name: "a code by its digest",
    run: (db) => findGrantCode(db, digest),
    reads: { grant_codes: "grant_codes_pkey(digest)" },
  },
  {
    name: "spend a code",
    run: (db) => spendGrantCode(db, digest, nowMs),
    reads: { grant_codes: "grant_codes_pkey(digest)" },
  },
  {
    name: "note what a code became",
    run: (db) => noteGrantOfCode(db, digest, grantId),
    reads: { grant_codes: "grant_codes_pkey(digest)" },
  },
  {
    name: "sweep_grant_codes",
    run: (db) => sweepGrantCodes(db, seededAt(500), 100),
    reads: { grant_codes: ["grant_codes_expires(expires_at)", "grant_codes_pkey(digest)"] },
  },
  {
    name: "store the key of a grant",
    words: `insert into "api_keys"`,
    run: (db) => insertGrant(db, grant, key),
    reads: {},
  },
  { name: "store a grant", words: `insert into "grants"`, run: (db) => insertGrant(db, grant, key), reads: {} },
  {
    name: "list_grants",
    isOrdered: true,
    run: (db) => listGrants(db, projectId, { after: undefined, limit: 51, nowMs }),
    reads: { grants: "grants_project(project_id, id)", api_keys: "api_keys_pkey(id)" },
  },
  {
    name: "read_grant",
    run: (db) => findListedGrant(db, projectId, { id: grantId, nowMs }),
    reads: { grants: ["grants_project(project_id, id)", "grants_pkey(id)"], api_keys: "api_keys_pkey(id)" },
  },
  { name: "lock a key", run: (db) => lockApiKey(db, keyId), reads: { api_keys: "api_keys_pkey(id)" } },
  {
    name: "narrow a grant",
    run: (db) => {
      const bounds = { accessClasses: ["read" as const], toolkitSlugs: [], agentTools: [], confirm: noConfirmRule };
      return narrowGrant(db, { keyId, projectId }, bounds, nowMs);
    },
    reads: { api_keys: "api_keys_pkey(id)" },
  },
  { name: "a grant by its id", run: (db) => findGrant(db, grantId), reads: { grants: "grants_pkey(id)" } },
  {
    name: "forget the tokens of a grant",
    run: (db) => deleteGrantTokens(db, grantId),
    reads: { grant_tokens: "grant_tokens_grant(grant_id)" },
  },
  {
    name: "a caller by the id of their key",
    run: (db) => findCallerKeyById(db, keyId),
    reads: { api_keys: "api_keys_pkey(id)", project_policies: "project_policies_pkey(project_id)" },
  },
  { name: "store tokens", run: (db) => insertGrantTokens(db, [token]), reads: {} },
  {
    name: "read_grant_token",
    run: (db) => findGrantToken(db, digest),
    reads: { grant_tokens: "grant_tokens_pkey(digest)", grants: "grants_pkey(id)" },
  },
  {
    name: "spend a refresh token",
    run: (db) => spendGrantToken(db, digest, nowMs),
    reads: { grant_tokens: "grant_tokens_pkey(digest)" },
  },
  {
    name: "sweep_grant_tokens",
    run: (db) => sweepGrantTokens(db, seededAt(500), 100),
    reads: { grant_tokens: ["grant_tokens_expires(expires_at)", "grant_tokens_pkey(digest)"] },
  },
];
