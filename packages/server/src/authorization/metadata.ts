import type { IncomingMessage } from "node:http";
import { mcpPath } from "../http/mcp-path.ts";
import { accessScopes, firstScopes } from "./scopes.ts";

/** How a request knows this service: what its answers say of themselves, and what tokens are bound to. */
export type Place = {
  /** Who gives grants (RFC 8414): the address of the service, without a slash at the end. */
  readonly issuer: string;
  /** What grants are for (RFC 8707): the address of MCP. */
  readonly resource: string;
};

/** Tells the place of a request. */
export type PlaceOf = (req: IncomingMessage) => Place;

/**
 * Makes it. `publicUrl` is SVC_PUBLIC_URL; without it a service has the name that its client used, since clients hold what is said of an
 * address to that address. The door has judged the name by then.
 */
export function createPlaceOf({
  publicUrl,
  isTls,
  listening,
}: {
  publicUrl: string | undefined;
  isTls: boolean;
  listening: () => string;
}): PlaceOf {
  return (req) => {
    const issuer = publicUrl ?? namedBy(req, isTls) ?? listening();
    return { issuer, resource: `${issuer}${mcpPath}` };
  };
}

function namedBy({ headers: { host } }: IncomingMessage, isTls: boolean): string | undefined {
  return host === undefined ? undefined : URL.parse(`${isTls ? "https" : "http"}://${host}`)?.origin;
}

/** Where the metadata of the resource is. */
export const resourceMetadataPath = "/.well-known/oauth-protected-resource";
/** Where the metadata of the issuer is. */
export const issuerMetadataPath = "/.well-known/oauth-authorization-server";
/** Where clients register, people decide, and codes and tokens are changed. */
export const authorizationPaths = {
  register: "/oauth/register",
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  revoke: "/oauth/revoke",
} as const;

/** What clients learn of the resource (RFC 9728). */
export function resourceMetadata({ issuer, resource }: Place): object {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: firstScopes,
    bearer_methods_supported: ["header"],
    resource_name: "svc tools",
  };
}

/** What clients learn of who gives grants (RFC 8414, 9207, and the draft of client id metadata documents). */
export function issuerMetadata({ issuer }: Place): object {
  const { authorize, token, register, revoke } = authorizationPaths;
  return {
    issuer,
    authorization_endpoint: `${issuer}${authorize}`,
    token_endpoint: `${issuer}${token}`,
    registration_endpoint: `${issuer}${register}`,
    revocation_endpoint: `${issuer}${revoke}`,
    scopes_supported: accessScopes,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}

/** What a client that is let in by nothing, or by a token that is none, is told (RFC 6750, RFC 9728): where to ask, and for what. */
export function challengeOf({ issuer, resource }: Place, hasBearer: boolean): string {
  const parts = [metadataOf({ issuer, resource }), `scope="${firstScopes.join(" ")}"`];
  return `Bearer ${[...(hasBearer ? ['error="invalid_token"'] : []), ...parts].join(", ")}`;
}

/** What a client is told whose token may not do what it was asked for: to ask the person for more. */
export function stepUpOf(place: Place, scopes: string): string {
  return `Bearer error="insufficient_scope", scope="${scopes}", ${metadataOf(place)}`;
}

function metadataOf({ issuer, resource }: Place): string {
  return `resource_metadata="${issuer}${resourceMetadataPath}${resource.slice(issuer.length)}"`;
}
