import type { Subscription } from "@svc/gen/triggers";

/** What a subscription receives, in words. */
export function receivesWords({
  toolkitSlug,
  triggerSlug,
  entityId,
  agent,
}: Pick<Subscription, "toolkitSlug" | "triggerSlug" | "entityId" | "agent">): string {
  const events = triggerSlug || (toolkitSlug === "" ? "every event" : `every event of ${toolkitSlug}`);
  const narrowed = entityId === "" ? events : `${events}, of ${entityId}`;
  return agent === undefined ? narrowed : `${narrowed} (an agent, over MCP)`;
}
