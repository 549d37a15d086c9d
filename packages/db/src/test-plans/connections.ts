import type { Executor } from "../connect.ts";
import { activateAccount } from "../connections/activate.ts";
import { setAccountReferences } from "../connections/references.ts";
import { claimAccountRefresh, expireAccount, noteCredentialTry, settleAccountRefresh } from "../connections/refresh.ts";
import { connectedAccountsForProject } from "../connections/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const definition = { toolkitSlug: "tracker", isPrivate: false, isSandbox: false };
/** Of the seeded ones, one that is active and one that is pending. */
const activeId = seededId("acc", 20);
const pendingId = seededId("acc", 11);
const credential = Buffer.from("sealed");
const lease = { projectId, id: activeId, leaseUntilMs: nowMs + 30_000 };

const account = {
  ...{ ...definition, id: pendingId, projectId, entityId: "entity-20", scheme: "oauth2", variables: {}, credential },
  ...{ originDigest: null, grantedScopes: [], createdAt: nowMs, updatedAt: nowMs, expiresAt: null, refreshAt: null },
};
const accounts = (db: Executor) => connectedAccountsForProject(db, projectId);

/** A pending account takes the place of an active one, and its references. */
function activate(db: Executor) {
  const referencesOf = () => ["r-new"];
  return activateAccount(db, account, { isNew: false, referencesOf, exclusiveOf: (references) => references });
}

const byId = ["connected_accounts_pkey(id)", "connected_accounts_project(project_id, id)"];
const ofEntity = { connected_accounts: "connected_accounts_entity(project_id, entity_id)" };

/** Connected accounts as they are made, used and renewed. */
export const connectionPlans: readonly Plan[] = [
  {
    name: "lock the pending account that is activated",
    words: `"connected_accounts"."state" = $3) for update`,
    run: activate,
    reads: { connected_accounts: byId },
  },
  {
    name: "the accounts that an activation supersedes",
    words: `"connected_accounts"."id" <> $9`,
    run: activate,
    reads: ofEntity,
  },
  {
    name: "supersede accounts",
    words: `"connected_accounts"."id" in (`,
    run: activate,
    reads: { connected_accounts: "connected_accounts_pkey(id)" },
  },
  {
    name: "activate a pending account",
    words: `update "connected_accounts" set "id"`,
    run: activate,
    reads: { connected_accounts: "connected_accounts_pkey(id)" },
  },
  {
    name: "activate a new account",
    words: `insert into "connected_accounts"`,
    run: (db) => {
      const isNew = { ...account, id: seededId("acc", 500_000) };
      return activateAccount(db, isNew, { isNew: true, referencesOf: () => [], exclusiveOf: () => [] });
    },
    reads: {},
  },
  {
    name: "route by references of accounts",
    words: `insert into "account_references"`,
    run: activate,
    reads: {},
  },
  {
    name: "set the references of an account",
    words: `"state" not in (`,
    run: (db) => {
      const change = { references: ["r-new"], exclusive: ["r-new"], nowMs };
      return setAccountReferences(db, { projectId, id: activeId }, change);
    },
    reads: { connected_accounts: byId },
  },
  {
    name: "claim the renewal of an account",
    run: (db) => claimAccountRefresh(db, lease, nowMs),
    reads: { connected_accounts: byId },
  },
  {
    name: "settle the renewal of an account",
    run: (db) => settleAccountRefresh(db, lease, { lastError: "http_500", updatedAt: nowMs }),
    reads: { connected_accounts: byId },
  },
  {
    name: "settle the renewal of an account",
    variant: "with a new credential",
    run: (db) => settleAccountRefresh(db, lease, { credential, updatedAt: nowMs }, credential),
    reads: { connected_accounts: byId },
  },
  {
    name: "turn an account expired",
    run: (db) =>
      expireAccount(db, { projectId, id: activeId }, { credential, lastError: "refused", isRefused: true, nowMs }),
    reads: { connected_accounts: byId },
  },
  {
    name: "note a try of an account's credential",
    run: (db) => noteCredentialTry(db, { projectId, id: activeId }, { isTaken: true, nowMs }),
    reads: { connected_accounts: byId },
  },
  {
    name: "keep a pending account",
    run: (db) => {
      const made = { ...account, id: seededId("acc", 500_000), state: "pending" as const, references: [] };
      return accounts(db).create({ ...made, lastError: "", refreshLeaseUntil: null });
    },
    reads: {},
  },
  {
    name: "a project's own credential",
    run: (db) => accounts(db).findOwn(definition),
    reads: ofEntity,
  },
  {
    name: "take a pending account for the exchange of its code",
    run: (db) => accounts(db).claimPending(pendingId, seededAt(0), nowMs),
    reads: { connected_accounts: byId },
  },
  {
    name: "revoke an account",
    words: `update "connected_accounts"`,
    run: (db) => accounts(db).revoke(activeId, nowMs),
    reads: { connected_accounts: byId },
  },
  {
    name: "abandon a pending account",
    words: `update "connected_accounts"`,
    run: (db) => accounts(db).abandon(pendingId, "denied", nowMs),
    reads: { connected_accounts: byId },
  },
  {
    name: "abandon an entity's stale pending accounts",
    words: `update "connected_accounts"`,
    run: (db) => accounts(db).abandonStale(definition, "entity-11", { createdBeforeMs: nowMs, lastError: "", nowMs }),
    reads: ofEntity,
  },
  {
    name: "a page of accounts that have run out, though they are called active",
    words: `"expires_at" is not null and`,
    statistics: ["fresh"],
    run: (db) =>
      accounts(db).list({ toolkitSlug: "", entityId: "", state: "expired" }, { after: undefined, limit: 51 }, nowMs),
    reads: { connected_accounts: "connected_accounts_run_out(project_id, expires_at)" },
  },
];
