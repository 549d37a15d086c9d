import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogOf, type ToolkitSource, writeToolkits } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { afterEach, expect, test } from "vitest";
import { DefinitionError, type FileFault } from "./definition-file.ts";
import { loadCatalog } from "./load.ts";

const folders: string[] = [];

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-toolkits-"));
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

/** Returns a valid definition as plain JSON. A test case may then make it invalid. */
function validSource() {
  return structuredClone({
    toolkit: {
      slug: "notes",
      name: "Notes",
      description: "Notes and folders of a note-taking app.",
      version: "0.1.0",
      category: "knowledge",
      baseUrl: "https://{{account.tenant}}.notes.example.com/v1",
      auth: [{ type: "api_key", placement: "header", name: "X-Key", value: "{{credential.key}}" }],
      account: [{ name: "tenant", description: "Name of your space", example: "acme", pattern: "^[a-z]+$" }],
      identify: { tool: "read_me", path: "id" },
      webhook: {
        scheme: "hmac_sha256",
        secretEnv: "SVC_WEBHOOK_SECRET_NOTES",
        header: "X-Signature",
        encoding: "hex",
        ignore: [{ headers: { "x-kind": "ping" } }],
      },
    },
    tools: {
      read_me: {
        kind: "action",
        class: "read",
        description: "Reads the profile of the connected account, with its id and name.",
        intents: ["who am I", "which account is this", "show my profile"],
        input: { type: "object", additionalProperties: false, properties: {} },
        output: { type: "object", properties: { id: { type: "string" } } },
        request: { method: "GET", path: "/me" },
      },
      delete_note: {
        kind: "action",
        class: "destructive",
        description: "Deletes one note for good, wherever it is filed. Returns nothing but the fact.",
        intents: ["throw this away", "get rid of my old list", "erase the draft"],
        idempotency: { argument: "key" },
        input: {
          type: "object",
          additionalProperties: false,
          required: ["note_id"],
          properties: {
            note_id: { type: "string", description: "Id of the note." },
            force: { type: "boolean", default: false, description: "True to skip the bin." },
            key: { type: "string", description: "Idempotency key." },
          },
        },
        output: { type: "object", properties: { deleted: { type: "boolean" } } },
        request: {
          method: "DELETE",
          path: "/notes/{{params.note_id}}",
          query: { force: "{{params.force}}" },
          headers: { "X-Idempotency": "{{params.key}}" },
        },
        response: { empty: { deleted: true } },
      },
      note_changed: {
        kind: "trigger",
        description: "Fires when a note changes in any way, be it text, title or folder.",
        intents: ["tell me about edits", "when somebody writes", "watch my list"],
        output: {
          type: "object",
          required: ["id"],
          properties: { id: { type: "string" }, at: { type: "object", properties: { day: { type: "string" } } } },
        },
        match: { headers: { "x-kind": "changed" } },
        payload: { id: "{{body.id}}", at: { day: "{{body.day}}" } },
      },
    },
  });
}

// Damage is intentionally untyped, because a YAML file can hold anything.
// biome-ignore lint/suspicious/noExplicitAny: a test case may put any value at any place.
type Damage = (source: any) => void;
type WrongCase = [string, Damage, string, string, string];

