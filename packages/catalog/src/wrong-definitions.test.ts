import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { DefinitionError } from "./read/definition-file.ts";
import { loadCatalog } from "./read/load.ts";

/** Files of a toolkit definition as people write them, by name. Every line is unique, so that a test case can name a line. */
const files = {
  "toolkit.yaml": `# A mail service.
slug: mail
name: Mail
description: Messages and lists of a mail service.
version: 0.1.0
category: communication
baseUrl: https://{{account.space}}.mail.example.com/v1
auth:
  - { type: api_key, placement: header, name: X-Key, value: "{{credential.key}}" }
account:
  - name: space
    description: Name of your space
    example: acme
    pattern: "^[a-z]+$"
always:
  headers:
    X-Client: svc
identify:
  tool: read_me
  path: user.id
`,
  "tools/read_me.yaml": `kind: action
class: read
description: Reads the profile of the connected account, with its id and its name.
intents:
  - who am I
  - which account is this
  - show my profile
input:
  type: object
  additionalProperties: false
  properties: {}
output:
  type: object
  properties:
    user:
      type: object
      properties:
        id: { type: string }
        name: { type: [string, "null"] }
request:
  method: GET
  path: /me
response:
  unwrap: data.result
`,
  "tools/send_message.yaml": `kind: action
class: write
description: Sends one message to people and lists, at once or at a given time. Returns its id.
intents:
  - mail this to ana
  - write to the whole team
  - let the customer know
idempotency:
  header: X-Request-Id
input:
  type: object
  additionalProperties: false
  required: [list_id, to]
  properties:
    list_id:
      type: string
      description: Id of the list the message belongs to.
    to:
      type: array
      items: { type: string }
      description: Addresses of the people it goes to.
    options:
      type: object
      properties:
        track: { type: boolean, description: Whether opening it is counted. }
      description: Options of the sending.
    tags:
      type: array
      items: { type: object }
      description: Tags with name and value.
    subject:
      type: string
      description: Subject of the message.
output:
  type: object
  properties:
    id: { type: string }
    state:
      enum: [sent, queued]
request:
  method: POST
  path: /lists/{{params.list_id}}/messages
  query:
    tags: "{{params.tags | json}}"
  headers:
    X-Subject: "About {{params.subject}}"
  body:
    to: "{{params.to | each(address)}}"
    track: "{{params.options.track}}"
    note: "options: {{params.options | json}}"
response:
  under: id
  empty:
    state: sent
  error:
    path: errors[0]
    message: errors[0].message
`,
};

type FileName = keyof typeof files;

const toolkit = "toolkit.yaml";
const me = "tools/read_me.yaml";
const send = "tools/send_message.yaml";

const folders: string[] = [];

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

type Damage = readonly [file: FileName, from: string, to: string];

/** Makes a definition invalid by these changes, and loads it. Returns the errors and the texts of the files. */
async function loadDamaged(...damages: readonly Damage[]) {
  const folder = await mkdtemp(join(tmpdir(), "svc-wrong-"));
  folders.push(folder);
  await mkdir(join(folder, "mail", "tools"), { recursive: true });
  const texts: Record<string, string> = { ...files };
  for (const [file, from, to] of damages) {
    expect(texts[file], `${file} has ${from}`).toContain(from);
    texts[file] = texts[file]?.replace(from, () => to) ?? "";
  }
  for (const [file, text] of Object.entries(texts)) await writeFile(join(folder, "mail", file), text);
  const refusal: unknown = await loadCatalog({ folders: [folder] }).catch((error: unknown) => error);
  const error = refusal instanceof DefinitionError ? refusal : undefined;
  const faults = (error?.faults ?? []).map((fault) => ({ ...fault, file: fault.file.slice(folder.length + 6) }));
  return { faults, texts, message: error?.message ?? "" };
}

/**
 * Test cases: the replaced and the new text, the path and the line (by its text) of the expected error, and words of its reason and advice.
 */
