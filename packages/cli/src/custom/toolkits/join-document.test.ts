import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommandContext } from "../../command/context.ts";
import { readDocumentFile } from "./join-document.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-join-"));
});
afterAll(() => rm(folder, { recursive: true }));

const notes: string[] = [];
const context = { note: (line) => notes.push(line) } as Partial<CommandContext> as CommandContext;

/** Writes files below the test's folder, and reads the first as a document. */
async function read(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return readDocumentFile(join(folder, Object.keys(files)[0] ?? ""), context);
}

test("the files to which a document refers are joined, also in circles, and their references lead to the same parts", async () => {
  const joined = await read({
    "a/openapi.yaml": `openapi: 3.1.0
paths: { /orders: { $ref: "paths/orders%20a.yaml" } }
components:
  schemas:
    Id: { type: string, example: { $ref: not/a.yaml } }
    Other: { $ref: "https://example.com/other.json#/A" }
    Own: { $ref: "#/components/schemas/Id" }`,
    "a/paths/orders a.yaml": `get: { responses: { 200: { $ref: "../schemas/all.json#/Order" } } }`,
    "a/schemas/all.json": `{"Order": {"items": {"$ref": "#/Line"}}, "Line": {"$ref": "../openapi.yaml#/components/schemas/Id"}}`,
  });
  expect(JSON.parse(joined)).toEqual({
    openapi: "3.1.0",
    paths: { "/orders": { $ref: "#/x-files/f1" } },
    components: {
      schemas: {
        Id: { type: "string", example: { $ref: "not/a.yaml" } },
        Other: { $ref: "https://example.com/other.json#/A" },
        Own: { $ref: "#/components/schemas/Id" },
      },
    },
    "x-files": {
      f1: { get: { responses: { 200: { $ref: "#/x-files/f2/Order" } } } },
      f2: {
        Order: { items: { $ref: "#/x-files/f2/Line" } },
        Line: { $ref: "#/components/schemas/Id" },
      },
    },
  });
  expect(notes).toEqual(["Joined to the document: paths/orders a.yaml, schemas/all.json"]);
});

test("references below a property, a response or a file's part that is named as data are rewritten", async () => {
  const joined = await read({
    "c/openapi.yaml": `
paths: { /a: { get: { responses: { default: { $ref: "parts.yaml#/default" } } } } }
components:
  schemas:
    enum: { properties: { default: { $ref: "example.json" }, const: { default: { $ref: "./kept" } } } }`,
    "c/parts.yaml": `{ default: { $ref: "#/definitions/example" }, definitions: { example: { $ref: "example.json" } } }`,
    "c/example.json": `{ "type": "object", "properties": { "example": { "$ref": "parts.yaml#/default" } }, "default": { "$ref": "kept" } }`,
  });
  expect(JSON.parse(joined)).toEqual({
    paths: { "/a": { get: { responses: { default: { $ref: "#/x-files/f1/default" } } } } },
    components: {
      schemas: {
        enum: { properties: { default: { $ref: "#/x-files/f2" }, const: { default: { $ref: "./kept" } } } },
      },
    },
    "x-files": {
      f1: { default: { $ref: "#/x-files/f1/definitions/example" }, definitions: { example: { $ref: "#/x-files/f2" } } },
      f2: { type: "object", properties: { example: { $ref: "#/x-files/f1/default" } }, default: { $ref: "kept" } },
    },
  });
});

test("only visible regular files that end as JSON or YAML are joined", async () => {
  await mkdir(join(folder, "d", "folder.yaml"), { recursive: true });
  execFileSync("mkfifo", [join(folder, "d", "pipe.yaml")]);
  const files = { "d/.env": "KEY: planted", "d/.hidden/a.yaml": "a: 1", "d/key.pem": "a: 1" };
  const refusalOf = (reference: string) =>
    read({ "d/openapi.yaml": `a: { $ref: "${reference}" }`, ...files }).then(String, (error: Error) => error.message);
  for (const reference of [".env", ".hidden/a.yaml", "key.pem#/a", "%2eenv"])
    expect(await refusalOf(reference)).toContain("is not joined: only files that end in .json, .yaml or .yml are");
  for (const reference of ["folder.yaml", "pipe.yaml"]) expect(await refusalOf(reference)).toContain("is not a file");
});

test("a document without other files is sent unchanged", async () => {
  for (const text of ['{"a": {"$ref": "#/b"}}  ', 'a: { $ref: "https://example.com/b.json" }', "{"])
    expect(await read({ "alone.yaml": text })).toBe(text);
});

test("a file outside of the folder, behind a symbolic link, or missing is refused by its name", async () => {
  await writeFile(join(folder, "secret.yaml"), "key: planted");
  await mkdir(join(folder, "b", "deep"), { recursive: true });
  await symlink(join(folder, "secret.yaml"), join(folder, "b", "linked.yaml"));
  await symlink(folder, join(folder, "b", "up"));
  const refusalOf = (reference: string) =>
    read({ "b/openapi.yaml": `a: { $ref: "${reference}" }` }).then(String, (error: Error) => error.message);
  for (const reference of [
    "../secret.yaml",
    "%2e%2e/secret.yaml",
    join(folder, "secret.yaml"),
    "deep/../../secret.yaml#/key",
  ])
    expect(await refusalOf(reference)).toContain("leads out of the folder of the document");
  for (const reference of ["linked.yaml", "up/secret.yaml#/key"])
    expect(await refusalOf(reference)).toContain("is reached by a symbolic link");
  expect(await refusalOf("none.yaml")).toMatch(/^none\.yaml cannot be read: ENOENT/);
  await writeFile(join(folder, "b", "broken.yaml"), "{");
  expect(await refusalOf("broken.yaml")).toMatch(/^broken\.yaml is neither JSON nor YAML/);
});
