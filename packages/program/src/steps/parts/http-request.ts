import type { AccessClass, JsonSchema } from "@svc/catalog";
import { formatValue, httpTargetOf, isMethodOverride } from "@svc/core";
import { type JsonValue, pointerOf } from "../../json.ts";
import { type ObjectForm, ref } from "../../read/form.ts";
import type { ShapeFields, ShapeNode, ShapeReader } from "../../read/shape.ts";
import { readValue } from "../../read/value.ts";
import { entriesOf, objectOf, type Reference, type TextTemplate, type ValueTemplate } from "../../template.ts";

/** The HTTP methods that a request may have, in the order in which messages list them. */
export const httpMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** An HTTP method that a request may have. */
export type HttpMethod = (typeof httpMethods)[number];

/** An HTTP request as the program declares it, before values are filled in. */
export type HttpCall = {
  readonly method: HttpMethod;
  /**
   * The header in which svc sends the idempotency key of a write: the host executes a write with the same key only once. Undefined if the
   * host has no such header.
   */
  readonly keyHeader: string | undefined;
  /** The URL. Its first part is a fixed text with the scheme and the whole host. */
  readonly url: TextTemplate;
  /** The host of the URL, in the same form as in lists of hosts. */
  readonly host: string;
};

/** Returns the access class of a request, by its method. */
export function classOfMethod(method: HttpMethod): AccessClass {
  if (method === "GET" || method === "HEAD") return "read";
  return method === "DELETE" ? "destructive" : "write";
}

const urlMax = 2_048;
const counts = { headers: 50, query: 100 };
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Headers that a program may not set, because svc sets them or because they control how a request is transferred. */
const reservedHeaders = new Set([
  "host",
  "content-length",
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "user-agent",
  "accept-encoding",
]);

/** Headers that svc sets if the program does not. */
const contentHeaders = new Set(["accept", "content-type"]);

const text: JsonSchema = { type: "string", minLength: 1, maxLength: urlMax };

/** The required and optional fields of a request in an `http` step, with their schemas. */
export const requestForm: ObjectForm = {
  description:
    "The request. GET and HEAD read, DELETE is destructive, other methods write. svc sends the body as JSON; with content-type application/x-www-form-urlencoded as a form; with any other content type, as the text that it is.",
  required: {
    method: { description: "Method.", enum: [...httpMethods], examples: ["POST"] },
    url: {
      description:
        "https, with a host on the project's list; http only to this machine. In $text, values come after the host, and no value can change another part of the URL.",
      anyOf: [text, { type: "object", additionalProperties: false, required: ["$text"], properties: { $text: text } }],
      examples: ["https://api.example.com/invoices", { $text: "https://api.example.com/invoices/{row.id}" }],
    },
  },
  optional: {
    headers: namedValues("Headers by name, each a text.", counts.headers, {
      authorization: { $secret: "billing_token", prefix: "Bearer " },
    }),
    query: namedValues("Parameters by name; a list gives one parameter for each item.", counts.query, {
      limit: 50,
    }),
    body: { ...ref("value"), description: "Body, for methods other than GET and HEAD." },
  },
  examples: [
    {
      method: "POST",
      url: "https://api.example.com/invoices",
      headers: { authorization: { $secret: "billing_token", prefix: "Bearer " } },
      body: { customer: { $ref: "input.customer" } },
    },
  ],
};

function namedValues(description: string, most: number, example: object): JsonSchema {
  return {
    description,
    type: "object",
    maxProperties: most,
    properties: { $ref: false, $text: false, $secret: false },
    examples: [example],
  };
}

/**
 * An HTTP request that was read from a program. `args`: the method, URL, headers, query and body, with values that are still to be filled
 * in.
 */
export type ReadRequest = { readonly http: Omit<HttpCall, "keyHeader">; readonly args: ValueTemplate };

/**
 * Reads the HTTP request that a program declares in a step, and records every error in it. Returns undefined if the method or the URL
 * cannot be used.
 */
export function readRequest(node: ShapeNode, reader: ShapeReader): ReadRequest | undefined {
  const fields = reader.fields(node, requestForm);
  if (fields === undefined) return undefined;
  const method = reader.oneOf(fields.at("method"), httpMethods);
  const url = readUrl(fields.at("url"), reader);
  const headers = readNamed(fields, "headers", reader);
  for (const name of headers.keys()) checkHeader(name, [...headers.keys()], fields.at("headers"), reader);
  const query = readNamed(fields, "query", reader);
  const body = readValue(fields.at("body"), reader.faults);
  checkMethodFields([...query.keys()], fields.at("query"), reader);
  checkMethodFields(body === undefined ? [] : (entriesOf(body) ?? []).map(([name]) => name), fields.at("body"), reader);
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    const hint = "send it as query, or with another method";
    reader.faults.add("PROGRAM_MALFORMED", fields.at("body").path, `is a body, but ${method} has none`, hint);
  }
  if (method === undefined || url === undefined) return undefined;
  const args = objectOf([
    ["method", { kind: "literal", value: method }],
    // A list in which fixed texts and values alternate.
    ["url", { kind: "list", items: partsOf(url.text) }],
    ...(headers.size > 0 ? [["headers", objectOf([...headers])] as const] : []),
    ...(query.size > 0 ? [["query", objectOf([...query])] as const] : []),
    ...(body === undefined ? [] : [["body", body] as const]),
  ]);
  return { http: { method, url: url.text, host: url.host }, args };
}

/**
 * Returns the parts of a URL alternately, starting with a fixed text: fixed text, value, fixed text, and so on. So a filled-in value can be
 * separated from the program's own text, and be encoded.
 */