const cases: [name: string, damage: Damage, path: string, line: string, reason: string, cure: string][] = [
  [
    "an argument in the base URL",
    [toolkit, "{{account.space}}.mail", "{{params.list_id}}.mail"],
    "baseUrl",
    "baseUrl:",
    "{{params.list_id}} cannot be used here",
    "use {{account.*}}",
  ],
  [
    "a reserved slug",
    [toolkit, "slug: mail", "slug: skills"],
    "slug",
    "slug:",
    '"skills" is reserved for promoted jobs',
    "another name",
  ],
  [
    "a header that is none",
    [toolkit, "X-Client: svc", '"X Client": svc'],
    "always.headers.X Client",
    '"X Client"',
    "is not a header name",
    "use letters, digits",
  ],
  [
    "a header that frames the message",
    [send, "X-Subject: ", "Content-Length: "],
    "request.headers.Content-Length",
    "Content-Length",
    "is written by the sender",
    "remove it",
  ],
  [
    "an identify path that the output does not have",
    [toolkit, "path: user.id", "path: user.uuid"],
    "identify.path",
    "path: user.uuid",
    "is not in the tool's output",
    "name a text or number of read_me's output",
  ],
  [
    "an identify path to an object",
    [toolkit, "path: user.id", "path: user"],
    "identify.path",
    "path: user",
    "is an object or a list",
    "name a text or number",
  ],
  [
    "an identify tool that takes arguments",
    [me, "properties: {}", "required: [id]\n  properties: { id: { type: string, description: Id. } }"],
    "identify.tool",
    "tool: read_me",
    "requires arguments",
    "name one that takes none",
  ],
  [
    "the description of another tool",
    [send, files[send].split("\n")[2] ?? "", files[me].split("\n")[2] ?? ""],
    "description",
    "description: Reads",
    "is the same as that of read_me",
    "say how the two differ",
  ],
  [
    "a DELETE that reads",
    [me, "method: GET", "method: DELETE"],
    "class",
    "class: read",
    "is read, and the call is a DELETE",
    "write destructive",
  ],
  [
    "an unknown namespace",
    [send, "{{params.list_id}}/messages", "{{param.list_id}}/messages"],
    "request.path",
    "path: /lists",
    "{{param.list_id}} cannot be used here",
    "use {{params.*}}",
  ],
  [
    "a path argument that is not declared",
    [send, "/messages", "/messages/{{params.id}}"],
    "request.path",
    "path: /lists",
    'names "id", which params does not have',
    "use one of list_id",
  ],
  [
    "a path argument that may be absent",
    [send, "required: [list_id, to]", "required: [to]"],
    "request.path",
    "path: /lists",
    "is optional",
    "make list_id required, or give it a default",
  ],
  [
    "a list in a path",
    [send, "/messages", "/messages/{{params.to}}"],
    "request.path",
    "path: /lists",
    "is not a string or number",
    "one text or number",
  ],
  [
    "a required argument dropped",
    [send, 'to: "{{params.to | each(address)}}"', "to: []"],
    "input.properties.to",
    "to:",
    "is required, and no part of the request carries it",
    "place {{params.to}}",
  ],
  [
    "an argument placed nowhere",
    [send, 'tags: "{{params.tags | json}}"', "tags: all"],
    "input.properties.tags",
    "tags:",
    "the request does not send it",
    "remove the argument",
  ],
  [
    "a property that the argument does not have",
    [send, "{{params.options.track}}", "{{params.options.trace}}"],
    "request.body.track",
    'track: "{{',
    "names nothing in the argument",
    "properties declare",
  ],
  [
    "an unknown filter",
    [send, "| each(address)", "| every(address)"],
    "request.body.to",
    'to: "{{',
    "is not a filter: int, json, csv",
    "write {{namespace.name}}",
  ],
  [
    "each on what is not a list",
    [send, "About {{params.subject}}", "{{params.subject | each(x)}}"],
    "request.headers.X-Subject",
    "X-Subject",
    "the argument is not a list",
    "remove | each",
  ],
  [
    "csv on a list of objects",
    [send, "{{params.tags | json}}", "{{params.tags | csv}}"],
    "request.query.tags",
    'tags: "{{',
    "holds objects or lists",
    "write | json",
  ],
  [
    "csv on the objects that each makes",
    [send, "| each(address)", "| each(address) | csv"],
    "request.body.to",
    'to: "{{',
    "holds objects or lists",
    "write | json",
  ],
  [
    "int on an object",
    [send, "{{params.options.track}}", "{{params.options | int}}"],
    "request.body.track",
    'track: "{{',
    "is not a text or number",
    "remove | int",
  ],
  [
    "a list of objects in a query",
    [send, "{{params.tags | json}}", "{{params.tags}}"],
    "request.query.tags",
    'tags: "{{',
    "is an object in query",
    "write | json",
  ],
  [
    "an object in a query",
    [send, "{{params.tags | json}}", "{{params.options}}"],
    "request.query.tags",
    'tags: "{{',
    "is an object in query",
    "write | json",
  ],
  [
    "an object inside a text",
    [send, "options: {{params.options | json}}", "options: {{params.options}}"],
    "request.body.note",
    "note:",
    "is an object inside a text",
    "write | json",
  ],
  [
    "a list inside a text",
    [send, "options: {{params.options | json}}", "to {{params.to}}"],
    "request.body.note",
    "note:",
    "is a list inside a text",
    "write | csv or | json",
  ],
  [
    "an output field without type",
    [me, "id: { type: string }", "id: { description: Id. }"],
    "output.properties.user.properties.id",
    "id:",
    "has no type",
    "add a type",
  ],
  [
    "an unwrap that is no path",
    [me, "unwrap: data.result", "unwrap: $.data/result"],
    "response.unwrap",
    "unwrap:",
    "is not a path",
    "data.items[0].id",
  ],
  [
    "an error path that is none",
    [send, "path: errors[0]", "path: errors[*]"],
    "response.error.path",
    "path: errors",
    "is not a path",
    "names and list indexes",
  ],
  [
    "an error message that is no path",
    [send, "message: errors[0].message", "message: It failed"],
    "response.error.message",
    "message: It failed",
    "is not a path",
    "names and list indexes",
  ],
  [
    "a name to present under that output does not have",
    [send, "under: id", "under: messages"],
    "response.under",
    "under:",
    "is not a property of output",
    "declare it there",
  ],
  [
    "an idempotency header that is none",
    [send, "header: X-Request-Id", "header: X Request Id"],
    "idempotency.header",
    "header: X Request",
    "is not a header name",
    "use letters, digits",
  ],
  [
    "a key written twice",
    [me, "class: read", "class: read\nclass: write"],
    "",
    "class: write",
    "Map keys must be unique",
    "YAML 1.2",
  ],
];

