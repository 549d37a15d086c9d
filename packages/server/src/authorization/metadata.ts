import type { IncomingMessage } from "node:http";
import { mcpPath } from "../http/mcp-path.ts";
import type { PageHandler } from "../pages/pages.ts";
import { jsonFile, type PublicFile } from "../pages/public-files.ts";
import { accessScopes, firstScopes } from "./scopes.ts";

/** Type of the grant with which a program exchanges the code of its sign-in (RFC 8628). */
export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";

/** Type of the grant with which a client exchanges an assertion of the identity provider (RFC 7523). */
export const assertionGrantType = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Addresses of this service as the caller uses them. Metadata contains them, and tokens are valid only for them. */
export type ServiceUrls = {
  /** Issuer of grants (RFC 8414): the address of the service without a final slash. */
  readonly issuer: string;
  /** Resource of grants (RFC 8707): the address of the MCP endpoint. */
  readonly resource: string;
};

/** Returns the addresses of the service for a request. */
export type ServiceUrlsOf = (req: IncomingMessage) => ServiceUrls;

/**
 * Creates the function that returns the public addresses of svc for a request. `publicUrl`: SVC_PUBLIC_URL. Without it, the function uses
 * the request's Host header, because clients compare this address with the address they called. The listener has already checked that this
 * host is allowed.
 */
export function createServiceUrls({
  publicUrl,
  isTls,
  listening,
}: {
  publicUrl: string | undefined;
  isTls: boolean;
  listening: () => string;
}): ServiceUrlsOf {
  return (req) => {
    const issuer = publicUrl ?? namedBy(req, isTls) ?? listening();
    return { issuer, resource: `${issuer}${mcpPath}` };
  };
}

function namedBy({ headers: { host } }: IncomingMessage, isTls: boolean): string | undefined {
  return host === undefined ? undefined : URL.parse(`${isTls ? "https" : "http"}://${host}`)?.origin;
}

/** Path of the metadata of the protected resource, which is svc's MCP endpoint (RFC 9728). */
export const resourceMetadataPath = "/.well-known/oauth-protected-resource";
/** Path of the metadata of the issuer, which is svc's authorization server (RFC 8414). */
const issuerMetadataPath = "/.well-known/oauth-authorization-server";
/**
 * Paths for registering clients, for the consent page, for exchanging tokens, for revoking tokens, and for the sign-in of programs: its
 * start, and the page on which a person approves it.
 */
export const authorizationPaths = {
  register: "/oauth/register",
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  revoke: "/oauth/revoke",
  deviceStart: "/oauth/device_authorization",
  device: "/oauth/device",
} as const;

/** Returns the OAuth metadata of the MCP address (RFC 9728). */
function resourceMetadata({ issuer, resource }: ServiceUrls): object {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: firstScopes,
    bearer_methods_supported: ["header"],
    resource_name: "svc tools",
  };
}

/**
 * Returns the OAuth metadata of this service as the issuer of tokens (RFC 8414, RFC 9207, and the draft of client id metadata documents).
 */
function issuerMetadata({ issuer }: ServiceUrls, hasAssertions: boolean): object {
  const { authorize, token, register, revoke, deviceStart } = authorizationPaths;
  return {
    issuer,
    authorization_endpoint: `${issuer}${authorize}`,
    token_endpoint: `${issuer}${token}`,
    registration_endpoint: `${issuer}${register}`,
    revocation_endpoint: `${issuer}${revoke}`,
    device_authorization_endpoint: `${issuer}${deviceStart}`,
    scopes_supported: accessScopes,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: [
      "authorization_code",
      "refresh_token",
      deviceGrantType,
      ...(hasAssertions ? [assertionGrantType] : []),
    ],
    ...(hasAssertions && {
      authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
    }),
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}

/**
 * Returns the handlers of the OAuth metadata documents, by path. Web pages of any origin may read these documents. `hasAssertions`: true if
 * clients can exchange assertions of the company's identity provider for tokens.
 */
export function metadataPages(
  publicFile: PublicFile,
  urlsOf: ServiceUrlsOf,
  hasAssertions: boolean,
): ReadonlyMap<string, PageHandler> {
  const serve = (documentOf: (urls: ServiceUrls) => object) =>
    publicFile((req) => {
      const text = JSON.stringify(documentOf(urlsOf(req)));
      return jsonFile("application/json", text, { cacheControl: "no-store", vary: "host" });
    });
  const resource = serve(resourceMetadata);
  return new Map([
    [resourceMetadataPath, resource],
    // RFC 9728 puts the path of MCP at the end.
    [`${resourceMetadataPath}${mcpPath}`, resource],
    [issuerMetadataPath, serve((urls) => issuerMetadata(urls, hasAssertions))],
  ]);
}
