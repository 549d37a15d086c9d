import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createSvcClient, SvcToolError } from "@svc/sdk";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";
import { toolTypesOf } from "./toolkits/schema-types.ts";

let svc: TestServer;
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-types-"));
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
});
afterAll(async () => {
  await svc?.stop();
  await rm(folder, { recursive: true, force: true });
});

const types = (...options: string[]) =>
  runTestCommand(["types", ...options], { SVC_URL: svc.url, SVC_API_KEY: svc.key });

/** Runs the TypeScript compiler on files in the test's folder, and returns what it reports. */
async function compile(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const root = join(import.meta.dirname, "../../../..");
  const compilerOptions = {
    ...{ noEmit: true, strict: true, target: "es2024", module: "nodenext", lib: ["es2025", "dom"], types: [] },
    ...{ allowImportingTsExtensions: true, skipLibCheck: false },
    paths: { "@svc/sdk": [join(root, "packages/sdk/src/index.ts")] },
  };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: Object.keys(files).map((name) => join(folder, name)) }),
  );
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const ran = promisify(execFile)(process.execPath, [compiler, "-p", folder]);
  return (await ran.catch((error: { stdout: string }) => error)).stdout;
}

test("the types of all shipped tools compile, and the client's calls have the types of their tools", async () => {
  const { printed, code } = await types();
  expect(code).toBe(0);
  const program = `
    import { createSvcClient } from "@svc/sdk";
    import type { SvcTools } from "./svc-tools.d.ts";
    const { tools } = createSvcClient<SvcTools>({ baseUrl: "http://localhost", apiKey: "key" });
    export async function titles(): Promise<(string | undefined)[]> {
      const { items = [] } = await tools.call("calendar.list_events", { calendar_id: "primary" }, { entityId: "ada" });
      // @ts-expect-error an event has no such field
      items[0]?.nothing;
      return items.map(({ summary }) => summary);
    }
    // @ts-expect-error the argument calendar_id is missing
    void tools.call("calendar.list_events", {});
    // @ts-expect-error the argument has a closed list of values
    void tools.call("calendar.create_event", { calendar_id: "primary", summary: "a", send_updates: "some" });
    void tools.call("calendar.delete_event", { calendar_id: "primary", event_id: "1", confirm: true });
    // @ts-expect-error there is no such tool
    void tools.call("calendar.nothing", {});
    const untyped = createSvcClient({ baseUrl: "http://localhost", apiKey: "key" });
    export const found: Promise<unknown> = untyped.tools.call("any.tool", { any: 1 });
  `;
  expect(await compile({ "svc-tools.d.ts": printed.join("\n"), "program.ts": program })).toBe("");
});

test("only the named toolkits are printed, and an unknown one is refused", async () => {
  const { printed } = await types("--toolkits", "messaging_bot");
  expect(printed[0]).toMatch(/^\/\/ Made by `svc types --toolkits messaging_bot`\./);
  expect([...printed.join("\n").matchAll(/^ {2}"(\w+)\.\w+": \{$/gm)].map(([, toolkit]) => toolkit)).toContain(
    "messaging_bot",
  );
  expect(printed.join("\n")).not.toContain('"calendar.');
  const asJson = await types("--toolkits", "messaging_bot", "--json");
  expect((JSON.parse(asJson.printed.join("\n")) as string).trimEnd()).toBe(printed.join("\n"));
  const refused = await types("--toolkits", "messaging_bot,nothing");
  expect([refused.code, refused.noted.join("\n")]).toEqual([1, expect.stringContaining("nothing")]);
});

test("a typed call returns the parsed result, and throws the outcome of a call without one", async () => {
  const { connections, tools } = createSvcClient({ baseUrl: svc.url, apiKey: svc.key });
  const missing = await tools.call("messaging_bot.send_message", {}, { entityId: "ada" }).catch((err) => err);
  expect(missing).toBeInstanceOf(SvcToolError);
  expect(missing).toMatchObject({ outcome: "invalid_arguments" });
  await connections.initiateConnection({
    ...{ toolkitSlug: "messaging_bot", entityId: "ada", scheme: "api_key", apiKey: "bot-key" },
  });
  const args = { chat_id: "4711", text: "We are live" };
  const result = await tools.call("messaging_bot.send_message", args, { entityId: "ada", idempotencyKey: "launch-1" });
  expect(result).toMatchObject({ text: "We are live", chat: { id: 4711 } });
  const wrong = await tools.call("messaging_bot.send_message", { chat_id: 1.5 }, { entityId: "ada" }).catch((e) => e);
  expect(wrong).toMatchObject({
    name: "SvcToolError",
    outcome: "invalid_arguments",
    message: expect.stringMatching(/^messaging_bot\.send_message: invalid_arguments: /),
    response: { retryable: false },
  });
  const held = await tools
    .call("messaging_bot.delete_message", { chat_id: "4711", message_id: 1 }, { entityId: "ada" })
    .catch((error: unknown) => error);
  expect(held).toMatchObject({ outcome: "held", toolSlug: "messaging_bot.delete_message" });
});

test("each keyword becomes its type, and texts of others cannot leave their place", async () => {
  const input = {
    type: "object",
    required: ["id", "kind", "size"],
    properties: {
      id: { type: ["string", "null"], description: "Id */ export const stolen = 1; /* of\nthe row\u202e." },
      kind: { enum: ["a", 'b" | any', 3, null] },
      size: { type: "integer", default: 20 },
      tags: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
      point: { type: "array", prefixItems: [{ type: "number" }, { const: "m\u202e" }], items: false, minItems: 1 },
      "odd name*/": { $ref: "#/$defs/node" },
      rest: { type: "object", additionalProperties: { type: "boolean" } },
      none: { type: "object", additionalProperties: false },
      either: { oneOf: [{ required: ["id"] }, { required: ["size"] }] },
    },
    additionalProperties: true,
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } }, deprecated: true } },
  };
  const text = toolTypesOf([{ slug: "shop.list", description: "Lists.", input, output: { $ref: "#/missing" } }]);
  expect(text).toBe(`/** @deprecated */
type ShopListArgumentsNode = {
  next?: ShopListArgumentsNode;
};

/** The types of tools by their slugs, for \`createSvcClient<SvcTools>\` of \`@svc/sdk\`. */
export interface SvcTools {
  /** Lists. */
  "shop.list": {
    arguments: {
      /** Id *\\/ export const stolen = 1; /* of the row . */
      id: string | null;
      kind: "a" | "b\\" | any" | 3 | null;
      /** Default: 20. */
      size?: number;
      tags?: readonly (string | number)[];
      point?: readonly [number, "m\\u202e"?];
      "odd name*/"?: ShopListArgumentsNode;
      rest?: Record<string, boolean>;
      none?: Record<string, never>;
      either?: unknown;
      [name: string]: unknown;
    };
    result: unknown;
  };
}
`);
  expect(await compile({ "hostile.d.ts": text })).toBe("");
});

