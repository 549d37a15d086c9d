import { createHash } from "node:crypto";
import { type AddressGuard, checkEndpointUrl, Fault, isObject, readSigningSecret } from "@svc/core";
import { invalidParams, type McpContext, type McpError, type Params } from "@svc/tools";
import type { AgentEventsContext } from "./context.ts";
import { deliveryModeUnsupported } from "./errors.ts";
import { readCount } from "./poll.ts";
import { type EventTarget, readTarget } from "./target.ts";

/** The identity of an agent's subscription: its events, its callback URL, and the id that svc and the client use for it. */
export type SubscriptionName = EventTarget & { readonly url: string; readonly mcpId: string };

/** The arguments of events/subscribe. `ttlMs`: null if the client asks for a subscription without an end, undefined if svc may choose. */
export type SubscribeRequest = SubscriptionName & {
  readonly secret: string;
  readonly cursor: string | null;
  readonly maxAgeMs: number | undefined;
  readonly ttlMs: number | null | undefined;
};

type Wrong = { readonly error: McpError };

/** Reads the arguments of events/subscribe. Returns the request, or a text that says what is wrong with it. */
export async function readSubscribe(
  events: AgentEventsContext,
  params: Params,
  context: McpContext,
): Promise<SubscribeRequest | Wrong> {
  const name = await readName(events, params, context);
  if ("error" in name) return name;
  const { secret } = isObject(params["delivery"]) ? params["delivery"] : {};
  if (typeof secret !== "string" || readSigningSecret(secret) === undefined)
    return wrong("params.delivery.secret must be whsec_ and 24 to 64 random bytes in base64");
  const { cursor = null } = params;
  if (cursor !== null && typeof cursor !== "string") return wrong("params.cursor must be a text or null");
  const maxAgeMs = readCount(params["maxAgeMs"]);
  if (maxAgeMs === "wrong") return wrong("params.maxAgeMs must be a whole number of milliseconds");
  const ttlMs = params["ttlMs"] === null ? null : readCount(params["ttlMs"]);
  if (ttlMs === "wrong") return wrong("params.ttlMs must be a whole number of milliseconds, or null");
  return { ...name, secret, cursor, maxAgeMs, ttlMs };
}

/**
 * Returns the part of a request that identifies an agent's subscription. Requests of events/subscribe and of events/unsubscribe both have
 * this part.
 */
export async function readName(
  { views, guard }: Pick<AgentEventsContext, "views" | "guard">,
  params: Params,
  context: McpContext,
): Promise<SubscriptionName | Wrong> {
  const target = readTarget(await views.forProject(context.principal.projectId), params, context);
  if ("error" in target) return target;
  const { delivery } = params;
  if (!isObject(delivery)) return wrong("params.delivery must be an object");
  const { mode = "webhook", url } = delivery;
  if (mode !== "webhook") return { error: deliveryModeUnsupported(String(mode)) };
  if (typeof url !== "string") return wrong("params.delivery.url must be a text");
  const checked = readUrl(guard, url);
  if (typeof checked !== "string") return checked;
  return { ...target, url: checked, mcpId: mcpIdOf(target, checked, context) };
}

function readUrl(guard: AddressGuard, url: string): string | Wrong {
  try {
    return checkEndpointUrl(guard, url);
  } catch (error) {
    if (error instanceof Fault) return wrong(`params.delivery.url: ${error.message}`);
    throw error;
  }
}

/**
 * Returns the id of an agent's subscription. Two requests get the same id if these values are equal: API key, entity (customer or user) in
 * the MCP address, callback URL, event, and arguments of the event. Each grant (a person's permission for an agent) has its own API key.
 */
function mcpIdOf({ trigger, argumentsText }: EventTarget, url: string, { principal, address }: McpContext): string {
  const named = JSON.stringify([principal.keyId, address.entityId, url, trigger.slug, argumentsText]);
  return `mcp_${createHash("sha256").update(named).digest("hex").slice(0, 40)}`;
}

function wrong(what: string): Wrong {
  return { error: invalidParams(`InvalidParams: ${what}`) };
}
