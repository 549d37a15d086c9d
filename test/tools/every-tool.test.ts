import { type Action, fillInput, type JsonSchema, parseDefinitionFile } from "@svc/catalog";
import type { AppCall } from "@svc/connections";
import { createSealer, generateVaultKey, type ProjectId, parseVaultKeys, systemClock } from "@svc/core";
import { createSandbox } from "@svc/sandbox";
import { repeats } from "@svc/testing/sample";
import { startTestServer, type TestServer } from "@svc/testing/server";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { drawArguments } from "../conformance/arguments.ts";
import { actions, catalog, readDefinition } from "../conformance/definitions.ts";
import {
  type AlwaysText,
  expectedRequest,
  placedArguments,
  type RequestText,
} from "../conformance/expected-request.ts";
import { consent, openBrowser } from "./browser.ts";
import { type CallAnswer, type CallChanges, callTool, connect } from "./project.ts";

const all = actions.filter((action) => action.callable);
/**
 * A third of each toolkit's tools, because test/conformance covers all of them within one process. `npm run test:crash` calls every tool
 * over HTTP.
 */
const callable = all.filter((_, index) => index % repeats({ sample: 3, whole: 1 }) === 0);
const cases = callable.map((action) => [action.slug, action] as const);
const destructive = cases.filter(([, action]) => action.class === "destructive");

/** The specification's table on authentication: name and format of the key, and whether there is OAuth. */
const authentication: Record<string, { key?: readonly [name: string, value: string]; oauth?: true }> = {
  issue_tracker: { oauth: true, key: ["Authorization", "{key}"] },
  incident_mgmt: { key: ["Authorization", "Token token={key}"] },
  messaging_bot: { key: ["Authorization", "Bearer {key}"] },
  email_marketing: { oauth: true, key: ["Authorization", "Basic {key}"] },
  work_mgmt: { oauth: true, key: ["Authorization", "{key}"] },
  esignature: { oauth: true, key: ["Authorization", "Basic {key}"] },
  search_engine: { key: ["X-SEARCHENGINE-API-KEY", "{key}"] },
  vector_db: { key: ["api-key", "{key}"] },
  scheduling: { oauth: true, key: ["Authorization", "Bearer {key}"] },
  sales_crm: { key: ["x-api-token", "{key}"] },
  payments_checkout: { key: ["X-API-Key", "{key}"] },
  search_ingestion: { key: ["x-searchingest-api-key", "{key}"] },
  calendar: { oauth: true },
  data_pipeline: { key: ["Authorization", "Bearer {key}"] },
  bank_link: { key: ["BANKLINK-SECRET", "{key}"] },
  notes_wiki: { oauth: true, key: ["Authorization", "Bearer {key}"] },
};
const tableRows = Object.entries(authentication).flatMap(([toolkit, { key, oauth }]) => [
  ...(key === undefined ? [] : [[toolkit, "api_key", key[0], key[1]] as const]),
  ...(oauth === undefined ? [] : [[toolkit, "oauth2", "Authorization", "Bearer {key}"] as const]),
]);

const entityOf = (scheme: string) => `entity-of-${scheme}`;
const mainScheme = (toolkit: string) => (authentication[toolkit]?.key === undefined ? "oauth2" : "api_key");

let server: TestServer;
const accounts = new Map<string, string>();
const requests = new Map<string, RequestText>();
const always = new Map<string, AlwaysText>();
const called = new Map<string, CallAnswer>();

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force", SVC_LOG_LEVEL: "warn" } });
  for (const slug of catalog.toolkits.keys())
    always.set(slug, (await textOf<{ always?: AlwaysText }>(slug)).always ?? {});
  for (const { slug } of callable) requests.set(slug, (await textOf<{ request: RequestText }>(slug)).request);
  for (const [toolkit, scheme] of tableRows) accounts.set(`${toolkit} ${scheme}`, await connectTo(toolkit, scheme));
  // Destructive tools run last, so that the other tools' objects still exist before.
  const [last, first] = [true, false].map((isLast) =>
    callable.filter(({ class: of }) => (of === "destructive") === isLast),
  );
  for (const group of [first, last]) {
    await inBatches(group ?? [], 16, async (action) => called.set(action.slug, await callOnce(action)));
  }
}, 60_000);
afterAll(() => server?.stop());

