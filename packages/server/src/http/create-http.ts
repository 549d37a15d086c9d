import { AdminService } from "@svc/gen/admin";
import { Health as HealthRpc } from "@svc/gen/health";
import { programSchema, standingSchema } from "@svc/node";
import { builtFolder } from "@svc/site";
import { createAuthenticator } from "../auth/gate.ts";
import { createMcpDoor } from "../authorization/door.ts";
import { metadataPages } from "../authorization/metadata.ts";
import { openAuthorization } from "../authorization/parts.ts";
import { isLoopbackHost } from "../config/loopback.ts";
import { openConsole } from "../console/parts.ts";
import { createDocs } from "../docs/docs.ts";
import { serverFaults } from "../errors.ts";
import { createDoor } from "../listen/door.ts";
import { createHttpServer, type HttpServer, type HttpTimeouts } from "../listen/http-server.ts";
import { joinListeners, type Listeners } from "../listen/listeners.ts";
import { logCall } from "../observer.ts";
import { publicPath } from "../pages/page-headers.ts";
import { createPages, type PageHandler } from "../pages/pages.ts";
import { createProbes } from "../pages/probes.ts";
import { createOpenapi, createPublicFile, createSchemas } from "../pages/public-files.ts";
import { createServerCard } from "../pages/server-card.ts";
import type { ServerParts } from "../parts.ts";
import { createPeoplePages } from "../people/pages.ts";
import { registerServices } from "../register-services.ts";
import { createRequestIds } from "../rpc/call.ts";
import { createCallErrorMapper } from "../rpc/call-error.ts";
import { createRouter } from "../rpc/router.ts";
import { createRpcHandler } from "../rpc/rpc.ts";
import { createStoreAlarm } from "../store-deadline.ts";
import { version } from "../version.ts";
import { answerError, answerJson } from "./answer.ts";
import { createMcpHandler, type McpHandler, type McpOptions } from "./mcp.ts";
import { createWebhookHandler } from "./webhooks.ts";

/**
 * Creates the page `/` for people who open the service's address in a browser. It lists the paths and reveals nothing about the deployment.
 * Only GET and HEAD are supported, because POST to `/` names no call.
 */
function createHome({ version }: { version: string }): ReadonlyMap<string, PageHandler> {
  const text = JSON.stringify(
    {
      service: "svc",
      version,
      calls: "POST /svc.v1.<Service>/<Call> with a JSON body and Authorization: Bearer <key>; declared in proto/svc/v1",
      openapi: "GET /openapi.json describes the calls (OpenAPI 3.1)",
      mcp: "POST /mcp with the same key",
      health: "GET /readyz",
      docs: "GET /docs/ in a browser; GET /docs/llms.txt for agents",
    },
    undefined,
    2,
  );
  const serve: PageHandler = (req, res) => {
    if (req.method === "GET" || req.method === "HEAD") answerJson(res, 200, `${text}\n`);
    else answerError(res, serverFaults.CALL_UNKNOWN("/"), 404);
  };
  return new Map([["/", serve]]);
}

/** Shutdown signal of calls, and timeouts of connections. */
type HttpParts = { shutdownSignal: AbortSignal; timeouts: HttpTimeouts | undefined };

/** Creates the listeners: the main one and, if SVC_ADMIN_LISTEN is set, a separate one for administration and metrics. */
export function createHttp(parts: ServerParts, given: HttpParts): Listeners {
  const { config } = parts;
  const calls = createCalls(parts, given);
  const main = createMain(parts, given, calls);
  const admin = config.adminListen && createAdmin(parts, given, calls, config.adminListen.host);
  return joinListeners(config, { main, admin });
}

/** Objects that all listeners use: the router of all services, and the functions that report calls. */
type Calls = Pick<McpOptions, "mapError" | "createRequestId" | "onCall"> & {
  readonly onStoreUnavailable: ReturnType<typeof createStoreAlarm>;
  /** Returns the handler for the calls of those services for which `serves` returns true. */
  rpcOf(serves: (service: string) => boolean): ReturnType<typeof createRpcHandler>;
};

function createCalls(parts: ServerParts, { shutdownSignal }: HttpParts): Calls {
  const { config, logger, metrics, store, node, admission, intake, keys, openCalls, audit } = parts;
  const { bodyBytesMax, adminToken } = config;
  const hasAdministrator = adminToken !== undefined || config.oidc !== undefined;
  const { clock } = store;
  const createRequestId = createRequestIds(node.nodeId);
  const onStoreUnavailable = createStoreAlarm(logger, clock);
  const mapError = createCallErrorMapper(logger, onStoreUnavailable);
  const router = createRouter({
    ...{
      keys,
      clock,
      adminToken,
      hasAdministrator,
      openCalls,
      mapError,
      admission,
      audit,
      bodyBytesMax,
      shutdownSignal,
    },
    sealer: parts.vault.sealer,
    use: parts.keyUse,
    sessions: parts.console?.sessions,
    turns: node.meter.turns,
    register: (target) => registerServices(target, parts),
  });
  const onCall: McpOptions["onCall"] = (call, durationMs) => {
    metrics.called(call, durationMs);
    logCall(logger, call, durationMs);
  };
  const proofOf = parts.console?.origin.proofOf;
  const { meter } = node;
  return {
    ...{ mapError, createRequestId, onCall, onStoreUnavailable },
    rpcOf: (serves) =>
      createRpcHandler({ router, intake, serves, bodyBytesMax, createRequestId, proofOf, meter, logger, onCall }),
  };
}

