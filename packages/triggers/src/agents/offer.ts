import type { Catalog } from "@svc/catalog";
import { isObject, openPageToken, sealPageToken } from "@svc/core";
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
import { deliveryModeUnsupported } from "./errors.ts";
import { createPoll } from "./poll.ts";
import { createSubscribe, unsubscribe } from "./subscribe.ts";
import { inputSchema, isOffered } from "./target.ts";

/** Ways in which every event is delivered. */
const delivery = ["webhook", "poll"];
/** Events of one page of the list. */
const pageSize = 100;

/** What agents are offered of events over MCP: every trigger of the catalog, by the draft of MCP Events (docs/agents.md says which). */
export function createEventsOffer(events: AgentEventsContext): McpOffer {
  return {
    capabilities: { events: {} },
    methods: {
      "events/list": { answer: (params, context) => list(events, params, context) },
      "events/poll": { answer: createPoll(events) },
      "events/subscribe": { answer: createSubscribe(events) },
      "events/unsubscribe": { answer: (params, context) => unsubscribe(events, params, context) },
      // A client may know that there is such a thing; it is told that here is none.
      "events/stream": { answer: async () => refused(deliveryModeUnsupported("push")) },
    },
  };
}

async function list(
  { catalog, sealer }: AgentEventsContext,
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
      return refused(invalidParams("InvalidParams: params.cursor is no nextCursor of this list"));
    }
  }
  const offered = triggersOf(catalog).filter((trigger) => trigger.slug > after && isOffered(trigger, context));
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

/** Every trigger, by its slug. */
function triggersOf({ toolkits }: Pick<Catalog, "toolkits">) {
  return [...toolkits.values()].flatMap(({ triggers }) => triggers).sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

function objectOf(schema: unknown): Params {
  return isObject(schema) ? schema : {};
}
