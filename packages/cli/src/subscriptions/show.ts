import { type SubscriptionHealth, SubscriptionSchema } from "@svc/gen/triggers";
import type { Subscription } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { numberText, plainText } from "../text/plain.ts";
import { factLines, timeText } from "../text/table.ts";
import { eventsText } from "./list.ts";

/** Adds `svc subscriptions show`. */
export function addSubscriptionShow(subscriptions: Command, context: CommandContext): void {
  const show = subscriptions
    .command("show")
    .description("show one subscription: how its endpoint fares, what waits for it, when it last took something")
    .argument("<id>", "id of the subscription, sub_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { triggers } = await openProjectClient(options, context);
      const { subscription } = await triggers.getSubscription({ id });
      if (subscription === undefined) return;
      if (options.json) return context.print(messageText(SubscriptionSchema, subscription));
      for (const line of factLines(factsOf(subscription))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(show, "the subscription as JSON")), [
    "svc subscriptions show sub_01h455vb4pex5vsknk084sn02q",
  ]);
}

function factsOf(subscription: Subscription): readonly (readonly [string, string])[] {
  const { id, endpointUrl, inactiveReason, createdAt, health, agent } = subscription;
  const { state = "", failingSince, backoffUntil, lastSuccessAt, pendingDeliveries = 0 } = health ?? {};
  return [
    ["id", id],
    ["endpoint", plainText(endpointUrl)],
    ["events", eventsText(subscription)],
    ["health", inactiveReason === "" ? state.replaceAll("_", " ") : `${state} (${inactiveReason})`],
    ["because", inactiveReason === "" ? plainText(health?.reason ?? "") : ""],
    ["last error", plainText(health?.lastError ?? "")],
    ["answers in", health === undefined ? "" : timesText(health)],
    ["failing since", failingSince === undefined ? "" : timeText(failingSince)],
    ["tried again at", backoffUntil === undefined ? "" : timeText(backoffUntil)],
    ["last success", timeText(lastSuccessAt)],
    ["pending", pendingDeliveries >= countedMax ? `${numberText(countedMax)} or more` : numberText(pendingDeliveries)],
    ["created", timeText(createdAt)],
    ["made over MCP by", agent === undefined ? "" : agent.keyId],
    ["the agent's id of it", agent === undefined ? "" : agent.id],
    ["ends unless refreshed", agent === undefined ? "" : timeText(agent.refreshBefore)],
  ];
}

function timesText({ p50Ms, p99Ms, measuredAttempts }: SubscriptionHealth): string {
  if (measuredAttempts === 0) return "";
  return `${numberText(p50Ms)} ms (half of the latest ${measuredAttempts} attempts), ${numberText(p99Ms)} ms (99 of 100)`;
}

/** What the service counts no further than. */
const countedMax = 10_000;
