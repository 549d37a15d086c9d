import { createSlices, isoTime } from "@svc/core";
import type { EventTypeRow } from "@svc/db/event-types/repo";
import { type DescribedForm, describeForm, type FormDescription } from "@svc/delivery";
import { triggerFaults } from "../errors.ts";
import type { NextTurn } from "./payload.ts";
import { eventsToolkitSlug, eventTriggerSlug } from "./toolkit.ts";

/** Maximum size of a document that describes the project's own event types, in bytes. */
const bytesMax = 4 * 1_048_576;

/**
 * Returns a document that describes event types, sorted by name, as JSON text. Throws EVENT_DOCUMENT_TOO_LARGE without reading the rest of
 * `pages`. `turn`: waits until other work has run, so that a long document does not block the event loop.
 */
export async function writeEventDocument(
  pages: AsyncIterable<readonly EventTypeRow[]>,
  how: { readonly format: keyof typeof writers; readonly form: DescribedForm; readonly turn: NextTurn },
): Promise<string> {
  const form = describeForm(how.form);
  const { membersOf, assemble } = writers[how.format];
  const slices = createSlices(how.turn);
  const written: { readonly name: string; readonly members: Members }[] = [];
  const infoAt = (timeMs: number) =>
    JSON.stringify({ title: "Events", version: isoTime(timeMs), description: form.text });
  let changedAt = 0;
  // The size of the document without types: every time has the same length.
  let bytes = Buffer.byteLength(assemble({ info: infoAt(0), first: "{}", second: "{}", form }));
  for await (const page of pages) {
    for (const type of page) {
      const members = membersOf(describe(type, form), form);
      for (const member of members) bytes += Buffer.byteLength(member) + 1;
      if (bytes > bytesMax) throw triggerFaults.EVENT_DOCUMENT_TOO_LARGE(bytesMax);
      changedAt = Math.max(changedAt, type.updatedAt);
      written.push({ name: type.name, members });
      await slices.rest();
    }
  }
  // Names are compared by code unit, because the order of the database depends on its collation.
  written.sort((one, other) => (one.name < other.name ? -1 : 1));
  const objectOf = (at: 0 | 1) => `{${written.flatMap(({ members }) => members[at] || []).join(",")}}`;
  await slices.rest();
  const first = objectOf(0);
  await slices.rest();
  return assemble({ info: infoAt(changedAt), first, second: objectOf(1), form });
}

/** The two texts by which an OpenAPI or AsyncAPI document describes one event type. */
type Members = readonly [string, string];

/**
 * The parts of an OpenAPI or AsyncAPI document, as JSON texts. `info`: the part that is the same for all event types. `first`: webhooks in
 * OpenAPI, messages in AsyncAPI. `second`: schemas in OpenAPI, operations in AsyncAPI.
 */
type DocumentParts = {
  readonly info: string;
  readonly first: string;
  readonly second: string;
  readonly form: FormDescription;
};

type Writer = {
  /** Returns the parts of the document that describe one event type, each as `"name":value`. */
  membersOf(type: DescribedType, form: FormDescription): Members;
  assemble(parts: DocumentParts): string;
};

/**
 * An event type, as JSON texts for an OpenAPI or AsyncAPI document. `marked`: the members `description` and `x-svc-event-type`. `example`:
 * a sample body; empty if there is none.
 */
type DescribedType = {
  readonly key: string;
  readonly schema: string;
  readonly example: string;
  readonly marked: string;
  readonly bodySchema: (payloadSchema: string) => string;
};

function describe({ name, schema, sample, description, version }: EventTypeRow, form: FormDescription): DescribedType {
  const event = { toolkitSlug: eventsToolkitSlug, triggerSlug: eventTriggerSlug(name) };
  const { payloadName, optional } = form;
  const properties = form.properties({ ...event, type: name });
  const required = [...Object.keys(properties).filter((one) => !optional.includes(one)), payloadName];
  const mark = { version, payload: payloadName, ...(schema === "" && { anyPayload: true }) };
  const marked = { ...(description !== "" && { description }), "x-svc-event-type": mark };
  return {
    key: JSON.stringify(name),
    schema,
    example: sample === "" ? "" : form.example({ ...event, payload: sample }),
    marked: JSON.stringify(marked).slice(1, -1),
    // The schema is inserted as text, because its objects may have any names, even `__proto__`.
    bodySchema: (payloadSchema) => {
      const known = JSON.stringify({ type: "object", required, properties });
      return `${known.slice(0, -2)},"${payloadName}":${payloadSchema}}}`;
    },
  };
}

