import specs from "@asyncapi/specs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { EventDocumentFormat } from "@svc/gen/triggers";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { CloudEvent } from "cloudevents";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestCluster, createTestNode, type TestCluster, type TriggerNode } from "../test-node.ts";
import { writeEventDocument } from "./document.ts";

let cluster: TestCluster;
let node: TriggerNode;

beforeAll(async () => {
  cluster = await createTestCluster();
  node = createTestNode(cluster, { isStarted: true });
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  await dropTestDatabases();
});

const { ASYNCAPI_3: asyncapi, OPENAPI_3_1: openapi } = EventDocumentFormat;
const forms = ["svc", "standard", "cloudevents"] as const;

/**
 * Event types of every kind: without a schema, with keywords of JSON Schema 2020-12, and with every kind of character that a name may have.
 */
const types = [
  {
    name: "invoice.paid",
    description: 'A customer paid an "invoice".',
    schemaJson: JSON.stringify({
      type: "object",
      required: ["amount"],
      properties: { amount: { type: "number", minimum: 0 }, dueAt: { type: "string", format: "date-time" } },
    }),
    sampleJson: '{"amount":12.500000000000000000001}',
  },
  {
    name: "Pair_of-things.v2",
    schemaJson: JSON.stringify({
      type: "object",
      properties: {
        pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false },
        note: { type: "string" },
      },
      dependentRequired: { pair: ["note"] },
    }),
    sampleJson: '{"pair":["a",1],"note":"#/nowhere"}',
  },
  { name: "free" },
];

type Document = Readonly<Record<string, unknown>>;

async function projectWithTypes() {
  const client = node.client(await cluster.project());
  for (const type of types) await client.putEventType(type);
  await client.putEventType({ name: "old", archived: true });
  const documentOf = async (format: EventDocumentFormat, delivery = "", names: string[] = []) => {
    const { documentJson } = await client.getEventDocument({ format, delivery, types: names });
    return { text: documentJson, document: JSON.parse(documentJson) as Document };
  };
  return { client, documentOf };
}

/** Returns a function that compares a value with the schema at a JSON pointer of a document. */
function schemaAt(document: Document, pointer: string, isNewer: boolean) {
  const options = { strict: false, validateFormats: false, allErrors: true };
  const ajv = isNewer ? new Ajv2020(options) : new Ajv(options);
  ajv.addSchema({ ...document, $id: "https://example.com/document" });
  const validate = ajv.compile({ $ref: `https://example.com/document#${pointer}` });
  return (value: unknown) => (validate(value) ? [] : validate.errors);
}

/** Returns the schemas and the sample of a type in a document. `headers`: schemas by the header's name in lower case. */
function messageOf(document: Document, format: EventDocumentFormat, name: string) {
  return format === openapi ? openapiMessage(document, name) : asyncapiMessage(document, name);
}

type Content = Record<string, { readonly example?: unknown }>;

function openapiMessage(document: Document, name: string) {
  const { webhooks, components } = document as never as {
    webhooks: Record<string, { post: { parameters: { $ref: string }[]; requestBody: { content: Content } } }>;
    components: { parameters: Record<string, { name: string; required: boolean; schema: object }> };
  };
  const { parameters, requestBody } = webhooks[name]!.post;
  const [[contentType, media] = []] = Object.entries(requestBody.content);
  const headers = parameters.map(({ $ref }) => components.parameters[$ref.split("/").at(-1)!]!);
  const at = `/webhooks/${name}/post/requestBody/content/${contentType?.replace("/", "~1")}/schema`;
  return {
    contentType,
    example: media?.example,
    body: schemaAt(document, at, true),
    required: headers.filter((one) => one.required).map((one) => one.name.toLowerCase()),
    headers: Object.fromEntries(headers.map((one) => [one.name.toLowerCase(), one.schema])),
  };
}

