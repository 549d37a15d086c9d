import type { CatalogViews, Deployment, Toolkit } from "@svc/catalog";
import { isOauthRegistered } from "@svc/catalog";
import {
  type AccountAccess,
  type AppTransport,
  createAccountAccess,
  createAppTransport,
  createOauthPages,
  createRefresher,
  type OauthOptions,
  type OauthPages,
  type Refresher,
} from "@svc/connections";
import { type AddressGuard, type Clock, createAddressGuard, type Sealer } from "@svc/core";
import type { Database } from "@svc/db";
import { createSandbox, type Sandbox, sandboxAuthorizePath, sandboxClientId, sandboxTokenUrl } from "@svc/sandbox";
import { type CodeCaller, createLedger, createToolCaller, type DrainingToolCaller, type Ledger } from "@svc/tools";
import type { Config } from "../config/config.ts";
import type { Logger } from "../logger.ts";
import { loopbackRanges } from "./loopback.ts";
import { settledWithin } from "./settled-within.ts";

/** What reaches apps on this node: accounts, the way to the apps (or the sandbox in their place), and the ledger of calls. */
export type Apps = {
  readonly guard: AddressGuard;
  readonly transport: AppTransport;
  readonly accounts: AccountAccess;
  readonly oauth: OauthOptions;
  readonly pages: OauthPages;
  readonly refresher: Refresher;
  readonly ledger: Ledger;
  readonly caller: DrainingToolCaller;
  /** Undefined when real apps are called. */
  readonly sandbox: Sandbox | undefined;
  readonly isOauthRegistered: (toolkit: Toolkit) => boolean;
  /** Cuts the connections to apps, and lets be recorded what came of the calls that were under way. */
  close(): Promise<void>;
};

/** What the parts are made of. `publicUrl` is asked for at each use: a port may be known late. */
export type AppsOptions = {
  readonly config: Config;
  readonly deployment: Deployment | undefined;
  readonly views: CatalogViews;
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly logger: Logger;
  readonly publicUrl: () => string;
  /** What calls of code tools lead to. */
  readonly callCode: CodeCaller;
};

/** How long calls may take to end once their connections are cut: longer than any pause before a second try. */
const closingMs = 6_000;

/** Makes the parts of a node that reach apps. */
export function createApps(options: AppsOptions): Apps {
  const { config, deployment, views, db, clock, sealer, logger } = options;
  const guard = createAddressGuard({ allowedRanges: [...config.providerRanges, ...loopbackRanges(config)] });
  const network = createAppTransport({ guard });
  const sandbox = config.isSandbox ? createNodeSandbox(options) : undefined;
  const transport = sandbox?.transport ?? network;
  const environment = (name: string) => config.environment.get(name);
  const isRegistered = (toolkit: Toolkit) =>
    sandbox !== undefined || isOauthRegistered(toolkit, deployment, environment);
  const oauth: OauthOptions = {
    clientOf: (toolkit) =>
      sandbox === undefined ? deployedClient(toolkit, options) : sandboxClient(toolkit, sandbox, options),
    fetch: sandbox?.oauth.fetch ?? network.fetch,
  };
  const isSandbox = sandbox !== undefined;
  const parts = { views, db, clock, sealer, oauth, transport, isSandbox };
  const onError = (err: unknown) => logger.warn({ err }, "renewing tokens failed and goes on");
  const accounts = createAccountAccess(parts);
  const ledger = createLedger({ db, clock, sealer });
  const caller = createToolCaller({
    ...parts,
    accounts,
    ledger,
    callCode: options.callCode,
    onUnrecorded: (callId, err) => logger.error({ err, callId }, "an executed call could not be recorded"),
  });
  return {
    guard,
    transport,
    accounts,
    oauth,
    sandbox,
    ledger,
    isOauthRegistered: isRegistered,
    pages: createOauthPages({ ...parts, publicUrl: options.publicUrl }),
    refresher: createRefresher({ ...parts, onError }),
    caller,
    async close() {
      // A call without its connection ends at once, and a write among them as one that may have been executed.
      await network.close();
      await settledWithin(clock, closingMs, caller.drain());
      await ledger.drain();
    },
  };
}

function createNodeSandbox({ views, clock, sealer, publicUrl }: AppsOptions): Sandbox {
  return createSandbox({
    clock,
    sealer,
    callbackUrl: () => `${publicUrl()}/oauth/callback`,
    findToolkit: (slug) => views.shared.toolkits.get(slug),
  });
}

function sandboxClient(toolkit: Toolkit, { oauth }: Sandbox, { publicUrl }: AppsOptions) {
  const query = new URLSearchParams(oauth.authorizeParameters(toolkit));
  return {
    clientId: sandboxClientId,
    clientSecret: "sandbox",
    authorizeUrl: `${publicUrl()}${sandboxAuthorizePath}?${query}`,
    tokenUrl: sandboxTokenUrl(toolkit.slug),
  };
}

/** The deployment's registration with an app; of shared toolkits only, and only where every address is bound. */
function deployedClient(toolkit: Toolkit, { deployment, config }: AppsOptions): ReturnType<OauthOptions["clientOf"]> {
  const environment = (name: string) => config.environment.get(name);
  const names = deployment?.toolkits.get(toolkit.slug)?.oauth;
  const scheme = toolkit.auth.find(({ type }) => type === "oauth2");
  if (names === undefined || scheme?.type !== "oauth2") return undefined;
  if (!isOauthRegistered(toolkit, deployment, environment)) return undefined;
  const { authorizeUrl, tokenUrl } = scheme;
  if (URL.parse(authorizeUrl) === null || URL.parse(tokenUrl) === null) return undefined;
  return {
    clientId: environment(names.client_id_env) ?? "",
    clientSecret: environment(names.client_secret_env) ?? "",
    authorizeUrl,
    tokenUrl,
  };
}
