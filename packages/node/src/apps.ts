import type { CatalogViews, OpenIdReading, Toolkit } from "@svc/catalog";
import { isOauthRegistered, isPlayed } from "@svc/catalog";
import {
  type AccountAccess,
  type AppCall,
  type AppTransport,
  createAccountAccess,
  createAppTransport,
  createIssuerReader,
  createMcpReader,
  createMcpTransport,
  createOauthPages,
  createRefresher,
  createSecretVault,
  createToolkitClients,
  createTracedTransport,
  discoverOpenId,
  type NetworkTransport,
  type OauthOptions,
  type OauthPages,
  type Refresher,
  type TestRead,
  type ToolkitOauthClient,
} from "@svc/connections";
import {
  type AddressGuard,
  createAddressGuard,
  LeastRecentlyUsed,
  type NodeId,
  type ProjectId,
  type Turns,
} from "@svc/core";
import { hastenSource } from "@svc/db/catalog/watched-sources";
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
import type { Filters } from "@svc/triggers";
import type { NodeParts } from "./parts.ts";
import { settledWithin } from "./settled-within.ts";

/** The parts of this node that reach apps: accounts, the transport (network or sandbox), and the ledger (the record of tool calls). */
export type Apps = {
  readonly guard: AddressGuard;
  readonly transport: AppTransport;
  /** Returns the number of sessions with MCP servers that the node keeps. */
  readonly countUpstreamSessions: () => number;
  /**
   * Reads the document at an internet address for a project, for example a document to import. Uses the network even if the sandbox answers
   * tool calls in place of the apps.
   */
  readonly readDocument: NetworkTransport["read"];
  /** Reads the metadata of an OpenID provider for a project. Uses the network like `readDocument`. */
  readonly readOpenId: (url: string, projectId: ProjectId) => Promise<OpenIdReading>;
  /** Asks an MCP server for its tools. Uses the network like `readDocument`. */
  readonly readMcp: ReturnType<typeof createMcpReader>;
  readonly accounts: AccountAccess;
  readonly oauth: OauthOptions;
  readonly pages: OauthPages;
  readonly refresher: Refresher;
  readonly ledger: Ledger;
  /** The call limits of projects: how many calls an account may make in a time. */
  readonly limits: CallLimits;
  /** The hooks of projects (URLs that svc asks before a tool call), and the guard that checks the hooks' addresses. */
  readonly hooks: KnownHooks;
  readonly hookGuard: AddressGuard;
  readonly caller: DrainingToolCaller;
  /** Makes the read call that tests a connected account. The call has the same rights as the key that requested the test. */
  readonly testRead: TestRead;
  /** The sandbox. Undefined if the node calls only real apps. */
  readonly sandbox: Sandbox | undefined;
  readonly isOauthRegistered: (toolkit: Toolkit) => boolean | Promise<boolean>;
  /** Closes the connections to apps, and waits until the results of calls in progress are recorded. */
  close(): Promise<void>;
};

/** Dependencies of the part of a node that calls apps: accounts, credentials and the connections to the apps. */
export type AppsOptions = NodeParts & {
  readonly views: CatalogViews;
  /** Runs calls of code tools. A code tool is implemented inside svc, for example a skill of a project. */
  readonly callCode: CodeCaller;
  /** Finds a code tool (for example an older version of a skill) that the project's view of the catalog does not list. */
  readonly findCode: CodeFinder;
  /** Checks that svc may connect to the address of an endpoint that a project gave, such as a hook. */
  readonly endpointGuard: AddressGuard;
  /** Asks a person about calls that need confirmation. */
  readonly askPerson: PersonAsker;
  /** Applies the filters of subscriptions to the operational events about expired accounts. */
  readonly filters: Filters;
  /** Scheduler that shares the time of the event loop between pieces of work, so that a long one does not delay the others. */
  readonly turns: Turns;
  readonly nodeId: NodeId;
};

/**
 * Maximum time in milliseconds for which a stopping node waits for its running tool calls. It is longer than the pause before a call's
 * second attempt.
 */
const closingMs = 6_000;