/** Reads a definition as YAML holds it. */
async function textOf<Text>(slug: string): Promise<Text> {
  return parseDefinitionFile(slug, await readDefinition(slug)).value as Text;
}

function variablesOf(toolkit: string): Record<string, string> {
  return Object.fromEntries((catalog.toolkits.get(toolkit)?.account ?? []).map(({ name, example }) => [name, example]));
}

async function connectTo(toolkit: string, scheme: string): Promise<string> {
  const { account, authorizeUrl } = await connect(server, toolkit, {
    scheme,
    entityId: entityOf(scheme),
    accountVariables: variablesOf(toolkit),
    ...(scheme === "api_key" && { apiKey: "key-of-the-tests" }),
  });
  if (scheme === "oauth2") {
    const browser = openBrowser();
    const ended = await browser.open(await consent(browser, authorizeUrl, "allow"));
    expect(ended.status, ended.text).toBe(200);
  }
  return account.id;
}

async function inBatches<Item>(items: readonly Item[], size: number, run: (item: Item) => Promise<unknown>) {
  const waiting = items.values();
  const work = async () => {
    for (const item of waiting) await run(item);
  };
  await Promise.all(Array.from({ length: size }, work));
}

/** Returns the same arguments for a tool in every run. `confirm` is left out, because the tests set it themselves. */
function argumentsOf(action: Action): Record<string, unknown> {
  const { path, headers = {} } = requestTextOf(action);
  const segments = new Set(placedArguments({ method: "GET", path }));
  const inHeaders = new Set(placedArguments({ method: "GET", path: "", headers }));
  const useOf = (name: string) => (segments.has(name) ? "segment" : inHeaders.has(name) ? "header" : "any");
  const drawn = fc
    .gen()
    .map((draw) => drawArguments(action.inputSchema, { draw, optionals: "some", useOf }))
    .filter((params) => action.validateInput(params).length === 0);
  // Each tool has a seed of its own. With one seed the ids would be the same, and one tool would delete the object that another reads.
  const [args = {}] = fc.sample(drawn, { numRuns: 1, seed: 20_260_801 + all.indexOf(action) });
  const { confirm: _confirm, ...rest } = args;
  return rest;
}

function requestTextOf({ slug }: Action): RequestText {
  const text = requests.get(slug);
  if (text === undefined) throw new Error(`${slug} was not read`);
  return text;
}

function callAs(action: Action, args: object, changes: CallChanges = {}): Promise<CallAnswer> {
  return callTool(server, action.slug, args, { entityId: entityOf(mainScheme(action.toolkitSlug)), ...changes });
}

/** Calls a tool once. A destructive call is confirmed, under an idempotency key. */
function callOnce(action: Action): Promise<CallAnswer> {
  const args = argumentsOf(action);
  if (action.class !== "destructive") return callAs(action, args);
  return callAs(action, { ...args, confirm: true }, { idempotencyKey: `once-${action.slug}` });
}

/** Returns a copy with `***` in place of each value that the schema marks as sensitive. */
function masked(schema: JsonSchema | undefined, value: unknown): unknown {
  if (schema === undefined || value === undefined || value === null) return value;
  if (schema["x-sensitive"] === true) return "***";
  if (Array.isArray(value)) return value.map((item) => masked(schema["items"] as JsonSchema, item));
  if (typeof value !== "object") return value;
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, masked(properties[name], child)]));
}

/** Lists members of a result that its schema does not name, for objects whose members the schema names. */
function undeclared(schema: JsonSchema | undefined, value: unknown, pointer = ""): string[] {
  if (schema === undefined || typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => undeclared(schema["items"] as JsonSchema, item, `${pointer}/${at}`));
  }
  const properties = schema["properties"] as Record<string, JsonSchema> | undefined;
  if (properties === undefined) return [];
  return Object.entries(value).flatMap(([name, child]) => {
    const isOpen = schema["additionalProperties"] !== undefined && schema["additionalProperties"] !== false;
    if (!Object.hasOwn(properties, name)) return isOpen ? [] : [`${pointer}/${name}`];
    return undeclared(properties[name], child, `${pointer}/${name}`);
  });
}

