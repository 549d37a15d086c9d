import type { PageHandler } from "../http/pages.ts";
import { type AuthorizeOptions, createAuthorize } from "./authorize.ts";
import { issuerMetadata, resourceMetadata } from "./metadata.ts";
import { authorizationPaths, issuerMetadataPath, resourceMetadataPath } from "./place.ts";
import { createRegister, type RegisterOptions } from "./register.ts";
import { createRevoke } from "./revoke.ts";
import { serve, serveDocument } from "./serve.ts";
import { createToken, type TokenOptions } from "./token.ts";

/** What authorization of agents is served with. */
export type AuthorizationOptions = AuthorizeOptions & RegisterOptions & TokenOptions;

/**
 * The paths by which an agent that has nothing but the address of MCP gets a grant: it reads where to ask, registers, leads a person to the
 * page, and changes the code that it is answered into tokens.
 */
export function createAuthorization(options: AuthorizationOptions): ReadonlyMap<string, PageHandler> {
  const { placeOf } = options;
  const resource = serveDocument((req) => resourceMetadata(placeOf(req)));
  const issuer = serveDocument((req) => issuerMetadata(placeOf(req)));
  const { register, authorize, token, revoke } = authorizationPaths;
  return new Map([
    [resourceMetadataPath, resource],
    [`${resourceMetadataPath}/mcp`, resource],
    [issuerMetadataPath, issuer],
    [register, serve({ POST: createRegister(options) }, options)],
    [authorize, serve(createAuthorize(options), options)],
    [token, serve({ POST: createToken(options) }, options)],
    [revoke, serve({ POST: createRevoke(options) }, options)],
  ]);
}
