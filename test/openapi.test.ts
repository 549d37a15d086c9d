import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import {
  create,
  type DescMessage,
  type DescMethod,
  fromJson,
  getOption,
  type JsonValue,
  toJson,
} from "@bufbuild/protobuf";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { openapiFile } from "@svc/gen/openapi";
import { RoleSchema, required_role } from "@svc/gen/options";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { codeBlocksOf } from "./markdown.ts";
import { listFiles, readText } from "./source.ts";

// The document /openapi.json: validators accept it, it describes every call of the contract as the service serves it, and a Python program
// calls the service as docs/guides/tools/call-the-api-from-another-language.md shows.

const text = readFileSync(openapiFile, "utf8");
// biome-ignore lint/suspicious/noExplicitAny: tests read the document freely
const document: any = JSON.parse(text);

const names = listFiles("proto/svc/v1").map((path) => /(\w+)\.proto$/.exec(path)?.[1] ?? "");
const modules = await Promise.all(names.map((name) => import(`@svc/gen/${name}`)));
const calls: readonly DescMethod[] = modules
  .flatMap((module) => Object.values(module) as { kind?: string; methods?: DescMethod[] }[])
  .flatMap(({ kind, methods = [] }) => (kind === "service" ? methods : []));
const unary = calls.filter(({ methodKind }) => methodKind === "unary");

const pathOf = ({ parent, name }: DescMethod) => `/${parent.typeName}/${name}`;
const operationOf = (method: DescMethod) => document.paths[pathOf(method)].post;
const bodyOf = (content: { content: { "application/json": { schema: object } } }) =>
  content.content["application/json"].schema;

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "svc", components: document.components });
/** Returns the errors of a value by a schema of the document; null if there are none. */
function faultsOf(schema: object, value: unknown): unknown {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"svc#/components/'));
  const validate = ajv.compile(absolute);
  return validate(value) ? null : validate.errors;
}

test("two validators of other authors accept the document", async () => {
  expect(await new Validator().validate(JSON.parse(text))).toMatchObject({ valid: true });
  const config = await createConfig({ extends: ["spec"] });
  const problems = await lintFromString({ source: text, absoluteRef: "openapi.json", config });
  expect(problems.map(({ message }) => message)).toEqual([]);
});

/** Returns the role that a call requires, such as `member`. */
const roleOf = (method: DescMethod) =>
  RoleSchema.value[getOption(method, required_role)]?.name.replace("ROLE_", "").toLowerCase();

test("the document has every unary call with its role, and names every stream", () => {
  expect(Object.keys(document.paths).toSorted()).toEqual(unary.map(pathOf).toSorted());
  for (const method of unary) {
    const { operationId, description, security, "x-svc-role": role } = operationOf(method);
    expect(operationId).toBe(`${method.parent.name}_${method.name}`);
    expect(description.length, operationId).toBeGreaterThan(10);
    expect(role, operationId).toBe(roleOf(method));
    expect(Object.keys(security[0])).toEqual([role === "admin" ? "adminToken" : "apiKey"]);
  }
  const streams = calls.filter(({ methodKind }) => methodKind !== "unary");
  expect(streams.length).toBeGreaterThan(0);
  for (const method of streams) expect(document.info.description).toContain(`\`${pathOf(method)}\``);
});

/** Returns a value with every field of a message, as the document describes them. */
function sampleOf(schema: Record<string, unknown>, depth = 0): JsonValue {
  const { $ref, type, properties, items, additionalProperties, anyOf, enum: values } = schema;
  if (typeof $ref === "string") return sampleOf(document.components.schemas[$ref.split("/").at(-1) ?? ""], depth);
  if (Array.isArray(anyOf)) return sampleOf(anyOf[0], depth);
  if (Array.isArray(values)) return values.at(-1);
  const inner = (child: unknown) => sampleOf(child as Record<string, unknown>, depth + 1);
  switch (type) {
    case "array":
      return depth > 6 ? [] : [inner(items)];
    case "object":
      if (typeof additionalProperties === "object") return { name: inner(additionalProperties) };
      return depth > 6
        ? {}
        : Object.fromEntries(Object.entries(properties as object).map(([name, one]) => [name, inner(one)]));
    case "string":
      if (schema["format"] === "date-time") return "2026-03-14T09:00:00Z";
      if (schema["pattern"] !== undefined) return schema["examples"] === undefined ? "12" : "1.5s";
      return "dGV4dA==";
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    default:
      throw new Error(`the document has a schema of type ${type}`);
  }
}

