import { type Clock, createAddressGuard, type ProjectId, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import type { Node } from "@svc/node";
import type { AuditLog } from "../audit/log.ts";
import type { KeyCache } from "../auth/key-cache.ts";
import type { KeyUse } from "../auth/key-use.ts";
import type { Intake } from "../body/intake.ts";
import type { Config } from "../config/settings.ts";
import type { ConsoleParts } from "../console/parts.ts";
import { createConsoleOrigin } from "../console/proof.ts";
import { createSignInLimit, type SignInLimit } from "../console/sign-in-limit.ts";
import type { Connections } from "../listen/connections.ts";
import type { PageHandler } from "../pages/pages.ts";
import { createAssertionGrants } from "../people/assertion-grants.ts";
import type { People } from "../people/people.ts";
import type { CallErrorMapper } from "../rpc/call-error.ts";
import { type AuthorizeOptions, createAuthorize } from "./authorize.ts";
import { createDeviceExchange, createDevicePage, createDeviceStart, type DeviceOptions } from "./device.ts";
import { type ClientDocuments, createClientDocuments, createFindClient } from "./find-client.ts";
import { createGrantCache, type GrantCache } from "./grants.ts";
import { authorizationPaths, createServiceUrls, type ServiceUrlsOf } from "./metadata.ts";
import { createRegister, type RegisterOptions } from "./register.ts";
import { createRevoke } from "./revoke.ts";
import type { OfferSources } from "./scopes.ts";
import { serve } from "./serve.ts";
import { createToken, type TokenOptions } from "./token.ts";

/** Dependencies of all HTTP paths for OAuth authorization. */
type AuthorizationOptions = AuthorizeOptions & RegisterOptions & TokenOptions & DeviceOptions;

/**
 * Creates the handlers of authorization, by path. With them, an agent that knows only the MCP address can get a grant (a person's
 * permission for an agent): it registers, sends a person to the consent page, and exchanges the code for tokens.
 */
function createAuthorization(options: AuthorizationOptions): ReadonlyMap<string, PageHandler> {
  const { register, authorize, token, revoke, deviceStart, device } = authorizationPaths;
  return new Map([
    [register, serve({ POST: createRegister(options) }, options)],
    [authorize, serve(createAuthorize(options), options)],
    [token, serve({ POST: createToken(options) }, options)],
    [revoke, serve({ POST: createRevoke(options) }, options)],
    [deviceStart, serve({ POST: createDeviceStart(options) }, options)],
    [device, serve(createDevicePage(options), options)],
  ]);
}

/**
 * Maximum number of accounts, newest first, whose entities are suggested to a person who grants access. The person can type any other
 * entity.
 */
const accountsMax = 200;

/**
 * Creates the function that returns the toolkits (apps) of a project, and the entities (customers or users) that have connected accounts.
 */
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

/** Objects of the OAuth authorization that other parts of the server also use. */
export type GrantParts = {
  readonly cache: GrantCache;
  readonly urlsOf: ServiceUrlsOf;
  /** Reads the metadata documents of OAuth clients. The code that creates the `GrantParts` must close this reader. */
  readonly documents: ClientDocuments;
  /** Limits how often a caller may try to sign in to the console, or to approve the access of an agent with a key. */
  readonly signInLimit: SignInLimit;
};

/**
 * Dependencies of `createGrantParts`: the configuration, the database, the clock, and a function that returns the server's public address.
 */
type GrantPartsOptions = {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: () => string;
};

/** Creates the objects that OAuth authorization needs (for example the cache of agents' grants). */
export function createGrantParts({ config, db, clock, publicUrl }: GrantPartsOptions): GrantParts {
  return {
    cache: createGrantCache({ db, clock }),
    urlsOf: createServiceUrls({ publicUrl: config.publicUrl, isTls: config.tls !== undefined, listening: publicUrl }),
    // Any caller can name an address to read. So address ranges that are allowed for deliveries and calls are not allowed here.
    documents: createClientDocuments({ clock, guard: createAddressGuard({ allowedRanges: [] }) }),
    signInLimit: createSignInLimit({ clock }),
  };
}

type ServingParts = GrantPartsOptions & {
  readonly sealer: Sealer;
  readonly grants: GrantParts;
  readonly keys: KeyCache;
  readonly keyUse: KeyUse;
  /** The console; undefined if the server has none. */
  readonly console: ConsoleParts | undefined;
  readonly connections: Connections;
  readonly intake: Intake;
  readonly node: Node;
  readonly mapError: CallErrorMapper;
  readonly audit: AuditLog;
  /** People who sign in with company accounts; undefined if there is no identity provider. */
  readonly people: People | undefined;
};

/** Returns the handlers of all HTTP paths of OAuth authorization. The keys are the paths. */
export function openAuthorization(parts: ServingParts): ReadonlyMap<string, PageHandler> {
  const { config, db, clock, publicUrl, sealer, grants, keys, keyUse, connections, intake, node, mapError, audit } =
    parts;
  const { people } = parts;
  const findClient = createFindClient({ db, clock, documents: grants.documents, addressOf: connections.addressOf });
  const origin = createConsoleOrigin({ publicUrl, isTls: config.tls !== undefined });
  const device = {
    ...{ db, clock, intake, mapError, audit, origin, urlsOf: grants.urlsOf, limit: grants.signInLimit },
    ...{ sessions: parts.console?.sessions, addressOf: connections.addressOf, keyMs: config.sessionMaxMs },
  };
  return createAuthorization({
    ...device,
    exchangeDeviceCode: createDeviceExchange(device),
    ...{ db, clock, sealer, keys, intake, mapError, audit },
    ...{ use: keyUse, limit: grants.signInLimit, urlsOf: grants.urlsOf, addressOf: connections.addressOf },
    findClient,
    exchangeAssertion: people && createAssertionGrants({ people, db, clock, audit, findClient }),
    sourcesOf: createSourcesOf({ db, clock, views: node.views }),
    onEnded: grants.cache.forget,
  });
}
