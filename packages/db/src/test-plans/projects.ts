import { findAccountReferences } from "../account-references/find.ts";
import { findCallLimits } from "../call-limits/find.ts";
import { readCallPaces, writeCallPaces } from "../call-limits/paces.ts";
import { callLimitsForProject } from "../call-limits/repo.ts";
import { sweepCallPaces } from "../call-limits/sweep.ts";
import { beginKeyedToolCalls } from "../calls/begin-keyed.ts";
import { doubtRunningToolCall, doubtRunningToolCalls } from "../calls/doubt-running.ts";
import { findToolCallKeyHolders } from "../calls/find-key-holders.ts";
import type { ToolCallFilter } from "../calls/list-page.ts";
import { type CallRecord, putToolCalls } from "../calls/put.ts";
import { releaseToolCallKey } from "../calls/release-key.ts";
import { toolCallsForProject } from "../calls/repo.ts";
import { sweepToolCalls } from "../calls/sweep.ts";
import { privateToolkitsForProject } from "../catalog/repo.ts";
import type { Executor } from "../connect.ts";
import type { ConnectedAccountFilter } from "../connections/account.ts";
import { activateAccount } from "../connections/activate.ts";
import { findActiveAccounts, findCallableAccount } from "../connections/find-callable.ts";
import { releaseAccountReferences } from "../connections/references.ts";
import { listDueAccountRefreshes } from "../connections/refresh.ts";
import { connectedAccountsForProject } from "../connections/repo.ts";
import { readDatabaseTime } from "../database-time.ts";
import { findCallerKey, listApiKeys } from "../keys/repo.ts";
import { probeWrites } from "../probe-writes.ts";
import { keepAudience, readAudience } from "../projects/audience.ts";
import { readHttpHosts } from "../projects/http-hosts.ts";
import { readConfirmRules } from "../projects/plan-policy.ts";
import {
  createFirstProject,
  createProject,
  findProject,
  findProjectByName,
  listProjects,
  setProjectPolicy,
} from "../projects/repo.ts";
import { holdDeploymentRouting, holdProjectRouting, readDeploymentRouting } from "../projects/routing.ts";
import { findQuarantinedIds, listHeldQuarantinedPosts } from "../quarantine/held.ts";
import { listQuarantinedPosts } from "../quarantine/list-page.ts";
import { findQuarantinedPost } from "../quarantine/repo.ts";
import { sweepQuarantinedPosts } from "../quarantine/sweep.ts";
import { findSecrets } from "../secrets/find.ts";
import { secretsForProject } from "../secrets/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const definition = { toolkitSlug: "tracker", isPrivate: false, isSandbox: false };
const page = { after: undefined, limit: 51 };
const accounts = (db: Executor, filter: Partial<ConnectedAccountFilter>) =>
  connectedAccountsForProject(db, projectId).list({ toolkitSlug: "", entityId: "", state: "", ...filter }, page, nowMs);
const everyPost = { toolkitSlug: "", reason: "", includeReleased: true, sinceMs: undefined, untilMs: undefined };
const everyHeld = { toolkitSlug: "", sinceMs: undefined, untilMs: undefined };
const everyCall: ToolCallFilter = {
  toolSlug: undefined,
  entityId: undefined,
  outcome: undefined,
  sinceMs: undefined,
  untilMs: undefined,
};

const ofTool: ToolCallFilter = { ...everyCall, toolSlug: "desk.tool_2" };
const ofJob = { jobId: seededId("job", 1), accountId: undefined, keyId: undefined };
const ofEntity: ToolCallFilter = { ...everyCall, entityId: "entity-6" };

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

const ledgerReads = ["Seq Scan", "ledger_state_pkey(id)"];

