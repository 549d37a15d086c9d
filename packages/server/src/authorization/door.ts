import type { IncomingMessage } from "node:http";
import { type Clock, digestSecret, hasRole, type Principal, type Sealer, ToolNotGranted } from "@svc/core";
import { type Authenticate, bearerOf } from "../auth/gate.ts";
import { isValidKey, type KeyLookupWait, projectPrincipalOf } from "../auth/key-cache.ts";
import type { KeyUse } from "../auth/key-use.ts";
import { serverFaults } from "../errors.ts";
import type { AnswerHeaders } from "../http/answer.ts";
import { type GrantCache, isAccessToken } from "./grants.ts";
import { resourceMetadataPath, type ServiceUrls, type ServiceUrlsOf } from "./metadata.ts";
import { classesOf, firstScopes, scopesOfTool } from "./scopes.ts";

/**
 * Checks who sends a request to the MCP address. An agent identifies itself by an API key, or by the access token of a grant (a person's
 * permission for an agent).
 */
export type McpDoor = {
  /** Returns the principal of a request with a key or the access token of a grant. Rejects if the key or the grant is not valid. */
  authenticate(req: IncomingMessage, wait: KeyLookupWait): Promise<Principal>;
  /**
   * Returns the headers for a request without valid credentials. They name the address where the client can ask for a grant (a person's
   * permission for an agent).
   */
  challenge(req: IncomingMessage): AnswerHeaders;
  /**
   * Returns the headers of the answer to a call for which the scopes of a grant (a person's permission for an agent) are not sufficient.
   * The headers name the scopes that the client can ask for. Undefined for callers with a key and for other errors.
   */
  stepUp(req: IncomingMessage, error: unknown): AnswerHeaders | undefined;
};

/** Dependencies of the code that checks who calls the MCP endpoint. */
export type McpDoorOptions = {
  readonly authenticate: Authenticate;
  readonly cache: GrantCache;
  readonly urlsOf: ServiceUrlsOf;
  readonly use: KeyUse;
  readonly clock: Clock;
  /** Loads the data keys of the caller's project, which decrypt its data. */
  readonly sealer: Pick<Sealer, "ready">;
};

/**
 * Creates the check of callers (the "door") at the MCP address. The check finds access tokens by their digests. It accepts a token only at
 * the address for which the token was issued.
 */
export function createMcpDoor({ authenticate, cache, urlsOf, use, clock, sealer }: McpDoorOptions): McpDoor {
  return {
    async authenticate(req, wait) {
      const header = req.headers.authorization ?? null;
      const bearer = bearerOf(header);
      if (bearer === undefined || !isAccessToken(bearer)) return mayCallTools(await authenticate(header, wait));
      const found = cache.find(digestSecret(bearer));
      const withDataKeys = async (granted: Awaited<typeof found>) => {
        if (granted !== undefined) await sealer.ready([granted.key.projectId]);
        return granted;
      };
      const grant = found instanceof Promise ? await wait(found.then(withDataKeys)) : found;
      const nowMs = clock.now();
      if (grant === undefined || grant.expiresAt <= nowMs || !isValidKey(grant.key, nowMs))
        throw serverFaults.GRANT_INVALID();
      if (grant.resource !== urlsOf(req).resource) throw serverFaults.GRANT_INVALID();
      await sealer.ready([grant.key.projectId]);
      use.note(grant.key.id);
      return { ...projectPrincipalOf(grant.key), isGrant: true };
    },
    stepUp(req, error) {
      const bearer = bearerOf(req.headers.authorization ?? null);
      if (bearer === undefined || !isAccessToken(bearer) || !(error instanceof ToolNotGranted)) return undefined;
      return { "www-authenticate": stepUpOf(urlsOf(req), scopesNeeded(error)) };
    },
    challenge: (req) => ({
      "www-authenticate": challengeOf(urlsOf(req), bearerOf(req.headers.authorization ?? null) !== undefined),
    }),
  };
}

/** Returns the caller. Throws ROLE_REQUIRED if its key only reads, because the tools of MCP send calls to apps. */
function mayCallTools(principal: Principal): Principal {
  if (principal.kind === "admin" || hasRole(principal.role, "member")) return principal;
  throw serverFaults.ROLE_NOT_FOR_AGENTS(principal.role);
}

/**
 * Returns the challenge for a client without a valid token (RFC 6750, RFC 9728). It contains the address of the metadata and the scopes to
 * ask for.
 */
function challengeOf({ issuer, resource }: ServiceUrls, hasBearer: boolean): string {
  const parts = [metadataOf({ issuer, resource }), `scope="${firstScopes.join(" ")}"`];
  return `Bearer ${[...(hasBearer ? ['error="invalid_token"'] : []), ...parts].join(", ")}`;
}

/** Returns the challenge for a token without the necessary scopes, so that the client asks the person for them. */
function stepUpOf(urls: ServiceUrls, scopes: string): string {
  return `Bearer error="insufficient_scope", scope="${scopes}", ${metadataOf(urls)}`;
}

function metadataOf({ issuer, resource }: ServiceUrls): string {
  return `resource_metadata="${issuer}${resourceMetadataPath}${resource.slice(issuer.length)}"`;
}

/** Returns the scopes that a token needs for a refused tool: its present scopes and the missing scope. */
function scopesNeeded({ tool, binding }: ToolNotGranted): string {
  const [toolkit = ""] = tool.slug.split(".");
  const needs = {
    accessClasses: [...classesOf(binding), tool.class],
    toolkitSlugs: [...binding.toolkitSlugs, toolkit],
  };
  return scopesOfTool(needs, binding).join(" ");
}
