import { countMadeKeys, createApiKey, ensureApiKey, listMadeKeys, revokeApiKey, touchApiKeys } from "../keys/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const keyId = seededId("key", 501);
const key = {
  ...{ id: seededId("key", 500_000), projectId: seededId("prj", 1), role: "member" as const, name: "", hint: "" },
  ...{ digest: Buffer.alloc(32, 9), createdAt: nowMs },
};

/** Keys as they are made, used and revoked. */
export const keyPlans: readonly Plan[] = [
  { name: "store a key", run: (db) => createApiKey(db, key), reads: {} },
  { name: "store a key unless it is known", run: (db) => ensureApiKey(db, key), reads: {} },
  {
    name: "revoke a key",
    words: `update "api_keys"`,
    run: (db) => revokeApiKey(db, keyId, nowMs),
    reads: { api_keys: "api_keys_pkey(id)" },
  },
  {
    name: "end the keys that a key made",
    words: `"maker_key_id" = `,
    run: (db) => revokeApiKey(db, keyId, nowMs),
    reads: { api_keys: "api_keys_maker(maker_key_id)" },
  },
  {
    name: "list the keys that a key made",
    isOrdered: true,
    run: (db) => listMadeKeys(db, keyId, { after: seededId("key", 500_000), limit: 51 }),
    reads: { api_keys: "api_keys_maker(maker_key_id, id)" },
  },
  {
    name: "count the keys that a key made",
    run: (db) => countMadeKeys(db, keyId, nowMs),
    reads: { api_keys: "api_keys_maker(maker_key_id)" },
  },
  {
    name: "note the use of keys",
    run: (db) => touchApiKeys(db, [keyId, seededId("key", 7)], nowMs),
    reads: { api_keys: "api_keys_pkey(id)" },
  },
];
