import { type Action, fillInput, renderRequest, type Toolkit } from "@svc/catalog";
import type { AppAnswer, AppCall, AppRequest } from "@svc/connections";
import {
  createSealer,
  generateVaultKey,
  type ProjectId,
  parseTemplate,
  parseVaultKeys,
  placeholdersOf,
  systemClock,
} from "@svc/core";
import { createSandbox, sandboxTokenUrl } from "@svc/sandbox";
import { repeats } from "@svc/testing/sample";
import fc from "fast-check";
import { expect, test } from "vitest";
import { drawArguments, type Optionals } from "./arguments.ts";
import { actions, catalog } from "./definitions.ts";
import type { TextUse } from "./texts.ts";

const sandbox = createSandbox({
  clock: systemClock,
  sealer: createSealer(parseVaultKeys(generateVaultKey())),
  callbackUrl: "http://127.0.0.1/oauth/callback",
});
const numRuns = repeats({ sample: 1, whole: 20 });
const callable = actions.filter((action) => action.callable);
const cases = callable.map((action) => [action.slug, action] as const);

function toolkitOf({ toolkitSlug }: Action): Toolkit {
  const toolkit = catalog.toolkits.get(toolkitSlug);
  if (toolkit === undefined) throw new Error(`${toolkitSlug} is not loaded`);
  return toolkit;
}

const tokens = new Map<string, string>();
for (const { slug } of catalog.toolkits.values()) {
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id: "sandbox" });
  const response = await sandbox.oauth.fetch(sandboxTokenUrl(slug), { method: "POST", body });
  tokens.set(slug, ((await response.json()) as { access_token: string }).access_token);
}

/** Each run gets a project of its own, because another run would not find an object that this one has deleted. */
let runs = 0;

function callOf(action: Action, scheme: string): AppCall {
  const projectId = `prj_${action.slug}` as ProjectId;
  return { projectId, toolkit: toolkitOf(action), action, entityId: "someone", scheme };
}

function withCredential(request: AppRequest, { toolkit, scheme }: AppCall): AppRequest {
  const declared = toolkit.auth.find(({ type }) => type === scheme);
  if (declared?.type !== "api_key" || declared.placement === "path") {
    return { ...request, headers: { ...request.headers, Authorization: `Bearer ${tokens.get(toolkit.slug)}` } };
  }
  const text = declared.value.kind === "text" ? declared.value.template.text : "";
  const value = text.replaceAll(/\{\{[^}]*\}\}/g, "k-123");
  if (declared.placement === "header") return { ...request, headers: { ...request.headers, [declared.name]: value } };
  const url = new URL(request.url);
  url.searchParams.set(declared.name, value);
  return { ...request, url: url.href };
}