test("there are 607 callable tools, 91 of them destructive, and the table covers every toolkit", () => {
  expect([all.length, all.filter(({ class: of }) => of === "destructive").length]).toEqual([607, 91]);
  expect(Object.keys(authentication).toSorted()).toEqual([...catalog.toolkits.keys()].toSorted());
});

test.each(cases)("%s is answered within its output schema", (slug, action) => {
  const answer = called.get(slug);
  expect(answer, answer?.message).toMatchObject({
    callId: expect.stringMatching(/^call_/),
    outcome: "ok",
    message: "",
    warnings: [],
    sandbox: true,
    replayed: false,
    faults: [],
  });
  expect(answer?.providerStatus).toBeGreaterThanOrEqual(200);
  expect(answer?.providerStatus).toBeLessThan(300);
  const result: unknown = JSON.parse(answer?.resultJson ?? "");
  expect(action.validateOutput(result)).toEqual([]);
  expect(undeclared(action.outputSchema, result)).toEqual([]);
});

test.each(cases)("%s would send the request that its file declares, without the credential", async (_slug, action) => {
  const args = argumentsOf(action);
  const isDestructive = action.class === "destructive";
  const answer = await callAs(action, isDestructive ? { ...args, confirm: true } : args, { dryRun: true });
  expect(answer).toMatchObject({ outcome: "ok", callId: "", resultJson: "", providerStatus: 0 });
  const params = masked(action.inputSchema, fillInput(action.inputSchema, args)) as Record<string, unknown>;
  const scope = { params, account: variablesOf(action.toolkitSlug) };
  const expected = expectedRequest(requestTextOf(action), always.get(action.toolkitSlug) ?? {}, scope);
  const { method, url, headers = {}, bodyJson = "" } = answer.request ?? {};
  const { pathname, searchParams, hostname } = new URL(url ?? "");
  expect({
    method,
    path: pathname,
    query: [...searchParams],
    body: bodyJson === "" ? undefined : JSON.parse(bodyJson),
  }).toEqual({
    method: expected.method,
    path: new URL(expected.path, "http://app").pathname,
    // The items that csv joins are percent-encoded one by one, which the parsed address no longer shows.
    query: expected.query.map(([name, value]) => [name, value]),
    body: expected.body === undefined ? undefined : JSON.parse(JSON.stringify(expected.body)),
  });
  expect(hostname).toBe(`${action.toolkitSlug.replaceAll("_", "-")}.sandbox.invalid`);
  for (const [name, value] of Object.entries(expected.headers)) expect(headers[name.toLowerCase()]).toBe(value);
  const [name, value] = authentication[action.toolkitSlug]?.key ?? ["Authorization", "Bearer {key}"];
  expect(Object.entries(headers)).toContainEqual([
    expect.stringMatching(new RegExp(`^${name}$`, "i")),
    value.replace("{key}", "***"),
  ]);
  expect(JSON.stringify(answer)).not.toContain("key-of-the-tests");
});

test.each(destructive)(
  "%s is held until it is confirmed, and its key replays the one execution",
  async (slug, action) => {
    const args = argumentsOf(action);
    const idempotencyKey = `once-${slug}`;
    const held = await callAs(action, args);
    expect(held).toMatchObject({
      outcome: "held",
      resultJson: "",
      providerStatus: 0,
      retryable: false,
      request: { method: action.request.method },
    });
    expect(held.message).toContain('"confirm": true');
    const first = called.get(slug);
    const again = await callAs(action, { ...args, confirm: true }, { idempotencyKey });
    expect(again).toMatchObject({
      callId: first?.callId,
      outcome: "ok",
      resultJson: first?.resultJson,
      replayed: true,
      sandbox: true,
    });
    const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", { toolSlug: slug });
    const outcomes = (json.calls as { outcome: string }[]).map(({ outcome }) => outcome);
    expect(outcomes.toSorted()).toEqual(["held", "ok"]);
  },
);

