import { createValidator, type JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import type { Check } from "../check/context.ts";
import { computedType } from "../check/expression.ts";
import { checkReferences, type SecretPlaces } from "../check/references.ts";
import { checkSensitiveArguments } from "../check/sensitive.ts";
import { type Path, pathOf } from "../json.ts";
import { defaultTimeoutMs, durationBounds } from "../limits.ts";
import { type ObjectForm, ref, schemaOf } from "../read/form.ts";
import type { ShapeFields, ShapeReader } from "../read/shape.ts";
import { entriesOf, type ValueTemplate } from "../template.ts";
import { examine } from "../types/examine.ts";
import { nothing, resolveType, type Scope } from "../types/scope.ts";
import { useOfCall } from "./call.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import {
  classOfMethod,
  faultOfKeyHeader,
  type HttpCall,
  type ReadRequest,
  readRequest,
  requestForm,
} from "./parts/http-request.ts";
import { checkStart } from "./parts/page.ts";
import { readRows, setOfRows } from "./parts/rows.ts";
import { quoted } from "./parts/title.ts";
import { callOptions, readRetry, type StepCall } from "./parts/tool-call.ts";

/**
 * Step kind `http`: makes a request to a host that the project allows. A `map` step (which makes calls for each row) can contain such a
 * request as one of its calls. A request in a `map` step must not have the field `rows`.
 */
export type HttpStep = AnyStep & StepCall & { readonly kind: "http"; readonly http: HttpCall };

const { retry, timeout } = callOptions;

const example = {
  id: "invoice",
  http: {
    method: "POST",
    url: "https://api.example.com/invoices",
    headers: { authorization: { $secret: "billing_token", prefix: "Bearer " } },
    body: { customer: { $ref: "input.customer" } },
  },
  idempotency: { header: "idempotency-key" },
};

const idempotencyForm: ObjectForm = {
  description:
    "Idempotency of a write, if the host does a write with the same key only once. svc then sends a write again if its answer was lost.",
  required: {
    header: {
      description: "Header for the idempotency key.",
      type: "string",
      pattern: "^[A-Za-z0-9-]{1,100}$",
      examples: ["idempotency-key"],
    },
  },
  optional: {},
  examples: [{ header: "idempotency-key" }],
};

const options = {
  idempotency: ref("httpIdempotency"),
  confirm: { description: "The literal true. A DELETE needs it.", const: true, examples: [true] },
  retry,
  timeout,
};

const form: ObjectForm = {
  description:
    "One request to a host on the project's list. With rows, a list of the answer becomes a row set; without rows, the answer is steps.<id>, at most 64 KiB.",
  required: { http: ref("httpRequest") },
  optional: { rows: ref("rows"), ...options },
  examples: [example],
};

const formInMap: ObjectForm = {
  description: "One request for each row of a map.",
  required: form.required,
  optional: options,
  examples: [example],
};

/** Definition of the step kind `http`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions. */
export const httpLanguage: StepLanguage<HttpStep> = {
  form,
  formInMap,
  refusedInItself: undefined,
  takesOnError: true,
  definitions: { httpRequest: schemaOf(requestForm), httpIdempotency: schemaOf(idempotencyForm) },
  named: { value: "http steps", set: "an http step with rows", row: undefined },

  read({ id, pointer, when }, fields, { reader }) {
    const request = readRequest(fields.at("http"), reader);
    const rows = fields.has("rows") ? readRows(fields.at("rows"), reader) : undefined;
    const settings = {
      retry: readRetry(fields.at("retry"), reader),
      timeoutMs: reader.duration(fields.at("timeout"), durationBounds.timeout) ?? defaultTimeoutMs,
    };
    if (request === undefined) return undefined;
    const { method } = request.http;
    const keyHeader = readKeyHeader(fields, method, reader);
    checkConfirm(fields, method, reader);
    checkRowsOfRequest(fields, rows, request, reader);
    const call = { tool: "http", entity: "", pointer, ...settings, rows, undo: undefined };
    return { kind: "http", id, when, ...call, args: request.args, http: { ...request.http, keyHeader } };
  },

  check(step, { scope, check }) {
    checkRequest(step, scope, check);
    const { rows, pointer } = step;
    if (rows === undefined) {
      const set = check.faults.has(`${pointer}/rows`) ? "any" : undefined;
      return { own: { ...nothing, value: { type: undefined }, set }, inner: [] };
    }
    const path = [...pathOf(pointer), "rows"];
    if (rows.page !== undefined && rows.page.paging === undefined) {
      const hint = 'say how, such as {"arg": "cursor", "from": "next", "max": 20}: the argument is a query parameter';
      check.faults.add(
        "PROGRAM_REFERENCE_INVALID",
        [...path, "page"],
        "has only max, but no tool declares the paging of an http step",
        hint,
      );
    }
    return { own: { ...nothing, set: setOfRows(rows, path, anyAnswer, check) }, inner: [] };
  },

  title: ({ http: { method, host } }) => quoted(`${method} ${host}`),
  lists: () => [],
  calls: (step) => [step],
  asks: () => [],
  estimate: useOfCall,
};

/** Definition of the answer to an HTTP request. It may have any field, because no tool definition describes it. */
const anyAnswer = { slug: "http", outputSchema: {} };

