import { findAccountReferences } from "../src/account-references/repo.ts";
import { findCallLimits } from "../src/call-limits/find.ts";
import { readCallPaces, writeCallPaces } from "../src/call-limits/paces.ts";
import { callLimitsForProject, sweepCallPaces } from "../src/call-limits/repo.ts";
import { doubtRunningToolCall, doubtRunningToolCalls } from "../src/calls/doubt-running.ts";
import { beginKeyedToolCalls, findToolCallKeyHolders, releaseToolCallKey } from "../src/calls/keys.ts";
import type { ToolCallFilter } from "../src/calls/list-page.ts";
import {
  type CallRecord,
  putToolCalls,
  readCallArguments,
  sweepToolCalls,
  toolCallsForProject,
} from "../src/calls/repo.ts";
import { privateToolkitsForProject } from "../src/catalog/repo.ts";
import type { Executor } from "../src/connect.ts";
import type { ConnectedAccountFilter } from "../src/connections/account.ts";
import { activateAccount } from "../src/connections/activate.ts";
import { findActiveAccounts, findCallableAccount } from "../src/connections/find-callable.ts";
import { releaseAccountReferences } from "../src/connections/references.ts";
import { listDueAccountRefreshes } from "../src/connections/refresh.ts";
import { connectedAccountsForProject } from "../src/connections/repo.ts";
import { readDatabaseTime } from "../src/database-time.ts";
import { findCallerKey, listApiKeys } from "../src/keys/repo.ts";
import { probeWrites } from "../src/probe-writes.ts";
import { readHttpHosts } from "../src/projects/http-hosts.ts";
import { readConfirmRules } from "../src/projects/plan-policy.ts";
import {
  createFirstProject,
  createProject,
  findProject,
  findProjectByName,
  holdDeploymentRouting,
  holdProjectRouting,
  keepAudience,
  listProjectIds,
  listProjects,
  readAudience,
  readDeploymentRouting,
  setProjectPolicy,
} from "../src/projects/repo.ts";
import { findQuarantinedIds, listHeldQuarantinedPosts, listQuarantinedPosts } from "../src/quarantine/list.ts";
import { findQuarantinedPost, sweepQuarantinedPosts } from "../src/quarantine/repo.ts";
import { findSecrets } from "../src/secrets/find.ts";
import { secretsForProject } from "../src/secrets/repo.ts";
import { sweepWebhookSecrets, webhookSecretsForProject } from "../src/secrets/webhook-secrets.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const definition = { toolkitSlug: "tracker", isPrivate: false, isSandbox: false };
const page = { after: undefined, limit: 51 };
const accounts = (db: Executor, filter: Partial<ConnectedAccountFilter>) =>
  connectedAccountsForProject(db, projectId).list({ toolkitSlug: "", entityId: "", state: "", ...filter }, page, nowMs);
const everyPost = {
  owner: undefined,
  toolkitSlug: "",
  reason: "",
  includeReleased: true,
  sinceMs: undefined,
  untilMs: undefined,
};
const everyHeld = { owner: undefined, toolkitSlug: "", sinceMs: undefined, untilMs: undefined };

const call: CallRecord = {
  id: seededId("call", 500_000),
  projectId,
  toolSlug: "desk.tool_1",
  accessClass: "write",
  entityId: "",
  accountId: null,
  keyId: null,
  jobId: null,
  stepId: "",
  outcome: "running",
  message: "",
  sealedMessage: null,
  providerStatus: 0,
  argumentsDigest: Buffer.alloc(32),
  arguments: Buffer.alloc(1),
  result: null,
  isTruncated: false,
  isSandbox: false,
  idempotencyKey: null,
  replay: null,
  createdAt: nowMs,
  durationMs: 0,
  providerMs: 0,
};

const account = {
  ...definition,
  id: seededId("acc", 500_000),
  projectId,
  entityId: "entity-20",
  scheme: "oauth2",
  variables: {},
  credential: null,
  originDigest: null,
  grantedScopes: [],
  createdAt: nowMs,
  updatedAt: nowMs,
  expiresAt: null,
  refreshAt: null,
};

const everyCall: ToolCallFilter = {
  toolSlug: undefined,
  entityId: undefined,
  outcome: undefined,
  sinceMs: undefined,
  untilMs: undefined,
};

const ofTool: ToolCallFilter = { ...everyCall, toolSlug: "desk.tool_2" };

const ofJob = { jobId: seededId("job", 1), accountId: undefined, keyId: undefined, stepId: undefined };

const ofEntity: ToolCallFilter = { ...everyCall, entityId: "entity-6" };

