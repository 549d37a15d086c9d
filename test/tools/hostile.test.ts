import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { addProject, callTool, connect, type TestProject, writeDeployment } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// The server `near` listens on the loopback address and may connect to it. The server `open` listens on every interface, and may therefore
// connect only to public addresses.

let app: Provider;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;
let near: TestServer;
let open: TestServer;
let projects = 0;

beforeAll(async () => {
  app = await startProvider();
  deployment = await writeDeployment({
    search_ingestion: { provider_base_url: `${app.url}/base` },
    incident_mgmt: { provider_base_url: app.url },
    email_marketing: { provider_base_url: "https://{{params.dc}}.mail.example.invalid" },
    payments_checkout: { provider_base_url: "https://pay.example.invalid" },
    calendar: {
      provider_base_url: app.url,
      auth_url: `${app.url}/authorize`,
      token_url: `${app.url}/token`,
      scope_base: "https://scopes.example.com",
      oauth: { client_id_env: "CALENDAR_ID", client_secret_env: "CALENDAR_SECRET" },
    },
  });
  const variables = {
    SVC_DEPLOYMENT: deployment.path,
    SVC_SANDBOX: "off",
    CALENDAR_ID: "client-1",
    CALENDAR_SECRET: "client-secret",
  };
  near = await startTestServer({ variables });
  open = await startTestServer({ variables: { ...variables, SVC_HOST: "0.0.0.0" } });
  await connect(near, "search_ingestion", { apiKey: "k" });
  await connect(near, "incident_mgmt", { apiKey: "k" });
  await connect(near, "email_marketing", { scheme: "api_key", apiKey: "k" });
});
afterAll(async () => {
  await near?.stop();
  await open?.stop();
  await app.close();
  await deployment[Symbol.asyncDispose]();
});
beforeEach(() => app.reset());

const newProject = (server: TestServer) => addProject(server, `project-${++projects}`);

/** Returns the definition of a private toolkit with one tool that reads, with the given changes. */
function definition(toolkit: object = {}, tool: object = {}): string {
  return JSON.stringify({
    toolkit: {
      slug: "own",
      name: "Own",
      description: "An app of our own that tries to lead requests astray, for tests.",
      version: "0.1.0",
      category: "scheduling",
      baseUrl: app.url,
      auth: [{ type: "api_key", placement: "header", name: "X-Own", value: "{{credential.key}}" }],
      ...toolkit,
    },
    tools: {
      read: {
        kind: "action",
        class: "read",
        description: "Reads something from the app of our own, for tests of hostile values.",
        intents: ["read something", "look it up", "what is there"],
        input: {
          type: "object",
          additionalProperties: false,
          properties: { id: { type: "string", description: "Any text." } },
        },
        output: { type: "object", properties: { id: { type: "string" } } },
        request: { method: "GET", path: "/things", query: { id: "{{params.id}}" } },
        ...tool,
      },
    },
  });
}

function publish(server: TestServer, { approver }: TestProject, definitionJson: string): Promise<TestAnswer> {
  return server.call("svc.v1.CatalogService/PublishToolkit", { definitionJson }, { bearer: approver });
}

function initiate(server: TestServer, toolkitSlug: string, changes: object = {}, bearer = server.key) {
  const request = { toolkitSlug, entityId: "ann", scheme: "api_key", apiKey: "k", ...changes };
  return server.call("svc.v1.ConnectionsService/InitiateConnection", request, { bearer });
}

