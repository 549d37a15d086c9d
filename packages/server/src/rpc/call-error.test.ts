import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, ConnectError, createClient, type ServiceImpl } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { createId, createWorkMeter, digestSecret, Fault, systemClock } from "@svc/core";
import { CatalogService } from "@svc/gen/catalog";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { Health } from "@svc/gen/health";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAdmission } from "../admission/admission.ts";
import { createTestIntake } from "../body/test-intake.ts";
import { splitTarget } from "../http/answer.ts";
import { createLogger } from "../logger.ts";
import { createStoreAlarm, withinDeadline } from "../store-deadline.ts";
import type { Call } from "./call.ts";
import { createCallErrorMapper } from "./call-error.ts";
import { toConnectError } from "./connect-error.ts";
import { createRouter } from "./router.ts";
import { createRpcHandler } from "./rpc.ts";

let thrown: () => unknown;
let begun = () => {};
let lookUp: () => Promise<undefined> | undefined;
const logs: string[] = [];
const calls: Call[] = [];
const shutdown = new AbortController();
let server: Server;
let url: string;

const adminToken = "an-administrator-token-of-this-test";

beforeAll(async () => {
  const logger = await createLogger({ level: "info", destination: { write: (line) => void logs.push(line) } });
  const failing: Partial<ServiceImpl<typeof CatalogService>> = {
    getTool: () => {
      throw thrown();
    },
    listTools: () => {
      begun();
      return new Promise(() => {});
    },
  };
  const meter = createWorkMeter();
  const router = createRouter({
    keys: {
      find: (digest) =>
        digest.equals(digestSecret("good"))
          ? {
              id: "key_00000000000000000000000000" as never,
              projectId: "prj_00000000000000000000000000" as never,
              role: "member",
              name: "",
              digest,
              hint: "",
              createdAt: 0,
              expiresAt: null,
              revokedAt: null,
              lastUsedAt: null,
              entityId: "",
              accessClasses: [],
              toolkitSlugs: [],
              agentTools: [],
              makerKeyId: null,
              purpose: "",
              quotas: {},
              confirm: { person: "never", contact: "" },
              projectConfirm: { person: "never", contact: "" },
              hold: "",
              movedTo: "",
            }
          : lookUp(),
      forget: () => {},
      forgetProject: () => {},
    },
    use: { note: () => {}, stop: async () => {} },
    clock: systemClock,
    adminToken,
    hasAdministrator: true,
    sealer: { ready: () => undefined },
    audit: { enter: async () => createId("aud", 0), end: async () => {} },
    sessions: undefined,
    openCalls: { watch: () => ({ confirm: () => undefined, end: () => {} }), stop: async () => {} },
    mapError: createCallErrorMapper(logger, createStoreAlarm(logger, systemClock)),
    admission: createAdmission({ clock: systemClock }),
    turns: meter.turns,
    bodyBytesMax: 1_000,
    shutdownSignal: shutdown.signal,
    register: (target) => {
      target.service(CatalogService, failing);
      target.service(Health, {
        // biome-ignore lint/correctness/useYield: what it would send first is a fault
        watch: async function* () {
          throw thrown();
        },
      });
    },
  });
  const rpc = createRpcHandler({
    meter,
    router,
    intake: createTestIntake(),
    bodyBytesMax: 1_000,
    defaultTimeoutMs: 500,
    createRequestId: () => "req_7",
    logger,
    onCall: (call) => void calls.push(call),
  });
  server = createServer((req, res) => rpc.serve(splitTarget(req).path, req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  logs.length = 0;
  calls.length = 0;
  lookUp = () => undefined;
});

const getTool = (bearer = "good", signal?: AbortSignal) =>
  failureOf(
    client(CatalogService).getTool({}, { headers: { authorization: `Bearer ${bearer}` }, ...(signal && { signal }) }),
  );

function client<Service extends typeof CatalogService | typeof Health>(service: Service) {
  return createClient(service, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
}

async function failureOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => ConnectError.from(reason),
  );
  const [detail] = error?.findDetails(ErrorDetailSchema) ?? [];
  return { code: error?.code, reason: detail?.reason, message: error?.rawMessage };
}

test("a refusal is unchanged, and is not logged as an error", async () => {
  thrown = () => new Fault("not_found", "there is no tool", [{ reason: "TOOL_NOT_FOUND" }]);
  expect(await getTool()).toEqual({ code: Code.NotFound, reason: "TOOL_NOT_FOUND", message: "there is no tool" });
  expect(logs).toEqual([]);
  expect(calls).toMatchObject([{ code: "not_found" }]);
});

test("anything else is internal with the request id, and its text stays in the log, once", async () => {
  thrown = () => new Error("relation projects does not exist");
  const failure = await getTool();
  expect(failure).toMatchObject({ code: Code.Internal, reason: "INTERNAL" });
  expect(failure.message).toContain("req_7");
  expect(failure.message).not.toContain("relation");
  expect(logs).toHaveLength(1);
  expect(JSON.parse(logs[0]!)).toMatchObject({
    level: "error",
    requestId: "req_7",
    method: "svc.v1.CatalogService/GetTool",
    err: { message: "relation projects does not exist", stack: expect.stringContaining("call-error.test.ts") },
  });
});

test.each(["ECONNREFUSED", "CONNECTION_CLOSED", "57P01", "53300"])(
  "a store that is away (%s) is unavailable",
  async (code) => {
    thrown = () =>
      new Error("Failed query: select\nparams: 1", { cause: Object.assign(new Error("driver"), { code }) });
    expect(await getTool()).toMatchObject({ code: Code.Unavailable, reason: "STORE_UNAVAILABLE" });
  },
);

test("the gate's own faults are mapped as a call's", async () => {
  thrown = () => new Error("never called");
  lookUp = () => Promise.reject(Object.assign(new Error("driver"), { code: "ECONNREFUSED" }));
  expect(await getTool("other")).toMatchObject({ code: Code.Unavailable, reason: "STORE_UNAVAILABLE" });
  lookUp = () => Promise.reject(new Error("column does not exist"));
  expect(await getTool("other")).toMatchObject({ code: Code.Internal, reason: "INTERNAL" });
});

test("a key that the store does not look up in time is unavailable", async () => {
  thrown = () => new Error("never called");
  lookUp = () => withinDeadline(new Promise(() => {}), 20);
  expect(await getTool("other")).toMatchObject({ code: Code.Unavailable, reason: "STORE_UNAVAILABLE" });
});

test("a call outside of svc.v1 needs no key, and a stream's fault has its detail in the last frame", async () => {
  thrown = () => new Error("secret text");
  const stream = client(Health).watch({});
  const failure = await failureOf(stream[Symbol.asyncIterator]().next());
  expect(failure).toMatchObject({ code: Code.Internal, reason: "INTERNAL" });
  expect(failure.message).not.toContain("secret");
  await expect.poll(() => calls).toMatchObject([{ method: "grpc.health.v1.Health/Watch", code: "internal" }]);
});

test("a stream's request that cannot be decoded is refused with a detail", async () => {
  const body = Buffer.from('{"nope":1}');
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, body.byteLength]), body]);
  const headers = { "content-type": "application/connect+json" };
  const res = await fetch(`${url}/grpc.health.v1.Health/Watch`, { method: "POST", headers, body: frame });
  const answer = Buffer.from(await res.arrayBuffer());
  expect([res.status, answer[0]]).toEqual([200, 2]);
  const end = JSON.parse(answer.subarray(5).toString());
  expect(end.error).toMatchObject({
    code: "invalid_argument",
    details: [{ debug: { reason: "REQUEST_MALFORMED", field: "nope" } }],
  });
});

test("a caller's timeout ends a longer call", async () => {
  const failure = await failureOf(
    client(CatalogService).listTools({}, { timeoutMs: 50, headers: { authorization: "Bearer good" } }),
  );
  expect(failure.code).toBe(Code.DeadlineExceeded);
  await expect.poll(() => calls).toMatchObject([{ code: expect.stringMatching(/deadline_exceeded|canceled/) }]);
});

test("a call without a caller's timeout ends too", async () => {
  const failure = await failureOf(client(CatalogService).listTools({}, { headers: { authorization: "Bearer good" } }));
  expect(failure).toMatchObject({ code: Code.DeadlineExceeded, reason: "DEADLINE_EXCEEDED" });
});

test("at shutdown, a running call is answered that it should be repeated", async () => {
  const underWay = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const failing = failureOf(client(CatalogService).listTools({}, { headers: { authorization: "Bearer good" } }));
  await underWay;
  shutdown.abort(toConnectError(new Fault("unavailable", "stopping", [{ reason: "SHUTTING_DOWN" }])));
  expect(await failing).toMatchObject({ code: Code.Unavailable, reason: "SHUTTING_DOWN" });
});
