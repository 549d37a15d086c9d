import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;
let folder: string;
let projects = 0;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  folder = await mkdtemp(join(tmpdir(), "svc-import-"));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the command line with an approver's key of a new project. */
async function svcOfProject() {
  const { project } = (await server.admin("CreateProject", { name: `import-${++projects}` })).json;
  const { key } = (await server.admin("CreateApiKey", { projectId: project.id, role: "ROLE_APPROVER", name: "a" }))
    .json;
  return (...argv: string[]) => runTestCommand(argv, { SVC_URL: server.url, SVC_API_KEY: key });
}

type Svc = Awaited<ReturnType<typeof svcOfProject>>;

async function typesOf(svc: Svc) {
  const { printed } = await svc("event-types", "list", "--json");
  const types: Record<string, unknown>[] = JSON.parse(printed.join("\n"));
  return types.map(({ createdAt: _, updatedAt: __, ...type }) => type);
}

async function fileOf(text: string): Promise<string> {
  const file = join(folder, "document");
  await writeFile(file, text);
  return file;
}

const invoice = {
  type: "object",
  required: ["amount", "$ref"],
  properties: {
    amount: { type: "number", exclusiveMinimum: 0, description: "Euros." },
    // Names and values that look like keywords.
    $ref: { type: "string" },
    default: { type: "string", enum: ["#/a", "b"] },
    state: { type: "object", properties: { example: { type: "boolean" } }, default: { $ref: "#/nowhere" } },
  },
  dependentRequired: { state: ["default"] },
};

test.each(["svc", "standard", "cloudevents"])(
  "a document of deliveries in the form %s makes the same types in another project",
  async (form) => {
    const [from, to] = [await svcOfProject(), await svcOfProject()];
    const put = (...argv: string[]) => from("event-types", "put", ...argv);
    const sample = '{"amount":12.500000000000000000001,"$ref":"x"}';
    await put("invoice.paid", "--schema", JSON.stringify(invoice), "--sample", sample, "--description", 'A "paid" one');
    await put("Free_one-2");
    await put("old");
    await from("event-types", "archive", "old");
    const { printed } = await from("event-types", "document", "--delivery", form);
    const file = await fileOf(printed.join("\n"));
    expect(await to("event-types", "import", file)).toMatchObject({
      ...{ code: 0, noted: ["2 event types stored"] },
      printed: ["Free_one-2 has version 1", "invoice.paid has version 1"],
    });
    const types = await typesOf(from);
    expect(await typesOf(to)).toEqual(types.filter(({ archived }) => archived === false));
    // A second import changes nothing, and neither does the document of the copy.
    await to("event-types", "import", file);
    expect(await typesOf(to)).toEqual(types.filter(({ archived }) => archived === false));
    const again = (await to("event-types", "document", "--delivery", form, "--json")).printed;
    const changing = /"version":"[^"]+"/;
    expect(again[0]?.replace(changing, "")).toBe(
      JSON.stringify(JSON.parse(printed.join("\n")))
        .replace(changing, "")
        .replace("12.5,", "12.500000000000000000001,"),
    );
  },
);

const webhooks = `
openapi: 3.1.0
webhooks:
  order.sent:
    $ref: '#/components/pathItems/Sent'
  order.made:
    post:
      summary: An order was made
      requestBody:
        content:
          text/plain: {}
          application/json; charset=utf-8:
            schema:
              $ref: '#/components/schemas/Order'
              minProperties: 1
              type: object
            examples: { first: { value: { id: a, lines: [{ count: 2 }] } } }
components:
  pathItems:
    Sent: { post: { description: Sent, requestBody: { $ref: '#/components/requestBodies/a~1b%20c' } } }
  requestBodies:
    a/b c: { content: { application/json: { schema: { $ref: '#/components/schemas/Order', description: Whole } } } }
  schemas:
    Order:
      type: object
      required: [id]
      x-internal: 1
      externalDocs: { url: 'https://example.com' }
      properties:
        id: { type: string, example: a }
        lines: { type: array, items: { $ref: '#/components/schemas/Line' } }
    Line: { type: object, properties: { count: { type: integer } } }
`;

