import { testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { checkProgram } from "../check/program.ts";

const context = await testContext();
const url = "https://api.example.com/invoices";
const bearer = { $secret: "billing_token", prefix: "Bearer " };

const stepOf = (http: object, changes: object = {}) => ({
  id: "one",
  http: { method: "POST", url, ...http },
  ...changes,
});
const programOf = (...steps: object[]) => ({
  version: 1,
  title: "Requests",
  inputSchema: {
    type: "object",
    properties: { id: { type: "string" }, list: { type: "array" }, token: { type: "string", "x-sensitive": true } },
  },
  params: { token: "planted-param" },
  steps,
});

async function check(...steps: object[]) {
  const checked = await checkProgram(JSON.stringify(programOf(...steps)), context);
  if (!("faults" in checked)) return { estimate: checked.estimate, pins: checked.pins, faults: [] };
  const faults = checked.faults.map(({ code, pointer, message, hint }) => {
    return {
      place: `${code.slice("PROGRAM_".length)} ${pointer.replace("/steps/0", "")}`,
      text: `${message}: ${hint}`,
    };
  });
  return { faults };
}

/** Returns the places of the faults of one step. */
const placesOf = async (step: object) => (await check(step)).faults.map(({ place }) => place);

test.each([
  stepOf({}),
  stepOf({ url: "https://API.EXAMPLE.com:443/x?y=z" }),
  stepOf({ url: "http://127.0.0.1:8080/x" }),
  stepOf({ url: { $text: "https://api.example.com/{input.id}/x/{input.id}{input.id}?a={input.id}" } }),
  stepOf({ url: { $text: "https://api.example.com?a={input.id}" } }),
  stepOf({ method: "GET", query: { a: 1, b: ["x", true], c: { $ref: "input.id" }, token: bearer } }),
  stepOf({ headers: { Authorization: bearer, "X-Request": { $text: "r-{input.id}" } }, body: { a: [bearer] } }),
  stepOf({ headers: { authorization: { $ref: "input.token" } }, body: { $secret: "billing_token" } }),
  stepOf({ body: "text", headers: { "content-type": "text/plain" } }),
  stepOf({ method: "DELETE" }, { confirm: true, idempotency: { header: "Idempotency-Key" } }),
  stepOf(
    { method: "GET" },
    { rows: { from: "data.items[]", key: "id", keep: ["id"] }, retry: { max: 3 }, timeout: "5s" },
  ),
])("a request is accepted: %j", async (step) => {
  expect((await check(step)).faults).toEqual([]);
});

test.each([
  // The host of a request must be allowed.
  ["https://other.example.com/", "HOST_NOT_ALLOWED /http/url"],
  ["https://api.example.com:8443/", "HOST_NOT_ALLOWED /http/url"],
  ["https://api.example.com./", "HOST_NOT_ALLOWED /http/url"],
  ["https://sub.api.example.com/", "HOST_NOT_ALLOWED /http/url"],
  ["https://example.com/", "HOST_NOT_ALLOWED /http/url"],
  ["https://api.example.com.evil.example/", "HOST_NOT_ALLOWED /http/url"],
  ["https://аpi.example.com/", "HOST_NOT_ALLOWED /http/url"],
  ["https://169.254.169.254/latest", "HOST_NOT_ALLOWED /http/url"],
  ["https://[::1]:8080/", "HOST_NOT_ALLOWED /http/url"],
  ["http://localhost:8080/", "HOST_NOT_ALLOWED /http/url"],
  ["http://127.0.0.1/", "HOST_NOT_ALLOWED /http/url"],
  ["http://127.0.0.1:8081/", "HOST_NOT_ALLOWED /http/url"],
  ["http://api.example.com/", "MALFORMED /http/url"],
  ["https://user:password@api.example.com/", "MALFORMED /http/url"],
  ["https://api.example.com@evil.example/", "MALFORMED /http/url"],
  ["https://api.example.com/#x", "MALFORMED /http/url"],
  ["https://api.exa mple.com/", "MALFORMED /http/url"],
  ["https://api.example.com/\n", "MALFORMED /http/url"],
  ["ftp://api.example.com/", "MALFORMED /http/url"],
  ["api.example.com/x", "MALFORMED /http/url"],
  ["//api.example.com/x", "MALFORMED /http/url"],
  ["https://api.example.com/a/../b", "MALFORMED /http/url"],
  ["https://api.example.com/a/%2E%2e", "MALFORMED /http/url"],
  ["", "MALFORMED /http/url"],
  [`https://api.example.com/${"x".repeat(2_048)}`, "MALFORMED /http/url"],
  [7, "MALFORMED /http/url"],
  [bearer, "MALFORMED /http/url"],
  [{ $ref: "input.id" }, "MALFORMED /http/url"],
  // The host must be written in the program. No value may decide it.
  [{ $text: "{input.id}/x" }, "MALFORMED /http/url"],
  [{ $text: "https://{input.id}/x" }, "MALFORMED /http/url"],
  [{ $text: "https://{input.id}.example.com/x" }, "MALFORMED /http/url"],
  [{ $text: "https://api.example.com{input.id}/" }, "MALFORMED /http/url"],
  [{ $text: "https://api.example.com:{input.id}/" }, "MALFORMED /http/url"],
  [{ $text: "https://user:{input.id}@api.example.com/" }, "MALFORMED /http/url"],
  [{ $text: "https://api.example.com\\{input.id}/" }, "MALFORMED /http/url"],
  [{ $text: "https://api.example.com#{input.id}" }, "MALFORMED /http/url"],
  [{ $text: "https://api.example.com/{input.none}" }, "REFERENCE_INVALID /http/url"],
  [{ $text: "https://api.example.com/{input.list}" }, "REFERENCE_INVALID /http/url"],
])("the address %j is refused: %s", async (address, place) => {
  const places = await placesOf(stepOf({ url: address }));
  expect(places.map((found) => found.replace("/http/url/$text", "/http/url"))).toEqual([place]);
});

test.each([
  [stepOf({ method: "get" }), "MALFORMED /http/method"],
  [stepOf({ method: "GET", body: {} }), "MALFORMED /http/body"],
  [stepOf({ headers: { Host: "evil.example" } }), "MALFORMED /http/headers/Host"],
  [stepOf({ headers: { "content-length": "1" } }), "MALFORMED /http/headers/content-length"],
  [stepOf({ headers: { "a\r\nb": "1" } }), "MALFORMED /http/headers/a\r\nb"],
  [stepOf({ headers: { "x-a": "1", "X-A": "2" } }), "MALFORMED /http/headers/X-A"],
  [stepOf({ headers: { "x-a": {} } }), "ARGUMENT_INVALID /http/headers/x-a"],
  [stepOf({ headers: { "x-a": { $ref: "input.list" } } }), "ARGUMENT_INVALID /http/headers/x-a"],
  [stepOf({ headers: { $secret: "billing_token" } }), "MALFORMED /http/headers"],
  [stepOf({ query: { a: { b: 1 } } }), "ARGUMENT_INVALID /http/query/a"],
  [stepOf({ method: "DELETE" }), "CONFIRM_MISSING /http"],
  [stepOf({ method: "DELETE" }, { confirm: false }), "CONFIRM_MISSING /confirm"],
  [stepOf({ method: "DELETE" }, { confirm: { $ref: "input.id" } }), "CONFIRM_MISSING /confirm"],
  [stepOf({ method: "HEAD" }, { idempotency: { header: "x-key" } }), "MALFORMED /idempotency"],
  [stepOf({}, { idempotency: { header: "a b" } }), "MALFORMED /idempotency/header"],
  // Headers that cannot carry an idempotency key to the host.
  [stepOf({}, { idempotency: { header: "Host" } }), "MALFORMED /idempotency/header"],
  [stepOf({}, { idempotency: { header: "content-type" } }), "MALFORMED /idempotency/header"],
  [
    stepOf({ headers: { Authorization: bearer } }, { idempotency: { header: "authorization" } }),
    "MALFORMED /idempotency/header",
  ],
  [stepOf({}, { idempotency: { header: "x-http-method" } }), "MALFORMED /idempotency/header"],
  // Hosts may read these names as the same header.
  [stepOf({ headers: { "X-HTTP-Method-Override": "DELETE" } }), "MALFORMED /http/headers/X-HTTP-Method-Override"],
  [stepOf({ headers: { X_HTTP_Method_Override: "DELETE" } }), "MALFORMED /http/headers/X_HTTP_Method_Override"],
  [stepOf({ query: { _method: "DELETE" } }), "MALFORMED /http/query/_method"],
  [
    stepOf({ query: { "X-HTTP-Method-Override": { $ref: "input.id" } } }),
    "MALFORMED /http/query/X-HTTP-Method-Override",
  ],
  [stepOf({ body: { _Method: "DELETE" } }), "MALFORMED /http/body/_Method"],
  [stepOf({ url: `${url}?_method=DELETE` }), "MALFORMED /http/url"],
  [stepOf({}, { idempotency: { header: "method-override" } }), "MALFORMED /idempotency/header"],
  [stepOf({}, { entity: "ops" }), "MALFORMED /entity"],
  [stepOf({}, { undo: { call: "messaging_bot.get_me" } }), "MALFORMED /undo"],
  // Credentials must not be written into a program.
  [stepOf({ headers: { Authorization: "Bearer planted" } }), "SENSITIVE_LITERAL /http/headers/Authorization"],
  [stepOf({ headers: { "x-api-key": { $ref: "params.token" } } }), "SENSITIVE_LITERAL /http/headers/x-api-key"],
  [stepOf({ headers: { cookie: { $text: "a={input.id}" } } }), "SENSITIVE_LITERAL /http/headers/cookie"],
  // Secrets that do not exist or are at a wrong place.
  [stepOf({ body: { $secret: "missing" } }), "SECRET_UNKNOWN /http/body/$secret"],
  [stepOf({ body: { $secret: "Not A Name" } }), "MALFORMED /http/body/$secret"],
  [stepOf({ body: { $secret: 7 } }), "MALFORMED /http/body/$secret"],
  [stepOf({ body: { $secret: "billing_token", else: "x" } }), "MALFORMED /http/body/else"],
  [stepOf({ body: { $secret: "billing_token", prefix: 1 } }), "MALFORMED /http/body/prefix"],
])("%j is refused at %s", async (step, place) => {
  expect(await placesOf(step)).toEqual([place]);
});

test("a secret stands where a tool keeps it one, and nowhere else", async () => {
  const call = (tool: string, args: object, changes: object = {}) => ({
    id: "call",
    call: tool,
    entity: "ops",
    args,
    ...changes,
  });
  const secret = { $secret: "billing_token" };
  expect(await placesOf(call("bank_link.get_item", { access_token: secret }))).toEqual([]);
  expect(await placesOf(call("messaging_bot.send_message", { chat_id: "@team", text: secret }))).toEqual([
    "REFERENCE_INVALID /args/text",
  ]);
  const undo = { call: "bank_link.remove_item", args: { access_token: secret, confirm: true } };
  expect(await placesOf(call("bank_link.get_item", { access_token: { $ref: "input.token" } }, { undo }))).toEqual([
    "REFERENCE_INVALID /undo/args/access_token",
  ]);
  expect(await placesOf({ id: "until", wait: { until: secret } })).toContain("REFERENCE_INVALID /wait/until");
  const [fault] = (await check(call("bank_link.get_item", { access_token: "planted" }))).faults;
  expect(fault).toMatchObject({ place: "SENSITIVE_LITERAL /args/access_token" });
  expect(fault?.text).toContain('{"$secret": "<name>"}');
  expect(fault?.text).not.toContain("planted");
  const given = { ...programOf(stepOf({})), params: { deep: [secret] } };
  expect(await checkProgram(JSON.stringify(given), context)).toMatchObject({
    faults: [{ code: "PROGRAM_TEMPLATE_LITERAL", pointer: "/params/deep/0" }],
  });
  const result = { ...programOf(stepOf({})), result: { token: secret } };
  expect(await checkProgram(JSON.stringify(result), context)).toMatchObject({
    faults: [{ code: "PROGRAM_REFERENCE_INVALID", pointer: "/result/token" }],
  });
});

test("refusals say what would be right", async () => {
  const texts = async (step: object) => (await check(step)).faults.map(({ text }) => text).join();
  expect(await texts(stepOf({ url: "https://other.example.com/" }))).toBe(
    'other.example.com is not on the project\'s list of hosts: have an administrator add it with SetProjectPolicy {"http": {"hosts": ["other.example.com"]}}, or call a host on the list: api.example.com, 127.0.0.1:8080',
  );
  expect(await texts(stepOf({ body: { $secret: "missing" } }))).toContain("ListSecrets lists the existing ones");
  expect(await texts(stepOf({ headers: { authorization: "Bearer planted" } }))).toContain(
    '{"$secret": "<name>"}, with "prefix": "Bearer "',
  );
  for (const value of [{ $text: "Bearer {secrets.billing_token}" }, { $ref: "secret.billing_token" }]) {
    expect(await texts(stepOf({ headers: { authorization: value } }))).toContain(
      'write a secret by itself, as {"$secret": "<name>", "prefix": "Bearer "}',
    );
  }
  expect(await texts(stepOf({ method: "DELETE" }))).toContain('write "confirm": true next to http');
});

test("requests count by what their methods may do, with pages and repetitions, for each row", async () => {
  const rows = { from: "[]", keep: ["id"], page: { arg: "page", from: "next", max: 3 } };
  const { estimate, pins } = await check(stepOf({ method: "GET" }, { id: "items", rows, retry: { max: 1 } }), {
    id: "each",
    map: "items",
    do: [stepOf({}), stepOf({ method: "DELETE" }, { id: "two", confirm: true })],
  });
  expect(estimate).toMatchObject({
    callsMax: 10_000,
    accessClasses: ["read", "write", "destructive"],
    toolkits: ["http"],
    entities: [],
    notCompensable: ["each"],
  });
  expect(pins).toEqual({});
  expect((await check(stepOf({ method: "GET" }, { retry: { max: 2 } }))).estimate).toMatchObject({
    callsMin: 1,
    callsMax: 3,
    writesMax: 0,
  });
});

test("an answer changes no request, and none is done again after a write", async () => {
  const point = {
    question: "?",
    continuations: ["retry-with"],
    overrides: { target: "steps.one.args", rerunFrom: "one" },
    answerSchema: { type: "object", additionalProperties: false, properties: { url: { type: "string" } } },
    escalation: [{ principal: "lead" }],
  };
  const program = { ...programOf(stepOf({}), { id: "ask", judge: "sure" }), points: { sure: point } };
  expect(await checkProgram(JSON.stringify(program), context)).toMatchObject({
    faults: [
      {
        pointer: "/points/sure/overrides/target",
        message: expect.stringContaining("answers cannot change its request"),
      },
      { pointer: "/points/sure/overrides/rerunFrom", message: "would repeat the write one (http)" },
    ],
  });
});

test("hosts and secrets are asked for each time, also of a program that was accepted before", async () => {
  const text = JSON.stringify(programOf(stepOf({ headers: { authorization: bearer } })));
  expect(await checkProgram(text, context)).toHaveProperty("program");
  const hostless = { ...context, httpHosts: async () => new Set<string>() };
  expect(await checkProgram(text, hostless)).toMatchObject({ faults: [{ code: "PROGRAM_HOST_NOT_ALLOWED" }] });
  const erased = { ...context, hasSecrets: async (names: readonly string[]) => names.map(() => false) };
  expect(await checkProgram(text, erased)).toMatchObject({ faults: [{ code: "PROGRAM_SECRET_UNKNOWN" }] });
});
