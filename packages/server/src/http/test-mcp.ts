import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { CatalogViews } from "@svc/catalog";
import { createId, createWorkMeter, digestSecret, type ProjectId, systemClock } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import type { NodeParts } from "@svc/node";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode } from "@svc/testing/node";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { createAdmission } from "../admission/admission.ts";
import { createAuthenticator } from "../auth/gate.ts";
import { createKeyCache } from "../auth/key-cache.ts";
import { createMcpDoor } from "../authorization/door.ts";
import { createGrantCache } from "../authorization/grants.ts";
import { createTestIntake } from "../body/test-intake.ts";
import { createLogger } from "../logger.ts";
import type { Call } from "../rpc/call.ts";
import { createCallErrorMapper } from "../rpc/call-error.ts";
import { StoreLateError } from "../store-deadline.ts";
import { splitTarget } from "./answer.ts";
import { createMcpHandler } from "./mcp.ts";

type AccountAccess = NonNullable<NodeParts["accounts"]>;
type AppTransport = NonNullable<NodeParts["transport"]>;
type AppRequest = Parameters<AppTransport["send"]>[0];
/** An answer of the app that a test simulates. */
export type McpAppAnswer = Awaited<ReturnType<AppTransport["send"]>>;

/**
 * Credentials that the tests send: the key of a project, the key of a project with an empty catalog, the administrator's token, and a key
 * for which the database is unavailable.
 */
export const bearers = {
  project: "the-key-of-a-project",
  stranger: "the-key-of-another-project",
  admin: "the-administrators-token",
  away: "away",
};

/** Arguments of a call of `call_tool`, in a test, for a tool that only reads. */
export const listEvents = { slug: "calendar.list_events", arguments: { calendar_id: "primary" }, entity_id: "ada" };
export const deleteEvent = {
  slug: "calendar.delete_event",
  arguments: { calendar_id: "primary", event_id: "e1" },
  entity_id: "ada",
};

/**
 * The MCP endpoint of a test, on its own server and database, with the definitions of the deployment. No real app is called: a function of
 * the test answers the requests to apps.
 */
export type TestMcp = {
  readonly url: string;
  readonly database: TestDatabase;
  readonly views: CatalogViews;
  readonly projectId: ProjectId;
  readonly shutdown: AbortController;
  /**
   * `sent`: the requests that the test app received. `calls`: the requests that the MCP endpoint reported for metrics. `logs`: the log
   * lines.
   */
  readonly sent: AppRequest[];
  readonly calls: Call[];
  readonly logs: string[];
  /** Returns the app's answer to a request. */
  app: (request: AppRequest) => Promise<McpAppAnswer>;
  /** Error with which reading the catalog fails. Undefined if it succeeds. */
  storeFault: Error | undefined;
  /** Sends a POST as a client would. A body that is neither text nor bytes is sent as JSON. */
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Clears the recorded requests and lets the app answer with an empty object. */
  reset(): void;
  stop(): Promise<void>;
};

/** Starts the endpoint on a loopback address. A body may have at most 8 KiB, and a request may take 2 s. */
export async function startTestMcp(): Promise<TestMcp> {
  const database = await createTestDatabase();
  const { db } = database;
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const projectId = await addProject(db, bearers.project);
  const strangerId = await addProject(db, bearers.stranger);
  const mcp: Omit<TestMcp, "views"> = {
    url,
    database,
    projectId,
    shutdown: new AbortController(),
    sent: [],
    calls: [],
    logs: [],
    app: async () => answers({}),
    storeFault: undefined,
    post: (body, headers) => post(url, body, headers),
    reset() {
      mcp.app = async () => answers({});
      mcp.storeFault = undefined;
      for (const records of [mcp.sent, mcp.calls, mcp.logs]) records.length = 0;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await database.drop();
    },
  };
  const nodes = await createNodes(mcp);
  const whole = Object.assign(mcp, { views: nodes.full.views });
  const handler = await createHandler(whole, nodes, strangerId);
  server.on("request", (req, res) => handler(splitTarget(req).query, req, res));
  return whole;
}

/** Returns an answer of the app with this JSON body. */
export function answers(json: unknown, status = 200, headers: Record<string, string> = {}): McpAppAnswer {
  const body = Buffer.from(typeof json === "string" ? json : JSON.stringify(json));
  return { kind: "answer", status, headers: { "content-type": "application/json", ...headers }, body };
}