// Recorded query plans of statements on the ledger (the record of tool calls).
const otherCall = { ...call, id: seededId("call", 500_001) };
const keyedCalls = [call, otherCall].map((one, index) => ({ ...one, idempotencyKey: `new-${index}` }));
plan("read_call_arguments", (db) => readCallArguments(db, projectId, [call.id, otherCall.id]));
plan("put_tool_calls", (db) => putToolCalls(db, [call, otherCall]));
plan("put_tool_calls_lone", (db) => putToolCalls(db, [call]));
plan("insert_keyed_tool_calls", (db) => beginKeyedToolCalls(db, keyedCalls));
plan("insert_keyed_tool_calls_lone", (db) => beginKeyedToolCalls(db, keyedCalls.slice(0, 1)));
plan("find_idempotency_keys", (db) =>
  findToolCallKeyHolders(
    db,
    ["k1", "k6"].map((key) => ({ projectId, key })),
  ),
);
plan("release_idempotency_key", (db) => releaseToolCallKey(db, { projectId, key: "k1", id: seededId("call", 1) }));
plan("doubt_running_call", (db) => doubtRunningToolCall(db, { projectId, id: seededId("call", 100), message: "" }));
plan("doubt_running_calls", (db) =>
  doubtRunningToolCalls(db, { beforeMs: seededAt(5_000), message: "", limit: 1_000 }),
);
plan("sweep_tool_calls", (db) => sweepToolCalls(db, seededAt(5_000), 100));
plan("a call", (db) => toolCallsForProject(db, projectId).find(seededId("call", 1)));
plan("list_calls", (db) => toolCallsForProject(db, projectId).list({ ...everyCall, outcome: "running" }, page));
plan(
  ["walk_calls", "end_call_walk"],
  (db) => toolCallsForProject(db, projectId).walk({ ...everyCall, ...ofJob }, page),
  {
    rowsMax: { tool_calls: 20_000 },
  },
);
plan(
  ["walk_calls_of_tool", "end_call_walk_of_tool"],
  (db) => toolCallsForProject(db, projectId).walk({ ...ofTool, ...ofJob }, page),
  {
    rowsMax: { tool_calls: 20_000 },
  },
);
plan("list_calls_of_tool", (db) => toolCallsForProject(db, projectId).list({ ...ofTool, outcome: "running" }, page));
plan("list_calls_of_entity", (db) =>
  toolCallsForProject(db, projectId).list({ ...ofEntity, outcome: "running" }, page),
);

const pace = { projectId, limitName: "limit-1", key: "key-1", pace: { shares: {} }, revision: "2", madeFrom: "1" };

// Recorded query plans of statements on call limits and their usage.
plan("find_call_limits", (db) => findCallLimits(db, [projectId, seededId("prj", 7)]));
plan("read_call_paces", (db) => readCallPaces(db, [pace, { ...pace, key: "key-2" }]));
plan("write_call_paces", (db) => writeCallPaces(db, [{ ...pace, expiresAt: nowMs }]));
plan("sweep_call_paces", (db) => sweepCallPaces(db, seededAt(500), 100));
plan("the call limits of a project", (db) => callLimitsForProject(db, seededId("prj", 9)).list());

// Recorded query plans of statements on connected accounts and private toolkits.
plan("find_account_references", (db) => findAccountReferences(db, [{ toolkitSlug: "watcher", reference: "r7" }]));
plan("the references that accounts give up", (db) => releaseAccountReferences(db, projectId, [seededId("acc", 20)]));
plan("find_active_accounts", (db) => findActiveAccounts(db, { ...definition, projectId, entityId: "entity-20" }));
plan("find_callable_account", (db) => findCallableAccount(db, projectId, seededId("acc", 20)));
plan("list_due_refreshes", (db) =>
  listDueAccountRefreshes(db, { isSandbox: false, nowMs: seededAt(5_000), limit: 64 }),
);
plan("lock_accounts", (db) =>
  activateAccount(db, account, { isNew: true, referencesOf: () => [], exclusiveOf: () => [] }),
);
plan("an account", (db) => connectedAccountsForProject(db, projectId).find(seededId("acc", 20)));
plan("why an entity has no active account", (db) =>
  connectedAccountsForProject(db, projectId).findUnusable(definition, "entity-21"),
);
plan(
  "a page of an entity's accounts",
  (db) =>
    connectedAccountsForProject(db, projectId).list({ toolkitSlug: "", entityId: "entity-20", state: "" }, page, nowMs),
  { statistics: ["fresh"] },
);
plan("a page of a toolkit's accounts", (db) => accounts(db, { toolkitSlug: "calendar" }), { statistics: ["fresh"] });
plan("a page of accounts in a state", (db) => accounts(db, { state: "pending" }), { statistics: ["fresh"] });
plan("a page of a toolkit's accounts in a state", (db) => accounts(db, { toolkitSlug: "calendar", state: "active" }), {
  statistics: ["fresh"],
});
plan("a page of expired accounts", (db) => accounts(db, { state: "expired" }), { statistics: ["fresh"] });
plan(
  "a page of accounts",
  (db) => connectedAccountsForProject(db, projectId).list({ toolkitSlug: "", entityId: "", state: "" }, page, nowMs),
  { statistics: ["fresh"] },
);
plan("read_catalog_version", (db) => privateToolkitsForProject(db, projectId).version());