/** The ledger of tool calls. */
export const callPlans: readonly Plan[] = [
  { name: "put_tool_calls", run: (db) => putToolCalls(db, [call]), reads: {} },
  {
    name: "insert_keyed_tool_calls",
    run: (db) => beginKeyedToolCalls(db, [{ ...call, idempotencyKey: "new" }]),
    reads: {},
  },
  {
    name: "find_idempotency_keys",
    run: (db) =>
      findToolCallKeyHolders(
        db,
        ["k1", "k6"].map((key) => ({ projectId, key })),
      ),
    reads: { tool_calls: "tool_calls_idempotency_key(project_id, idempotency_key)" },
  },
  {
    name: "release_idempotency_key",
    run: (db) => releaseToolCallKey(db, { projectId, key: "k1", id: seededId("call", 1) }),
    reads: { tool_calls: "tool_calls_pkey(id)" },
  },
  {
    name: "doubt_running_call",
    run: (db) => doubtRunningToolCall(db, { projectId, id: seededId("call", 100), message: "" }),
    reads: { tool_calls: "tool_calls_pkey(id)" },
  },
  {
    name: "doubt_running_calls",
    run: (db) => doubtRunningToolCalls(db, { beforeMs: seededAt(5_000), message: "", limit: 1_000 }),
    reads: { tool_calls: "tool_calls_pkey(id)", ledger_state: ledgerReads },
  },
  {
    name: "sweep_tool_calls",
    run: (db) => sweepToolCalls(db, seededAt(5_000), 100),
    reads: { tool_calls: "tool_calls_pkey(id)" },
  },
  {
    name: "a call",
    run: (db) => toolCallsForProject(db, projectId).find(seededId("call", 1)),
    reads: { tool_calls: "tool_calls_pkey(id)" },
  },
  {
    name: "list_calls",
    run: (db) => toolCallsForProject(db, projectId).list({ ...everyCall, outcome: "running" }, page),
    reads: {
      tool_calls: [
        "tool_calls_pkey(id)",
        "tool_calls_project(project_id, id)",
        "tool_calls_failure(failure, project_id, id)",
      ],
      ledger_state: ledgerReads,
    },
  },
  ...["walk_calls", "end_call_walk"].map((name): Plan => {
    const byIndexes = ["tool_calls_project(project_id, id)", "tool_calls_failure(failure, project_id, id)"];
    return {
      name,
      run: (db) => toolCallsForProject(db, projectId).walk({ ...everyCall, ...ofJob }, page),
      reads: { tool_calls: name === "walk_calls" ? ["tool_calls_pkey(id)", ...byIndexes] : byIndexes },
      rowsMax: { tool_calls: 20_000 },
    };
  }),
  ...["walk_calls_of_tool", "end_call_walk_of_tool"].map((name): Plan => {
    const byIndexes = [
      "tool_calls_tool(tool_slug, project_id, id)",
      "tool_calls_tool_failure(tool_slug, project_id, failure, id)",
    ];
    return {
      name,
      run: (db) => toolCallsForProject(db, projectId).walk({ ...ofTool, ...ofJob }, page),
      reads: { tool_calls: name === "walk_calls_of_tool" ? ["tool_calls_pkey(id)", ...byIndexes] : byIndexes },
      rowsMax: { tool_calls: 20_000 },
    };
  }),
  {
    name: "list_calls_of_tool",
    run: (db) => toolCallsForProject(db, projectId).list({ ...ofTool, outcome: "running" }, page),
    reads: {
      tool_calls: [
        "tool_calls_pkey(id)",
        "tool_calls_tool(tool_slug, project_id, id)",
        "tool_calls_tool_failure(tool_slug, project_id, failure, id)",
      ],
      ledger_state: ledgerReads,
    },
  },
  {
    name: "list_calls_of_entity",
    run: (db) => toolCallsForProject(db, projectId).list({ ...ofEntity, outcome: "running" }, page),
    reads: {
      tool_calls: [
        "tool_calls_pkey(id)",
        "tool_calls_entity(entity_id, project_id, tool_slug)",
        "tool_calls_entity(entity_id, project_id, tool_slug, id)",
        "tool_calls_entity_failure(entity_id, project_id, tool_slug)",
        "tool_calls_entity_failure(entity_id, project_id, tool_slug, failure, id)",
      ],
      ledger_state: ledgerReads,
    },
  },
];

