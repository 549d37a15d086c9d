import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { generateVaultKey } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/db/testing";
import { loadConfig } from "./config/config.ts";
import { openEnvironment } from "./config/environment.ts";
import type { HttpTimeouts } from "./http/server.ts";
import { createLogger } from "./logger.ts";
import { type Service, startService } from "./service.ts";

/** An answer to a call. `reason`, `field` are those of its first detail; empty when it has none. */
export type TestAnswer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever a call answers
  json: any;
  code: string;
  reason: string;
  field: string;
};

/** A service on a database and a free port of its own. */
export type TestService = {
  readonly service: Service;
  readonly url: string;
  readonly database: TestDatabase;
  /** Lines of the log, as they were written. */
  readonly logs: string[];
  readonly adminToken: string;
  /** Approver key of project `default`. */
  readonly key: string;
  /** Posts a call, `svc.v1.CatalogService/GetTool`, as JSON; `bearer` is the approver key unless stated, and null for none. */
  call(
    method: string,
    body?: unknown,
    options?: { bearer?: string | null; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  /** Posts a call of AdminService as the administrator. */
  admin(call: string, body?: unknown): Promise<TestAnswer>;
  /** Sends raw bytes over a connection and reads what comes back until it is closed. */
  raw(bytes: string): Promise<string>;
  /** Opens a connection; it is closed with the service. */
  connect(): Promise<Socket>;
  stop(): Promise<void>;
};

// One key for all of a test file: nodes of one database must have the same.
const vaultKey = generateVaultKey();

/** Starts a service for tests. `variables` are set over those every test service has. */
export async function startTestService({
  variables = {},
  timeouts,
}: {
  variables?: Record<string, string>;
  timeouts?: HttpTimeouts;
} = {}): Promise<TestService> {
  const database = await createTestDatabase();
  const logs: string[] = [];
  const adminToken = "the-administrators-token-of-the-tests";
  const key = "the-bootstrap-key-of-all-server-tests";
  const environment = openEnvironment({
    SVC_PORT: "0",
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey,
    SVC_ADMIN_TOKEN: adminToken,
    SVC_BOOTSTRAP_KEY: key,
    SVC_LOG_LEVEL: "trace",
    SVC_DRAIN: "2s",
    ...variables,
  });
  const config = loadConfig(environment);
  const logger = await createLogger({ level: config.logLevel, destination: { write: (line) => void logs.push(line) } });
  const service = await startService(config, { logger, ...(timeouts === undefined ? {} : { timeouts }) }).catch(
    async (error) => {
      await database.drop();
      throw error;
    },
  );
  const { url } = service;
  const sockets = new Set<Socket>();
  const open = async () => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => {});
    sockets.add(socket);
    await once(socket, "connect");
    return socket;
  };
  const call: TestService["call"] = async (method, body = {}, { bearer = key, headers = {} } = {}) => {
    const authorization = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
    const res = await fetch(`${url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return readAnswer(res);
  };
  return {
    service,
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
      await service.stop();
      await database.drop();
    },
  };
}

/** Reads an answer of the API. */
export async function readAnswer(res: Response): Promise<TestAnswer> {
  const json = JSON.parse(await res.text());
  const { reason = "", field = "" } = json.details?.[0]?.debug ?? {};
  return { status: res.status, headers: res.headers, json, code: json.code ?? "ok", reason, field };
}