function requestOf(action: Action, params: Readonly<Record<string, unknown>>): AppRequest {
  const toolkit = toolkitOf(action);
  const account = Object.fromEntries(toolkit.account.map(({ name, example }) => [name, example]));
  const filled = fillInput(action.inputSchema, params) as Record<string, unknown>;
  const { method, path, query, headers, body } = renderRequest(toolkit, action, { params: filled, account });
  const search = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  return {
    method,
    url: `https://app.sandbox.invalid${path}${search === "" ? "" : `?${search}`}`,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

function useOf({ request }: Action): (name: string) => TextUse {
  const namesIn = (text: string) => new Set([...text.matchAll(/params\.([\w$@-]+)/g)].map(([, name = ""]) => name));
  const inPath = namesIn(request.path.kind === "text" ? request.path.template.text : "");
  const inHeaders = namesIn(JSON.stringify(request.headers));
  return (name) => (inPath.has(name) ? "segment" : inHeaders.has(name) ? "header" : "any");
}

function argumentsOf(action: Action): fc.Arbitrary<Record<string, unknown>> {
  const optionals = fc.constantFrom<Optionals>("none", "some", "all");
  return fc
    .tuple(optionals, fc.gen())
    .map(([given, draw]) => drawArguments(action.inputSchema, { draw, optionals: given, useOf: useOf(action) }))
    .filter((params) => action.validateInput(params).length === 0);
}

async function send(request: AppRequest, call: AppCall): Promise<AppAnswer & { kind: "answer" }> {
  const answer = await sandbox.transport.send(request, call, { timeoutMs: 1000 });
  if (answer.kind !== "answer") throw new Error(`answered ${answer.kind}`);
  return answer;
}

/** Looks up a path inside a value, written as in the definition's `unwrap` and error rules. */
function lookUp(value: unknown, path: string): unknown {
  if (path === "") return value;
  const [placeholder] = placeholdersOf(parseTemplate(`{{body.${path}}}`));
  return placeholder?.path.reduce<unknown>((held, step) => (held as Record<string, unknown>)?.[step], value);
}

/** Returns the result as a caller of the tool gets it. */
function resultOf({ response }: Action, { status, body }: AppAnswer & { kind: "answer" }): unknown {
  expect(status, body.toString()).toBeGreaterThanOrEqual(200);
  expect(status, body.toString()).toBeLessThan(300);
  if (body.length === 0) return response.empty;
  const whole: unknown = JSON.parse(body.toString());
  const { error } = response;
  if (error?.path !== undefined) expect(lookUp(whole, error.path)).toBeUndefined();
  if (error?.unless !== undefined) expect(lookUp(whole, error.unless)).toBe(true);
  const bare = lookUp(whole, response.unwrap);
  return response.under === "" ? bare : { [response.under]: bare };
}

test("there are 607 callable tools", () => {
  expect(callable).toHaveLength(607);
});

test.each(cases)("%s is answered within its output schema, by every scheme of its toolkit", async (_slug, action) => {
  const schemes = toolkitOf(action).auth.map(({ type }) => type);
  const property = fc.asyncProperty(argumentsOf(action), fc.constantFrom(...schemes), async (params, scheme) => {
    runs += 1;
    const call = { ...callOf(action, scheme), projectId: `prj_run_${runs}` as ProjectId };
    const request = withCredential(requestOf(action, params), call);
    const answer = await send(request, call);
    const result = resultOf(action, answer);
    expect(result).toBeDefined();
    expect(action.validateOutput(result)).toEqual([]);
  });
  await fc.assert(property, { numRuns });
});

test.each(cases)("%s is refused without credential, by another method and at another path", async (_slug, action) => {
  const call = callOf(action, toolkitOf(action).auth[0]?.type ?? "none");
  const [params = {}] = fc.sample(argumentsOf(action), { numRuns: 1, seed: 7 });
  const bare = requestOf(action, params);
  const request = withCredential(bare, call);
  expect((await send(bare, call)).status).toBe(401);
  const method = action.request.method === "GET" ? "POST" : "GET";
  expect((await send({ ...request, method }, call)).status).toBe(405);
  const url = new URL(request.url);
  url.pathname += "/elsewhere";
  expect((await send({ ...request, url: url.href }, call)).status).toBe(404);
  const more = new URL(request.url);
  more.searchParams.set("unheard_of", "1");
  expect((await send({ ...request, url: more.href }, call)).status).toBe(400);
});

const fieldNames = ["nextpagetoken", "nextcursor", "cursor", "next", "nextpageoffset"];
const argumentNames = ["pagetoken", "cursor", "startcursor", "offset"];
const plain = (name: string) => name.replaceAll("_", "").toLowerCase();

/** Finds the token of the next page anywhere in an answer, except inside lists. */
function tokenIn(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = fieldNames.includes(plain(name)) && typeof inner !== "object" ? inner : tokenIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

const paged = cases.flatMap(([slug, action]) => {
  const names = JSON.stringify(action.outputSchema).match(/"\w+":/g) ?? [];
  const hasToken = names.some((name) => fieldNames.includes(plain(name.slice(1, -2))));
  const isPage = (name: string) => argumentNames.includes(plain(name));
  const argument = Object.keys(action.inputSchema["properties"] as object).find(isPage);
  const isMine = hasToken && argument !== undefined && action.class === "read";
  return isMine ? [[slug, action, argument] as const] : [];
});

test("at least twenty-five lists are read on by a token", () => {
  expect(paged.length).toBeGreaterThanOrEqual(25);
});

test.each(paged)(
  "%s serves as many pages as the scenario says, then no further token",
  async (_slug, action, argument) => {
    const call = { ...callOf(action, toolkitOf(action).auth[0]?.type ?? "none"), entityId: "sandbox:pages=3" };
    const [drawn = {}] = fc.sample(argumentsOf(action), { numRuns: 1, seed: 11 });
    const { [argument]: _start, ...params } = drawn;
    let next: Record<string, unknown> =
      action.validateInput(params).length === 0 ? params : { ...params, [argument]: "" };
    const bodies = new Set<string>();
    for (let page = 1; page <= 3; page++) {
      const answer = await send(withCredential(requestOf(action, next), call), call);
      const result = resultOf(action, answer);
      expect(action.validateOutput(result)).toEqual([]);
      bodies.add(JSON.stringify(result));
      const token = tokenIn(result);
      if (page === 3) expect(token ?? undefined).toBeUndefined();
      else expect(token).toBeDefined();
      next = { ...params, [argument]: token };
      if (page < 3) expect(action.validateInput(next)).toEqual([]);
    }
    expect(bodies.size).toBe(3);
  },
);

const withBody = cases.filter(([, action]) => requiredBodyFields(action).length > 0);

/** Lists the paths of the request body that are always filled: constants, and required arguments that have a field of their own. */
function requiredBodyFields({ request: { body }, inputSchema }: Action): string[][] {
  const required = (inputSchema["required"] ?? []) as string[];
  const walk = (tree: typeof body, path: string[]): string[][] => {
    if (tree?.kind === "object") return tree.entries.flatMap(([key, item]) => walk(item, [...path, key]));
    if (tree?.kind !== "text" || tree.template.parts.length > 1 || path.length === 0) return [];
    const [only] = placeholdersOf(tree.template);
    return only?.path.length === 1 && required.includes(String(only.path[0])) ? [path] : [];
  };
  return walk(body, []);
}

test.each(withBody)(
  "%s is refused when its body lacks a required field, and the answer names it",
  async (_slug, action) => {
    const call = callOf(action, toolkitOf(action).auth[0]?.type ?? "none");
    const [params = {}] = fc.sample(argumentsOf(action), { numRuns: 1, seed: 7 });
    const request = withCredential(requestOf(action, params), call);
    for (const path of requiredBodyFields(action)) {
      const body = JSON.parse(request.body ?? "{}");
      const holder = path.slice(0, -1).reduce((held, key) => held?.[key], body);
      if (holder?.[path.at(-1) ?? ""] === undefined) continue;
      delete holder[path.at(-1) ?? ""];
      const answer = await send({ ...request, body: JSON.stringify(body) }, call);
      expect(answer.status).toBe(400);
      expect(answer.body.toString()).toContain(`${path.at(-1)} is required`);
    }
  },
);