test("held calls reached nobody: an object that a held call names is still there", async () => {
  const entityId = entityOf("oauth2");
  const made = await callTool(
    server,
    "calendar.create_event",
    { calendar_id: "primary", summary: "Kept", start_date: "2026-03-14", end_date: "2026-03-15" },
    { entityId },
  );
  const args = { calendar_id: "primary", event_id: JSON.parse(made.resultJson).id as string };
  expect((await callTool(server, "calendar.delete_event", args, { entityId })).outcome).toBe("held");
  expect((await callTool(server, "calendar.get_event", args, { entityId })).outcome).toBe("ok");
  const confirmed = await callTool(server, "calendar.delete_event", { ...args, confirm: true }, { entityId });
  expect(confirmed.outcome).toBe("ok");
  expect(await callTool(server, "calendar.get_event", args, { entityId })).toMatchObject({
    outcome: "provider_error",
    providerStatus: 404,
  });
});

describe("the Authentication table", () => {
  const toolOf = (toolkit: string) => {
    const action = callable.find(({ toolkitSlug, class: access }) => toolkitSlug === toolkit && access === "read");
    if (action === undefined) throw new Error(`${toolkit} has no read`);
    return action;
  };

  test.each(tableRows)("%s by %s: header %s, rendered %s", async (toolkit, scheme, name, value) => {
    const action = toolOf(toolkit);
    const entityId = entityOf(scheme);
    const shown = await callAs(action, argumentsOf(action), { entityId, dryRun: true });
    const placed = Object.entries(shown.request?.headers ?? {}).filter(([, text]) => text.includes("***"));
    expect(placed.map(([header, text]) => [header.toLowerCase(), text])).toEqual([
      [name.toLowerCase(), value.replace("{key}", "***")],
    ]);
    // No credential is checked here: the sandbox does that itself, as the next test shows.
    const connectedAccountId = accounts.get(`${toolkit} ${scheme}`) ?? "";
    const real = await callAs(action, argumentsOf(action), { entityId, connectedAccountId });
    expect(real).toMatchObject({ outcome: "ok", sandbox: true });
  });

  const keyRows = tableRows.filter(([, scheme]) => scheme === "api_key");
  const sandbox = createSandbox({
    clock: systemClock,
    sealer: createSealer(parseVaultKeys(generateVaultKey())),
    callbackUrl: "http://127.0.0.1/oauth/callback",
  });

  test.each(keyRows)(
    "the sandbox refuses a key of %s that is not in its place",
    async (toolkit, scheme, name, value) => {
      const action = toolOf(toolkit);
      const shown = await callAs(action, argumentsOf(action), { dryRun: true });
      const { method = "", url = "", headers = {}, bodyJson = "" } = shown.request ?? {};
      const call: AppCall = {
        projectId: "prj_placement" as ProjectId,
        toolkit: catalog.toolkits.get(toolkit)!,
        action,
        entityId: "someone",
        scheme,
      };
      const bare = Object.fromEntries(
        Object.entries(headers).filter(([header]) => header.toLowerCase() !== name.toLowerCase()),
      );
      const rendered = value.replace("{key}", "k-123");
      const statusWith = async (credential: Record<string, string>) => {
        const request = {
          method,
          url,
          headers: { ...bare, ...credential },
          body: bodyJson === "" ? undefined : bodyJson,
        };
        const answer = await sandbox.transport.send(request, call, { timeoutMs: 1000 });
        return answer.kind === "answer" ? answer.status : answer.kind;
      };
      expect(await statusWith({ [name]: rendered })).toBe(200);
      expect(await statusWith({})).toBe(401);
      expect(await statusWith({ "x-elsewhere": rendered })).toBe(401);
      if (value !== "{key}") expect(await statusWith({ [name]: "k-123" })).toBe(401);
    },
  );
});
