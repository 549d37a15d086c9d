import { gzipSync } from "node:zlib";
import type { DescMessage } from "@bufbuild/protobuf";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { StatsService } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { readAnswer, startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
beforeAll(async () => {
  svc = await startTestServer({
    variables: { SVC_MAX_BODY_BYTES: "2048" },
    timeouts: { headersMs: 400, requestMs: 700, checkMs: 50 },
  });
});
afterAll(() => svc.stop());

const getTool = "svc.v1.CatalogService/GetTool";
const listEvents = "svc.v1.TriggersService/ListEvents";

test.each([
  ["/", "CALL_UNKNOWN"],
  ["/favicon.ico?x=1", "CALL_UNKNOWN"],
  ["/svc.v1.CatalogService/Nope", "CALL_UNKNOWN"],
  ["/svc.v1.NopeService/ListJobs", "CALL_UNKNOWN"],
  ["/webhooks/", "CALL_UNKNOWN"],
  ["/webhooks/a/b", "CALL_UNKNOWN"],
  ["/webhooks/%2e%2e", "CALL_UNKNOWN"],
])("an unknown path %s is 404 with a reason", async (path, reason) => {
  const answer = await readAnswer(await fetch(`${svc.url}${path}`, { method: "POST" }));
  expect(answer).toMatchObject({ status: 404, code: "unimplemented", reason });
});

test("administration that is not served says where else it may be", async () => {
  const help = (call: string) => svc.call(call, {}).then(({ json }) => json.details[0].debug.help);
  expect(await help("svc.v1.AdminService/Nope")).toMatch(/ listener of its own \(SVC_ADMIN_LISTEN\): call it there/);
  expect(await help("svc.v1.NopeService/Nope")).not.toContain("SVC_ADMIN_LISTEN");
});

test("a browser at the root address gets a list of paths, without a key", async () => {
  const answer = await fetch(svc.url);
  expect(await answer.json()).toMatchObject({ service: "svc", mcp: expect.stringContaining("/mcp") });
});

test.each(["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s on a call is 405 and names POST", async (method) => {
  const answer = await readAnswer(await fetch(`${svc.url}/${getTool}`, { method }));
  expect(answer).toMatchObject({ status: 405, reason: "METHOD_NOT_ALLOWED" });
  expect(answer.headers.get("allow")).toBe("POST");
});

test.each(["text/plain", "application/x-www-form-urlencoded", "application/connect+json", "application/grpc", ""])(
  "the content type %j is 415 and the accepted ones are named",
  async (type) => {
    const answer = await svc.call(getTool, "{}", { headers: { "content-type": type } });
    expect(answer).toMatchObject({ status: 415, code: "invalid_argument", reason: "CONTENT_TYPE_UNSUPPORTED" });
    expect(answer.headers.get("accept-post")).toBe("application/json, application/proto");
  },
);

test.each(["application/json", "application/json; charset=utf-8", "Application/JSON"])("%s is served", async (type) => {
  const answer = await svc.call(listEvents, "{}", { headers: { "content-type": type } });
  expect(answer).toMatchObject({ status: 200, json: { events: [], nextPageToken: "" } });
});

test.each([
  ["an empty body", "", ""],
  ["no JSON", "{", ""],
  ["a list", "[]", ""],
  ["an unknown field", '{"nope":1}', "nope"],
  ["a wrong type", '{"pageSize":"many"}', "pageSize"],
  ["a wrong type under the proto name", '{"page_size":"many"}', "pageSize"],
  ["a number out of range", '{"pageSize":5000000000}', "pageSize"],
  ["a timestamp out of its form", '{"until":"yesterday"}', "until"],
  ["a timestamp of a day that its month does not have", '{"since":"2027-02-30T00:00:00Z"}', "since"],
  ["a timestamp of 24:00", '{"since":"2027-02-01T24:00:00Z"}', "since"],
  ["a timestamp without its zone", '{"since":"2027-02-01T00:00:00"}', "since"],
  ["a timestamp with an offset of a day", '{"until":"2027-02-01T00:00:00+24:00"}', "until"],
  ["a timestamp that is a year", '{"since":"2026"}', "since"],
  ["a repeated key", '{"pageSize":1,"pageSize":2}', ""],
  ["U+0000 in a text", '{"toolkitSlug":"a\\u0000b"}', "toolkitSlug"],
])("%s is refused as malformed and the field named", async (_name, body, field) => {
  const answer = await svc.call(listEvents, body);
  expect(answer).toMatchObject({ status: 400, code: "invalid_argument", reason: "REQUEST_MALFORMED", field });
  expect(answer.json.message).not.toMatch(/svc\.v1\.\w+\.\w+ from JSON/);
});

test.each([
  ["bytes that are not UTF-8", Buffer.from('{"toolkitSlug":"caf\xe9"}', "latin1"), "application/json", 400],
  ["the same, compressed", gzipSync(Buffer.from('{"toolkitSlug":"caf\xe9"}', "latin1")), "application/json", 400],
  ["UTF-16", Buffer.from("\ufeff{}", "utf16le"), "application/json", 400],
  ["another charset", Buffer.from("{}"), "application/json; charset=iso-8859-1", 415],
])("JSON in %s is refused: nothing of it is replaced", async (_name, body, type, status) => {
  const encoding: Record<string, string> = body[0] === 0x1f ? { "content-encoding": "gzip" } : {};
  const headers = { authorization: `Bearer ${svc.key}`, "content-type": type, ...encoding };
  const res = await fetch(`${svc.url}/${listEvents}`, { method: "POST", headers, body });
  expect(await readAnswer(res)).toMatchObject({ status, code: "invalid_argument" });
});

test.each(["0a", "80", "0a01ff", "ffffffff"])("the binary body %s is refused as malformed", async (hex) => {
  const res = await fetch(`${svc.url}/${listEvents}`, {
    method: "POST",
    headers: { authorization: `Bearer ${svc.key}`, "content-type": "application/proto" },
    body: Buffer.from(hex, "hex"),
  });
  const answer = await readAnswer(res);
  expect(answer).toMatchObject({ status: 400, code: "invalid_argument", reason: "REQUEST_MALFORMED" });
  expect(answer.json.message).toContain("svc.v1.ListEventsRequest");
});

test("an unknown field is answered with the fields there are", async () => {
  const answer = await svc.call(getTool, { tool: "x" });
  expect(answer.json.message).toBe('field "tool" is unknown');
  expect(answer.json.details[0].debug.help).toBe("GetToolRequest has the fields slug, projectId.");
});

test("an unknown field is answered with the nearest known one", async () => {
  const answer = await svc.call(listEvents, { entitiId: "ada" });
  expect(answer.json.details[0].debug.help).toMatch(/^Did you mean entityId\? ListEventsRequest has the fields /);
});

const services = [
  AdminService,
  CatalogService,
  ConnectionsService,
  ConsoleService,
  ContactsService,
  GrantsService,
  IdentityService,
  JobsService,
  SecretsService,
  StandingService,
  StatsService,
  ToolsService,
  TriggersService,
];

test.each(
  services
    .flatMap((service) => service.methods)
    .map((method) => [`${method.parent.typeName}/${method.name}`, method] as const),
)("%s refuses a field that it does not have, at every depth", async (path, { input, methodKind }) => {
  const bearer = path.startsWith("svc.v1.AdminService/") ? svc.adminToken : svc.key;
  for (const request of withUnknownField(input)) {
    const answer =
      methodKind === "unary" ? await svc.call(path, request, { bearer }) : await watch(path, request, bearer);
    expect(answer).toMatchObject({ code: "invalid_argument", reason: "REQUEST_MALFORMED", field: "noSuchField" });
  }
});

/** Yields requests with an unknown field, at the top level or in a nested message. */
function* withUnknownField(desc: DescMessage, outer: readonly DescMessage[] = []): Generator<object> {
  yield { noSuchField: 1 };
  for (const { fieldKind, message, jsonName } of desc.fields) {
    if (message === undefined || message.typeName.startsWith("google.") || outer.includes(message)) continue;
    for (const inner of withUnknownField(message, [...outer, desc])) {
      yield { [jsonName]: fieldKind === "list" ? [inner] : fieldKind === "map" ? { key: inner } : inner };
    }
  }
}

/** Calls a stream and returns the error that ends it. */
async function watch(path: string, request: object, bearer: string) {
  const body = Buffer.from(JSON.stringify(request));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/connect+json" };
  const answer = await fetch(`${svc.url}/${path}`, { method: "POST", headers, body: Buffer.concat([head, body]) });
  const { error } = JSON.parse(
    Buffer.from(await answer.arrayBuffer())
      .subarray(5)
      .toString(),
  );
  const { reason, field } = error.details[0].debug;
  return { code: error.code, reason, field };
}

test.each([
  ["svc.v1.CatalogService/ListTools", { kind: "trigger" }, "kind", 'kind "trigger"', "Did you mean TOOL_KIND_TRIGGER?"],
  [
    "svc.v1.CatalogService/ListTools",
    { kind: "TOOL_KIND_TRIGER" },
    "kind",
    '"TOOL_KIND_TRIGER"',
    "Send one of TOOL_KIND_",
  ],
  ["svc.v1.CatalogService/ListTools", { kind: 1.5 }, "kind", "kind 1.5", "Send one of TOOL_KIND_"],
  [
    "svc.v1.TriggersService/PutEventSettings",
    { settings: { unknownTypes: "refuse" } },
    "settings.unknownTypes",
    '"refuse"',
    "Did you mean UNKNOWN_EVENT_TYPES_REFUSE?",
  ],
  [
    "svc.v1.StatsService/QuerySeries",
    { series: ["SERIES_UNSPECIFIED", "posts"] },
    "series[1]",
    'series[1] "posts"',
    "Send one of SERIES_",
  ],
])(
  "%s with %j is refused with the field, the value and the names of the enum",
  async (path, body, field, says, help) => {
    const answer = await svc.call(path, body);
    expect(answer).toMatchObject({ status: 400, reason: "ENUM_VALUE_UNKNOWN", field });
    expect(answer.json.message).toContain(says);
    expect(answer.json.details[0].debug.help).toContain(help);
  },
);

test("an enum number without a name is refused, and a name is taken", async () => {
  expect(await svc.call("svc.v1.CatalogService/ListTools", { kind: 99 })).toMatchObject({
    status: 400,
    reason: "ENUM_VALUE_UNKNOWN",
    field: "kind",
  });
  expect(await svc.call("svc.v1.CatalogService/ListTools", { kind: "TOOL_KIND_TRIGGER" })).toMatchObject({
    status: 200,
  });
});

test.each([
  ["over the maximum", "60001"],
  ["not a number", "soon"],
])("a timeout %s is refused", async (_name, value) => {
  const answer = await svc.call(listEvents, {}, { headers: { "connect-timeout-ms": value } });
  expect(answer).toMatchObject({ status: 400, reason: "REQUEST_MALFORMED" });
});

test("a timeout that passes at once is deadline_exceeded", async () => {
  const answer = await svc.call(listEvents, {}, { headers: { "connect-timeout-ms": "0" } });
  expect(answer).toMatchObject({ status: 504, code: "deadline_exceeded", reason: "DEADLINE_EXCEEDED" });
});

test("a call's body over the limit is resource_exhausted, with and without a declared length", async () => {
  const body = JSON.stringify({ toolkitSlug: "x".repeat(3_000) });
  expect(await svc.call(listEvents, body)).toMatchObject({ status: 429, reason: "BODY_TOO_LARGE" });
  const chunked = await fetch(`${svc.url}/${listEvents}`, {
    method: "POST",
    headers: { authorization: `Bearer ${svc.key}`, "content-type": "application/json" },
    body: new Blob([body]).stream(),
    duplex: "half",
  } as RequestInit);
  expect(await readAnswer(chunked)).toMatchObject({ status: 429, reason: "BODY_TOO_LARGE" });
});

test("a compressed body is taken up to the limit of what it holds, and other encodings are refused", async () => {
  const send = async (body: Buffer, encoding: string) =>
    readAnswer(
      await fetch(`${svc.url}/${listEvents}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${svc.key}`,
          "content-type": "application/json",
          "content-encoding": encoding,
        },
        body,
      }),
    );
  expect(await send(gzipSync("{}"), "gzip")).toMatchObject({ status: 200 });
  const bomb = gzipSync(JSON.stringify({ toolkitSlug: "x".repeat(1_000_000) }));
  expect(bomb.byteLength).toBeLessThan(2_048);
  expect(await send(bomb, "gzip")).toMatchObject({ status: 429, reason: "BODY_TOO_LARGE" });
  expect(await send(gzipSync("{}"), "zstd")).toMatchObject({ status: 501, reason: "COMPRESSION_UNSUPPORTED" });
  expect(await send(Buffer.from("{}"), "gzip")).toMatchObject({ status: 400, reason: "REQUEST_MALFORMED" });
});