/**
 * Returns the objects that the main listener and the administrator's listener both need. Only `door`, which checks each request before a
 * handler receives it, is made for each listener separately, because its checks depend on the listener's address.
 */
function sharedOf(
  { config, logger, health, store, tls, connections }: ServerParts,
  { timeouts }: HttpParts,
  host: string,
) {
  const { publicUrl, hosts } = config;
  const { clock } = store;
  return {
    ...{ tls, connections, clock, logger, timeouts },
    isDraining: () => health.isDraining,
    door: createDoor({ publicUrl, hosts, isLoopbackOnly: isLoopbackHost(host), clock, logger }),
  };
}

function createMain(parts: ServerParts, given: HttpParts, calls: Calls): HttpServer {
  const { config, logger, metrics, health, store, node, intake } = parts;
  const { mapError, createRequestId, onCall, onStoreUnavailable } = calls;
  const { ingest } = node;
  const { bodyBytesMax } = config;
  const { urlsOf } = parts.grants;
  const publicFile = createPublicFile({ logger, createRequestId });
  const isWorker = config.role === "worker";
  const isApart = config.adminListen !== undefined;
  return createHttpServer({
    ...sharedOf(parts, given, config.host),
    // The health service stays on the main listener, because load balancers check the main listener.
    rpc: calls.rpcOf((service) => !isApart || service !== AdminService.typeName),
    webhooks: isWorker
      ? undefined
      : createWebhookHandler({
          ...{
            ingest,
            intake,
            bodyBytesMax,
            cell: config.cell,
            createRequestId,
            logger,
            onStoreUnavailable,
            clock: store.clock,
          },
          onPost: metrics.posted,
        }),
    probes: createProbes({ health, metrics: isApart ? undefined : metrics }),
    pages: new Map([
      ...createPages({ ...node.apps, publicUrl: parts.publicUrl, intake, logger, audit: parts.audit }),
      ...createSchemas(publicFile, { program: programSchema, standing: standingSchema }),
      ...createHome({ version }),
      ...createOpenapi(publicFile),
      ...(isWorker ? [] : createServerCard(publicFile, node.mcp, urlsOf)),
      ...(isWorker ? [] : metadataPages(publicFile, urlsOf, parts.people !== undefined)),
      ...openPeoplePages(parts, mapError),
      ...(isWorker ? [] : openAuthorization({ ...parts, ...store, sealer: parts.vault.sealer, mapError })),
    ]),
    mcp: isWorker
      ? undefined
      : createMcp(parts, { shutdownSignal: given.shutdownSignal, mapError, createRequestId, onCall }),
    console: openConsole({ ...parts, ...store, limit: parts.grants.signInLimit, mapError }),
    docs:
      config.isDocsOn && !isWorker
        ? createDocs({ folder: builtFolder, base: publicPath(config.publicUrl, "/docs/"), logger, createRequestId })
        : undefined,
  });
}

/** Returns the pages of the sign-in with company accounts, by path. There are none without an identity provider or a console. */
function openPeoplePages(
  { people, console, store, vault, grants, intake, connections, publicUrl }: ServerParts,
  mapError: McpOptions["mapError"],
): ReadonlyMap<string, PageHandler> {
  if (people === undefined || console === undefined) return new Map();
  return createPeoplePages({
    ...{ people, ...store, sealer: vault.sealer, intake, mapError, publicUrl, ...console },
    ...{ limit: grants.signInLimit, addressOf: connections.addressOf },
  });
}

/**
 * Creates the separate listener for administration. It serves only AdminService, the health service, and the probes, which include
 * `/metrics`.
 */
function createAdmin(parts: ServerParts, given: HttpParts, { rpcOf }: Calls, host: string): HttpServer {
  const { health, metrics } = parts;
  return createHttpServer({
    ...sharedOf(parts, given, host),
    rpc: rpcOf((service) => service === AdminService.typeName || service === HealthRpc.typeName),
    probes: createProbes({ health, metrics }),
    webhooks: undefined,
    pages: new Map(),
    mcp: undefined,
    console: undefined,
    docs: undefined,
  });
}

/** Creates the MCP endpoint for agents. */
function createMcp(
  { config, store, vault, keys, keyUse, grants, node, admission, intake, audit, openCalls }: ServerParts,
  parts: Pick<McpOptions, "shutdownSignal" | "mapError" | "createRequestId" | "onCall">,
): McpHandler {
  const { clock } = store;
  return createMcpHandler({
    ...parts,
    ...{ admission, audit, openCalls },
    server: node.mcp,
    meter: node.meter,
    door: createMcpDoor({
      ...{ ...grants, use: keyUse, clock, sealer: vault.sealer },
      authenticate: createAuthenticator({
        ...{ keys, use: keyUse, clock, sealer: vault.sealer },
        adminToken: config.adminToken,
      }),
    }),
    intake,
    bodyBytesMax: config.bodyBytesMax,
  });
}