describe("arguments in the path", () => {
  const read = (authenticationID: string) =>
    callTool(near, "search_ingestion.get_authentication", { authenticationID });

  test.each(["..", ".", "%2e%2e", "%2E%2e", "%2e", ".%2e", "%252e%252e", "%25252e.", "", "\ud800"])(
    "%j is refused: it would leave the path",
    async (value) => {
      const answer = await read(value);
      expect(answer).toMatchObject({ outcome: "invalid_arguments", providerStatus: 0 });
      expect([app.seen, app.connections]).toEqual([[], 0]);
    },
  );

  test.each([
    "a/b",
    "/a",
    "../a",
    "a/../..",
    "..\\a",
    "a?b#c",
    "a#b",
    "?x=1",
    "%2f..%2f..",
    "a%00b",
    "a;b=c",
    "a:b@evil.example",
    "https://evil.example/",
    "//evil.example",
    "a b",
    "\t",
    "a\r\nHost: evil.example",
    "\u0000",
    "ü🍎\u202e",
    "...",
    "..;",
    "a".repeat(2_000),
  ])("%j is one segment, whatever it holds", async (value) => {
    await read(value);
    expect(app.seen.map(({ method, target, headers }) => [method, target, headers.host])).toEqual([
      ["GET", `/base/1/authentications/${encodeURIComponent(value)}`, `127.0.0.1:${app.port}`],
    ]);
  });

  test("a value in the middle of a path stays there", async () => {
    const args = (calendar_id: string) => ({ calendar_id, event_id: "e" });
    const { entityId } = await connectCalendar("token");
    app.seen.length = 0;
    await callTool(near, "calendar.get_event", args("../../x?y#z"), { entityId });
    expect(app.seen.map(({ target }) => target)).toEqual(["/calendar/v3/calendars/..%2F..%2Fx%3Fy%23z/events/e"]);
    const refused = await callTool(near, "calendar.get_event", args(".."), { entityId });
    expect(refused.outcome).toBe("invalid_arguments");
    expect(app.seen).toHaveLength(1);
  });

  test("values in the query neither add parameters nor end it", async () => {
    await callTool(near, "search_ingestion.list_authentications", { type: ["a&page=9#x", "b\r\nx: y", "=+%26"] });
    expect(app.seen.map(({ query }) => [...query.keys()].toSorted())).toEqual([
      ["itemsPerPage", "order", "sort", "type"],
    ]);
    expect(app.seen[0]?.query.get("type")).toBe("a&page=9#x,b\r\nx: y,=+%26");
    expect(app.seen[0]?.headers["x"]).toBeUndefined();
  });
});

/** Connects a calendar whose app issues this token. */
async function connectCalendar(token: string): Promise<{ entityId: string; status: number }> {
  const entityId = `calendar-${++projects}`;
  app.answer = ({ path }, res) =>
    path === "/token" ? reply(res, { access_token: token, token_type: "bearer" }) : reply(res, {});
  const { authorizeUrl } = await connect(near, "calendar", { entityId, scheme: "oauth2" });
  const browser = openBrowser();
  const asked = new URL((await browser.open(authorizeUrl)).location);
  const state = encodeURIComponent(asked.searchParams.get("state") ?? "");
  const { status } = await browser.open(`${near.url}/oauth/callback?code=c&state=${state}`);
  return { entityId, status };
}

const hostileHosts = [
  "evil.example/#",
  "evil.example/",
  "evil.example?",
  "evil.example#",
  "x@evil.example/",
  "x@evil.example",
  "user:pass@evil.example",
  "a.b:80",
  "evil.example:443/#",
  "a..b",
  ".a",
  "a.",
  "-a",
  "a-",
  "a b",
  "a\r\nb",
  "a\u0001b",
  "a\\b",
  "a%2fb",
  "[::1]",
  "::1",
  "ü.example",
  "a。b",
  "",
  "..",
  "{{account.port}}",
];
const privateHosts = [
  "127.0.0.1",
  "10.0.0.1",
  "192.168.1.1",
  "172.16.0.1",
  "169.254.169.254",
  "100.64.0.1",
  "0.0.0.0",
  "0",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "localhost",
  "app.localhost",
];

