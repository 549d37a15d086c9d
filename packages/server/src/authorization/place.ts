import type { IncomingMessage } from "node:http";
import { mcpPath } from "../http/mcp-path.ts";

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