test("a post to an unknown toolkit is refused before its body is sent", async () => {
  const socket = await svc.connect();
  const answered = new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
  socket.write("POST /webhooks/nobody HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  expect(await answered).toMatch(/^HTTP\/1\.1 404 .*WEBHOOK_UNKNOWN/s);
});

test("a call keeps the caller's request id where it is sane, and makes one where it is not", async () => {
  const own = await svc.call(getTool, {}, { headers: { "x-request-id": "abc-123.def" } });
  expect(own.headers.get("x-request-id")).toBe("abc-123.def");
  const made = await svc.call(getTool, {}, { headers: { "x-request-id": 'a"b c' } });
  expect(made.headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}_\d+$/);
  const other = await svc.call(getTool, {});
  expect(other.headers.get("x-request-id")).not.toBe(made.headers.get("x-request-id"));
});

test("each call has one log line, with its caller and code", async () => {
  await svc.call(getTool, { slug: "none" }, { headers: { "x-request-id": "logged-call" } });
  const lines = () => svc.logs.filter((line) => line.includes('"logged-call"'));
  await expect.poll(lines).toHaveLength(1);
  expect(JSON.parse(lines()[0]!)).toMatchObject({
    level: "info",
    msg: "call",
    method: getTool,
    code: "not_found",
    projectId: expect.stringMatching(/^prj_/),
    keyId: expect.stringMatching(/^key_/),
  });
});

