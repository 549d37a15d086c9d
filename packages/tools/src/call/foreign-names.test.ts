import { catalogOf } from "@svc/testing/catalog";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, createTestNode } from "./test-node.ts";
import { deskToolkit } from "./test-toolkits.ts";
import { answer } from "./test-transport.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

/**
 * Names that every object inherits, and that apps may use for their fields. `__proto__` is left out, because no template of a definition
 * can use it.
 */
const names = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== "__proto__");
const text = { type: "string", description: "Any text that is wanted." };
const fields = Object.fromEntries(names.map((name) => [name, text]));
const allFields = Object.fromEntries([...names, "__proto__"].map((name) => [name, text]));
const filled = Object.fromEntries(names.map((name) => [name, `{{params.${name}}}`]));

const shared = {
  kind: "action",
  class: "write",
  output: { type: "object", properties: { ...fields, id: text } },
  intents: ["odd names of all kinds", "names that objects have", "one more odd name"],
};
const odd = {
  toolkit: deskToolkit.toolkit,
  tools: {
    optional: {
      ...shared,
      description: "Takes arguments of odd names, all of which are optional.",
      input: { type: "object", additionalProperties: false, properties: fields },
      request: { method: "POST", path: "/odd", query: filled, body: { ...filled, list: { inner: filled } } },
    },
    required: {
      ...shared,
      description: "Takes arguments of odd names, all of which are required.",
      input: { type: "object", additionalProperties: false, required: names, properties: fields },
      request: { method: "POST", path: "/odd", body: filled },
    },
    nested: {
      ...shared,
      description: "Takes an object whose fields have odd names.",
      input: {
        type: "object",
        additionalProperties: false,
        properties: {
          it: { type: "object", description: "An object.", additionalProperties: false, properties: allFields },
        },
      },
      request: { method: "POST", path: "/odd", body: { it: "{{params.it}}" } },
    },
  },
};

const given = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
const nodeOf = async () => {
  const node = createTestNode(db, { catalog: catalogOf({ toolkits: [odd as never] }) });
  return { node, projectId: await addProject(db) };
};

test("arguments may have the names that every object has, in a body, a query and an answer", async () => {
  const { node, projectId } = await nodeOf();
  for (const tool of ["optional", "required"]) {
    node.app.does(answer(200, { ...given, id: "1" }));
    const { result } = await node.call(projectId, tool, { args: given });
    expect(result).toMatchObject({ outcome: "ok", value: { ...given, id: "1" } });
    expect(JSON.parse(String(node.app.requests.at(-1)?.body))).toMatchObject(given);
  }
});

test("inherited names are sent only if given, and a required one that is not given is missing", async () => {
  const { node, projectId } = await nodeOf();
  node.app.does(answer(200, { id: "1" }));
  const { result } = await node.call(projectId, "optional", { args: { constructor: "one" } });
  expect(result).toMatchObject({ outcome: "ok", warnings: [] });
  const { url, body } = node.app.requests.at(-1) ?? {};
  expect(new URL(String(url)).search).toBe("?constructor=one");
  expect(JSON.parse(String(body))).toEqual({ constructor: "one", list: { inner: { constructor: "one" } } });
  const { result: missed } = await node.call(projectId, "required", { args: {} });
  expect(missed.outcome).toBe("invalid_arguments");
  expect(missed.faults.map(({ missing }) => missing).sort()).toEqual([...names].sort());
});

test("__proto__ is an argument like any other inside an object", async () => {
  const { node, projectId } = await nodeOf();
  node.app.does(answer(200, { id: "1" }));
  const it = JSON.parse('{"__proto__": "mine", "toString": null}');
  const { result } = await node.call(projectId, "nested", { args: { it } });
  expect(result.outcome).toBe("ok");
  expect(node.app.requests.at(-1)?.body).toBe('{"it":{"__proto__":"mine"}}');
});