describe("values in the host", () => {
  const variables = (hostname: string) => ({ accountVariables: { hostname, port: String(app.port) } });

  test.each(hostileHosts)("an account's host name %j is refused", async (hostname) => {
    for (const server of [near, open]) {
      const answer = await initiate(server, "vector_db", variables(hostname));
      expect([answer.code, answer.field]).toEqual(["invalid_argument", "accountVariables.hostname"]);
      expect(answer.reason).toBe(hostname === "" ? "ACCOUNT_VARIABLE_MISSING" : "ACCOUNT_VARIABLE_INVALID");
    }
    expect(app.connections).toBe(0);
  });

  test.each(privateHosts)(
    "an account's host name %j is refused where only public addresses are dialled",
    async (hostname) => {
      const answer = await initiate(open, "vector_db", variables(hostname));
      expect([answer.code, answer.reason]).toEqual(["invalid_argument", "ACCOUNT_VARIABLE_INVALID"]);
      expect(app.connections).toBe(0);
    },
  );

  test.each(["0", "65536", "99999", "80/", "80@evil.example", "80#", "+80", " 80", "8e1", "-1", "８０"])(
    "a port %j is refused",
    async (port) => {
      const accountVariables = { hostname: "vectors.example.com", port };
      const answer = await initiate(near, "vector_db", { accountVariables });
      expect([answer.code, answer.reason, answer.field]).toEqual([
        "invalid_argument",
        "ACCOUNT_VARIABLE_INVALID",
        "accountVariables.port",
      ]);
    },
  );

  test.each([...hostileHosts, "a.b", "a_b"].filter((host) => host !== ""))(
    "a prefix %j in front of a fixed domain is refused",
    async (prefix) => {
      const answer = await initiate(near, "payments_checkout", { accountVariables: { live_url_prefix: prefix } });
      expect([answer.code, answer.reason]).toEqual(["invalid_argument", "ACCOUNT_VARIABLE_INVALID"]);
    },
  );

  test.each([...hostileHosts, `127.0.0.1:$PORT/#`, `x@127.0.0.1:$PORT/`])(
    "a call's argument %j does not leave its label",
    async (value) => {
      const dc = value.replace("$PORT", String(app.port));
      const answer = await callTool(near, "email_marketing.list_audiences", { dc });
      expect(answer).toMatchObject({ outcome: "invalid_arguments", providerStatus: 0 });
      const shown = await callTool(near, "email_marketing.list_audiences", { dc }, { dryRun: true });
      expect(shown.outcome).toBe("invalid_arguments");
      expect(app.connections).toBe(0);
    },
  );

  test("a label of several stays below the fixed domain", async () => {
    const shown = await callTool(near, "email_marketing.list_audiences", { dc: "us1" }, { dryRun: true });
    expect(new URL(shown.request?.url ?? "").hostname).toBe("us1.mail.example.invalid");
    const several = await callTool(near, "email_marketing.list_audiences", { dc: "evil.example" }, { dryRun: true });
    if (several.outcome === "ok") {
      expect(new URL(several.request?.url ?? "").hostname).toBe("evil.example.mail.example.invalid");
    } else expect(several.outcome).toBe("invalid_arguments");
  });

  test("variables that a private toolkit checks by no pattern are held to the same form", async () => {
    const project = await newProject(near);
    const account = [
      { name: "host", description: "Host name of the app." },
      { name: "tenant", description: "Name of the tenant." },
    ];
    const made = await publish(
      near,
      project,
      definition({ baseUrl: "https://{{account.host}}/{{account.tenant}}", account }),
    );
    expect(made.status, JSON.stringify(made.json)).toBe(200);
    const attempt = (accountVariables: object) => initiate(near, "own", { accountVariables }, project.approver);
    for (const host of hostileHosts) {
      const answer = await attempt({ host, tenant: "t" });
      expect([host, answer.code, answer.field]).toEqual([host, "invalid_argument", "accountVariables.host"]);
    }
    for (const tenant of ["..", ".", "a/b", "a?b", "a#b", "%2e%2e", "a b", "a\r\nb", "ü", ""]) {
      const answer = await attempt({ host: "app.example.com", tenant });
      expect([tenant, answer.code, answer.field]).toEqual([tenant, "invalid_argument", "accountVariables.tenant"]);
    }
    const member = await initiate(
      near,
      "own",
      { accountVariables: { host: "a.example", tenant: "t" } },
      project.member,
    );
    expect([member.code, member.reason]).toEqual(["permission_denied", "ORIGIN_NEEDS_APPROVER"]);
  });
});