function readKeyHeader(fields: ShapeFields, method: HttpCall["method"], reader: ShapeReader): string | undefined {
  if (!fields.has("idempotency")) return undefined;
  const node = fields.at("idempotency");
  const header = reader.fields(node, idempotencyForm)?.at("header");
  const name =
    header && reader.text(header, { max: 100, pattern: /^[A-Za-z0-9-]+$/, hint: "write the name of a header" });
  if (classOfMethod(method) === "read") {
    reader.faults.add(
      "PROGRAM_MALFORMED",
      node.path,
      `is not allowed next to a ${method}, which does not write`,
      "leave it out",
    );
  }
  const request = fields.at("http").value;
  const headers = isObject(request) && isObject(request["headers"]) ? Object.keys(request["headers"]) : [];
  const fault = name && faultOfKeyHeader(name, headers);
  if (header && fault) {
    reader.faults.add(
      "PROGRAM_MALFORMED",
      header.path,
      fault,
      "name the header in which the host takes an idempotency key",
    );
  }
  return name?.toLowerCase();
}

/**
 * Checks the confirmation of a destructive request. The program must contain the confirmation as a constant, so that a value that is only
 * known at run time cannot decide it.
 */
function checkConfirm(fields: ShapeFields, method: HttpCall["method"], { faults }: ShapeReader): void {
  const isConfirmed = fields.at("confirm").value === true;
  const isDestructive = classOfMethod(method) === "destructive";
  if (isConfirmed && !isDestructive) {
    const message = `is not allowed next to a ${method}, which needs no confirmation`;
    faults.addYounger("PROGRAM_MALFORMED", fields.at("confirm").path, message, "leave it out");
  }
  if (isConfirmed || (!isDestructive && !fields.has("confirm"))) return;
  const path = fields.at(fields.has("confirm") ? "confirm" : "http").path;
  const why = fields.has("confirm") ? "is not the literal true" : "is destructive and has no confirm next to it";
  faults.add("PROGRAM_CONFIRM_MISSING", path, why, 'write "confirm": true next to http');
}

/** Checks the field `rows` of an `http` step, and records faults. A HEAD request must have no `rows`, because its answer has no body. */
function checkRowsOfRequest(
  fields: ShapeFields,
  rows: HttpStep["rows"],
  request: ReadRequest,
  reader: ShapeReader,
): void {
  if (rows === undefined) return;
  const node = fields.at("rows");
  if (request.http.method === "HEAD") {
    const message = "is not allowed next to a HEAD, whose answer has no body";
    reader.faults.addYounger("PROGRAM_MALFORMED", node.path, message, "use GET, or leave rows out");
  }
  const query = entriesOf(request.args)?.find(([name]) => name === "query")?.[1];
  const given = { value: query && entriesOf(query), path: [...fields.at("http").path, "query"] };
  // The number of the first page may be in the URL's query or in `start`, but not in both.
  checkStart(node, rows.page, given, reader);
}

const scalar = { type: ["string", "number", "boolean"] };
const scalars = { type: "object", additionalProperties: scalar };

/** JSON Schema for the values that may be filled into a request. */
const requestSchema = {
  type: "object",
  properties: {
    headers: scalars,
    query: { type: "object", additionalProperties: { anyOf: [scalar, { type: "array", items: scalar }] } },
    body: {},
  },
} satisfies JsonSchema;

/**
 * Pattern for headers that give access, such as Authorization. The value of such a header must not be written in the program, because
 * people can read the program.
 */
const sensitiveHeader = /(^|-)(authorization|cookie|api-?key|token|secret|password|signature)$/i;

const secretPlaces: SecretPlaces = {
  takes: ([part]) => part === "headers" || part === "query" || part === "body",
  hint: "name it in the headers, the query or the body: svc shows addresses in plain text",
};

function checkRequest({ args, http, pointer }: HttpStep, scope: Scope, check: Check): void {
  const path = [...pathOf(pointer), "http"];
  checkReferences(http.url, [...path, "url"], scope, check.faults);
  const rest: ValueTemplate = {
    kind: "object",
    entries: (entriesOf(args) ?? []).filter(([name]) => Object.hasOwn(requestSchema.properties, name)),
  };
  checkReferences(rest, path, scope, check.faults, secretPlaces);
  checkSensitiveArguments({ args: rest, inputSchema: markedSchema(rest), path }, scope, check);
  checkValues(rest, path, scope, check);
}

/** Returns a schema for a request that marks its secret headers (such as Authorization) as sensitive. */
function markedSchema(rest: ValueTemplate): JsonSchema {
  const headers = entriesOf(rest)?.find(([name]) => name === "headers")?.[1];
  const names = headers === undefined ? [] : (entriesOf(headers) ?? []).map(([name]) => name);
  const marked = names.filter((name) => sensitiveHeader.test(name)).map((name) => [name, { "x-sensitive": true }]);
  return { properties: { headers: { properties: Object.fromEntries(marked) } } };
}

function checkValues(rest: ValueTemplate, path: Path, scope: Scope, { faults }: Check): void {
  const { faults: found } = examine(rest, requestSchema, {
    typeOf(template) {
      if (template.kind === "computed") return computedType(template.expression, scope);
      const type = resolveType(scope, template.reference);
      return "fault" in type ? undefined : type.type;
    },
    validator: createValidator,
  });
  for (const { path: at, message } of found) {
    const hint = "write a text, a number, true or false; put larger values into the body";
    faults.add("PROGRAM_ARGUMENT_INVALID", [...path, ...at], message, hint);
  }
}