/** Returns a JSON-RPC request. */
export function rpc(id: number, method: string, params: object = {}): object {
  return { jsonrpc: "2.0", id, method, params };
}

/** Returns a JSON-RPC request that calls a meta-tool (such as `call_tool`, through which agents reach all tools). */
export function toolCall(id: number, name: string, args: object): object {
  return rpc(id, "tools/call", { name, arguments: args });
}

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
type AnyJson = any;

/** Returns the parsed JSON body of an answer. */
export async function jsonOf(res: Promise<Response> | Response): Promise<AnyJson> {
  return (await res).json();
}

/**
 * Returns three nodes: the node of the deployment, one without toolkits (definitions of apps), and one whose database fails with the error
 * that the test sets.
 */
async function createNodes(mcp: Pick<TestMcp, "database" | "sent" | "app" | "storeFault">) {
  const { db } = mcp.database;
  const transport: AppTransport = {
    send(request) {
      mcp.sent.push(request);
      return mcp.app(request);
    },
  };
  const clock = systemClock;
  const catalog = await shippedCatalog();
  const away = Object.defineProperties({ ...db }, { sql: { get: fail }, orm: { get: fail } });
  return {
    full: createTestNode(db, { clock, catalog, transport, accounts, sandboxMode: "force" }),
    empty: createTestNode(db, { clock }),
    away: createTestNode(away, { clock, catalog }),
  };

  function fail(): never {
    throw mcp.storeFault;
  }
}

async function createHandler(
  mcp: TestMcp,
  { full, empty, away }: Awaited<ReturnType<typeof createNodes>>,
  strangerId: ProjectId,
): Promise<ReturnType<typeof createMcpHandler>> {
  const clock = systemClock;
  const { db } = mcp.database;
  const nodeOf = (projectId: ProjectId) =>
    mcp.storeFault !== undefined ? away : projectId === strangerId ? empty : full;
  const logger = await createLogger({ level: "trace", destination: { write: (line) => void mcp.logs.push(line) } });
  const use = { note: () => {}, stop: async () => {} };
  const authenticate = createAuthenticator({
    keys: createKeyCache({ db, clock }),
    use,
    clock,
    adminToken: bearers.admin,
    sealer: { ready: () => undefined },
  });
  let count = 0;
  return createMcpHandler({
    meter: createWorkMeter(),
    server: { serve: (exchange) => nodeOf(exchange.principal.projectId).mcp.serve(exchange) },
    door: createMcpDoor({
      sealer: { ready: () => undefined },
      ...{ use, clock, cache: createGrantCache({ db, clock }) },
      urlsOf: () => ({ issuer: new URL(mcp.url).origin, resource: mcp.url }),
      authenticate: (header) =>
        header === `Bearer ${bearers.away}` ? Promise.reject(new StoreLateError(1)) : authenticate(header),
    }),
    openCalls: { watch: () => ({ confirm: () => undefined, end: () => {} }), stop: async () => {} },
    audit: { enter: async () => createId("aud", 0), end: async () => {} },
    intake: createTestIntake(),
    admission: createAdmission({ clock }),
    bodyBytesMax: 8_192,
    timeoutMs: 20_000,
    createRequestId: () => `req_${++count}`,
    mapError: createCallErrorMapper(logger, () => {}),
    shutdownSignal: mcp.shutdown.signal,
    onCall: (call) => void mcp.calls.push(call),
  });
}

/** Connected accounts of the test. Every entity (customer or user) has one, with the credential `secret`. */
const accounts: AccountAccess = {
  async resolve({ entityId }) {
    if (entityId === "") return { kind: "no_account", message: "no entity is named" };
    const id = createId("acc", systemClock.now());
    return { id, entityId, scheme: "oauth2", variables: {}, grantedScopes: [] };
  },
  authorize: async (_query, _account, request) => withBearer(request, "secret"),
  preview: (_toolkit, _account, request) => withBearer(request, "***"),
  refused: async () => false,
  taken: async () => undefined,
  lacked: async () => undefined,
};

function withBearer(request: AppRequest, bearer: string): AppRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${bearer}` } };
}

async function addProject(db: Database, key: string): Promise<ProjectId> {
  const createdAt = systemClock.now();
  const { id: projectId } = await createProject(db, key, createdAt);
  await createApiKey(db, {
    id: createId("key", createdAt),
    projectId,
    role: "member",
    name: "agent",
    digest: digestSecret(key),
    hint: "",
    createdAt,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  });
  return projectId;
}

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${bearers.project}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
}