const paceKey = "call_paces_key(project_id, limit_name, key)";
const pace = { projectId, limitName: "limit-1", key: "key-1", pace: { shares: {} }, revision: "2", madeFrom: "1" };

/** Call limits, and where the calls under them stand. */
export const limitPlans: readonly Plan[] = [
  {
    name: "find_call_limits",
    run: (db) => findCallLimits(db, [projectId, seededId("prj", 7)]),
    reads: { call_limits: "call_limits_key(project_id)" },
  },
  {
    name: "read_call_paces",
    run: (db) => readCallPaces(db, [pace, { ...pace, key: "key-2" }]),
    reads: { call_paces: paceKey },
  },
  { name: "write_call_paces", run: (db) => writeCallPaces(db, [{ ...pace, expiresAt: nowMs }]), reads: {} },
  {
    name: "sweep_call_paces",
    run: (db) => sweepCallPaces(db, seededAt(500), 100),
    reads: { call_paces: ["call_paces_expires(expires_at)", paceKey] },
  },
  {
    name: "the call limits of a project",
    run: (db) => callLimitsForProject(db, seededId("prj", 9)).list(),
    reads: { call_limits: "call_limits_key(project_id)" },
  },
];

/** Connected accounts and private toolkits. */
export const accountPlans: readonly Plan[] = [
  {
    name: "find_account_references",
    run: (db) => findAccountReferences(db, [{ toolkitSlug: "watcher", reference: "r7" }]),
    reads: { account_references: "account_references_key(toolkit_slug, reference)" },
  },
  {
    name: "the references that accounts give up",
    run: (db) => releaseAccountReferences(db, projectId, [seededId("acc", 20)]),
    reads: { account_references: "account_references_project(project_id, account_id)" },
  },
  {
    name: "find_active_accounts",
    run: (db) => findActiveAccounts(db, { ...definition, projectId, entityId: "entity-20" }),
    reads: {
      connected_accounts: "connected_accounts_active(project_id, toolkit_slug, is_private, is_sandbox, entity_id)",
    },
    staleReads: { connected_accounts: "connected_accounts_project(project_id)" },
  },
  {
    name: "find_callable_account",
    run: (db) => findCallableAccount(db, projectId, seededId("acc", 20)),
    reads: { connected_accounts: "connected_accounts_pkey(id)" },
  },
  {
    name: "list_due_refreshes",
    run: (db) => listDueAccountRefreshes(db, { isSandbox: false, nowMs: seededAt(5_000), limit: 64 }),
    reads: { connected_accounts: "connected_accounts_refresh(is_sandbox, refresh_at)" },
    isOrdered: true,
  },
  {
    name: "lock_accounts",
    run: (db) => activateAccount(db, account, { isNew: true, referencesOf: () => [], exclusiveOf: () => [] }),
    reads: {},
  },
  {
    name: "an account",
    run: (db) => connectedAccountsForProject(db, projectId).find(seededId("acc", 20)),
    reads: { connected_accounts: ["connected_accounts_pkey(id)", "connected_accounts_project(project_id, id)"] },
  },
  {
    name: "why an entity has no active account",
    run: (db) => connectedAccountsForProject(db, projectId).findUnusable(definition, "entity-21"),
    reads: { connected_accounts: "connected_accounts_entity(project_id, entity_id)" },
  },
  {
    name: "a page of an entity's accounts",
    statistics: ["fresh"],
    run: (db) =>
      connectedAccountsForProject(db, projectId).list(
        { toolkitSlug: "", entityId: "entity-20", state: "" },
        page,
        nowMs,
      ),
    reads: { connected_accounts: "connected_accounts_entity(project_id, entity_id)" },
    isOrdered: true,
  },
  {
    name: "a page of a toolkit's accounts",
    statistics: ["fresh"],
    run: (db) => accounts(db, { toolkitSlug: "calendar" }),
    reads: { connected_accounts: "connected_accounts_toolkit((toolkit_slug || ' '::text), project_id, id)" },
    isOrdered: true,
  },
  {
    name: "a page of accounts in a state",
    statistics: ["fresh"],
    run: (db) => accounts(db, { state: "pending" }),
    reads: { connected_accounts: "connected_accounts_state((state || ' '::text), project_id, id)" },
    isOrdered: true,
  },
  {
    name: "a page of a toolkit's accounts in a state",
    statistics: ["fresh"],
    run: (db) => accounts(db, { toolkitSlug: "calendar", state: "active" }),
    reads: {
      connected_accounts: "connected_accounts_toolkit_state(((state || ' '::text) || toolkit_slug), project_id, id)",
    },
    isOrdered: true,
  },
  {
    name: "a page of expired accounts",
    statistics: ["fresh"],
    run: (db) => accounts(db, { state: "expired" }),
    reads: {
      connected_accounts: [
        "connected_accounts_state((state || ' '::text), project_id, id)",
        "connected_accounts_run_out(project_id, expires_at)",
      ],
    },
  },
  {
    name: "a page of accounts",
    statistics: ["fresh"],
    run: (db) =>
      connectedAccountsForProject(db, projectId).list({ toolkitSlug: "", entityId: "", state: "" }, page, nowMs),
    reads: { connected_accounts: "connected_accounts_project(project_id, id)" },
    isOrdered: true,
  },
  {
    name: "read_catalog_version",
    run: (db) => privateToolkitsForProject(db, projectId).version(),
    reads: { projects: "projects_pkey(id)" },
  },
];