describe("addresses that may not be dialled", () => {
  const at = (host: string) => `https://${host}:$PORT`;
  const placed = (address: string) => address.replace("$PORT", String(app.port));
  const spellings = [
    ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "0.0.0.0"].map(at),
    at("[::1]"),
    at("[::ffff:127.0.0.1]"),
    at("[::ffff:7f00:1]"),
    at("[64:ff9b::7f00:1]"),
    "https://10.0.0.1",
    "https://192.168.0.1/x",
    "https://169.254.169.254",
    "https://[fd00:ec2::254]",
    "https://[fe80::1]",
  ];

  test.each(["http://127.0.0.1:$PORT", "http://localhost:$PORT", "http://[::1]:$PORT", ...spellings])(
    "a private toolkit at %s reaches nobody",
    async (address) => {
      const project = await newProject(open);
      const baseUrl = placed(address);
      const identify = { tool: "read", path: "id" };
      for (const extra of [{}, { identify }]) {
        const made = await publish(open, project, definition({ baseUrl, ...extra }));
        if (made.status !== 200) {
          // An address in this literal form is refused when the definition is published.
          expect(made.reason).toBe("DEFINITION_INVALID");
          continue;
        }
        const connected = await initiate(open, "own", {}, project.approver);
        if (connected.status !== 200) {
          expect(["ACCOUNT_VARIABLE_INVALID", "PROBE_FAILED"]).toContain(connected.reason);
          continue;
        }
        const answer = await callTool(open, "own.read", {}, { bearer: project.member });
        expect(answer).toMatchObject({ outcome: "unreachable", retryable: false, providerStatus: 0 });
      }
      expect([app.seen, app.connections]).toEqual([[], 0]);
    },
  );

  test("the same address is reached where the operator opened its range, so that the test above tells something", async () => {
    const opened = await startTestServer({
      variables: { SVC_HOST: "0.0.0.0", SVC_PROVIDER_CIDRS: "127.0.0.0/8,169.254.0.0/16", SVC_SANDBOX: "off" },
    });
    const project = await newProject(opened);
    expect((await publish(opened, project, definition())).status).toBe(200);
    expect((await initiate(opened, "own", {}, project.approver)).status).toBe(200);
    expect((await callTool(opened, "own.read", {}, { bearer: project.member })).outcome).toBe("ok");
    expect(app.seen).toHaveLength(1);
    // No allowed range of addresses permits the metadata service.
    expect((await publish(opened, project, definition({ baseUrl: "https://169.254.169.254" }))).status).toBe(200);
    const refused = await initiate(opened, "own", {}, project.approver);
    if (refused.status === 200) {
      const answer = await callTool(opened, "own.read", {}, { bearer: project.member });
      expect(answer).toMatchObject({ outcome: "unreachable", retryable: false, providerStatus: 0 });
      expect(answer.message).toContain("metadata");
    } else expect(refused.reason).toBe("ACCOUNT_VARIABLE_INVALID");
    await opened.stop();
  });

  test("a project's own client secret is not sent to a private token endpoint", async () => {
    const project = await newProject(open);
    for (const tokenUrl of spellings) {
      const auth = [{ type: "client_credentials", tokenUrl: `${placed(tokenUrl)}/token` }];
      const made = await publish(open, project, definition({ baseUrl: "https://app.example.com", auth }));
      if (made.status !== 200) {
        expect(made.reason).toBe("DEFINITION_INVALID");
        continue;
      }
      const set = await open.call(
        "svc.v1.ConnectionsService/SetProjectCredential",
        { toolkitSlug: "own", clientId: "c", clientSecret: "s" },
        { bearer: project.approver },
      );
      expect(set.status).toBe(200);
      const answer = await callTool(open, "own.read", {}, { bearer: project.member, entityId: "" });
      expect(answer).toMatchObject({ outcome: "account_unusable", providerStatus: 0 });
    }
    expect(app.connections).toBe(0);
  });

  test("a bound app that redirects a read to a private address is not followed there", async () => {
    const other = await startProvider();
    const opened = await startTestServer({
      variables: {
        SVC_HOST: "0.0.0.0",
        SVC_PROVIDER_CIDRS: "127.0.0.0/8",
        SVC_DEPLOYMENT: deployment.path,
        SVC_SANDBOX: "off",
      },
    });
    await connect(opened, "search_ingestion", { apiKey: "k" });
    for (const target of [other.url, "http://169.254.169.254/", "http://10.0.0.1/"]) {
      app.answer = (_seen, res) => void res.writeHead(302, { location: target }).end();
      const answer = await callTool(opened, "search_ingestion.get_authentication", { authenticationID: "a" });
      expect(answer).toMatchObject({ outcome: "provider_error", providerStatus: 302 });
    }
    expect(other.connections).toBe(0);
    await opened.stop();
    await other.close();
  });
});

