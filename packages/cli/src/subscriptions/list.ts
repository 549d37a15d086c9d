import { SubscriptionSchema } from "@svc/gen/triggers";
import type { Subscription } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

type ListOptions = ProjectOptions & JsonOption & { limit: number };

/** Adds `svc subscriptions list`. */
export function addSubscriptionList(subscriptions: Command, context: CommandContext): void {
  const list = subscriptions
    .command("list", { isDefault: true })
    .description("list the project's subscriptions, active or not, newest first")
    .option("--limit <count>", "most subscriptions to list", parseCount, 1_000)
    .action((options: ListOptions) => listSubscriptions(options, context));
  addExamples(addProjectOptions(addJson(list, "the subscriptions as a JSON list")), [
    "svc subscriptions list",
    "svc subscriptions list --limit 20 --json",
  ]);
}

async function listSubscriptions(options: ListOptions, context: CommandContext): Promise<void> {
  const { triggers } = await openProjectClient(options, context);
  const { limit } = options;
  const found = await collectPages(async (pageToken) => {
    const page = await triggers.listSubscriptions({ pageSize: Math.min(limit, 1_000), pageToken });
    return { items: page.subscriptions, nextPageToken: page.nextPageToken };
  }, limit);
  if (options.json) return context.print(messageListText(SubscriptionSchema, found));
  for (const line of subscriptionTable(found)) context.print(line);
}

/** Subscriptions as a table; where agents made some of them over MCP, with the keys they did so by. */
export function subscriptionTable(subscriptions: readonly Subscription[]): string[] {
  const hasAgents = subscriptions.some(({ agent }) => agent !== undefined);
  const rows = subscriptions.map((subscription) => {
    const { id, active, inactiveReason, createdAt, endpointUrl, agent } = subscription;
    const state = active ? healthText(subscription) : inactiveReason;
    const cells = [id, state, eventsText(subscription), timeText(createdAt)];
    return [...cells, ...(hasAgents ? [agent?.keyId ?? "-"] : []), plainText(endpointUrl)];
  });
  return tableLines(["ID", "STATE", "EVENTS", "CREATED", ...(hasAgents ? ["AGENT'S KEY"] : []), "ENDPOINT"], rows);
}

/** How the endpoint of an active subscription fares, such as `failing: connection_refused` or `slow: 4000 ms`. */
function healthText({ health }: Subscription): string {
  const { state = "", lastError = "", p50Ms = 0 } = health ?? {};
  if (state === "well" || state === "") return "active";
  const detail = state === "slow" ? `${p50Ms} ms` : (lastError.split(/[\s:]/, 1)[0] ?? "");
  return `${state.replaceAll("_", " ")}${detail === "" ? "" : `: ${detail}`}`;
}

/** What a subscription receives: `calendar.events_changed of ada`. */
export function eventsText({ toolkitSlug, triggerSlug, entityId }: Subscription): string {
  const events = triggerSlug || toolkitSlug || "all";
  return entityId === "" ? events : `${events} of ${plainText(entityId)}`;
}