/** Projects, keys, the quarantine and the server itself. */
export const projectPlans: readonly Plan[] = [
  { name: "database_time", run: (db) => readDatabaseTime(db), reads: {} },
  { name: "probe_writes", run: (db) => probeWrites(db), reads: {} },
  {
    name: "hold_deployment_routing",
    run: (db) => holdDeploymentRouting(db),
    reads: { routing_state: ["Seq Scan", "routing_state_pkey(id)"] },
  },
  {
    name: "read_plan_policies",
    run: (db) => readConfirmRules(db, projectId, [seededId("key", 9)]),
    reads: { project_policies: "project_policies_pkey(project_id)", api_keys: "api_keys_pkey(id)" },
  },
  {
    name: "read_http_hosts",
    run: (db) => readHttpHosts(db, projectId),
    reads: { project_policies: "project_policies_pkey(project_id)" },
  },
  {
    name: "find_secrets",
    run: (db) =>
      findSecrets(
        db,
        ["s-1", "s-6"].map((name) => ({ projectId, name })),
      ),
    reads: { secrets: "secrets_key(project_id, name)" },
  },
  {
    name: "the secrets of a project",
    run: (db) => secretsForProject(db, seededId("prj", 9)).list(),
    reads: { secrets: "secrets_key(project_id)" },
  },
  {
    name: "the audience that a start was told",
    run: (db) => readAudience(db),
    reads: { routing_state: ["Seq Scan", "routing_state_pkey()"] },
  },
  {
    name: "keep the audience that a start was told",
    run: (db) => keepAudience(db, "accounts"),
    reads: { routing_state: ["Seq Scan", "routing_state_pkey(id)"] },
  },
  {
    name: "hold_project_routing",
    run: (db) => holdProjectRouting(db, [projectId, seededId("prj", 7)]),
    reads: { projects: "projects_pkey(id)" },
  },
  {
    name: "a project with its policy",
    run: (db) => findProject(db, projectId),
    reads: { projects: "projects_pkey(id)", project_policies: "project_policies_pkey(project_id)" },
  },
  {
    name: "a project by its name",
    run: (db) => findProjectByName(db, "p7"),
    reads: { projects: "projects_name(name)", project_policies: "project_policies_pkey(project_id)" },
  },
  {
    name: "make a project",
    words: `insert into "projects"`,
    run: (db) => createProject(db, "new", nowMs),
    reads: {},
  },
  {
    name: "make the first contact of a project",
    words: `insert into "contacts"`,
    run: (db) => createProject(db, "new", nowMs),
    reads: {},
  },
  {
    // Its one row.
    name: "move the version of the deployment's routing",
    words: `update "routing_state"`,
    run: (db) => createProject(db, "new", nowMs),
    reads: { routing_state: ["Seq Scan", "routing_state_pkey()"] },
  },
  {
    // Its one row.
    name: "hold off whoever makes a project",
    words: `from "routing_state"`,
    run: (db) => createFirstProject(db, "new", nowMs),
    reads: { routing_state: ["Seq Scan", "routing_state_pkey()"] },
  },
  {
    name: "whether there is a project of another name",
    words: `"name" <> $1`,
    run: (db) => createFirstProject(db, "new", nowMs),
    reads: { projects: "projects_name()" },
    isOrdered: true,
    rowsMax: { projects: 2 },
  },
  {
    name: "set the policy of a project",
    words: `insert into "project_policies"`,
    run: (db) => setProjectPolicy(db, projectId, { planApproval: "always", redirectUrls: [], quotas: {} }),
    reads: {},
  },
  {
    // All of it, at each change: nodes keep which projects there are.
    name: "the deployment's routing",
    run: (db) => readDeploymentRouting(db),
    reads: { routing_state: ["Seq Scan", "routing_state_pkey()"], projects: ["Seq Scan", "projects_pkey()"] },
  },
  {
    name: "a page of projects",
    statistics: ["fresh"],
    run: (db) => listProjects(db, page),
    reads: { projects: "projects_pkey()", project_policies: "project_policies_pkey(project_id)" },
    isOrdered: true,
  },
  {
    name: "the key of a caller",
    run: (db) => findCallerKey(db, Buffer.from("7".padStart(64, "0"), "hex")),
    reads: { api_keys: "api_keys_digest(digest)", project_policies: "project_policies_pkey(project_id)" },
  },
  {
    name: "a page of keys",
    statistics: ["fresh"],
    run: (db) => listApiKeys(db, projectId, page),
    reads: { api_keys: "api_keys_project(project_id)" },
    isOrdered: true,
  },
  {
    name: "list_held_posts",
    run: (db) => listHeldQuarantinedPosts(db, everyHeld, page),
    reads: { quarantined_posts: "quarantined_posts_held(reason, id)" },
  },
  {
    name: "list_held_posts_of_toolkit",
    run: (db) => listHeldQuarantinedPosts(db, { ...everyHeld, toolkitSlug: "t3" }, page),
    reads: { quarantined_posts: "quarantined_posts_held_toolkit(toolkit_slug, reason, id)" },
  },
  {
    name: "find_quarantined_ids",
    run: (db) => findQuarantinedIds(db, everyHeld, [seededId("qrn", 1), seededId("qrn", 9)]),
    reads: { quarantined_posts: "quarantined_posts_pkey(id)" },
  },
  {
    name: "sweep_quarantined_posts",
    run: (db) => sweepQuarantinedPosts(db, seededAt(500), 100),
    reads: { quarantined_posts: "quarantined_posts_pkey(id)" },
  },
  {
    name: "a quarantined post",
    run: (db) => findQuarantinedPost(db, seededId("qrn", 1)),
    reads: { quarantined_posts: "quarantined_posts_pkey(id)" },
  },
  {
    name: "list_quarantined_posts",
    run: (db) => listQuarantinedPosts(db, everyPost, page),
    reads: { quarantined_posts: "quarantined_posts_pkey(id)" },
  },
  {
    name: "list_quarantined_posts_of_reasons",
    run: (db) => listQuarantinedPosts(db, { ...everyPost, reason: "no_trigger" }, page),
    reads: {
      quarantined_posts: [
        "quarantined_posts_held(reason, id)",
        "quarantined_posts_released(reason, id)",
        "quarantined_posts_pkey(id)",
      ],
    },
  },
  {
    name: "list_quarantined_posts_of_toolkit",
    run: (db) => listQuarantinedPosts(db, { ...everyPost, toolkitSlug: "t3" }, page),
    reads: {
      quarantined_posts: [
        "quarantined_posts_held_toolkit(toolkit_slug, reason, id)",
        "quarantined_posts_released_toolkit(toolkit_slug, reason, id)",
        "quarantined_posts_pkey(id)",
      ],
    },
  },
];