/** Creates the parts of a node that reach apps. */
export function createApps(options: AppsOptions): Apps {
  const { deployment, variable, sandboxMode, observer, views, db, clock, sealer, filters } = options;
  const guard = createAddressGuard({ allowedRanges: options.ranges.apps });
  const network = createAppTransport({ guard });
  const mcpNetwork = { ...network, onRequest: observer.upstreamAsked };
  const sandbox = sandboxMode === "off" ? undefined : createNodeSandbox(options);
  const played = (toolkit: Pick<Toolkit, "isLive">) => (isPlayed(toolkit, sandboxMode) ? sandbox : undefined);
  const real = createMcpTransport(mcpNetwork, hastenOnDrift(options));
  const reached: AppTransport = options.transport ?? {
    send: (request, call, limits) => (played(call.toolkit)?.transport ?? real).send(request, call, limits),
  };
  const transport = createTracedTransport(reached, options.tracedToolkits ?? new Set());
  const clients = createToolkitClients({ db, sealer, clock });
  const isRegistered = (toolkit: Toolkit) =>
    isPlayed(toolkit, sandboxMode) ||
    isOauthRegistered(toolkit, deployment, variable) ||
    namedClient(toolkit) !== undefined ||
    clients.has(toolkit);
  const oauth: OauthOptions = {
    async clientOf(toolkit) {
      const answering = played(toolkit);
      if (answering !== undefined) return sandboxClient(toolkit, answering, options);
      return deployedClient(toolkit, options) ?? (await clients.find(toolkit)) ?? namedClient(toolkit);
    },
    fetch: (url, init, party) => (played(party.toolkit)?.oauth.fetch ?? network.fetch)(url, init, party),
    readIssuer: createIssuerReader({ network }),
  };
  const parts = {
    ...{ views, db, clock, sealer, filters, oauth, transport, sandboxMode },
    renewalObserver: observer.renewals,
  };
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
    // The sandbox cannot imitate hosts that a project calls by HTTP directly. So these hosts are called for real, even in sandbox mode.
    hostTransport: createTracedTransport(options.transport ?? network, new Set()),
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
    countUpstreamSessions: real.countSessions,
    readDocument: network.read,
    readOpenId: (url, projectId) => discoverOpenId({ network }, url, projectId),
    readMcp: createMcpReader({ ...parts, network: mcpNetwork, accounts, publicUrl: options.publicUrl }),
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
      // Closing the connections ends all calls in progress at once. A write that loses its connection is recorded as possibly executed.
      await Promise.all([network.close(), hookAsker.close()]);
      await settledWithin(clock, closingMs, caller.drain());
      await limits.close();
      await ledger.drain();
    },
  };
}

/** Time in milliseconds in which a node asks only once that the source of a toolkit is read sooner. */
const hastenEveryMs = 300_000;

/**
 * Returns a function for calls of tools that an MCP server has changed or no longer has. It makes the source of the toolkit due, so that an
 * approver finds the changes soon.
 */
function hastenOnDrift({ db, clock, observer }: AppsOptions): (call: AppCall) => void {
  const asked = new LeastRecentlyUsed<string, number>(1_000);
  return ({ projectId, toolkit: { slug } }) => {
    const [key, nowMs] = [`${projectId} ${slug}`, clock.now()];
    if (nowMs - (asked.get(key) ?? Number.NEGATIVE_INFINITY) < hastenEveryMs) return;
    asked.set(key, nowMs);
    hastenSource(db, { projectId, slug }, nowMs).catch((error: unknown) => observer.sweepFailed("sources", error));
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

/** Returns the OAuth client that the definition of a private toolkit names, which has no secret. Returns undefined if it names none. */
function namedClient(toolkit: Toolkit): ToolkitOauthClient | undefined {
  const scheme = toolkit.auth.find(({ type }) => type === "oauth2");
  if (toolkit.ownerProjectId === "" || scheme?.type !== "oauth2" || scheme.clientId === undefined) return undefined;
  const { authorizeUrl, tokenUrl, clientId, issuer, resource } = scheme;
  return { clientId, clientSecret: "", issuer, authorizeUrl, tokenUrl, resource };
}

/**
 * Returns the deployment's OAuth client of an app. Returns undefined for private toolkits (apps that a project defined for itself), and if
 * an address of the app is not configured.
 */
function deployedClient(toolkit: Toolkit, { deployment, variable }: AppsOptions): ToolkitOauthClient | undefined {
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