describe("answers made to hurt the reader", () => {
  const send = (body: string | Buffer): void => {
    app.answer = (_seen, res) => void res.writeHead(200, { "content-type": "application/json" }).end(body);
  };
  const read = () => callTool(near, "search_ingestion.list_authentications", {});
  const deep = 1_000_000;

  test.each([
    ["lists in lists", "[".repeat(deep) + "]".repeat(deep)],
    ["objects in objects", `${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`],
    ["lists where a declared list stands", `{"authentications":${"[".repeat(deep)}${"]".repeat(deep)}}`],
    ["a declared object, deep", `{"authentications":[{"input":${'{"a":'.repeat(deep)}1${"}".repeat(deep)}}]}`],
    ["an object without end", '{"a":'.repeat(deep)],
    ["a long number", `{"pagination":{"page":${"9".repeat(1_000_000)}}}`],
    ["an exponent", '{"pagination":{"page":1e999999999}}'],
    ["millions of items", `{"authentications":[${"{},".repeat(2_000_000)}{}]}`],
    ["millions of wrong items", `{"authentications":[${"1,".repeat(3_000_000)}1]}`],
    ["thousands of names", `{${Array.from({ length: 400_000 }, (_, at) => `"k${at}":1`).join(",")}}`],
    ["one name many times", `{${'"pagination":{"page":1},'.repeat(200_000)}"pagination":{"page":2}}`],
    [
      "names of the language",
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"authentications":[]}',
    ],
    [
      "broken UTF-8",
      Buffer.concat([
        Buffer.from('{"authentications":[{"name":"'),
        Buffer.from([0xff, 0xc0, 0x80]),
        Buffer.from('"}]}'),
      ]),
    ],
    ["U+0000", '{"authentications":[{"name":"a\\u0000b","owner":"\\ud800"}]}'],
  ])("%s", async (_what, body) => {
    send(body);
    const startedAt = Date.now();
    const answer = await read();
    expect(["ok", "provider_error"]).toContain(answer.outcome);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    const { status } = await near.call("svc.v1.ToolsService/GetToolCall", { id: answer.callId });
    expect(status).toBe(200);
    send('{"authentications":[]}');
    expect((await read()).outcome).toBe("ok");
  });

  test("500 headers are read, and more than 256 KiB of them are not", async () => {
    const sendHeaders = (count: number) => {
      app.answer = (_seen, res) => {
        for (let at = 0; at < count; at++) res.setHeader(`x-${at}`, "v".repeat(100));
        reply(res, {});
      };
    };
    sendHeaders(500);
    expect(await read()).toMatchObject({ outcome: "ok", providerStatus: 200 });
    sendHeaders(3000);
    expect(await read()).toMatchObject({ outcome: "unreachable", providerStatus: 0 });
  });
});

