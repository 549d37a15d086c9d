import type { Executor } from "../src/connect.ts";
import { activateAccount } from "../src/connections/activate.ts";
import { setAccountReferences } from "../src/connections/references.ts";
import {
  claimAccountRefresh,
  expireAccount,
  noteCredentialTry,
  settleAccountRefresh,
} from "../src/connections/refresh.ts";
import { connectedAccountsForProject } from "../src/connections/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const definition = { toolkitSlug: "tracker", isPrivate: false, isSandbox: false };
/** Ids of two seeded accounts: an active one and a pending one. */
const activeId = seededId("acc", 20);
const pendingId = seededId("acc", 11);
const credential = Buffer.from("sealed");
const lease = { projectId, id: activeId, leaseUntilMs: nowMs + 30_000 };

const account = {
  ...{ ...definition, id: pendingId, projectId, entityId: "entity-20", scheme: "oauth2", variables: {}, credential },
  ...{ originDigest: null, grantedScopes: [], createdAt: nowMs, updatedAt: nowMs, expiresAt: null, refreshAt: null },
};
const accounts = (db: Executor) => connectedAccountsForProject(db, projectId);

/**
 * Runs `activateAccount` for the pending test account, so that the query plans of its statements are recorded. The pending account replaces
 * the active one and gets its references.
 */
function activate(db: Executor) {
  const referencesOf = () => ["r-new"];
  return activateAccount(db, account, { isNew: false, referencesOf, exclusiveOf: (references) => references });
}

// Recorded query plans of statements that create, use and renew connected accounts.
plan("activate a pending account", activate);
plan("activate a new account", (db) => {
  const isNew = { ...account, id: seededId("acc", 500_000) };
  return activateAccount(db, isNew, { isNew: true, referencesOf: () => [], exclusiveOf: () => [] });
});
plan("replace an account that lists the tools of an MCP server", async (db) => {
  const own = { ...account, toolkitSlug: "desk_5", isPrivate: true, originDigest: Buffer.alloc(32) };
  const options = { isNew: true, referencesOf: () => [], exclusiveOf: () => [] };
  for (const id of [seededId("acc", 500_001), seededId("acc", 500_002)])
    await activateAccount(db, { ...own, id }, options);
});
plan("route by references of accounts", activate);
plan("set the references of an account", (db) => {
  const change = { references: ["r-new"], exclusive: ["r-new"], nowMs };
  return setAccountReferences(db, { projectId, id: activeId }, change);
});
plan("claim the renewal of an account", (db) => claimAccountRefresh(db, lease, nowMs));
plan("settle the renewal of an account", (db) =>
  settleAccountRefresh(db, lease, { lastError: "http_500", updatedAt: nowMs }),
);
plan("settle the renewal of an account, with a new credential", (db) =>
  settleAccountRefresh(db, lease, { credential, updatedAt: nowMs }, credential),
);
plan("turn an account expired", (db) =>
  expireAccount(db, { projectId, id: activeId }, { credential, lastError: "refused", isRefused: true, nowMs }),
);
plan("the scopes that the next consent of an entity requests", (db) =>
  accounts(db).extraScopes(definition, "entity-20"),
);
plan("note the scopes that a call lacked", (db) => accounts(db).addExtraScopes(activeId, ["files"]));
plan("forget the scopes that calls of an entity lacked", (db) =>
  accounts(db).clearExtraScopes(definition, "entity-20"),
);
plan("note a try of an account's credential", (db) =>
  noteCredentialTry(db, { projectId, id: activeId }, { isTaken: true, nowMs }),
);
plan("keep a pending account", (db) => {
  const made = { ...account, id: seededId("acc", 500_000), state: "pending" as const, references: [] };
  return accounts(db).create({ ...made, lastError: "", refreshLeaseUntil: null });
});
plan("a project's own credential", (db) => accounts(db).findOwn(definition));
plan("take a pending account for the exchange of its code", (db) =>
  accounts(db).claimPending(pendingId, seededAt(0), nowMs),
);
plan("revoke an account", (db) => accounts(db).revoke(activeId, nowMs));
plan("abandon a pending account", (db) => accounts(db).abandon(pendingId, "denied", nowMs));
plan("abandon an entity's stale pending accounts", (db) =>
  accounts(db).abandonStale(definition, "entity-11", { createdBeforeMs: nowMs, lastError: "", nowMs }),
);
plan(
  "a page of accounts that have run out, though they are called active",
  (db) =>
    accounts(db).list({ toolkitSlug: "", entityId: "", state: "expired" }, { after: undefined, limit: 51 }, nowMs),
  { statistics: ["fresh"] },
);
