import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { createSealer, generateVaultKey, parseVaultKeys } from "@svc/core";
import type { NodeLimits, NodeParts } from "@svc/node";
import { createLogger, type HttpTimeouts, type Server, startServer } from "@svc/server";
import { type Config, loadConfig, openEnvironment } from "@svc/server/config";
import { checkVault } from "@svc/server/vault";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { shippedCatalog, shippedToolkits } from "./shipped-catalog.ts";

/**
 * An answer to an API call. `reason` and `field` come from the first detail of the error in the answer. They are empty if the answer has no
 * error or the error has no detail.
 */
export type TestAnswer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever a call answers
  json: any;
  code: string;
  reason: string;
  field: string;
};

/** A server with its own database and free port. */
export type TestServer = {
  readonly server: Server;
  readonly url: string;
  readonly database: TestDatabase;
  /** Lines of the server's log, as written. */
  readonly logs: string[];
  readonly adminToken: string;
  /** Key of this server's project `default`, with the role `approver`. */
  readonly key: string;
  /** Posts a call, such as `svc.v1.CatalogService/GetTool`, as JSON. `bearer`: default is the approver's key; null sends none. */
  call(
    method: string,
    body?: unknown,
    options?: { bearer?: string | null; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  /** Posts a call of AdminService as the administrator. */
  admin(call: string, body?: unknown): Promise<TestAnswer>;
  /** Sends raw bytes over a connection. Returns all bytes of the response until the connection is closed. */
  raw(bytes: string): Promise<string>;
  /** Opens a connection; it is closed with the server. */
  connect(): Promise<Socket>;
  stop(): Promise<void>;
};

// One vault key for the whole test file, because all nodes of a database must have the same key.
const vaultKey = generateVaultKey();

/** Starts a server for tests. `variables` override the variables that every test server has. */
export async function startTestServer({
  variables = {},
  timeouts,
  consoleFolder,
  mcpOffers,
  erasures,
  isRotatable = false,
}: {
  variables?: Record<string, string>;
  timeouts?: HttpTimeouts;
  /** Folder with the files of the console that the server serves. Default: the folder of the built console. */
  consoleFolder?: string;
  /**
   * For tests: returns the features that the server offers to agents over MCP. The function gets the features of a normal node and may
   * change them.
   */
  mcpOffers?: NodeParts["mcpOffers"];
  /**
   * Waiting times while all data of an entity or a project is erased. Set them if the times of a real service are too long for the test.
   */
  erasures?: NodeLimits["erasures"];
  /**
   * True if the test needs a vault key to rotate (replace). The database is then created with an old key, and the server gets a new key and
   * the old one. The rotation runs without a pause.
   */
  isRotatable?: boolean;
} = {}): Promise<TestServer> {
  const database = await createTestDatabase();
  if (isRotatable) await checkVault(database.db, createSealer(parseVaultKeys(vaultKey)));
  const logs: string[] = [];
  const adminToken = "the-administrators-token-of-the-tests";
  const key = "the-bootstrap-key-of-all-server-tests";
  const environment = openEnvironment({
    SVC_PORT: "0",
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: isRotatable ? `${generateVaultKey()} ${vaultKey}` : vaultKey,
    SVC_ADMIN_TOKEN: adminToken,
    SVC_BOOTSTRAP_KEY: key,
    // Without a deployment file, the test server sends the events of webhooks to every project. A deployment file sets the audience
    // (receivers) itself; its default is `accounts`.
    ...(variables["SVC_DEPLOYMENT"] === undefined && { SVC_WEBHOOK_AUDIENCE: "projects" }),
    SVC_LOG_LEVEL: "trace",
    SVC_DRAIN: "2s",
    ...variables,
  });
  const config = loadConfig(environment);
  const logger = await createLogger({ level: config.logLevel, destination: { write: (line) => void logs.push(line) } });
  const catalog = isShipped(config) ? await shippedCatalog() : undefined;
  const server = await startServer(config, {
    ...{ logger, catalog, consoleFolder, mcpOffers, erasures },
    vaultLimits: isRotatable ? { pollMs: 50, graceMs: 0 } : undefined,
    ...(timeouts === undefined ? {} : { timeouts }),
  }).catch(async (error) => {
    await database.drop();
    throw error;
  });
  const { url } = server;
  const sockets = new Set<Socket>();
  const open = async () => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => {});
    sockets.add(socket);
    await once(socket, "connect");
    return socket;
  };
  const call: TestServer["call"] = async (method, body = {}, { bearer = key, headers = {} } = {}) => {
    const authorization = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
    const res = await fetch(`${url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return readAnswer(res);
  };
  return {
    server,
    url,
    database,
    logs,
    adminToken,
    key,
    call,
    admin: (name, body) => call(`svc.v1.AdminService/${name}`, body, { bearer: adminToken }),
    async raw(bytes) {
      const socket = await open();
      socket.write(bytes, "latin1");
      return (await buffer(socket)).toString("latin1");
    },
    connect: open,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await server.stop();
      await database.drop();
    },
  };
}

/** True if a server with this configuration loads exactly the shipped definitions. */
function isShipped({ toolkitFolders, deploymentFile, webhookAudience }: Config): boolean {
  const isChanged = deploymentFile !== undefined || webhookAudience === "accounts";
  return !isChanged && toolkitFolders.join() === shippedToolkits;
}

/** Parses an answer of the API. */
export async function readAnswer(res: Response): Promise<TestAnswer> {
  const json = JSON.parse(await res.text());
  const { reason = "", field = "" } = json.details?.[0]?.debug ?? {};
  return { status: res.status, headers: res.headers, json, code: json.code ?? "ok", reason, field };
}