/** Returns the JSON names of a message's fields. Of a oneof, JSON can contain only one field. */
const fieldsOf = ({ fields }: DescMessage) => fields.map(({ jsonName }) => jsonName).toSorted();

describe("each call of the document is the call of the contract", () => {
  test.each(unary.map((method) => [pathOf(method), method] as const))("%s", (_path, method) => {
    const { requestBody, responses } = operationOf(method);
    const [request, response] = [bodyOf(requestBody), bodyOf(responses[200])] as Record<string, string>[];
    const resolved = (schema: Record<string, string> | undefined) =>
      document.components.schemas[schema?.["$ref"]?.split("/").at(-1) ?? ""];
    expect(Object.keys(resolved(request).properties).toSorted()).toEqual(fieldsOf(method.input));
    expect(Object.keys(resolved(response).properties).toSorted()).toEqual(fieldsOf(method.output));

    // A request with every field that the document names is read, and one with another field is not.
    const sample = sampleOf(request ?? {}) as Record<string, JsonValue>;
    expect(() => fromJson(method.input, withoutOtherChoices(method.input, sample))).not.toThrow();
    const unknown = { ...sample, noSuchField: 1 };
    expect(() => fromJson(method.input, { noSuchField: 1 })).toThrow();
    expect(faultsOf(request ?? {}, unknown)).not.toBeNull();

    // The empty answer, as svc writes it, has the form of the document; one with a field of a later version has it too.
    const empty = toJson(method.output, create(method.output), { alwaysEmitImplicit: true }) as object;
    expect(faultsOf(response ?? {}, { ...empty, fieldOfALaterVersion: 1 })).toBeNull();
    expect(Object.keys(empty).toSorted()).toEqual((resolved(response).required ?? []).toSorted());
  });
});

/** Returns a sample in which each oneof has only its first field, at every depth. */
function withoutOtherChoices(message: DescMessage, value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const kept = message.fields.flatMap((field) => {
    const { oneof, jsonName, message: inner } = field;
    const own = value[jsonName];
    if (own === undefined || (oneof !== undefined && oneof.fields[0] !== field)) return [];
    if (inner === undefined || inner.typeName.startsWith("google.")) return [[jsonName, own]];
    if (Array.isArray(own)) return [[jsonName, own.map((item) => withoutOtherChoices(inner, item))]];
    return [[jsonName, withoutOtherChoices(inner, own)]];
  });
  return Object.fromEntries(kept) as JsonValue;
}

test("the document names exactly the reasons that the contract's comments name", () => {
  const listed = /- (\w+) ([A-Z][A-Z0-9_]+):/g;
  const commentsOf = (proto: string) =>
    new Map(
      [...proto.matchAll(/((?: *\/\/.*\n)+) *(?:rpc|message) (\w+)/g)].map(([, comment = "", name = ""]) => [
        name,
        [...comment.matchAll(listed)].map(([, , reason]) => reason),
      ]),
    );
  const ofServices = new Map(
    listFiles("proto/svc/v1").map((path) => [path.split("/").at(-1), commentsOf(readText(path))] as const),
  );
  expect(document.components.schemas.EveryCallReason.enum).toEqual(ofServices.get("errors.proto")?.get("ErrorDetail"));
  for (const method of unary) {
    const { details } = (bodyOf(operationOf(method).responses.default) as { properties: Record<string, never> })
      .properties as {
      details?: { items: { properties: { debug: { properties: { reason: { anyOf: { enum?: string[] }[] } } } } } };
    };
    const [own] = details?.items.properties.debug.properties.reason.anyOf ?? [];
    const file = `${method.parent.file.name.split("/").at(-1)}.proto`;
    const expected = [...new Set(ofServices.get(file)?.get(method.name) ?? [])];
    expect(own?.enum ?? [], pathOf(method)).toEqual(expected);
  }
});