async function faultsOf(damage: Damage): Promise<readonly FileFault[]> {
  const source = validSource();
  damage(source);
  const folder = await createFolder();
  await writeToolkits(folder, [source as unknown as ToolkitSource]);
  const refusal: unknown = await loadCatalog({ folders: [folder] }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(DefinitionError);
  return (refusal as DefinitionError).faults.map((fault) => ({ ...fault, file: fault.file.slice(folder.length + 1) }));
}

const me = "tools/read_me.yaml";
const deletion = "tools/delete_note.yaml";
const trigger = "tools/note_changed.yaml";

type WrongDefinition = [name: string, damage: Damage, file: string, path: string, words: string];

/** Returns test cases of definitions with a webhook. Each changes how the bodies of posts are read. */
function withWebhook(...cases: [name: string, bodies: object, file: string, path: string, words: string][]) {
  return cases.map(([name, bodies, ...where]): WrongDefinition => {
    return [name, ({ toolkit }) => Object.assign(toolkit.webhook, bodies), ...where];
  });
}

/**
 * Test cases of invalid definitions: the change that makes the definition invalid, the position of the reported error, and words of its
 * reason and advice.
 */
const wrongDefinitions: WrongDefinition[] = [
  ["no name", ({ toolkit }) => delete toolkit.name, "toolkit.yaml", "name", "add it"],
  ["category unknown", ({ toolkit }) => (toolkit.category = "fun"), "toolkit.yaml", "category", "search-and-data"],
  ["category missing", ({ toolkit }) => delete toolkit.category, "toolkit.yaml", "category", "one of the twelve"],
  ["unknown key", ({ toolkit }) => (toolkit.colour = "red"), "toolkit.yaml", "colour", "use one of slug, name"],
  ["version form", ({ toolkit }) => (toolkit.version = "1"), "toolkit.yaml", "version", "such as 0.1.0"],
  ["description short", ({ toolkit }) => (toolkit.description = "Notes."), "toolkit.yaml", "description", "20 to 400"],
  ["auth empty", ({ toolkit }) => (toolkit.auth = []), "toolkit.yaml", "auth", "in the order"],
  ["auth type", ({ toolkit }) => (toolkit.auth[0].type = "magic"), "toolkit.yaml", "auth[0].type", "oauth2, api_key"],
  [
    "auth twice",
    ({ toolkit }) => toolkit.auth.push(toolkit.auth[0]),
    "toolkit.yaml",
    "auth[1].type",
    "declare each type",
  ],
  [
    "credential of another scheme",
    ({ toolkit }) => (toolkit.auth[0].value = "{{credential.key}}{{credential.password}}"),
    "toolkit.yaml",
    "auth[0].value",
    "use one of key",
  ],
  ["key header name", ({ toolkit }) => (toolkit.auth[0].name = "X Key"), "toolkit.yaml", "auth[0].name", "header name"],
  [
    "oauth address",
    ({ toolkit }) =>
      toolkit.auth.push({
        type: "oauth2",
        authorizeUrl: "http://example.com",
        tokenUrl: "{{deployment.token_url}}",
        defaultScopes: [],
        refresh: true,
      }),
    "toolkit.yaml",
    "auth[1].authorizeUrl",
    "https://",
  ],
  [
    "base not https",
    ({ toolkit }) => (toolkit.baseUrl = "http://notes.example.com"),
    "toolkit.yaml",
    "baseUrl",
    "https",
  ],
  ["base ends in /", ({ toolkit }) => (toolkit.baseUrl += "/"), "toolkit.yaml", "baseUrl", "remove it"],
  ["base with query", ({ toolkit }) => (toolkit.baseUrl += "?a=1"), "toolkit.yaml", "baseUrl", "leave scheme"],
  [
    "params in base",
    ({ toolkit }) => (toolkit.baseUrl = "https://{{params.note_id}}.example.com"),
    "toolkit.yaml",
    "baseUrl",
    "{{account.*}}",
  ],
  [
    "account variable unknown",
    ({ toolkit }) => (toolkit.baseUrl = "https://{{account.space}}.example.com"),
    "toolkit.yaml",
    "baseUrl",
    "use one of tenant",
  ],
  [
    "filter in base",
    ({ toolkit }) => (toolkit.baseUrl = "https://{{account.tenant | int}}.example.com"),
    "toolkit.yaml",
    "baseUrl",
    "remove it",
  ],
  [
    "account twice",
    ({ toolkit }) => toolkit.account.push(toolkit.account[0]),
    "toolkit.yaml",
    "account[1].name",
    "once",
  ],
  [
    "example against pattern",
    ({ toolkit }) => (toolkit.account[0].example = "A1"),
    "toolkit.yaml",
    "account[0].example",
    "correct one of the two",
  ],
  [
    "pattern not a regex",
    ({ toolkit }) => (toolkit.account[0].pattern = "["),
    "toolkit.yaml",
    "account[0].pattern",
    "regular expression",
  ],
  [
    "always with params",
    ({ toolkit }) => (toolkit.always = { headers: { a: "{{params.x}}" } }),
    "toolkit.yaml",
    "always.headers.a",
    "cannot be used here",
  ],
  [
    "rate of a moment",
    ({ toolkit }) => (toolkit.rate = { max: 5, per: "250ms" }),
    "toolkit.yaml",
    "rate.per",
    "1s to 1d",
  ],
  [
    "rate of nothing",
    ({ toolkit }) => (toolkit.rate = { max: 0, per: "1s" }),
    "toolkit.yaml",
    "rate.max",
    "1 to 100,000",
  ],
  [
    "identify unknown",
    ({ toolkit }) => (toolkit.identify.tool = "get_me"),
    "toolkit.yaml",
    "identify.tool",
    "is not a tool",
  ],
  [
    "identify not a read",
    ({ toolkit }) => (toolkit.identify.tool = "delete_note"),
    "toolkit.yaml",
    "identify.tool",
    "read action",
  ],
  ["webhook missing", ({ toolkit }) => delete toolkit.webhook, "toolkit.yaml", "webhook", "note_changed"],
  [
    "webhook scheme",
    ({ toolkit }) => (toolkit.webhook.scheme = "md5"),
    "toolkit.yaml",
    "webhook.scheme",
    "hmac_sha256, slack_v0, token_query",
  ],
  [
    "secret variable",
    ({ toolkit }) => (toolkit.webhook.secretEnv = "SVC_VAULT_KEY"),
    "toolkit.yaml",
    "webhook.secretEnv",
    "SVC_WEBHOOK_SECRET_",
  ],
  ["hmac without header", ({ toolkit }) => delete toolkit.webhook.header, "toolkit.yaml", "webhook.header", "add it"],
  [
    "key of another scheme",
    ({ toolkit }) => (toolkit.webhook.parameter = "t"),
    "toolkit.yaml",
    "webhook.parameter",
    "use one of",
  ],
  [
    "ignore everything",
    ({ toolkit }) => (toolkit.webhook.ignore = [{}]),
    "toolkit.yaml",
    "webhook.ignore[0]",
    "name a header",
  ],
  ...(
    [
      [{ signed: "{{headers.x-id}}" }, "signed", "add {{body}}"],
      [{ signed: "{{body}}{{headers.X-Id}}" }, "signed", "lower case"],
      [{ signed: "{{body}}{{cookie.a}}" }, "signed", "use {{body}}, {{form}}, {{url}}, {{method}}"],
      [{ signed: "{{body.id}}" }, "signed", "write {{body}}"],
      [{ signed: "{{body}}{{headers}}" }, "signed", "write {{headers.name}}"],
      [{ signed: "{{body | json}}" }, "signed", "remove it"],
      [{ signed: "{{body}}{{" }, "signed", "write {{body}}"],
      [{ signed: "{{headers.x-signature}}{{body}}" }, "signed", "another header"],
      [{ signed: "{{signature.t}}{{body}}" }, "signed", "add split"],
      [{ signed: "{{signature.t}}{{body}}", split: "comma" }, "signed", "such as v1="],
      [{ signed: "{{signature.t}}{{body}}", split: "comma", prefix: "t" }, "signed", "such as v1="],
      [{ timestamp: "{{headers.x-time}}" }, "timestamp", "add {{headers.x-time}} to signed"],
      [{ signed: "{{form}}", timestamp: "{{body.at}}" }, "timestamp", "add {{body.at}} to signed"],
      [{ timestamp: "now" }, "timestamp", "write a placeholder"],
      [{ tolerance: "5m" }, "tolerance", "add timestamp"],
      [{ timestamp: "{{body.at}}", tolerance: "29s" }, "tolerance", "from 30s to 1h"],
      [{ timestamp: "{{body.at}}", tolerance: "2h" }, "tolerance", "from 30s to 1h"],
      [{ split: "pipe" }, "split", "comma, semicolon, space"],
      [{ encoding: "base32" }, "encoding", "hex, base64, base64url"],
      [{ secret: { encoding: "latin1" } }, "secret.encoding", "utf8, hex, base64"],
      [{ header: [] }, "header", "1 to 5"],
      [{ header: ["x a"] }, "header[0]", "letters, digits"],
    ] as const
  ).map(([part, path, cure]): WrongCase => {
    const put: Damage = ({ toolkit }) => Object.assign(toolkit.webhook, part);
    return [`webhook ${JSON.stringify(part)}`, put, "toolkit.yaml", `webhook.${path}`, cure];
  }),
  ...(
    [
      [{}, "", "parameter, header and basic"],
      [{ parameter: "t", header: "x-t" }, "", "exactly one"],
      [{ parameter: "t", prefix: "Bearer " }, ".prefix", "add header"],
    ] as const
  ).map(([part, path, cure]): WrongCase => {
    const webhook = { scheme: "token_query", secretEnv: "SVC_WEBHOOK_SECRET_NOTES", ...part };
    const put: Damage = ({ toolkit }) => (toolkit.webhook = webhook);
    return [`webhook ${JSON.stringify(part)}`, put, "toolkit.yaml", `webhook${path}`, cure];
  }),
  ...(
    [
      [{ method: "PUT", answer: {} }, ".method", "GET, HEAD, POST"],
      [{ method: "POST", answer: {} }, ".when", "name a header"],
      [{ method: "POST", token: "t", answer: { text: "{{query.a}}" } }, ".token", "remove it"],
      [{ method: "GET", unsigned: true, answer: {} }, ".unsigned", "add token"],
      [{ method: "GET", when: { body: { a: 1 } }, answer: {} }, ".when.body", "query parameter"],
      [{ method: "GET", token: "t", answer: { text: "a", json: {} } }, ".answer", "one of them"],
      [{ method: "GET", answer: { json: {} } }, ".answer.json", "add token"],
      [{ method: "POST", unsigned: true, answer: { json: { a: "{{query.a}}" } } }, ".answer.json", "remove unsigned"],
      [{ method: "GET", answer: { text: "{{query.a | hmac}}" } }, ".answer.text", "add token"],
      [{ method: "POST", unsigned: true, answer: { text: "{{query.a | hmac}}" } }, ".answer.text", "remove unsigned"],
      [
        { method: "POST", when: { body: { a: 1 } }, answer: { text: "{{query.a | hmac}}" } },
        ".answer.text",
        "from the body",
      ],
      [{ method: "GET", token: "t", answer: { text: "{{query.t}}" } }, ".answer.text", "never repeats"],
      [{ method: "GET", answer: { text: "{{body.a}}" } }, ".answer.text", "use {{query.*}}, {{headers.*}}"],
      [{ method: "GET", answer: { text: "{{query.a | upper}}" } }, ".answer.text", "hmac"],
      [{ method: "GET", answer: { status: 302 } }, ".answer.status", "200 to 299"],
    ] as const
  ).map(([part, path, cure]): WrongCase => {
    const put: Damage = ({ toolkit }) => (toolkit.webhook.handshakes = [part]);
    return [`handshake ${JSON.stringify(part)}`, put, "toolkit.yaml", `webhook.handshakes[0]${path}`, cure];
  }),
  ["kind missing", ({ tools }) => delete tools.read_me.kind, me, "kind", "action, trigger"],
  ["class unknown", ({ tools }) => (tools.read_me.class = "safe"), me, "class", "read, write, destructive"],
  ["read that deletes", ({ tools }) => (tools.delete_note.class = "read"), deletion, "class", "write destructive"],
  ["tool description short", ({ tools }) => (tools.read_me.description = "Reads me."), me, "description", "40 to 800"],
  ["too few intents", ({ tools }) => tools.read_me.intents.pop(), me, "intents", "3 to 6"],
  [
    "intent names the tool",
    ({ tools }) => (tools.read_me.intents[1] = "use read me"),
    me,
    "intents[1]",
    "as people ask",
  ],
  [
    "scope placeholder",
    ({ tools }) => (tools.read_me.scopes = ["{{account.tenant}}"]),
    me,
    "scopes[0]",
    "{{deployment.*}}",
  ],
  [
    "open input",
    ({ tools }) => delete tools.read_me.input.additionalProperties,
    me,
    "input.additionalProperties",
    "false",
  ],
  ["input not an object", ({ tools }) => (tools.read_me.input.type = "array"), me, "input.type", "type: object"],
  [
    "argument without description",
    ({ tools }) => delete tools.delete_note.input.properties.force.description,
    deletion,
    "input.properties.force",
    "describe it",
  ],
  [
    "confirm declared",
    ({ tools }) => (tools.delete_note.input.properties.confirm = { type: "boolean", description: "Do it." }),
    deletion,
    "input.properties.confirm",
    "remove it",
  ],
  [
    "misspelt keyword",
    ({ tools }) => (tools.delete_note.input.requird = ["note_id"]),
    deletion,
    "input.requird",
    "correct the spelling",
  ],
  [
    "unknown format",
    ({ tools }) => (tools.delete_note.input.properties.note_id.format = "color"),
    deletion,
    "input.properties.note_id.format",
    "date-time",
  ],
  [
    "required unknown",
    ({ tools }) => tools.delete_note.input.required.push("id"),
    deletion,
    "input.required[1]",
    "use one of note_id",
  ],
  [
    "rule about nothing",
    ({ tools }) => (tools.delete_note.input.dependentRequired = { force: ["id"] }),
    deletion,
    "input.dependentRequired.force[0]",
    "use one of",
  ],
  [
    "default of another type",
    ({ tools }) => (tools.delete_note.input.properties.force.default = "no"),
    deletion,
    "input.properties.force.default",
    "boolean",
  ],
  [
    "not a schema",
    ({ tools }) => (tools.delete_note.output.properties.deleted.type = "bool"),
    deletion,
    "output.properties.deleted.type",
    "JSON Schema 2020-12",
  ],
  [
    "remote reference",
    ({ tools }) => (tools.read_me.output.properties.id = { $ref: "https://example.com/s" }),
    me,
    "output.properties.id.$ref",
    "#/$defs",
  ],
  [
    "required argument dropped",
    ({ tools }) => (tools.delete_note.request.path = "/notes"),
    deletion,
    "input.properties.note_id",
    "place {{params.note_id}}",
  ],
  [
    "optional argument dropped",
    ({ tools }) => delete tools.delete_note.request.query,
    deletion,
    "input.properties.force",
    "remove the argument",
  ],
  [
    "host argument without pattern",
    ({ tools }) => (tools.read_me.input.properties.dc = { type: "string", description: "Region.", "x-host": true }),
    me,
    "input.properties.dc",
    "pattern",
  ],
  [
    "path argument undeclared",
    ({ tools }) => (tools.read_me.request.path = "/me/{{params.id}}"),
    me,
    "request.path",
    'declare "id"',
  ],
  [
    "path argument optional",
    ({ tools }) => (tools.delete_note.input.required = []),
    deletion,
    "request.path",
    "make note_id required",
  ],
  [
    "path argument not a text",
    ({ tools }) => (tools.delete_note.input.properties.note_id.type = "array"),
    deletion,
    "request.path",
    "one text or number",
  ],
  ["path with query", ({ tools }) => (tools.read_me.request.path = "/me?x=1"), me, "request.path", "without query"],
  ["method", ({ tools }) => (tools.read_me.request.method = "FETCH"), me, "request.method", "GET, POST"],
  ["body in a GET", ({ tools }) => (tools.read_me.request.body = { a: 1 }), me, "request.body", "move it to query"],
  [
    "credential in a request",
    ({ tools }) => (tools.read_me.request.headers = { a: "{{credential.key}}" }),
    me,
    "request.headers.a",
    "cannot be used here",
  ],
  [
    "template unclosed",
    ({ tools }) => (tools.read_me.request.headers = { a: "{{params.x" }),
    me,
    "request.headers.a",
    "not closed",
  ],
  [
    "empty outside output",
    ({ tools }) => (tools.delete_note.response.empty = { gone: true }),
    deletion,
    "response.empty.gone",
    "declare it there",
  ],
  [
    "error rule without a test",
    ({ tools }) => (tools.read_me.response = { error: { message: "m" } }),
    me,
    "response.error",
    "path (present), or unless",
  ],
  [
    "idempotency argument",
    ({ tools }) => (tools.delete_note.idempotency.argument = "token"),
    deletion,
    "idempotency.argument",
    "input.properties",
  ],
  [
    "idempotency twice",
    ({ tools }) => (tools.delete_note.idempotency.header = "X-Id"),
    deletion,
    "idempotency",
    "keep the one",
  ],
  ["match missing", ({ tools }) => delete tools.note_changed.match, trigger, "match", "must equal a value"],
  [
    "match everything beside another trigger",
    ({ tools }) => {
      tools.other = structuredClone(tools.note_changed);
      tools.note_changed.match = {};
    },
    trigger,
    "match",
    "distinguishes its posts",
  ],
  [
    "payload outside output",
    ({ tools }) => (tools.note_changed.payload.who = "{{body.who}}"),
    trigger,
    "payload.who",
    "declare it there",
  ],
  [
    "payload lacks a required field",
    ({ tools }) => delete tools.note_changed.payload.id,
    trigger,
    "payload.id",
    "required by output",
  ],
  [
    "payload lacks a nested field",
    ({ tools }) => (tools.note_changed.payload.at = {}),
    trigger,
    "payload.at.day",
    "never filled",
  ],
  [
    "trigger with params",
    ({ tools }) => (tools.note_changed.account = "{{params.x}}"),
    trigger,
    "account",
    "{{headers.*}}",
  ],
  [
    "header in capitals",
    ({ tools }) => (tools.note_changed.dedupe = "{{headers.X-Id}}"),
    trigger,
    "dedupe",
    "lower case",
  ],
  [
    "filter unknown",
    ({ tools }) => (tools.note_changed.dedupe = "{{body.id | trim}}"),
    trigger,
    "dedupe",
    "is not a filter",
  ],
  ["trigger that writes", ({ tools }) => (tools.note_changed.class = "write"), trigger, "class", 'use "read"'],
  [
    "trigger with a request",
    ({ tools }) => (tools.note_changed.request = { method: "GET", path: "/" }),
    trigger,
    "request",
    "use one of",
  ],
  [
    "secret of a header in the payload",
    ({ toolkit, tools }) => {
      toolkit.webhook = { scheme: "token_query", secretEnv: "SVC_WEBHOOK_SECRET_NOTES", header: ["X-A", "X-Secret"] };
      tools.note_changed.payload.id = "{{headers.x-secret}}";
    },
    trigger,
    "payload.id",
    "secret stays out",
  ],
  [
    "secret in the payload",
    ({ toolkit, tools }) => {
      toolkit.webhook = { scheme: "token_query", secretEnv: "SVC_WEBHOOK_SECRET_NOTES", parameter: "token" };
      tools.note_changed.payload.id = "{{query.token}}";
    },
    trigger,
    "payload.id",
    "secret stays out",
  ],
  ...withWebhook(
    ["form that is no name", { form: "a=b" }, "toolkit.yaml", "webhook.form", "or * for an object"],
    ["each outside the body", { each: "headers.x" }, "toolkit.yaml", "webhook.each", "body, or body.events"],
    ["content unknown", { content: "xml" }, "toolkit.yaml", "webhook.content", "text, base64, none"],
    ["content with a form", { content: "text", form: "*" }, "toolkit.yaml", "webhook.content", "remove form"],
    ["content with a list", { content: "none", each: "body" }, "toolkit.yaml", "webhook.content", "remove each"],
    [
      "a list of form fields",
      { form: "*", each: "body.a" },
      "toolkit.yaml",
      "webhook.each",
      "fields of a form are texts",
    ],
    ["a field of a text", { content: "text" }, trigger, "payload.id", "is inside a text"],
    ["a body that is not read", { content: "none" }, trigger, "payload.id", "{{body.id}} cannot be used here"],
    ["every element in each event", { each: "body.id.list" }, trigger, "payload.id", "contains every element"],
  ),
  [
    "item without a list",
    ({ tools }) => {
      tools.note_changed.match = { item: { kind: "changed" } };
      tools.note_changed.dedupe = "{{item.id}}";
    },
    trigger,
    "match.item",
    "webhook.each is missing",
  ],
  [
    "tool name",
    ({ tools }) => {
      tools.ReadMe = tools.read_me;
    },
    "tools/ReadMe.yaml",
    "",
    "lower-case words",
  ],
  ["no tools", (source) => Object.assign(source, { tools: {} }), "toolkit.yaml", "", "add tools/"],
];

test.each(wrongDefinitions)("refused: %s", async (_name, damage, file, path, words) => {
  const faults = await faultsOf(damage);
  const fault = faults.find((candidate) => candidate.file === `notes/${file}` && candidate.path === path);
  expect(fault, JSON.stringify(faults, undefined, 1)).toBeDefined();
  expect(`${fault?.reason}; ${fault?.cure}`).toContain(words);
});

test("the definition that the cases damage is right", async () => {
  const folder = await createFolder();
  await writeToolkits(folder, [validSource() as unknown as ToolkitSource]);
  const { tools } = await loadCatalog({ folders: [folder] });
  expect([...tools.keys()]).toEqual(["notes.delete_note", "notes.note_changed", "notes.read_me"]);
});

test("all faults of all files are reported at once, with file, line, path, reason and cure", async () => {
  const folder = await createFolder();
  await mkdir(join(folder, "alpha", "tools"), { recursive: true });
  await mkdir(join(folder, "beta"));
  await writeFile(join(folder, "alpha", "toolkit.yaml"), "slug: alpha\nname: Alpha\ncategory: fun\n");
  await writeFile(join(folder, "alpha", "tools", "broken.yaml"), "kind: action\nclass: [read\n");
  await writeFile(join(folder, "alpha", "tools", "twice.yaml"), "kind: action\nkind: trigger\n");
  await writeFile(join(folder, "alpha", "tools", "notes.txt"), "hello");
  const missing = join(folder, "nowhere");
  const refusal: unknown = await loadCatalog({ folders: [folder, missing] }).catch((error: unknown) => error);
  const { faults, message } = refusal as DefinitionError;
  const found = faults.map(({ file, line, path }) => [file.slice(folder.length + 1), line, path]);
  expect(found).toContainEqual(["alpha/toolkit.yaml", 3, "category"]);
  expect(found).toContainEqual(["alpha/toolkit.yaml", 1, "version"]);
  expect(found).toContainEqual(["alpha/tools/twice.yaml", 2, ""]);
  expect(found).toContainEqual(["alpha/tools/notes.txt", undefined, ""]);
  expect(found).toContainEqual(["beta/toolkit.yaml", undefined, ""]);
  expect(found).toContainEqual(["nowhere", undefined, ""]);
  expect(found.some(([file]) => file === "alpha/tools/broken.yaml")).toBe(true);
  expect(message.split("\n")).toHaveLength(faults.length + 1);
  expect(message).toMatch(/alpha\/toolkit\.yaml:3 category: is "fun".*; use one of communication/);
});

test("a fault of one part of a file hides no fault of another, nor of the toolkit's tools", async () => {
  const faults = await faultsOf(({ toolkit, tools }) => {
    toolkit.category = "fun";
    toolkit.account = "tenant";
    toolkit.baseUrl += "/";
    toolkit.identify.tool = "get_me";
    tools.delete_note.description = "Short.";
    tools.delete_note.request.path = "/notes";
    tools.note_changed.match = "all";
    tools.note_changed.dedupe = "{{";
  });
  expect(faults.map(({ file, path }) => [file.slice("notes/".length), path])).toEqual([
    ["toolkit.yaml", "category"],
    ["toolkit.yaml", "account"],
    ["toolkit.yaml", "baseUrl"],
    ["toolkit.yaml", "identify.tool"],
    [deletion, "description"],
    [deletion, "input.properties.note_id"],
    [trigger, "match"],
    [trigger, "dedupe"],
  ]);
});

test("a slug other than its folder's name is refused", async () => {
  const folder = await createFolder();
  await writeToolkits(folder, [sampleToolkits.teamChat]);
  await writeFile(
    join(folder, "team_chat", "toolkit.yaml"),
    JSON.stringify({ ...sampleToolkits.teamChat.toolkit, slug: "chat" }),
  );
  await expect(loadCatalog({ folders: [folder] })).rejects.toThrow("same name");
});

test("several folders form one catalog, ordered by slug, and a slug may be in only one of them", async () => {
  const [first, second] = [await createFolder(), await createFolder()];
  await writeToolkits(first, [sampleToolkits.teamChat, sampleToolkits.codeHost]);
  await writeToolkits(second, [sampleToolkits.payments]);
  const { toolkits, tools } = await loadCatalog({ folders: [first, second] });
  expect([...toolkits.keys()]).toEqual(["code_host", "payments", "team_chat"]);
  expect([...tools.keys()]).toEqual([...tools.keys()].toSorted());
  await writeToolkits(second, [sampleToolkits.codeHost]);
  await expect(loadCatalog({ folders: [first, second] })).rejects.toThrow(
    /"code_host" is taken by .*; rename one of the two/,
  );
});

test("a destructive tool's input gets confirm, which is required nowhere and sent nowhere", () => {
  const { tools } = catalogOf({ toolkits: [sampleToolkits.payments] });
  const refund = tools.get("payments.refund_payment");
  expect(refund?.inputSchema.properties).toMatchObject({ confirm: { type: "boolean" } });
  expect(refund?.inputSchema.required).toEqual(["payment_id"]);
  expect(refund?.kind === "action" && JSON.stringify(refund.request)).not.toContain("confirm");
});

test("a result may be null wherever it has a field", () => {
  const refund = catalogOf({ toolkits: [sampleToolkits.payments] }).tools.get("payments.refund_payment");
  if (refund?.kind !== "action") throw new Error("refund_payment is an action");
  expect(refund.validateOutput({ id: null, lines: [1, null] })).toEqual([]);
  expect(refund.validateOutput({ id: 1 })).not.toEqual([]);
});

test("every schema of the samples compiles", () => {
  const { tools } = catalogOf({ toolkits: Object.values(sampleToolkits) });
  for (const tool of tools.values()) {
    if (tool.kind !== "action") continue;
    tool.validateInput({});
    tool.validateOutput({});
  }
});