// Recorded query plans of statements on projects, keys, the quarantine and the server itself.
plan("database_time", (db) => readDatabaseTime(db));
plan("probe_writes", (db) => probeWrites(db));
plan("hold_deployment_routing", (db) => holdDeploymentRouting(db));
plan("read_plan_policies", (db) => readConfirmRules(db, projectId, [seededId("key", 9)]));
plan("read_http_hosts", (db) => readHttpHosts(db, projectId));
plan("find_secrets", (db) =>
  findSecrets(
    db,
    ["s-1", "s-6"].map((name) => ({ projectId, name })),
  ),
);
plan("the secrets of a project", (db) => secretsForProject(db, seededId("prj", 9)).list());
plan("the audience that a start was told", (db) => readAudience(db));
plan("keep the audience that a start was told", (db) => keepAudience(db, "accounts"));
plan("hold_project_routing", (db) => holdProjectRouting(db, [projectId, seededId("prj", 7)]));
plan("a project with its policy", (db) => findProject(db, projectId));
plan("a project by its name", (db) => findProjectByName(db, "p7"));
plan("make a project", (db) => createProject(db, "new", nowMs));
plan("make the first project", (db) => createFirstProject(db, "new", nowMs), {
  rowsMax: { projects: 2 },
});
plan("set the policy of a project", (db) =>
  setProjectPolicy(db, projectId, { planApproval: "always", redirectUrls: [], quotas: {} }),
);
// Nodes keep a copy of the list of projects, and read all projects again after each change.
plan("the deployment's routing", (db) => readDeploymentRouting(db), { wholeReads: ["projects"] });
plan("the projects created lately", (db) => listProjectIds(db, seededAt(9)));
plan("the secrets of a project's webhooks", (db) => webhookSecretsForProject(db, projectId).list(nowMs));
plan("store the secret of a webhook", (db) =>
  webhookSecretsForProject(db, projectId).put(
    { id: seededId("wsc", 500_000), toolkitSlug: "desk_1", value: Buffer.alloc(1), createdAt: nowMs },
    { formerEndsAt: nowMs, most: 5 },
  ),
);
plan("the last secrets of a project's webhooks", (db) =>
  webhookSecretsForProject(db, projectId).listLast(nowMs, nowMs + 3 * 86_400_000),
);
plan("sweep_webhook_secrets", (db) => sweepWebhookSecrets(db, [projectId, seededId("prj", 2)], nowMs));
plan("delete the secret of a webhook", (db) => webhookSecretsForProject(db, projectId).delete(seededId("wsc", 1)));
plan("a page of projects", (db) => listProjects(db, page), { statistics: ["fresh"] });
plan("the key of a caller", (db) => findCallerKey(db, Buffer.from("7".padStart(64, "0"), "hex")));
plan("a page of the keys of portal links", (db) => listApiKeys(db, projectId, { ...page, purpose: "portal" }));
plan("a page of keys", (db) => listApiKeys(db, projectId, { ...page, purpose: "" }), { statistics: ["fresh"] });
plan("list_held_posts", (db) => listHeldQuarantinedPosts(db, everyHeld, page));
plan("list_held_posts_of_toolkit", (db) => listHeldQuarantinedPosts(db, { ...everyHeld, toolkitSlug: "t3" }, page));
plan("list_held_posts_of_project", (db) => listHeldQuarantinedPosts(db, { ...everyHeld, owner: projectId }, page));
plan("list_held_posts_of_private_toolkit", (db) =>
  listHeldQuarantinedPosts(db, { ...everyHeld, owner: projectId, toolkitSlug: "t3" }, page),
);
plan("find_quarantined_ids", (db) => findQuarantinedIds(db, everyHeld, [seededId("qrn", 1), seededId("qrn", 9)]));
plan("sweep_quarantined_posts", (db) => sweepQuarantinedPosts(db, seededAt(500), 100));
plan("a quarantined post", (db) => findQuarantinedPost(db, seededId("qrn", 1), undefined));
plan("list_quarantined_posts", (db) => listQuarantinedPosts(db, everyPost, page));
plan("list_quarantined_posts_of_toolkit", (db) => listQuarantinedPosts(db, { ...everyPost, toolkitSlug: "t3" }, page));
plan("list_quarantined_posts_of_project", (db) => listQuarantinedPosts(db, { ...everyPost, owner: projectId }, page));
plan("list_quarantined_posts_of_private_toolkit", (db) =>
  listQuarantinedPosts(db, { ...everyPost, owner: projectId, toolkitSlug: "t3" }, page),
);