test("recorded requests and answers of the service have the form of the document", () => {
  const byService = new Map(unary.map((method) => [`${method.parent.name}.${method.name}`, method]));
  let count = 0;
  for (const path of listFiles("test/golden/calls")) {
    const service = path.split("/").at(-1)?.replace(".txt", "");
    for (const [, name, request = "", status, answer = ""] of readText(path).matchAll(
      /^(\w+) (\{.*\})\n(\d+) (\{.*\})$/gm,
    )) {
      const method = byService.get(`${service}.${name}`);
      // In some recordings, a word names the type of a value in place of the value, or the health is left out.
      if (method === undefined || /:"(?:list|number|object|boolean)"|"health":\{\}/.test(answer)) continue;
      count += 1;
      const { requestBody, responses } = operationOf(method);
      if (status === "200") expect(faultsOf(bodyOf(requestBody), JSON.parse(request)), `${name} ${request}`).toBeNull();
      expect(
        faultsOf(bodyOf(responses[status === "200" ? "200" : "default"]), JSON.parse(answer)),
        `${name} ${answer}`,
      ).toBeNull();
    }
  }
  expect(count).toBeGreaterThan(100);
});

describe("the service", () => {
  let svc: TestServer;
  beforeAll(async () => {
    svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  });
  afterAll(() => svc?.stop());

  test("serves the document without a key, to any origin, once while it does not change", async () => {
    const first = await fetch(`${svc.url}/openapi.json`, { headers: { origin: "https://editor.example" } });
    expect([first.status, first.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(first.headers.get("access-control-allow-origin")).toBe("*");
    expect(await first.text()).toBe(text);
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(`${svc.url}/openapi.json`, { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const head = await fetch(`${svc.url}/openapi.json`, { method: "HEAD" });
    expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", etag]);
    const posted = await fetch(`${svc.url}/openapi.json`, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  const hasPython = spawnSync("python3", ["--version"]).status === 0;
  const page = () => codeBlocksOf(readText("docs/guides/tools/call-the-api-from-another-language.md"));
  const python = async (code: string, url: string) =>
    (
      await promisify(execFile)("python3", ["-c", code], {
        env: { ...process.env, SVC_URL: url, SVC_API_KEY: svc.key },
      })
    ).stdout;

  test.skipIf(!hasPython)(
    "answers a search, a call, a held call and an error of the page's Python program",
    async () => {
      const blocks = page();
      const [program, use] = blocks.filter(({ language }) => language === "python");
      expect(program?.text.trim().split("\n").filter(Boolean)).toHaveLength(14);
      const printed = await python(`${program?.text}\n${use?.text}`, svc.url);
      expect(printed).toBe(blocks.find(({ language }) => language === "text")?.text);
    },
  );

  test.skipIf(!hasPython)("is called again by the Python program after the time in Retry-After", async () => {
    let asked = 0;
    const busy = createServer(async (_req, res) => {
      asked += 1;
      if (asked === 1) return void res.writeHead(503, { "retry-after": "0" }).end("{}");
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ asked }));
    }).listen(0, "127.0.0.1");
    await once(busy, "listening");
    const [program] = page().filter(({ language }) => language === "python");
    const url = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
    expect(await python(`${program?.text}\nprint(call("X/Y")["asked"])`, url)).toBe("2\n");
    busy.close();
  });

  test("names the document on its home page", async () => {
    const home = (await (await fetch(svc.url)).json()) as { openapi: string };
    expect(home.openapi).toContain("/openapi.json");
  });
});
