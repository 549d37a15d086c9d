import {
  createHmacKey,
  type HmacKey,
  LeastRecentlyUsed,
  type ProjectId,
  type Sealer,
  type SubscriptionId,
  signingSecretBytes,
} from "@svc/core";

/** The keys of one signing secret: its text for X-Svc-Signature, its decoded bytes for Standard Webhooks. */
export type SigningKeys = { text: HmacKey; bytes: HmacKey };

/** Prepares a signing secret (`whsec_...`) for many signatures. */
export function createSigningKeys(secret: string): SigningKeys {
  return { text: createHmacKey(secret), bytes: createHmacKey(signingSecretBytes(secret)) };
}

/** Where and how the deliveries of a subscription go out. `agent`: as MCP has it, in place of the service's own form. */
export type Endpoint = {
  url: string;
  origin: string;
  path: string;
  keys: SigningKeys;
  agent?: AgentEndpoint | undefined;
};

/** What stands beside the events that an agent's receiver is posted. */
type AgentEndpoint = {
  /** By what the receiver knows the subscription. */
  readonly id: string;
  /** A position before which nothing is pending: as old as the last refresh, and so safe to keep. */
  readonly cursor: string;
  /** The keys of the secret before this one: it signs too, until then. */
  readonly former: { readonly keys: SigningKeys; readonly untilMs: number } | undefined;
};

/** What an endpoint is made from. */
export type EndpointSource = {
  id: SubscriptionId;
  projectId: ProjectId;
  endpointUrl: string;
  signingSecret: Buffer;
  /** Empty for what no agent made. */
  mcpId?: string;
  cursor?: string;
  formerSecret?: Buffer | null;
  formerUntil?: number | null;
};

/** Endpoints by subscription, opened once: unsealing and key set-up are too dear for every delivery. */
export type EndpointCache = {
  /** Undefined if the secret does not open, as under a key this node does not hold: then `onError` is called. */
  of(source: EndpointSource, onError?: (error: unknown) => void): Endpoint | undefined;
};

const endpointsMax = 10_000;

/** The context a subscription's signing secret is sealed for. */
export function signingSecretContext(projectId: ProjectId, id: SubscriptionId): string {
  return `${projectId}/subscriptions/${id}`;
}

/** The context that the secret before the present one is sealed for. */
export function formerSecretContext(projectId: ProjectId, id: SubscriptionId): string {
  return `${signingSecretContext(projectId, id)}/former`;
}

/** Makes a cache of at most 10,000 endpoints; the one longest unused goes first. */
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
    // Whatever else there is changes with a refresh, which moves the cursor.
    (!isOfAgent || (a.mcpId === b.mcpId && a.cursor === b.cursor && a.formerUntil === b.formerUntil))
  );
}

function openEndpoint(sealer: Sealer, source: EndpointSource): Endpoint {
  const url = new URL(source.endpointUrl);
  const { id, projectId } = source;
  return {
    url: source.endpointUrl,
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    keys: openKeys(sealer, source.signingSecret, signingSecretContext(projectId, id)),
    agent: openAgent(sealer, source),
  };
}

function openAgent(
  sealer: Sealer,
  { id, projectId, mcpId = "", cursor = "", formerSecret, formerUntil }: EndpointSource,
): AgentEndpoint | undefined {
  if (mcpId === "") return undefined;
  const former = formerSecret &&
    formerUntil && {
      keys: openKeys(sealer, formerSecret, formerSecretContext(projectId, id)),
      untilMs: formerUntil,
    };
  return { id: mcpId, cursor, former: former || undefined };
}

function openKeys(sealer: Sealer, sealed: Buffer, context: string): SigningKeys {
  return createSigningKeys(sealer.open(sealed, context).toString("utf8"));
}

/** The endpoint of an agent that has no subscription yet: what it is asked before it gets one. */
export function createAgentEndpoint(endpointUrl: string, secret: string, mcpId: string): Endpoint {
  const url = new URL(endpointUrl);
  return {
    url: endpointUrl,
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    keys: createSigningKeys(secret),
    agent: { id: mcpId, cursor: "", former: undefined },
  };
}
