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

/** Address and signing keys of a subscription's deliveries. `agent`: the form of MCP is sent instead of svc's own. */
export type Endpoint = {
  url: string;
  origin: string;
  path: string;
  keys: SigningKeys;
  agent?: AgentEndpoint | undefined;
};

/** Values that accompany an event to an agent's receiver. */
type AgentEndpoint = {
  /** The id by which the receiver knows the subscription. */
  readonly id: string;
  /** A position before which nothing is pending. It is as old as the last refresh, so a receiver can keep it. */
  readonly cursor: string;
  /** The keys of the previous secret, which also signs until that time. */
  readonly former: { readonly keys: SigningKeys; readonly untilMs: number } | undefined;
};

/** The stored values that an endpoint is created from. */
export type EndpointSource = {
  id: SubscriptionId;
  projectId: ProjectId;
  endpointUrl: string;
  signingSecret: Buffer;
  /** Empty if no agent created the subscription. */
  mcpId?: string;
  cursor?: string;
  formerSecret?: Buffer | null;
  formerUntil?: number | null;
};

/** Endpoints by subscription, each opened once, because unsealing and key set-up cost too much for every delivery. */
export type EndpointCache = {
  /**
   * Returns the endpoint. If the secret cannot be opened, for example because this node lacks the key, calls `onError` and returns
   * undefined.
   */
  of(source: EndpointSource, onError?: (error: unknown) => void): Endpoint | undefined;
};

const endpointsMax = 10_000;

/** Returns the sealing context of a subscription's signing secret. */
export function signingSecretContext(projectId: ProjectId, id: SubscriptionId): string {
  return `${projectId}/subscriptions/${id}`;
}

/** Returns the sealing context of a subscription's previous signing secret. */
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
    // All other values change only with a refresh, which also moves the cursor.
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

/** Returns the endpoint of an agent without a subscription, to verify it before one is created. */
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
