import type { Executor } from "../src/connect.ts";
import { createApiKey } from "../src/keys/repo.ts";
import { agentSubscriptionsForProject, type NewAgentSubscription } from "../src/subscriptions/agent-subscriptions.ts";
import { askEndpointsForProject } from "../src/subscriptions/ask-endpoints.ts";
import { addFilterFaults, readSubscriptionFilters } from "../src/subscriptions/filters.ts";
import { subscriptionsForProject } from "../src/subscriptions/repo.ts";
import { endNarrowedSubscriptions } from "../src/subscriptions/routing.ts";
import { deleteEndedSubscriptions, findEndedSubscriptions } from "../src/subscriptions/sweep.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
/**
 * For recorded query plans: a project without subscriptions, to which new subscriptions can be added. The project `projectId` has the
 * maximum number of subscriptions.
 */
const emptyProjectId = seededId("prj", 700);
const page = { after: undefined, limit: 51 };
const hourMs = 3_600_000;
const endpointUrl = "https://example.com/";
const signingSecret = Buffer.from("sealed");
const events = (db: Executor) => subscriptionsForProject(db, projectId);
const asks = (db: Executor) => askEndpointsForProject(db, projectId);
const agents = (db: Executor) => agentSubscriptionsForProject(db, projectId);

const endpoint = { id: seededId("sub", 500_000), endpointUrl, signingSecret, createdAt: nowMs };
/**
 * A new subscription of an agent whose key does not come from an OAuth grant. The test data has no such key, so `subscribe` creates one.
 */
const ofAgent: NewAgentSubscription = {
  ...{ ...endpoint, toolkitSlug: "calendar", triggerSlug: "calendar.changed" },
  ...{ entityId: "", mcpId: "mcp_new", cursor: "", keyId: seededId("key", 500_000), expiresAt: nowMs + hourMs },
};
/** Id of the API key of an agent that has a subscription in the generated test data. The subscription belongs to the first project. */
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

// Recorded query plans of statements that create, change and delete subscriptions.
plan("make a subscription", (db) =>
  subscriptionsForProject(db, emptyProjectId).create({ ...endpoint, toolkitSlug: "", triggerSlug: "" }),
);
plan("make a subscription once", (db) =>
  subscriptionsForProject(db, emptyProjectId).create(
    { ...endpoint, toolkitSlug: "calendar", triggerSlug: "" },
    { once: true },
  ),
);
plan(["count_entity_subscriptions", "make a subscription of an entity"], (db) =>
  subscriptionsForProject(db, emptyProjectId).create({
    ...endpoint,
    entityId: "ada",
    toolkitSlug: "",
    triggerSlug: "",
  }),
);
plan("set and clear the pace of a subscription", async (db) => {
  await events(db).update(seededId("sub", 207), { settings: { pace: { concurrency: 3 } } });
  await events(db).update(seededId("sub", 207), { settings: null });
});
plan("delete a subscription with a pace", (db) => events(db).delete(seededId("sub", 208)));
plan("make a subscription in a portal", (db) =>
  subscriptionsForProject(db, emptyProjectId, { entityId: "ada" }).create({
    ...{ ...endpoint, toolkitSlug: "events", triggerSlug: "" },
  }),
);
plan("a subscription of a portal", (db) =>
  subscriptionsForProject(db, projectId, { entityId: "ada" }).find(seededId("sub", 7)),
);
plan("the subscriptions of a portal", (db) =>
  subscriptionsForProject(db, projectId, { entityId: "ada" }).list({ after: undefined, limit: 51 }),
);
plan("a page of an entity's subscriptions", (db) => events(db).list({ after: undefined, limit: 51 }, "ada"));
plan("deactivate a subscription", (db) => events(db).update(seededId("sub", 7), { active: false }));
plan("delete a subscription", (db) => events(db).delete(seededId("sub", 7)));

plan("read_subscription_filters", (db) => readSubscriptionFilters(db, projectId, [seededId("sub", 7)]));
plan("add_filter_faults", (db) => addFilterFaults(db, new Map([[seededId("sub", 7), 3]])));

plan("an agent's subscription", (db) => agents(db).find("mcp_501"));
plan("whether a key has a subscription to an endpoint", (db) => agents(db).hasEndpoint(agentKeyId, endpointUrl, nowMs));
plan("make a subscription of an agent", subscribe);
plan("refresh the subscription of an agent", refresh);
plan("delete the subscription of an agent", (db) => agents(db).delete("mcp_501"));
plan("delete subscriptions that expired", sweep);
plan("move the version of a project's routing", (db) =>
  endNarrowedSubscriptions(db, { projectId, keyId: agentKeyId, nowMs }, ["calendar"]),
);

plan("make an ask endpoint", (db) => asks(db).create(endpoint));
plan("a page of ask endpoints", (db) => asks(db).list(page), { statistics: ["fresh"] });
plan("the ask endpoints that are posted to", (db) => asks(db).listActive("ask_raised"));
plan("delete an ask endpoint", (db) => asks(db).delete(seededId("sub", 500)));
