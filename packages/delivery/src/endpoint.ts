import { LeastRecentlyUsed, type ProjectId, type Sealer, type SubscriptionId } from "@svc/core";
import { createSigningKeys, type SigningKeys } from "./sign.ts";

/** Where and how the deliveries of a subscription go out. */
export type Endpoint = { url: string; origin: string; path: string; keys: SigningKeys };

/** What an endpoint is made from. */
export type EndpointSource = { id: SubscriptionId; projectId: ProjectId; endpointUrl: string; signingSecret: Buffer };

/** Endpoints by subscription, opened once: unsealing and key set-up are too dear for every delivery. */
export type EndpointCache = { of(source: EndpointSource): Endpoint };

const endpointsMax = 10_000;

/** The context a subscription's signing secret is sealed for. */
export function signingSecretContext(projectId: ProjectId, id: SubscriptionId): string {
  return `${projectId}/subscriptions/${id}`;
}

/** Makes a cache of at most 10,000 endpoints; the one longest unused goes first. */
export function createEndpointCache(sealer: Sealer): EndpointCache {
  const endpoints = new LeastRecentlyUsed<SubscriptionId, { source: EndpointSource; endpoint: Endpoint }>(endpointsMax);
  return {
    of(source) {
      const known = endpoints.get(source.id);
      if (known !== undefined && isSame(known.source, source)) return known.endpoint;
      const endpoint = openEndpoint(sealer, source);
      endpoints.set(source.id, { source, endpoint });
      return endpoint;
    },
  };
}

function isSame(a: EndpointSource, b: EndpointSource): boolean {
  return a === b || (a.endpointUrl === b.endpointUrl && a.signingSecret.equals(b.signingSecret));
}

function openEndpoint(sealer: Sealer, source: EndpointSource): Endpoint {
  const url = new URL(source.endpointUrl);
  const secret = sealer.open(source.signingSecret, signingSecretContext(source.projectId, source.id)).toString("utf8");
  return {
    url: source.endpointUrl,
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    keys: createSigningKeys(secret),
  };
}
