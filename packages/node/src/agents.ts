import type { CatalogViews } from "@svc/catalog";
import { makeConnectLink } from "@svc/connections";
import type { Dispatcher } from "@svc/delivery";
import type { Jobs } from "@svc/jobs";
import {
  createConnectAccountTool,
  createMcpServer,
  createReachFinder,
  createToolsOffer,
  type McpServer,
  type ToolCaller,
  type ToolFinder,
} from "@svc/tools";
import { createEventsOffer, type Quarantine, type TriggersContext } from "@svc/triggers";
import { createOperatorTools } from "./operators/tools.ts";
import type { NodeParts } from "./parts.ts";

/** What agents are offered is made of. */
type OfferedParts = {
  readonly views: CatalogViews;
  readonly caller: ToolCaller;
  readonly jobs: Jobs;
  readonly finder: ToolFinder;
  readonly connecting: Parameters<typeof makeConnectLink>[0];
  readonly triggers: TriggersContext & { readonly dispatcher: Dispatcher };
  readonly quarantine: Quarantine;
};

/** A node as agents reach it: tools, tasks and events, over the Model Context Protocol. */
export function createAgents(
  parts: NodeParts,
  { views, caller, jobs, finder, connecting, triggers, quarantine }: OfferedParts,
): McpServer {
  const { db, clock } = parts;
  const agentTools = [
    ...jobs.agentTools,
    createConnectAccountTool((principal, asked) => makeConnectLink(connecting, principal, asked)),
    ...createOperatorTools({ ...triggers, quarantine }),
  ];
  const findReach = createReachFinder(parts);
  const offers = [
    createToolsOffer({ db, clock, views, caller, findReach, finder, agentTools }),
    jobs.tasksOffer,
    createEventsOffer({ ...triggers, eventRetentionMs: parts.limits.retention.eventsMs }),
  ];
  return createMcpServer({ version: parts.version, offers: parts.mcpOffers?.(offers) ?? offers });
}
