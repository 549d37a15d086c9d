import { isDeepStrictEqual } from "node:util";
import {
  createHmacKey,
  type HmacKey,
  LeastRecentlyUsed,
  type ProjectId,
  type Sealer,
  type SubscriptionId,
  signingSecretBytes,
} from "@svc/core";
import type {
  SubscriptionFormat,
  SubscriptionPace,
  SubscriptionRetry,
  SubscriptionSettings,
} from "@svc/db/documents/subscriptions";
import { type EndpointCredentials, openCredentials } from "./credentials.ts";

/**
 * The two keys of one signing secret. `text`: the secret as text, for X-Svc-Signature. `bytes`: the decoded bytes, for Standard Webhooks.
 */
export type SigningKeys = { text: HmacKey; bytes: HmacKey };

/** Returns the keys of a signing secret (`whsec_...`), prepared for many signatures. */
export function createSigningKeys(secret: string): SigningKeys {
  return { text: createHmacKey(secret), bytes: createHmacKey(signingSecretBytes(secret)) };
}

/**
 * Address and signing keys of a subscription's deliveries. `agent`: present if deliveries have the form of MCP instead of svc's own form.
 */
export type Endpoint = {
  url: string;
  origin: string;
  path: string;
  keys: SigningKeys;
  /** The keys of the previous secret. Until `untilMs`, attempts are also signed with them. */
  former?: { readonly keys: SigningKeys; readonly untilMs: number } | undefined;
  agent?: AgentEndpoint | undefined;
  /**
   * Payload format that was chosen for the subscription's deliveries. Undefined means svc's own format, or the MCP format if an agent
   * created the subscription.
   */
  format?: SubscriptionFormat | undefined;
  /**
   * When and how often failed deliveries are tried again. Undefined if the subscription has no such settings, so that those of the
   * deployment apply.
   */
  retry?: SubscriptionRetry | undefined;
  /** Limit of the rate at which the endpoint gets deliveries. Undefined if there is no limit. */
  pace?: SubscriptionPace | undefined;
  /** Headers and authentication of deliveries, if the endpoint has any. */
  credentials?: EndpointCredentials | undefined;
};

/** Values of an endpoint that receives events for an agent, in the form of MCP. svc sends these values with each event. */
type AgentEndpoint = {
  /** The id by which the receiver knows the subscription. */
  readonly id: string;
  /**
   * Point in the event stream. The deliveries of all earlier events have ended. svc sets this point when the MCP client renews its
   * subscription.
   */
  readonly cursor: string;
};

/** The stored values from which an endpoint is created. */
export type EndpointSource = {
  id: SubscriptionId;
  projectId: ProjectId;
  endpointUrl: string;
  signingSecret: Buffer;
  /**
   * The subscription's id in MCP (Model Context Protocol), by which the agent that created the subscription knows it. Empty if no agent
   * created the subscription.
   */
  mcpId?: string;
  cursor?: string;
  formerSecret?: Buffer | null;
  formerUntil?: number | null;
  settings?: SubscriptionSettings | null;
  credentials?: Buffer | null;
};

/**
 * Cached endpoints, by subscription. Each endpoint is opened once, because unsealing its secret and preparing its keys is too slow for
 * every delivery.
 */
export type EndpointCache = {
  /**
   * Returns the endpoint of a subscription. If its secret cannot be opened (for example because this node lacks the vault key), calls
   * `onError` and returns undefined.
   */
  of(source: EndpointSource, onError?: (error: unknown) => void): Endpoint | undefined;
};

const endpointsMax = 10_000;

/**
 * Returns the encryption context (project and subscription) of a signing secret. The secret can be decrypted only with the same context.
 */
export function signingSecretContext(projectId: ProjectId, id: SubscriptionId): string {
  return `${projectId}/subscriptions/${id}`;
}

/**
 * Returns the encryption context (project and subscription) of a previous signing secret. The secret can be decrypted only with the same
 * context.
 */
export function formerSecretContext(projectId: ProjectId, id: SubscriptionId): string {
  return `${signingSecretContext(projectId, id)}/former`;
}

/** Creates a cache of at most 10,000 endpoints. The least recently used one is removed first. */
export function createEndpointCache(sealer: Sealer): EndpointCache {
  const endpoints = new LeastRecentlyUsed<SubscriptionId, { source: EndpointSource; endpoint: Endpoint }>(endpointsMax);
  return {
    of(source, onError) {
      const known = endpoints.get(source.id);
      if (known !== undefined && isSame(known.source, source)) return known.endpoint;
      try {
        const endpoint = openEndpoint(sealer, source);
        endpoints.set(source.id, { source, endpoint });
        return endpoint;
      } catch (error) {
        onError?.(error);
        return undefined;
      }
    },
  };
}

function isSame(a: EndpointSource, b: EndpointSource): boolean {
  if (a === b) return true;
  const isOfAgent = (a.mcpId ?? "") !== "" || (b.mcpId ?? "") !== "";
  return (
    a.endpointUrl === b.endpointUrl &&
    a.signingSecret.equals(b.signingSecret) &&
    isDeepStrictEqual(a.settings ?? null, b.settings ?? null) &&
    isSameBytes(a.credentials, b.credentials) &&
    // When a secret is replaced, both the former secret and its end change. So it is enough to compare the end.
    a.formerUntil === b.formerUntil &&
    (!isOfAgent || (a.mcpId === b.mcpId && a.cursor === b.cursor))
  );
}

function isSameBytes(a: Buffer | null | undefined, b: Buffer | null | undefined): boolean {
  return a && b ? a.equals(b) : !a === !b;
}

function openEndpoint(sealer: Sealer, source: EndpointSource): Endpoint {
  const url = new URL(source.endpointUrl);
  const { id, projectId, mcpId = "", cursor = "" } = source;
  return {
    url: source.endpointUrl,
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    keys: openKeys(sealer, source.signingSecret, signingSecretContext(projectId, id)),
    former: openFormer(sealer, source),
    agent: mcpId === "" ? undefined : { id: mcpId, cursor },
    format: source.settings?.format,
    retry: source.settings?.retry,
    pace: source.settings?.pace,
    credentials: source.credentials ? openCredentials(sealer, source, source.credentials) : undefined,
  };
}

function openFormer(sealer: Sealer, { id, projectId, formerSecret, formerUntil }: EndpointSource): Endpoint["former"] {
  if (!formerSecret || !formerUntil) return undefined;
  return { keys: openKeys(sealer, formerSecret, formerSecretContext(projectId, id)), untilMs: formerUntil };
}

function openKeys(sealer: Sealer, sealed: Buffer, context: string): SigningKeys {
  return createSigningKeys(sealer.open(sealed, context).toString("utf8"));
}

/**
 * Returns the callback endpoint of an agent before the agent has a subscription. svc uses it to send a test request, which the agent must
 * answer before it can subscribe.
 */
export function createAgentEndpoint(endpointUrl: string, secret: string, mcpId: string): Endpoint {
  const url = new URL(endpointUrl);
  return {
    url: endpointUrl,
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    keys: createSigningKeys(secret),
    agent: { id: mcpId, cursor: "" },
  };
}