function partsOf({ parts }: TextTemplate): ValueTemplate[] {
  const items: ValueTemplate[] = [];
  const literal = (value: string): ValueTemplate => ({ kind: "literal", value });
  for (const part of parts) {
    if (typeof part === "string") items.push(literal(part));
    else {
      if (items.length % 2 === 0) items.push(literal(""));
      items.push(referenceTo(part));
    }
  }
  return items;
}

function referenceTo(reference: Reference): ValueTemplate {
  return { kind: "reference", reference, otherwise: undefined };
}

function readUrl(
  node: ShapeNode,
  reader: ShapeReader,
): { readonly text: TextTemplate; readonly host: string } | undefined {
  const { value, path } = node;
  if (value === undefined) return undefined;
  const fault = (message: string, hint: string) => {
    reader.faults.add("PROGRAM_MALFORMED", path, message, hint);
    return undefined;
  };
  const template = readValue(node, reader.faults);
  if (template?.kind === "text" && template.otherwise !== undefined) {
    return fault("has an else, but a request has only one URL", "leave else out, and skip the step with when");
  }
  const text = template === undefined ? undefined : textOf(template);
  if (text === undefined) {
    return reader.faults.has(pointerOf(path)) ? undefined : fault("is neither a text nor a $text", urlHint);
  }
  const [first] = text.parts;
  if (typeof first !== "string") return fault("does not begin with https:// and a host", urlHint);
  const length = text.parts.reduce((sum, part) => sum + (typeof part === "string" ? part.length : 1), 0);
  if (length > urlMax) return fault(`is longer than ${urlMax} characters`, "send long values in the query or the body");
  // A value is only allowed after the host, so that no value can change the host.
  if (text.parts.length > 1 && !/^https?:\/\/[^/?#\\]+[/?]/i.test(first)) {
    return fault("has a value before the end of its host", urlHint);
  }
  if (/[\s\p{Cc}]/u.test(text.parts.filter((part) => typeof part === "string").join(""))) {
    return fault("contains white space", "write it as it is sent: a space is %20");
  }
  const whole = text.parts.map((part) => (typeof part === "string" ? part : "x")).join("");
  const target = httpTargetOf(whole);
  if ("fault" in target) return fault(target.fault, urlHint);
  if (/[/\\](\.|%2e){1,2}([/\\?]|$)/i.test(whole))
    return fault("has a segment that is . or ..", "write the path that it leads to");
  const named = [...new URL(whole).searchParams.keys()].find(isMethodOverride);
  if (named !== undefined) return fault(`has ${named} in its query, which requests another method`, "leave it out");
  return { text, host: target.host };
}

const urlHint =
  'write scheme, host and path, such as "https://api.example.com/invoices", or {"$text": "https://api.example.com/invoices/{row.id}"}';

function textOf(template: ValueTemplate): TextTemplate | undefined {
  if (template.kind === "text") return template.parts.length > 0 ? template : undefined;
  if (template.kind !== "literal" || typeof template.value !== "string" || template.value === "") return undefined;
  return { kind: "text", parts: [template.value] };
}

function readNamed(fields: ShapeFields, name: "headers" | "query", reader: ShapeReader): Map<string, ValueTemplate> {
  const node = fields.at(name);
  const values = new Map<string, ValueTemplate>();
  const object = node.value === undefined ? undefined : reader.object(node);
  if (object === undefined) return values;
  const names = Object.keys(object);
  if (names.length > counts[name]) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, `has ${names.length} names`, `write at most ${counts[name]}`);
  }
  if (["$ref", "$text", "$secret"].some((word) => Object.hasOwn(object, word))) {
    const hint = 'write {"<name>": {"$ref": "path"}}';
    reader.faults.add("PROGRAM_MALFORMED", node.path, "is a reference; give each name its own value", hint);
    return values;
  }
  for (const key of names.slice(0, counts[name])) {
    const value: JsonValue | undefined = object[key];
    const read = readValue({ value, path: [...node.path, key] }, reader.faults);
    if (read !== undefined) values.set(key, read);
  }
  return values;
}

/**
 * Returns the reason why an HTTP header cannot carry the idempotency key of a write, for example because `headers` already has it. Returns
 * undefined if it can.
 */
export function faultOfKeyHeader(name: string, headers: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  if (reservedHeaders.has(lower) || contentHeaders.has(lower)) return `svc sets ${lower} itself`;
  if (isMethodOverride(lower)) return `${lower} requests another method`;
  if (headers.some((header) => header.toLowerCase() === lower)) return `${lower} is already a header of the request`;
  return undefined;
}

/**
 * Reports fields that make some hosts execute another method than that of the request (such as `_method`). The estimate and the approval
 * would then be wrong. Filled-in values are checked when the request is sent.
 */
function checkMethodFields(names: readonly string[], { path }: ShapeNode, { faults }: ShapeReader): void {
  for (const name of names.filter(isMethodOverride)) {
    const hint = "write that method as method, and leave it out";
    faults.add("PROGRAM_MALFORMED", [...path, name], `${name} requests another method`, hint);
  }
}

function checkHeader(name: string, names: readonly string[], { path }: ShapeNode, { faults }: ShapeReader): void {
  const fault = (message: string, hint: string) => faults.add("PROGRAM_MALFORMED", [...path, name], message, hint);
  const lower = name.toLowerCase();
  if (!headerName.test(name)) fault(`${formatValue(name)} is not a header name`, "write a name such as x-request-id");
  else if (reservedHeaders.has(lower)) fault(`svc sets ${lower} itself`, "leave it out");
  else if (isMethodOverride(lower))
    fault(`${lower} requests another method`, "write that method as method, and leave it out");
  else if (names.find((other) => other.toLowerCase() === lower) !== name) {
    fault(`${lower} is named twice`, "name each header once: upper and lower case are equal");
  }
}
