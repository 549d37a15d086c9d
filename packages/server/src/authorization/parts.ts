import { type Clock, createAddressGuard, type ProjectId, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import type { Node } from "@svc/node";
import type { AuditLog } from "../audit/log.ts";
import type { KeyCache } from "../auth/key-cache.ts";
import type { KeyUse } from "../auth/key-use.ts";
import type { Intake } from "../body/intake.ts";
import type { Config } from "../config/config.ts";
import type { ConsoleParts } from "../console/parts.ts";
import { createConsoleOrigin } from "../console/proof.ts";
import { createSignInLimit, type SignInLimit } from "../console/sign-in-limit.ts";
import type { Connections } from "../listen/connections.ts";
import type { PageHandler } from "../pages/pages.ts";
import type { CallErrorMapper } from "../rpc/call-error.ts";
import { type AuthorizeOptions, createAuthorize } from "./authorize.ts";
import { type ClientDocuments, createClientDocuments } from "./client.ts";
import { createFindClient } from "./clients.ts";
import { createGrantCache, type GrantCache } from "./grants.ts";
import {
  authorizationPaths,
  createPlaceOf,
  issuerMetadata,
  issuerMetadataPath,
  type PlaceOf,
  resourceMetadata,
  resourceMetadataPath,
} from "./metadata.ts";
import { createAddressLimit, createRegister, type RegisterOptions } from "./register.ts";
import { createRevoke } from "./revoke.ts";
import type { OfferSources } from "./scopes.ts";
import { serve, serveDocument } from "./serve.ts";
import { createToken, type TokenOptions } from "./token.ts";

/** What authorization of agents is served with. */
type AuthorizationOptions = AuthorizeOptions & RegisterOptions & TokenOptions;

/**
 * The paths by which an agent that has nothing but the address of MCP gets a grant: it reads where to ask, registers, leads a person to the
 * page, and changes the code that it is answered into tokens.
 */
function createAuthorization(options: AuthorizationOptions): ReadonlyMap<string, PageHandler> {
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

/** So many accounts, the newest, tell whose they are; of others the name is typed. */
const accountsMax = 200;

/** Makes the way to what a project has to choose from: its toolkits, and entities that have accounts. */
function createSourcesOf({
  db,
  clock,
  views,
}: {
  db: Database;
  clock: Clock;
  views: Node["views"];
}): (projectId: ProjectId) => Promise<OfferSources> {
  const every = { toolkitSlug: "", entityId: "", state: "" } as const;
  return async (projectId) => {
    const [view, accounts] = await Promise.all([
      views.forProject(projectId),
      connectedAccountsForProject(db, projectId).list(every, { after: undefined, limit: accountsMax }, clock.now()),
    ]);
    const toolkits = [...view.toolkits.values()].map(({ slug, name }) => ({ slug, name }));
    return {
      toolkits: toolkits.toSorted((a, b) => a.name.localeCompare(b.name, "en")),
      entities: accounts.map(({ entityId }) => entityId),
    };
  };
}

/** Descriptions of clients that an address may have read within a minute, on a node. */
const lookupsMax = 20;

/** What grants are given and taken with, on a node. */
export type GrantParts = {
  readonly cache: GrantCache;
  readonly placeOf: PlaceOf;
  /** Whoever has them closes them. */
  readonly documents: ClientDocuments;
  /** Of attempts to sign in, and to vouch for an agent. */
  readonly signInLimit: SignInLimit;
};

/** What all that has to do with the store, and with where the service is reached. */
type GrantPartsOptions = {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: () => string;
};

/** Makes the parts. */
export function createGrantParts({ config, db, clock, publicUrl }: GrantPartsOptions): GrantParts {
  return {
    cache: createGrantCache({ db, clock }),
    placeOf: createPlaceOf({ publicUrl: config.publicUrl, isTls: config.tls !== undefined, listening: publicUrl }),
    // Anyone can name an address to be read: no range is opened to them that deliveries or calls may reach.
    documents: createClientDocuments({ clock, guard: createAddressGuard({ allowedRanges: [] }) }),
    signInLimit: createSignInLimit({ clock }),
  };
}

type Serving = GrantPartsOptions & {
  readonly sealer: Sealer;
  readonly grants: GrantParts;
  readonly keys: KeyCache;
  readonly keyUse: KeyUse;
  /** Undefined where no console is served. */
  readonly console: ConsoleParts | undefined;
  readonly connections: Connections;
  readonly intake: Intake;
  readonly node: Node;
  readonly mapError: CallErrorMapper;
  readonly audit: AuditLog;
};

/** The paths by which agents get grants. */
export function openAuthorization(parts: Serving): ReadonlyMap<string, PageHandler> {
  const { config, db, clock, publicUrl, sealer, grants, keys, keyUse, connections, intake, node, mapError, audit } =
    parts;
  return createAuthorization({
    ...{ db, clock, sealer, keys, intake, mapError, audit },
    ...{ use: keyUse, limit: grants.signInLimit, placeOf: grants.placeOf, addressOf: connections.addressOf },
    sessions: parts.console?.sessions,
    origin: createConsoleOrigin({ publicUrl, isTls: config.tls !== undefined }),
    findClient: createFindClient({
      ...{ db, documents: grants.documents },
      limit: createAddressLimit({ clock, most: lookupsMax, addressOf: connections.addressOf }),
    }),
    sourcesOf: createSourcesOf({ db, clock, views: node.views }),
    onEnded: grants.cache.forget,
  });
}