describe("header injection", () => {
  // U+0000 is not in this list: REQUEST_MALFORMED refuses any request with it before a method is called.
  const breaks = ["a\r\nx-evil: 1", "a\nx-evil: 1", "a\rx-evil: 1", "a\u0001", "a\u0085b", "a\u2028b", "ü"];

  test.each(breaks)("an argument that a header carries: %j", async (value) => {
    const answer = await callTool(near, "incident_mgmt.resolve_incident", {
      incident_id: "1",
      from_email: value,
      confirm: true,
    });
    expect(answer).toMatchObject({ outcome: "invalid_arguments", providerStatus: 0 });
    expect(app.connections).toBe(0);
  });

  test.each(breaks)("a credential: %j", async (value) => {
    const answer = await initiate(near, "search_ingestion", { entityId: "hostile", apiKey: value });
    if (answer.status !== 200) {
      expect([answer.code, answer.reason, answer.field]).toEqual(["invalid_argument", "CREDENTIAL_INVALID", "apiKey"]);
      expect(JSON.stringify(answer.json)).not.toContain("x-evil");
      return;
    }
    const called = await callTool(near, "search_ingestion.list_authentications", {}, { entityId: "hostile" });
    expect(called).toMatchObject({ outcome: "account_unusable", providerStatus: 0 });
    expect(app.connections).toBe(0);
  });

  test.each(breaks.slice(0, 5))("a user name and a password: %j", async (value) => {
    const project = await newProject(near);
    expect((await publish(near, project, definition({ auth: [{ type: "basic" }] }))).status).toBe(200);
    for (const basic of [
      { username: value, password: "p" },
      { username: "u", password: value },
    ]) {
      const answer = await initiate(near, "own", { scheme: "basic", apiKey: "", basic }, project.approver);
      expect([answer.code, answer.reason]).toEqual(["invalid_argument", "CREDENTIAL_INVALID"]);
    }
  });

  test.each(["t\r\nx-evil: 1", "t\nx", "t\u0000", "tü"])("an access token that the app gives: %j", async (token) => {
    const { entityId } = await connectCalendar(token);
    app.seen.length = 0;
    const answer = await callTool(near, "calendar.list_events", { calendar_id: "primary" }, { entityId });
    expect(["account_unusable", "no_account"]).toContain(answer.outcome);
    expect(app.seen).toEqual([]);
    expect(JSON.stringify(answer)).not.toContain("x-evil");
  });

  test("texts of requests: entity, idempotency key, connection's entity, references, account variables", async () => {
    for (const text of breaks.slice(0, 4)) {
      const called = (changes: object) =>
        near.call("svc.v1.ToolsService/CallTool", {
          toolSlug: "search_ingestion.list_sources",
          entityId: "ann",
          ...changes,
        });
      expect((await called({ entityId: text })).reason).toBe("ENTITY_ID_INVALID");
      expect((await called({ idempotencyKey: text })).reason).toBe("IDEMPOTENCY_KEY_INVALID");
      expect((await initiate(near, "search_ingestion", { entityId: text })).reason).toBe("ENTITY_ID_INVALID");
      const accountVariables = { hostname: text, port: "1" };
      expect((await initiate(near, "vector_db", { accountVariables })).reason).toBe("ACCOUNT_VARIABLE_INVALID");
      const { account } = await connect(near, "incident_mgmt", { entityId: "referenced", apiKey: "k" });
      const references = { id: account.id, references: [text] };
      expect((await near.call("svc.v1.ConnectionsService/SetAccountReferences", references)).reason).toBe(
        "REFERENCE_INVALID",
      );
    }
    expect(app.connections).toBe(0);
  });

  test("a private definition's headers, credential's place and path", async () => {
    const project = await newProject(near);
    const query = { id: "{{params.id}}" };
    const key = (part: object) => ({
      auth: [{ type: "api_key", placement: "header", name: "X-Own", value: "{{credential.key}}", ...part }],
    });
    const hostile: string[] = [
      definition(key({ name: "X-Own\r\nx-evil" })),
      definition(key({ name: "Host" })),
      definition(key({ name: "Content-Length" })),
      definition(key({ name: "Transfer-Encoding" })),
      definition(key({ value: "a\r\nx-evil: 1 {{credential.key}}" })),
      definition({ always: { headers: { "x-a": "b\r\nx-evil: 1" } } }),
      definition({ always: { headers: { "x-a\r\nx-evil": "b" } } }),
      definition({ always: { headers: { host: "evil.example" } } }),
      definition({}, { request: { method: "GET", path: "/things", query, headers: { "x-a": "b\nx-evil: 1" } } }),
      definition(
        {},
        { request: { method: "GET", path: "/things", query, headers: { "Transfer-Encoding": "chunked" } } },
      ),
      definition({}, { request: { method: "GET", path: "//evil.example/x", query } }),
      definition({}, { request: { method: "GET", path: "/x HTTP/1.1\r\nx-evil: 1", query } }),
      definition({}, { request: { method: "GET", path: "/../x", query } }),
      definition({}, { request: { method: "GET", path: "@evil.example/", query } }),
    ];
    for (const text of hostile) {
      app.reset();
      const made = await publish(near, project, text);
      if (made.status !== 200) {
        expect([made.code, made.reason]).toEqual(["invalid_argument", "DEFINITION_INVALID"]);
        continue;
      }
      // The definition was accepted, so the test checks that a connection by it is contained.
      const connected = await initiate(near, "own", {}, project.approver);
      if (connected.status === 200) await callTool(near, "own.read", {}, { bearer: project.member });
      for (const { headers, target } of app.seen) {
        expect(headers, text).not.toHaveProperty("x-evil");
        expect(headers.host, text).toBe(`127.0.0.1:${app.port}`);
        expect(target.startsWith("/"), text).toBe(true);
      }
    }
  });
});