const broken: [string, string, RegExp][] = [
  ["no HTTP at all", "hello\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a missing Host", "POST /healthz HTTP/1.1\r\n\r\n", /^HTTP\/1\.1 400 .*\{.*no Host header.*REQUEST_MALFORMED/s],
  ["a missing Host in HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n", /^HTTP\/1\.1 200 /],
  [
    "a Host that is none",
    "GET /healthz HTTP/1.1\r\nHost: [::zz]:99999/\\\r\nConnection: close\r\n\r\n",
    /^HTTP\/1\.1 200 /,
  ],
  ["an absolute address", "GET http://x/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 200 /],
  ["a path that is none", "GET * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", /^HTTP\/1\.1 404 /],
  [
    "an upgrade",
    "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n",
    /^HTTP\/1\.1 /,
  ],
  ["large headers", `GET /healthz HTTP/1.1\r\nHost: x\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
  ["two Hosts", "GET /healthz HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n", /^HTTP\/1\.1 400 .*REQUEST_MALFORMED/s],
  ["HTTP/0.9", "GET /healthz\r\n\r\n", /^HTTP\/1\.1 (400|505) /],
  ["HTTP/2 in so many words", "GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n", /^HTTP\/1\.1 505 .*REQUEST_MALFORMED/s],
  [
    "two lengths",
    "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    /^HTTP\/1\.1 400 /,
  ],
  [
    "length and chunks",
    "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nab",
    /^HTTP\/1\.1 400 /,
  ],
];

test.each(broken)("%s is answered and the service goes on", async (_name, bytes, expected) => {
  expect(await svc.raw(bytes)).toMatch(expected);
  expect((await fetch(`${svc.url}/healthz`)).status).toBe(200);
});

test("a call with a Host that no URL could hold is refused", async () => {
  const answer = await svc.raw(
    `POST /${listEvents} HTTP/1.1\r\nHost: a b\\\r\nAuthorization: Bearer ${svc.key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 403 .*HOST_REFUSED/s);
});

test.each([
  ["headers", "GET /healthz HTTP/1.1\r\nHost: x\r\nx-slow: "],
  [
    "a body",
    `POST /${listEvents} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer the-bootstrap-key-of-all-server-tests\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  ],
])("a client that never finishes %s is cut off", async (_name, bytes) => {
  expect(await svc.raw(bytes)).toMatch(/^(HTTP\/1\.1 408 |$)/);
});

test("a client that breaks off in its body leaves no trace but a line of the log", async () => {
  const socket = await svc.connect();
  socket.write(
    `POST /${listEvents} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${svc.key}\r\nx-request-id: broken-off\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  );
  await new Promise((resolve) => socket.write("", resolve));
  socket.resetAndDestroy();
  const lines = () => svc.logs.filter((line) => line.includes("broken-off")).map((line) => JSON.parse(line));
  await expect.poll(lines).toEqual([expect.objectContaining({ level: "info", msg: "call", code: "canceled" })]);
});