function asyncapiMessage(document: Document, name: string) {
  const { channels, operations, components } = document as never as {
    channels: {
      endpoint: {
        messages: Record<string, { contentType: string; payload: object; examples?: { payload: unknown }[] }>;
      };
    };
    operations: Record<string, { action: string; messages: { $ref: string }[] }>;
    components: { schemas: { headers: { required: string[]; properties: Record<string, object> } } };
  };
  const at = `/channels/endpoint/messages/${name}`;
  expect(operations[name]).toMatchObject({ action: "send", messages: [{ $ref: `#${at}` }] });
  const { contentType, payload, examples } = channels.endpoint.messages[name]!;
  const isNewer = "schemaFormat" in payload;
  const { required, properties } = components.schemas.headers;
  return {
    contentType,
    example: examples?.[0]?.payload,
    body: schemaAt(document, `${at}/payload${isNewer ? "/schema" : ""}`, isNewer),
    required: required.map((one) => one.toLowerCase()),
    headers: Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key.toLowerCase(), schema])),
  };
}

/** Compares a document with the published schema of AsyncAPI 3.0. */
const validateAsyncapi = new Ajv({ strict: false, validateFormats: false, meta: false, validateSchema: false }).compile(
  (({ $schema: _, ...schema }) => schema)(specs.schemasWithoutId["3.0.0"] as Record<string, unknown>),
);

describe.each(forms)("in the form %s", (form) => {
  test("both documents satisfy the published schemas, and every sample its own", async () => {
    const { documentOf } = await projectWithTypes();
    for (const format of [openapi, asyncapi]) {
      const { document } = await documentOf(format, form);
      if (format === openapi) expect(await new Validator().validate(document)).toMatchObject({ valid: true });
      else expect(validateAsyncapi(document), JSON.stringify(validateAsyncapi.errors)).toBe(true);
      for (const { name } of types) {
        const { body, example } = messageOf(document, format, name);
        expect(body(example)).toEqual([]);
        expect(body({ ...(example as unknown as object), [form === "svc" ? "payload" : "data"]: [] })).not.toEqual([]);
      }
      const [listed] = format === openapi ? [document["webhooks"]] : [document["operations"]];
      expect(Object.keys(listed as object)).toEqual(["Pair_of-things.v2", "free", "invoice.paid"]);
    }
  });

  test("a delivery is what both documents say, during a rotation of its secret too", async () => {
    await using receiver = await startTestReceiver();
    const { client, documentOf } = await projectWithTypes();
    const { subscription } = await client.createSubscription({
      ...{ endpointUrl: receiver.url, toolkitSlug: "events" },
      ...(form !== "svc" && { format: { kind: form } }),
    });
    await client.publishEvent({ type: "invoice.paid", payloadJson: '{"amount":1}', entityId: "ada" });
    await until(() => receiver.requests.length === 1);
    await client.rotateSubscriptionSecret({ id: subscription?.id ?? "" });
    await client.publishEvent({ type: "Pair_of-things.v2", payloadJson: types[1]?.sampleJson ?? "" });
    await client.publishEvent({ type: "free", payloadJson: '{"any":{"thing":[]}}' });
    await until(() => receiver.requests.length === 3);
    for (const format of [openapi, asyncapi]) {
      const { document } = await documentOf(format, form);
      for (const { headers: sent, body: bytes } of receiver.requests) {
        const value = JSON.parse(bytes.toString());
        const name = (form === "svc" ? value.triggerSlug.slice("events.".length) : value.type) as string;
        const { contentType, body, required, headers } = messageOf(document, format, name);
        expect(body(value)).toEqual([]);
        expect(sent["content-type"]).toBe(contentType);
        expect(required.filter((one) => sent[one] === undefined)).toEqual([]);
        const own = Object.keys(sent).filter((one) => /^(webhook|x-svc|ce|user)-/.test(one));
        for (const one of own) expect([one, new Ajv().validate(headers[one] ?? false, sent[one])]).toEqual([one, true]);
        // The schema must refuse a delivery of a type that the document does not describe.
        expect(body({ ...value, type: "another" })).not.toEqual([]);
      }
    }
    expect(receiver.requests.some(({ headers }) => headers["webhook-signature"]?.includes(" v1,"))).toBe(true);
  });
});

test("the sample of the form cloudevents is a CloudEvent", async () => {
  const { documentOf } = await projectWithTypes();
  const { document } = await documentOf(openapi, "cloudevents", ["invoice.paid"]);
  expect(new CloudEvent(messageOf(document, openapi, "invoice.paid").example as object).validate()).toBe(true);
});

