import { isObject, openPageToken, sealPageToken } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { expireDeliveries } from "@svc/db/deliveries/expire";
import { agentSubscriptionsForProject } from "@svc/db/subscriptions/agent-subscriptions";
import {
  complete,
  invalidParams,
  type McpContext,
  type McpOffer,
  type McpOutcome,
  type Params,
  refused,
} from "@svc/tools";
import type { AgentEventsContext } from "./context.ts";
import { deliveryModeUnsupported, subscriptionNotFound } from "./errors.ts";
import { createPoll } from "./poll.ts";
import { createSubscribe } from "./subscribe.ts";
import { readName } from "./subscribe-request.ts";
import { isOffered } from "./target.ts";

/** JSON Schema of the arguments with which an agent subscribes to any kind of event over MCP. */
const inputSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    entity_id: {
      type: "string",
      minLength: 1,
      description: "Only events of this entity's account. If left out: of every entity that the key or grant can use.",
    },
  },
} as const;

/**
 * Maximum number of pending deliveries that are ended in the same transaction as their subscription. If the subscription has more, the rest
 * are ended in batches after that transaction.
 */
const expireMax = 20_000;

/** The ways of delivery that every event offers. */
const delivery = ["webhook", "poll"];
/** Maximum number of events on one page of the answer to the method `events/list`. */
const pageSize = 100;

/**
 * Returns the events that svc offers to agents over MCP: every trigger of the project's catalog. It follows the draft of MCP Events that
 * docs/reference/mcp/events.md names.
 */
export function createEventsOffer(events: AgentEventsContext): McpOffer {
  return {
    capabilities: { events: {} },
    methods: {
      "events/list": { answer: (params, context) => list(events, params, context) },
      "events/poll": { answer: createPoll(events) },
      "events/subscribe": { answer: createSubscribe(events) },
      "events/unsubscribe": { answer: (params, context) => unsubscribe(events, params, context) },
      // Clients may call this method, which svc does not support. The error says so.
      "events/stream": { answer: async () => refused(deliveryModeUnsupported("push")) },
    },
  };
}

async function list(
  { views, sealer }: AgentEventsContext,
  { cursor }: Params,
  context: McpContext,
): Promise<McpOutcome> {
  const scope = { call: "events/list", projectId: context.principal.projectId, filters: {} };
  let after = "";
  if (cursor !== undefined && cursor !== null) {
    if (typeof cursor !== "string") return refused(invalidParams("InvalidParams: params.cursor must be a text"));
    try {
      after = openPageToken(sealer, scope, cursor);
    } catch {
      return refused(invalidParams("InvalidParams: params.cursor is not a nextCursor of this list"));
    }
  }
  const view = await views.forProject(context.principal.projectId);
  const offered = [...view.triggers.values()].filter((trigger) => trigger.slug > after && isOffered(trigger, context));
  const page = offered.slice(0, pageSize);
  const last = page.at(-1);
  const hasMore = offered.length > page.length && last !== undefined;
  return complete({
    events: page.map(({ slug, description, outputSchema }) => {
      return { name: slug, description, delivery, inputSchema, payloadSchema: objectOf(outputSchema) };
    }),
    ...(hasMore && { nextCursor: sealPageToken(sealer, scope, last.slug) }),
  });
}

function objectOf(schema: unknown): Params {
  return isObject(schema) ? schema : {};
}

/** Ends a subscription at once (events/unsubscribe). */
async function unsubscribe(events: AgentEventsContext, params: Params, context: McpContext): Promise<McpOutcome> {
  const { db, clock, dispatcher } = events;
  const name = await readName(events, params, context);
  if ("error" in name) return refused(name.error);
  const { projectId } = context.principal;
  const id = await withTransaction(db, async (tx) => {
    const deleted = await agentSubscriptionsForProject(tx, projectId).delete(name.mcpId);
    if (deleted !== undefined) await expireDeliveries(tx, deleted, clock.now(), expireMax);
    return deleted;
  });
  if (id === undefined) return refused(subscriptionNotFound());
  await dispatcher.expire(id);
  return complete({});
}