const anyObject = '{"type":"object"}';

const openapi: Writer = {
  membersOf({ key, schema, example, marked, bodySchema }, { contentType, headers }) {
    const name = key.slice(1, -1);
    const isAny = schema === "";
    // Names of types consist of letters, digits, `_`, `-` and dots. So they are valid keys of components, and need no escapes in references.
    const body = bodySchema(isAny ? anyObject : `{"$ref":"#/components/schemas/${name}"}`);
    const content = `{"${contentType}":{"schema":${body}${example === "" ? "" : `,"example":${example}`}}}`;
    const parameters = headers.map((header) => ({ $ref: `#/components/parameters/${header.name}` }));
    const operation =
      `"operationId":${key},${marked},"parameters":${JSON.stringify(parameters)},` +
      `"requestBody":{"required":true,"content":${content}},"responses":${openapiResponses}`;
    return [`${key}:{"post":{${operation}}}`, isAny ? "" : `${key}:${schema}`];
  },
  assemble({ info, first, second, form: { headers } }) {
    const parameters = headers.map((header) => [header.name, { in: "header", ...header }]);
    const components = `{"schemas":${second},"parameters":${JSON.stringify(Object.fromEntries(parameters))}}`;
    const head = `"openapi":"3.1.0","info":${info},"jsonSchemaDialect":"https://json-schema.org/draft/2020-12/schema"`;
    return `{${head},"webhooks":${first},"components":${components}}`;
  },
};

const openapiResponses = JSON.stringify({ "2XX": { description: "The endpoint has the delivery." } });

const asyncapi: Writer = {
  membersOf({ key, schema, example, marked, bodySchema }, { contentType }) {
    const name = key.slice(1, -1);
    const body = bodySchema(schema === "" ? anyObject : schema);
    // Without a named dialect, AsyncAPI reads a schema as a superset of JSON Schema draft-07.
    const payload = newerKeywords.test(schema) ? `{"schemaFormat":"${newerFormat}","schema":${body}}` : body;
    const examples = example === "" ? "" : `,"examples":[{"name":"sample","payload":${example}}]`;
    const headers = '{"$ref":"#/components/schemas/headers"}';
    const message = `"name":${key},${marked},"contentType":"${contentType}","headers":${headers},"payload":${payload}`;
    const operation = {
      action: "send",
      channel: { $ref: "#/channels/endpoint" },
      messages: [{ $ref: `#/channels/endpoint/messages/${name}` }],
      bindings: { http: { method: "POST", bindingVersion: "0.3.0" } },
    };
    return [`${key}:{${message}${examples}}`, `${key}:${JSON.stringify(operation)}`];
  },
  assemble({ info, first, second, form: { headers, contentType } }) {
    const required = headers.filter((header) => header.required).map((header) => header.name);
    const properties = headers.map(({ name, description, schema }) => [name, { ...schema, description }]);
    const schema = JSON.stringify({ type: "object", required, properties: Object.fromEntries(properties) });
    const channel = `{"address":null,"title":"Endpoint","description":"URL of a subscription.","messages":${first}}`;
    const head = `"asyncapi":"3.0.0","info":${info},"defaultContentType":"${contentType}"`;
    const components = `{"schemas":{"headers":${schema}}}`;
    return `{${head},"channels":{"endpoint":${channel}},"operations":${second},"components":${components}}`;
  },
};

/**
 * Matches keywords of JSON Schema 2020-12 that draft-07 does not have or reads in a different way. If a schema matches, the document names
 * the newer dialect. A property with such a name matches too, which does no harm.
 */
const newerKeywords =
  /"(?:prefixItems|minContains|maxContains|dependentRequired|dependentSchemas|unevaluatedItems|unevaluatedProperties)":/;
const newerFormat = "application/schema+json;version=draft-2020-12";

/** The formats of documents: OpenAPI 3.1 and AsyncAPI 3.0. */
const writers = { openapi, asyncapi };
