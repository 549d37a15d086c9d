import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { AdminService } from "@svc/gen/admin";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { afterEach, expect, test } from "vitest";
import { Code, ConnectError, createSvcAdminClient, createSvcClient, svcErrorDetails } from "./index.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

type Seen = { path: string; contentType: string; authorization: string };

/** Starts a real HTTP server that serves `routes`. `seen`: the requests that it received. */
async function startServer(routes: (router: ConnectRouter) => void): Promise<{ baseUrl: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const handle = connectNodeAdapter({ routes });
  const server = createServer((req: IncomingMessage, res) => {
    const { "content-type": contentType = "", authorization = "" } = req.headers;
    seen.push({ path: req.url ?? "", contentType, authorization });
    handle(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** Returns a service whose first `failures` calls fail with `code`. `headers`: headers of the errors. */
function failing(failures: number, code: Code, headers?: Record<string, string>) {
  let calls = 0;
  const attempt = () => {
    calls += 1;
    if (calls <= failures) throw new ConnectError("not now", code, headers);
    return {};
  };
  return startServer((router) =>
    router.service(TriggersService, {
      listEvents: attempt,
      createSubscription: attempt,
      replayEvent: attempt,
    }),
  );
}

async function errorOf(call: Promise<unknown>): Promise<ConnectError> {
  const err = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(err instanceof ConnectError)) throw new Error("expected a ConnectError");
  return err;
}

test("a call is a JSON POST to the path of the specification, with the key as bearer", async () => {
  const { baseUrl, seen } = await startServer((router) =>
    router.service(TriggersService, { getEvent: ({ id }) => ({ event: { id, toolkitSlug: "calendar" } }) }),
  );
  const svc = createSvcClient({ baseUrl, apiKey: "svc_key" });
  const { event } = await svc.triggers.getEvent({ id: "evt_1" });
  expect(event).toMatchObject({ id: "evt_1", toolkitSlug: "calendar" });
  expect(seen).toEqual([
    { path: "/svc.v1.TriggersService/GetEvent", contentType: "application/json", authorization: "Bearer svc_key" },
  ]);
});

test("the administrator's client presents the administrator's token", async () => {
  const { baseUrl, seen } = await startServer((router) =>
    router.service(AdminService, { listProjects: () => ({ projects: [{ id: "prj_1", name: "default" }] }) }),
  );
  const { projects } = await createSvcAdminClient({ baseUrl: `${baseUrl}/`, adminToken: "token" }).admin.listProjects(
    {},
  );
  expect(projects.map(({ name }) => name)).toEqual(["default"]);
  expect(seen.map(({ path, authorization }) => [path, authorization])).toEqual([
    ["/svc.v1.AdminService/ListProjects", "Bearer token"],
  ]);
});

test("a read that is unavailable twice succeeds at the third try", async () => {
  const { baseUrl, seen } = await failing(2, Code.Unavailable);
  await createSvcClient({ baseUrl, apiKey: "key" }).triggers.listEvents({});
  expect(seen).toHaveLength(3);
});

test("a read is tried three times and no more", async () => {
  const { baseUrl, seen } = await failing(9, Code.Unavailable);
  const err = await errorOf(createSvcClient({ baseUrl, apiKey: "key" }).triggers.listEvents({}));
  expect(err.code).toBe(Code.Unavailable);
  expect(seen).toHaveLength(3);
});

test.each(["createSubscription", "replayEvent"] as const)("a write, %s, is never repeated", async (call) => {
  const { baseUrl, seen } = await failing(1, Code.Unavailable);
  const err = await errorOf(createSvcClient({ baseUrl, apiKey: "key" }).triggers[call]({}));
  expect(err.code).toBe(Code.Unavailable);
  expect(seen).toHaveLength(1);
});

test.each([Code.Internal, Code.ResourceExhausted, Code.NotFound])(
  "a read that fails with code %s is not repeated",
  async (code) => {
    const { baseUrl, seen } = await failing(1, code);
    expect((await errorOf(createSvcClient({ baseUrl, apiKey: "key" }).triggers.listEvents({}))).code).toBe(code);
    expect(seen).toHaveLength(1);
  },
);

test("interceptors see every attempt", async () => {
  const { baseUrl } = await failing(1, Code.Unavailable);
  const calls: string[] = [];
  const svc = createSvcClient({
    baseUrl,
    apiKey: "key",
    interceptors: [
      (next) => (req) => {
        calls.push(req.method.name);
        return next(req);
      },
    ],
  });
  await svc.triggers.listEvents({});
  expect(calls).toEqual(["ListEvents", "ListEvents"]);
});

test("a service that cannot be reached is unavailable, and the message says where and why", async () => {
  const { baseUrl } = await startServer(() => {});
  for (const stop of stops.splice(0)) await stop();
  const err = await errorOf(createSvcClient({ baseUrl, apiKey: "key" }).triggers.createSubscription({}));
  expect(err.code).toBe(Code.Unavailable);
  expect(err.rawMessage).toBe(`cannot reach ${baseUrl}: ECONNREFUSED`);
});

test("a call that takes longer than timeoutMs ends as deadline_exceeded", async () => {
  const { baseUrl } = await startServer((router) =>
    router.service(TriggersService, { getEvent: () => new Promise(() => {}) }),
  );
  const err = await errorOf(
    createSvcClient({ baseUrl, apiKey: "key", timeoutMs: 50 }).triggers.getEvent({ id: "evt_1" }),
  );
  expect(err.code).toBe(Code.DeadlineExceeded);
});

test("a tool call may take longer than the service waits for an app, so that its outcome arrives", async () => {
  let allowedMs = 0;
  const { baseUrl } = await startServer((router) =>
    router.service(ToolsService, {
      callTool: (_, { requestHeader }) => {
        allowedMs = Number(requestHeader.get("connect-timeout-ms"));
        return { outcome: "outcome_unknown" };
      },
    }),
  );
  const { outcome } = await createSvcClient({ baseUrl, apiKey: "key" }).tools.callTool({
    toolSlug: "calendar.list_events",
  });
  expect(outcome).toBe("outcome_unknown");
  expect(allowedMs).toBeGreaterThan(40_000);
});

test("the faults of a refusal are read with reason, field and help", async () => {
  const { baseUrl } = await startServer((router) =>
    router.service(TriggersService, {
      createSubscription: () => {
        throw new ConnectError("endpointUrl: refused", Code.InvalidArgument, undefined, [
          {
            desc: ErrorDetailSchema,
            value: { reason: "ENDPOINT_URL_INVALID", field: "endpointUrl", help: "Use https." },
          },
        ]);
      },
    }),
  );
  const err = await errorOf(createSvcClient({ baseUrl, apiKey: "key" }).triggers.createSubscription({}));
  expect(svcErrorDetails(err)).toEqual([{ reason: "ENDPOINT_URL_INVALID", field: "endpointUrl", help: "Use https." }]);
  expect(svcErrorDetails(new Error("other"))).toEqual([]);
});

test.each([
  [{ baseUrl: "127.0.0.1:8080", apiKey: "key" }, 'baseUrl "127.0.0.1:8080": expected an absolute http or https URL'],
  [{ baseUrl: "http://localhost", apiKey: "" }, "apiKey is empty: expected the text that was issued"],
  [
    { baseUrl: "http://localhost", apiKey: "key\n" },
    "apiKey holds white space or a character that is not ASCII: expected the text that was issued",
  ],
])("options that cannot work are refused at once: %o", (options, message) => {
  expect(() => createSvcClient(options)).toThrow(new TypeError(message));
});