test("the same types make the same text, with every digit of a sample", async () => {
  const { client, documentOf } = await projectWithTypes();
  const { text } = await documentOf(openapi);
  expect((await documentOf(openapi, "svc")).text).toBe(text);
  expect(text).toContain('"payload":{"amount":12.500000000000000000001}}');
  // Names in another order give the same document.
  const named = types.map(({ name }) => name);
  expect((await documentOf(openapi, "svc", named.toReversed())).text).toBe(text);
  expect((await documentOf(openapi, "svc", named)).text).toBe(text);
  cluster.clock.advance(1_000);
  await client.putEventType({ name: "free", description: "Anything." });
  const { document } = await documentOf(openapi);
  expect(document["info"]).toMatchObject({ version: new Date(cluster.clock.now()).toISOString() });
  expect((await documentOf(openapi)).text).toContain('"description":"Anything."');
});

test("archived types are described by name only, and a project without types has an empty document", async () => {
  const { documentOf } = await projectWithTypes();
  const { document } = await documentOf(openapi, "", ["old"]);
  expect(Object.keys(document["webhooks"] ?? {})).toEqual(["old"]);
  const empty = node.client(await cluster.project());
  const { documentJson } = await empty.getEventDocument({ format: openapi });
  expect(JSON.parse(documentJson)).toMatchObject({ webhooks: {} });
  expect(await new Validator().validate(JSON.parse(documentJson))).toMatchObject({ valid: true });
  expect(validateAsyncapi(JSON.parse((await empty.getEventDocument({ format: asyncapi })).documentJson))).toBe(true);
});

test("another format, form, or type is refused, and so are types of another project", async () => {
  const { client } = await projectWithTypes();
  const theirs = node.client(await cluster.project());
  const refusal = (request: object) => expect(client.getEventDocument({ format: openapi, ...request })).rejects;
  await refusal({ format: 0 }).toThrow('format "UNSPECIFIED" is not known');
  await refusal({ format: 9 }).toThrow('format "9" is not known');
  await refusal({ delivery: "cloudevents_binary" }).toThrow('delivery "cloudevents_binary" is not known');
  await refusal({ types: ["free", "nope"] }).toThrow('the project has no event type "nope"');
  await refusal({ types: ["\0"] }).toThrow("the project has no event type");
  await expect(theirs.getEventDocument({ format: openapi, types: ["free"] })).rejects.toThrow("has no event type");
});

test("a page of event types has at most 4 MiB of samples, and the pages together have every type once", async () => {
  const client = node.client(await cluster.project());
  const sampleJson = JSON.stringify({ text: "x".repeat(900_000) });
  const names = Array.from({ length: 6 }, (_, at) => `large.${at}`);
  for (const name of names) await client.putEventType({ name, sampleJson });
  const pages: string[][] = [];
  for (let pageToken: string | undefined; pageToken !== ""; ) {
    const page = await client.listEventTypes({ pageToken: pageToken ?? "" });
    pages.push(page.eventTypes.map(({ name }) => name));
    pageToken = page.nextPageToken;
  }
  expect(pages).toEqual([names.slice(0, 4), names.slice(4)]);
});

test("a document of more than 4 MiB is refused, and its types fit in several", async () => {
  const client = node.client(await cluster.project());
  const sampleJson = JSON.stringify({ text: "ö".repeat(450_000) });
  const names = Array.from({ length: 5 }, (_, n) => `large.${n}`);
  for (const name of names) await client.putEventType({ name, sampleJson });
  await expect(client.getEventDocument({ format: asyncapi })).rejects.toThrow(
    "the document would have more than 4194304 bytes",
  );
  const { documentJson } = await client.getEventDocument({ format: asyncapi, types: names.slice(0, 4) });
  expect(Buffer.byteLength(documentJson)).toBeGreaterThan(3_600_000);
});

test("a document is written in slices", async () => {
  let turns = 0;
  const row = { version: 1, schema: "", sample: "{}", archivedAt: null, offered: false, createdAt: 0, updatedAt: 0 };
  async function* pages() {
    for (let page = 0; page < 5; page++) {
      // Waits 5 ms, so that the time slice ends on a fast machine too.
      for (const endsMs = performance.now() + 5; performance.now() < endsMs; );
      yield [{ ...row, description: "", name: `t${page}` }];
    }
  }
  const turn = async () => {
    turns++;
  };
  await writeEventDocument(pages(), { format: "openapi", form: "svc", turn });
  expect(turns).toBe(5);
});