test("references are written out, and keywords that only OpenAPI has are left out", async () => {
  const svc = await svcOfProject();
  expect((await svc("event-types", "import", await fileOf(webhooks))).noted).toEqual(["2 event types stored"]);
  const [made, sent] = await typesOf(svc);
  const lines = { type: "array", items: { type: "object", properties: { count: { type: "integer" } } } };
  const order = { type: "object", required: ["id"], properties: { id: { type: "string" }, lines } };
  expect(sent).toMatchObject({ name: "order.sent", description: "Sent" });
  expect(JSON.parse(String(sent?.["schemaJson"]))).toEqual({ ...order, description: "Whole" });
  expect(JSON.parse(String(made?.["schemaJson"]))).toEqual({
    ...{ minProperties: 1, type: "object" },
    allOf: [order],
  });
  expect(made).toMatchObject({ description: "An order was made", sampleJson: '{"id":"a","lines":[{"count":2}]}' });
});

test("if one webhook is refused, the refusal names it and nothing is stored", async () => {
  const svc = await svcOfProject();
  // The webhook before it is right.
  const faulty = webhooks
    .replace("$ref: '#/components/pathItems/Sent'", "post: {}")
    .replace("{ type: integer }", "{ type: integr }");
  const { code, noted } = await svc("event-types", "import", await fileOf(faulty));
  const refusal =
    'the webhook "order.made": the schema of its body is not a schema of an event type: allOf.0.properties.lines';
  expect({ code, noted }).toEqual({ code: 1, noted: [expect.stringContaining(refusal)] });
  expect(await typesOf(svc)).toEqual([]);
});

test("a type stays offered or archived when a file replaces it", async () => {
  const svc = await svcOfProject();
  await svc("event-types", "put", "order.sent", "--offered");
  await svc("event-types", "put", "order.made");
  await svc("event-types", "archive", "order.made");
  await svc("event-types", "import", await fileOf(webhooks));
  const [made, sent] = await typesOf(svc);
  expect(made).toMatchObject({ version: 2, archived: true, offered: false });
  expect(sent).toMatchObject({ version: 2, archived: false, offered: true });
});

const post = (body: object) => JSON.stringify({ webhooks: { "order.made": { post: body } } });
const schema = (given: object, more: object = {}) =>
  JSON.stringify({
    webhooks: { "order.made": { post: { requestBody: { content: { "application/json": { schema: given } } } } } },
    ...more,
  });
const loop = { components: { schemas: { A: { properties: { a: { $ref: "#/components/schemas/A" } } } } } };
const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, n) => [`s${n}`, { allOf: [{ $ref: `#/s${n + 1}` }, { $ref: `#/s${n + 1}` }] }]),
);

test.each([
  ["no webhooks", "{}", "has no webhooks: name an OpenAPI 3.1 file with the part webhooks"],
  ["text that is no document", "{", "the file cannot be read"],
  ["no post", post({}).replace("post", "put"), 'the webhook "order.made": it has no operation post'],
  [
    "another body",
    post({ requestBody: { content: { "text/xml": {} } } }),
    "its body is text/xml: describe a JSON body",
  ],
  [
    "a reference to nothing",
    schema({ $ref: "#/components/schemas/__proto__" }),
    "the file has nothing at #/components",
  ],
  ["a reference to another file", schema({ $ref: "other.yaml#/a" }), "the reference other.yaml#/a leaves the file"],
  ["a schema in itself", schema({ $ref: "#/components/schemas/A" }, loop), "contains itself, which a type cannot have"],
  [
    "a schema that doubles",
    schema({ $ref: "#/s0" }, { ...doubling, s40: {} }),
    "more than 200000 values when its references",
  ],
  [
    "a reference to itself",
    schema({}, {}).replace('{"post"', '{"$ref":"#/webhooks/order.made","post"'),
    "leads to itself",
  ],
  [
    "names that differ in case",
    JSON.stringify({ webhooks: { "a.b": { post: {} }, "A.b": { post: {} } } }),
    'the webhooks "a.b" and "A.b" differ only in the case of letters: rename one',
  ],
  [
    "a wrong name",
    post({}).replace("order.made", "order..made"),
    'the webhook "order..made": the name "order..made" is not',
  ],
  ["a mark without its property", post({ "x-svc-event-type": { payload: "data" } }), 'its body has no property "data"'],
])("a file with %s is refused", async (_name, text, refusal) => {
  const svc = await svcOfProject();
  const { code, noted } = await svc("event-types", "import", await fileOf(text));
  expect({ code, noted: noted.join("\n") }).toEqual({ code: 1, noted: expect.stringContaining(refusal) });
  expect(await typesOf(svc)).toEqual([]);
});
