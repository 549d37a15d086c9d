import type { IncomingMessage } from "node:http";
import { type Clock, digestSecret, type Principal, type Sealer, ToolNotGranted } from "@svc/core";
import { type Authenticate, bearerOf } from "../auth/gate.ts";
import { isValidKey, type KeyLookupWait, projectPrincipalOf } from "../auth/key-cache.ts";
import type { KeyUse } from "../auth/key-use.ts";
import { serverFaults } from "../errors.ts";
import type { AnswerHeaders } from "../http/answer.ts";
import { type GrantCache, isAccessToken } from "./grants.ts";
import { challengeOf, type PlaceOf, stepUpOf } from "./metadata.ts";
import { scopesNeeded } from "./scopes.ts";

/** How agents are let in. */
export type McpDoor = {
  /** Who sends a request: a key, or a grant by its access token. Rejects as Authenticate does, and with GRANT_INVALID. */
  authenticate(req: IncomingMessage, wait: KeyLookupWait): Promise<Principal>;
  /** What a request that nobody may send is told in its headers: where to ask for a grant. */
  challenge(req: IncomingMessage): AnswerHeaders;
  /** What a grant is told in its headers that was refused for want of a scope: to ask for more. Undefined for keys, and for other errors. */
  stepUp(req: IncomingMessage, error: unknown): AnswerHeaders | undefined;
};

/** What lets agents in. */
export type McpDoorOptions = {
  readonly authenticate: Authenticate;
  readonly cache: GrantCache;
  readonly placeOf: PlaceOf;
  readonly use: KeyUse;
  readonly clock: Clock;
  /** Has the keys of a caller's project at hand. */
  readonly sealer: Pick<Sealer, "ready">;
};

/** Makes it. Tokens are looked up by digest, and are good at the address alone that they were given for. */
export function createMcpDoor({ authenticate, cache, placeOf, use, clock, sealer }: McpDoorOptions): McpDoor {
  return {
    async authenticate(req, wait) {
      const header = req.headers.authorization ?? null;
      const bearer = bearerOf(header);
      if (bearer === undefined || !isAccessToken(bearer)) return authenticate(header, wait);
      const found = cache.find(digestSecret(bearer));
      const withDataKeys = async (granted: Awaited<typeof found>) => {
        if (granted !== undefined) await sealer.ready([granted.key.projectId]);
        return granted;
      };
      const grant = found instanceof Promise ? await wait(found.then(withDataKeys)) : found;
      const nowMs = clock.now();
      if (grant === undefined || grant.expiresAt <= nowMs || !isValidKey(grant.key, nowMs))
        throw serverFaults.GRANT_INVALID();
      if (grant.resource !== placeOf(req).resource) throw serverFaults.GRANT_INVALID();
      await sealer.ready([grant.key.projectId]);
      use.note(grant.key.id);
      return { ...projectPrincipalOf(grant.key), isGrant: true };
    },
    stepUp(req, error) {
      const bearer = bearerOf(req.headers.authorization ?? null);
      if (bearer === undefined || !isAccessToken(bearer) || !(error instanceof ToolNotGranted)) return undefined;
      return { "www-authenticate": stepUpOf(placeOf(req), scopesNeeded(error)) };
    },
    challenge: (req) => ({
      "www-authenticate": challengeOf(placeOf(req), bearerOf(req.headers.authorization ?? null) !== undefined),
    }),
  };
}
