import type { Executor } from "../connect.ts";
import { createApiKey } from "../keys/repo.ts";
import { agentSubscriptionsForProject, type NewAgentSubscription } from "../subscriptions/agent-subscriptions.ts";
import { askEndpointsForProject } from "../subscriptions/ask-endpoints.ts";
import { endNarrowedSubscriptions } from "../subscriptions/end-of-keys.ts";
import { subscriptionsForProject } from "../subscriptions/repo.ts";
import { deleteEndedSubscriptions, findEndedSubscriptions } from "../subscriptions/sweep.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
/** One that has none yet: the first has as many as it may. */
const emptyProjectId = seededId("prj", 700);
const page = { after: undefined, limit: 51 };
const hourMs = 3_600_000;
const endpointUrl = "https://example.com/";
const signingSecret = Buffer.from("sealed");
const events = (db: Executor) => subscriptionsForProject(db, projectId);
const asks = (db: Executor) => askEndpointsForProject(db, projectId);
const agents = (db: Executor) => agentSubscriptionsForProject(db, projectId);

const endpoint = { id: seededId("sub", 500_000), endpointUrl, signingSecret, createdAt: nowMs };
/** Of a key of its own: each of the seeded ones is a grant's, and vouches for it. */
const ofAgent: NewAgentSubscription = {
  ...{ ...endpoint, toolkitSlug: "calendar", triggerSlug: "calendar.changed" },
  ...{ entityId: "", mcpId: "mcp_new", cursor: "", keyId: seededId("key", 500_000), expiresAt: nowMs + hourMs },
};
/** Of the seeded ones of an agent, one of the first project. */
const agentKeyId = seededId("key", 501);

async function subscribe(db: Executor): Promise<void> {
  const key = { projectId: emptyProjectId, role: "member" as const, name: "", hint: "", createdAt: nowMs };
  await createApiKey(db, { ...key, id: ofAgent.keyId, digest: Buffer.alloc(32, 9) });
  const made = await agentSubscriptionsForProject(db, emptyProjectId).create(ofAgent, { perKeyMax: 100, nowMs });
  if (!("id" in made)) throw new Error("it was not made");
}

async function refresh(db: Executor): Promise<void> {
  await subscribe(db);
  const change = { cursor: "c", signingSecret, formerSecret: null, formerUntil: null, expiresAt: nowMs + hourMs };
  const refreshed = await agentSubscriptionsForProject(db, emptyProjectId).refresh(ofAgent.id, change, nowMs);
  if (refreshed === undefined) throw new Error("it was not refreshed");
}

async function sweep(db: Executor): Promise<void> {
  const ended = await findEndedSubscriptions(db, nowMs, 100);
  const [first, ...others] = await deleteEndedSubscriptions(db, ended, nowMs);
  if (first === undefined || others.length === 0) throw new Error("none or one has ended");
}

const byId = ["subscriptions_pkey(id)", "subscriptions_project(project_id, id)"];
const ofKey = { subscriptions: "subscriptions_key(key_id)" };
const byMcpId = { subscriptions: "subscriptions_mcp(mcp_id)" };
const ofAsks = { subscriptions: "subscriptions_asks(project_id)" };

/** Subscriptions to events as they are made, changed and deleted. */
const eventPlans: readonly Plan[] = [
  {
    name: "make a subscription",
    words: `insert into "subscriptions"`,
    run: (db) => subscriptionsForProject(db, emptyProjectId).create({ ...endpoint, toolkitSlug: "", triggerSlug: "" }),
    reads: {},
  },
  {
    name: "lock a subscription",
    words: "for update",
    run: (db) => events(db).update(seededId("sub", 7), { active: false }),
    reads: { subscriptions: byId },
  },
  {
    name: "deactivate a subscription",
    words: `update "subscriptions"`,
    run: (db) => events(db).update(seededId("sub", 7), { active: false }),
    reads: { subscriptions: byId },
  },
  {
    name: "delete a subscription",
    words: `delete from "subscriptions"`,
    run: (db) => events(db).delete(seededId("sub", 7)),
    reads: { subscriptions: byId },
  },
];

const agentPlans: readonly Plan[] = [
  { name: "an agent's subscription", run: (db) => agents(db).find("mcp_501"), reads: byMcpId },
  {
    name: "whether a key has a subscription to an endpoint",
    run: (db) => agents(db).hasEndpoint(agentKeyId, endpointUrl, nowMs),
    reads: ofKey,
  },
  {
    name: "the keys that vouch for the key of an agent",
    words: `from "grants"`,
    run: subscribe,
    reads: { grants: "grants_key(key_id)" },
  },
  {
    name: "hold the key of an agent",
    words: "for share",
    run: subscribe,
    reads: { api_keys: "api_keys_pkey(id)" },
  },
  {
    name: "delete the subscription whose place an agent's takes",
    words: `delete from "subscriptions"`,
    run: subscribe,
    reads: byMcpId,
  },
  { name: "count the subscriptions of a key", words: "count(*)", run: subscribe, reads: ofKey },
  { name: "make a subscription of an agent", words: `insert into "subscriptions"`, run: subscribe, reads: {} },
  {
    name: "the key of an agent's subscription",
    words: `select "key_id" from "subscriptions"`,
    run: refresh,
    reads: { subscriptions: byId },
  },
  {
    name: "refresh the subscription of an agent",
    words: `update "subscriptions"`,
    run: refresh,
    reads: { subscriptions: "subscriptions_pkey(id)" },
  },
  {
    name: "delete the subscription of an agent",
    words: `delete from "subscriptions"`,
    run: (db) => agents(db).delete("mcp_501"),
    reads: byMcpId,
  },
  {
    name: "lock subscriptions whose time is over",
    words: "for update",
    run: sweep,
    reads: { subscriptions: "subscriptions_pkey(id)" },
  },
  {
    name: "delete subscriptions whose time is over",
    words: `delete from "subscriptions"`,
    run: sweep,
    reads: { subscriptions: "subscriptions_pkey(id)" },
  },
  {
    name: "move the version of a project's routing",
    words: `set "routing_version"`,
    run: (db) => endNarrowedSubscriptions(db, { projectId, keyId: agentKeyId, nowMs }, ["calendar"]),
    reads: { projects: "projects_pkey(id)" },
  },
];

const askEndpointPlans: readonly Plan[] = [
  { name: "make an ask endpoint", run: (db) => asks(db).create(endpoint), reads: {} },
  {
    name: "a page of ask endpoints",
    statistics: ["fresh"],
    run: (db) => asks(db).list(page),
    reads: ofAsks,
    isOrdered: true,
  },
  { name: "the ask endpoints that are posted to", run: (db) => asks(db).listActive("ask_raised"), reads: ofAsks },
  {
    name: "delete an ask endpoint",
    run: (db) => asks(db).delete(seededId("sub", 500)),
    reads: { subscriptions: [...byId, "subscriptions_asks(project_id, id)"] },
  },
];

/** Subscriptions as they are made, changed and deleted: to events, of agents, and to asks. */
export const agentSubscriptionPlans: readonly Plan[] = [...eventPlans, ...agentPlans, ...askEndpointPlans];