test.each(cases)(
  "%s is refused with file, line, path, reason and cure",
  async (_name, damage, path, line, reason, cure) => {
    const { faults, texts, message } = await loadDamaged(damage);
    // An error in `identify` is reported in toolkit.yaml, even if the other file is wrong.
    const file = path.startsWith("identify") ? toolkit : damage[0];
    const found = faults.find((fault) => fault.file === file && fault.path === path && fault.reason.includes(reason));
    expect(found, JSON.stringify(faults, undefined, 1)).toBeDefined();
    expect(texts[file]?.split("\n")[(found?.line ?? 0) - 1]).toContain(line);
    expect(found?.reason).toContain(reason);
    expect(found?.cure).toContain(cure);
    expect(message).toContain(
      `mail/${file}:${found?.line}${path === "" ? "" : ` ${path}`}: ${found?.reason}; ${found?.cure}`,
    );
  },
);

test("there are at least twenty wrong definitions, and what they damage is right", async () => {
  expect(cases.length).toBeGreaterThanOrEqual(20);
  const { faults, message } = await loadDamaged();
  expect(faults, message).toEqual([]);
});

test("a folder with many faults reports all of them at once, in the order of its files", async () => {
  const { faults, message } = await loadDamaged(
    [toolkit, "category: communication", "category: post"],
    [toolkit, "path: user.id", "path: user.uuid"],
    [me, "class: read", "class: safe"],
    [me, "unwrap: data.result", "unwrap: a b"],
    [send, "| each(address)", "| every(address)"],
    [send, "{{params.tags | json}}", "{{params.tags}}"],
    [send, "path: errors[0]", "path: errors[*]"],
  );
  expect(faults.map(({ file, path }) => `${file} ${path}`)).toEqual([
    "toolkit.yaml category",
    "toolkit.yaml identify.path",
    "tools/read_me.yaml class",
    "tools/read_me.yaml response.unwrap",
    "tools/send_message.yaml request.body.to",
    "tools/send_message.yaml request.query.tags",
    "tools/send_message.yaml input.properties.to",
    "tools/send_message.yaml response.error.path",
  ]);
  expect(message).toMatch(/^8 problems in the definitions:\n/);
});

test("an error rule without path and unless is one fault that says so", async () => {
  const { faults } = await loadDamaged([send, "path: errors[0]\n    ", ""]);
  expect(faults.map(({ path }) => path)).toEqual(["response.error"]);
  expect(faults[0]?.reason).toMatch(/, which must have either path or unless$/);
});

test("unions of types, enums and objects kept whole are typed outputs", async () => {
  const { faults } = await loadDamaged([
    me,
    'name: { type: [string, "null"] }',
    "a: { type: [string, integer] }\n        b: { anyOf: [{ type: string }, { type: object }] }\n        c: { const: 1 }\n        d: { type: object }",
  ]);
  expect(faults).toEqual([]);
});

test("a deprecated tool names another of the toolkit that can be called", async () => {
  const replaced = (by: string): Damage => [me, "class: read", `class: read\nreplacedBy: ${by}`];
  expect((await loadDamaged(replaced("send_message"))).faults).toEqual([]);
  for (const by of ["read_me", "nope"]) {
    const { faults } = await loadDamaged(replaced(by));
    expect(faults.map(({ file, path }) => `${file} ${path}`)).toEqual(["tools/read_me.yaml replacedBy"]);
    expect(faults[0]?.reason).toContain(`"${by}" is not an action of the toolkit`);
  }
});
