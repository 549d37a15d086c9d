import type { CatalogViews, Toolkit } from "@svc/catalog";
import { isOauthRegistered } from "@svc/catalog";
import {
  type AccountAccess,
  type AppTransport,
  createAccountAccess,
  createAppTransport,
  createOauthPages,
  createRefresher,
  createSecretVault,
  type OauthOptions,
  type OauthPages,
  type Refresher,
  type TestRead,
} from "@svc/connections";
import { type AddressGuard, createAddressGuard, type NodeId, type Turns } from "@svc/core";
import { createSandbox, type Sandbox, sandboxAuthorizePath, sandboxClientId, sandboxTokenUrl } from "@svc/sandbox";
import {
  type CallLimits,
  type CodeCaller,
  type CodeFinder,
  createAnswerStore,
  createCallHooks,
  createCallLimits,
  createHookAsker,
  createKnownHooks,
  createLedger,
  createTestRead,
  createToolCaller,
  type DrainingToolCaller,
  type KnownHooks,
  type Ledger,
  type PersonAsker,
} from "@svc/tools";
import type { NodeParts } from "./parts.ts";
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
  /** What the calls of projects are held to. */
  readonly limits: CallLimits;
  /** The hooks of projects, which are asked about calls, and what judges their addresses. */
  readonly hooks: KnownHooks;
  readonly hookGuard: AddressGuard;
  readonly caller: DrainingToolCaller;
  /** Makes the read of a test of a connection, by that caller. */
  readonly testRead: TestRead;
  /** Undefined when real apps are called. */
  readonly sandbox: Sandbox | undefined;
  readonly isOauthRegistered: (toolkit: Toolkit) => boolean;
  /** Cuts the connections to apps, and lets be recorded what came of the calls that were under way. */
  close(): Promise<void>;
};

/** What the parts are made of. */
export type AppsOptions = NodeParts & {
  readonly views: CatalogViews;
  /** What calls of code tools lead to. */
  readonly callCode: CodeCaller;
  /** Finds code tools that no view lists. */
  readonly findCode: CodeFinder;
  /** Judges addresses of projects' own endpoints. */
  readonly endpointGuard: AddressGuard;
  /** Asks a person about calls that one confirms. */
  readonly askPerson: PersonAsker;
  /** Gives out the event loop's time. */
  readonly turns: Turns;
  readonly nodeId: NodeId;
};

/** How long calls may take to end once their connections are cut: longer than any pause before a second try. */
const closingMs = 6_000;

/** Makes the parts of a node that reach apps. */
export function createApps(options: AppsOptions): Apps {
  const { deployment, variable, isSandbox, observer, views, db, clock, sealer } = options;
  const guard = createAddressGuard({ allowedRanges: options.ranges.apps });
  const network = createAppTransport({ guard });
  const sandbox = isSandbox ? createNodeSandbox(options) : undefined;
  const transport = options.transport ?? sandbox?.transport ?? network;
  const isRegistered = (toolkit: Toolkit) => isSandbox || isOauthRegistered(toolkit, deployment, variable);
  const oauth: OauthOptions = {
    clientOf: (toolkit) =>
      sandbox === undefined ? deployedClient(toolkit, options) : sandboxClient(toolkit, sandbox, options),
    fetch: sandbox?.oauth.fetch ?? network.fetch,
  };
  const parts = { views, db, clock, sealer, oauth, transport, isSandbox, renewalObserver: observer.renewals };
  const vault = createSecretVault({ db, sealer });
  const accounts = options.accounts ?? createAccountAccess(parts);
  const ledger = options.ledger ?? createLedger({ db, clock, sealer, observer: observer.calls });
  const limits = createCallLimits({ db, clock, nodeId: options.nodeId });
  const hooks = createKnownHooks({ db, clock, sealer });
  const hookAsker = createHookAsker({ guard: options.endpointGuard, clock });
  const caller = createToolCaller({
    ...parts,
    hooks: createCallHooks({
      ...{ hooks, asker: hookAsker, answers: createAnswerStore({ db, sealer, clock }), clock },
      turns: options.turns,
      onUnrecorded: observer.callUnrecorded,
    }),
    limits,
    accounts,
    ledger,
    vault,
    // Hosts of projects have no emulator: they are called in the sandbox, too.
    hostTransport: options.transport ?? network,
    turns: options.turns,
    callCode: options.callCode,
    findCode: options.findCode,
    askPerson: options.askPerson,
    runningMaxMs: options.limits.callRunningMaxMs,
    onUnrecorded: observer.callUnrecorded,
  });
  return {
    guard,
    transport,
    accounts,
    oauth,
    sandbox,
    ledger,
    limits,
    hooks,
    hookGuard: options.endpointGuard,
    isOauthRegistered: isRegistered,
    pages: createOauthPages({ ...parts, publicUrl: options.publicUrl }),
    refresher: createRefresher({ ...parts, onError: observer.renewalFailed }),
    caller,
    testRead: createTestRead(caller),
    async close() {
      // A call without its connection ends at once, and a write among them as one that may have been executed.
      await Promise.all([network.close(), hookAsker.close()]);
      await settledWithin(clock, closingMs, caller.drain());
      await limits.close();
      await ledger.drain();
    },
  };
}

function createNodeSandbox({ views, clock, sealer, publicUrl, turns }: AppsOptions): Sandbox {
  return createSandbox({
    turns,
    clock,
    sealer,
    callbackUrl: () => `${publicUrl()}/oauth/callback`,
    findToolkit: (slug) => views.shared.toolkits.get(slug),
    findWhole: async ({ projectId, toolkit: { slug, ownerProjectId } }) => {
      const view = ownerProjectId === "" ? views.shared : await views.forProject(projectId);
      return view.toolkits.get(slug);
    },
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
function deployedClient(toolkit: Toolkit, { deployment, variable }: AppsOptions): ReturnType<OauthOptions["clientOf"]> {
  const names = deployment?.toolkits.get(toolkit.slug)?.oauth;
  const scheme = toolkit.auth.find(({ type }) => type === "oauth2");
  if (names === undefined || scheme?.type !== "oauth2") return undefined;
  if (!isOauthRegistered(toolkit, deployment, variable)) return undefined;
  const { authorizeUrl, tokenUrl } = scheme;
  if (URL.parse(authorizeUrl) === null || URL.parse(tokenUrl) === null) return undefined;
  return {
    clientId: variable(names.client_id_env) ?? "",
    clientSecret: variable(names.client_secret_env) ?? "",
    authorizeUrl,
    tokenUrl,
  };
}
