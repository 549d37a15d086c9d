import {
  countMadeKeys,
  countOpenKeys,
  createApiKey,
  ensureApiKey,
  listMadeKeys,
  revokeApiKey,
  touchApiKeys,
} from "../src/keys/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const keyId = seededId("key", 501);
const key = {
  ...{ id: seededId("key", 500_000), projectId: seededId("prj", 1), role: "member" as const, name: "", hint: "" },
  ...{ digest: Buffer.alloc(32, 9), createdAt: nowMs },
};

// Recorded query plans of statements that create, use and revoke keys.
plan("store a key", (db) => createApiKey(db, key));
plan("store a key unless it is known", (db) => ensureApiKey(db, key));
plan("revoke a key", (db) => revokeApiKey(db, keyId, nowMs));
plan("list the keys that a key made", (db) => listMadeKeys(db, keyId, { after: seededId("key", 500_000), limit: 51 }));
plan("count the keys that a key made", (db) => countMadeKeys(db, keyId, nowMs));
plan("count the keys without limits on toolkits", (db) => countOpenKeys(db, seededId("prj", 1), nowMs));
plan("note the use of keys", (db) => touchApiKeys(db, [keyId, seededId("key", 7)], nowMs));