/** Returns the types of a tool whose result has the given schema, and what the compiler says about them. */
async function resultTypes(output: unknown, name: string): Promise<readonly [text: string, faults: string]> {
  const text = toolTypesOf([{ slug: "shop.list", description: "", input: {}, output }]);
  return [text, await compile({ [`${name}.d.ts`]: text })];
}

test("two tools never share the name of a type, also if their slugs differ only in dots and underscores", async () => {
  const parts = (type: string) => ({ $ref: "#/$defs/id", $defs: { id: { type } } });
  const toolOf = (slug: string, type: string) => ({ slug, description: "", input: {}, output: parts(type) });
  const text = toolTypesOf([toolOf("messaging.bot_send", "string"), toolOf("messaging_bot.send", "number")]);
  expect(text).toContain("type MessagingBotSendResultId = string;");
  expect(text).toContain("type MessagingBotSendResultId2 = number;");
  expect(text).toContain("result: MessagingBotSendResultId2;");
  expect(await compile({ "names.d.ts": text })).toBe("");
});

test("a reference that leads nowhere, or only to itself, becomes unknown", async () => {
  for (const $ref of ["#/$defs/%", "#name", "other.json#/a", "#/$defs/constructor"]) {
    const text = toolTypesOf([{ slug: "shop.list", description: "", input: {}, output: { $ref, $defs: {} } }]);
    expect(text).toContain("result: unknown;");
  }
  const $defs = {
    own: { $ref: "#/$defs/own" },
    one: { anyOf: [{ type: "object", properties: { b: { $ref: "#/$defs/two" } } }, { $ref: "#/$defs/two" }] },
    two: { anyOf: [{ $ref: "#/$defs/one" }, { type: "null" }] },
    map: { type: "object", additionalProperties: { $ref: "#/$defs/map" } },
    list: { type: "array", items: { $ref: "#/$defs/list" } },
    "100%": { type: "string" },
  };
  const names = [...Object.keys($defs).map((name) => `#/$defs/${name}`), "#"];
  const properties = Object.fromEntries(names.map(($ref, index) => [`p${index}`, { $ref }]));
  const [text, faults] = await resultTypes({ type: "object", properties, $defs }, "circles");
  expect(faults).toBe("");
  expect(text).toContain("type ShopListResultOwn = unknown;");
  expect(text).toContain("type ShopListResult100 = string;");
  expect(text).toContain("type ShopListResultList = ShopListResultList[];");
  expect(text).toMatch(/type ShopListResult = \{[^}]* {2}p6\?: ShopListResult;\n\};/);
});

test("a required name without a property, and a union after a quote in a comment, are in the type", async () => {
  const sized = (name: string) => ({
    ...{ type: "object", properties: { [name]: { type: "string", description: 'Size 5"' } } },
  });
  const output = {
    type: "object",
    required: ["id", "rows"],
    properties: { rows: { type: "array", items: { anyOf: [sized("wide"), sized("high")] } } },
    additionalProperties: { type: "number" },
    allOf: [{ type: "object", required: ["odd name"] }],
  };
  const [text, faults] = await resultTypes(output, "required");
  expect(faults).toBe("");
  expect(text).toContain("      id: number;\n");
  expect(text).toContain('"odd name": unknown;\n');
  expect(text).toContain("rows: ({");
  expect(text).toContain("    })[];");
});
