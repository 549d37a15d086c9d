import { processorBudgetMs } from "@svc/testing/processor";
import { expect, test } from "vitest";
import { runImport } from "./import-checked.ts";
import { readOpenapi } from "./import-openapi.ts";
import { SchemaConverter } from "./schema.ts";

// Documents whose operations share large schemas: what svc finds out about a schema serves all operations.

/** Returns a document of `operations` operations, whose schemas have 60 properties each, and refer to each other with two of three. */
function denseDocument(operations: number): string {
  const count = 100;
  const ref = (number: number) => ({ $ref: `#/components/schemas/Model${number % count}` });
  const propertyOf = (model: number, at: number) => {
    const description = `Property ${at} of the model ${model}, as the accounts department describes it. It has limits.`;
    if (at % 3 === 0) return ref(model * 7 + at * 13 + 1);
    const items = ref(model * 5 + at * 11 + 2);
    return at % 3 === 1 ? { type: "array", description, items } : { type: "string", description, maxLength: 200 + at };
  };
  const schemas = Array.from({ length: count }, (_, model) => {
    const properties = Array.from({ length: 60 }, (__, at) => [`property_${at}`, propertyOf(model, at)]);
    return [`Model${model}`, { type: "object", properties: Object.fromEntries(properties) }];
  });
  const json = (schema: object) => ({ content: { "application/json": { schema } } });
  const paths = Array.from({ length: operations }, (_, at) => [
    `/things/${at}`,
    {
      put: {
        ...{ operationId: `put_thing_${at}`, summary: `Replaces the thing ${at} with all its parts.` },
        requestBody: { required: true, ...json(ref(at)) },
        responses: { 200: { description: "ok", ...json(ref(at + 1)) } },
      },
    },
  ]);
  return JSON.stringify({
    ...{
      openapi: "3.0.3",
      info: { title: "Dense", version: "1.0.0" },
      servers: [{ url: "https://dense.example.com" }],
    },
    ...{ paths: Object.fromEntries(paths), components: { schemas: Object.fromEntries(schemas) } },
  });
}

test("a document whose operations share large schemas takes little processor time", async () => {
  const chosen = { slug: "dense", category: "", documentUrl: "", server: "", auth: "", idempotencyHeader: "" };
  const options = { ...chosen, only: [], except: [], overrides: [], names: {} };
  const source = { document: denseDocument(400), options };
  const budgetMs = processorBudgetMs(4_000);
  const before = process.threadCpuUsage();
  const made = await runImport({ source, current: undefined, isTrusted: false });
  const { user, system } = process.threadCpuUsage(before);
  expect(made).toMatchObject({ report: { operations: 400, classes: { write: 400 }, leftOut: [] } });
  expect((user + system) / 1_000).toBeLessThan(budgetMs);
});

test("the properties of a shared schema are listed once for all operations, and so are the parts of its allOf", () => {
  let [listed, merged] = [0, 0];
  const fields = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`field_${at}`, { type: "string" }]));
  const properties = new Proxy(fields, {
    ownKeys(target) {
      listed++;
      return Reflect.ownKeys(target);
    },
  });
  const part = {
    get properties() {
      merged++;
      return { other: { type: "integer" } };
    },
  };
  const root = {
    schemas: { Shared: { type: "object", properties }, Part: part, Whole: { allOf: [{ $ref: "#/schemas/Part" }] } },
  };
  const patterns = { left: 1_000, known: new Set<string>() };
  const convert = (limits: { depth: number; nodes: number }) => {
    const converter = new SchemaConverter({ root, part: "output", limits, onCut: () => {}, patterns });
    const [shared, whole] = ["Shared", "Whole"].map((name) => converter.convert({ $ref: `#/schemas/${name}` }, name));
    return [shared, whole].map((schema) => Object.keys((schema?.["properties"] as object | undefined) ?? {}).length);
  };
  expect(convert({ depth: 5, nodes: 400 })).toEqual([50, 1]);
  const first = [listed, merged];
  for (let times = 0; times < 20; times++) convert({ depth: 5, nodes: 400 });
  expect(convert({ depth: 5, nodes: 11 })).toEqual([10, 0]);
  expect([listed, merged]).toEqual(first);
});

test("the tools that are left after a refusal are as whole as if the others had never been there", () => {
  const text = denseDocument(300);
  const chosen = { slug: "dense", category: "", documentUrl: "", server: "", auth: "", idempotencyHeader: "" };
  const options = { ...chosen, only: [], except: [], overrides: [], names: {}, refused: [] };
  const refused = Array.from({ length: 270 }, (_, at) => ({ tool: `put_thing_${at}`, detail: "breaks a rule" }));
  const importAll = readOpenapi(text);
  const whole = importAll(options);
  const rest = importAll({ ...options, refused });
  expect(rest.definitionJson).toBe(readOpenapi(text)({ ...options, refused }).definitionJson);
  // With all tools, each one was shortened. The test would show nothing otherwise.
  const sizeOf = ({ definitionJson }: { definitionJson: string }) =>
    JSON.stringify(JSON.parse(definitionJson).tools["put_thing_299"]).length;
  expect(sizeOf(whole)).toBeLessThan(sizeOf(rest));
});
