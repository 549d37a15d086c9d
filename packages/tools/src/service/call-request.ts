import { formatValue, isEntityId, isPrintableText, optionalId, type ProjectPrincipal } from "@svc/core";
import type { CallToolRequest } from "@svc/gen/tools";
import type { CallRequest } from "../call/call-tool.ts";
import { unsafeIntegers } from "../call/exact-json.ts";
import type { ResultShape } from "../convert.ts";
import { argumentsMalformed, callOptionInvalid, entityIdInvalid, idempotencyKeyInvalid } from "../errors.ts";

const keyCharactersMax = 200;
const pathLengthMax = 200;
const fieldsMax = 100;
const bytesMin = 256;
/** Places that a refusal names. */
const pointersMax = 10;

/** Reads a request of CallTool. Throws its invalid_argument refusals. */
export function readCallRequest(
  request: CallToolRequest,
  { projectId, keyId, role }: ProjectPrincipal,
): CallRequest & { readonly shape: ResultShape } {
  const { toolSlug, entityId, idempotencyKey, dryRun } = request;
  if (entityId !== "" && !isEntityId(entityId)) throw entityIdInvalid(entityId);
  if (!isPrintableText(idempotencyKey, keyCharactersMax)) throw idempotencyKeyInvalid(idempotencyKey);
  return {
    caller: { projectId, keyId, role },
    toolSlug,
    args: readArguments(request.argumentsJson),
    entityId,
    accountId: optionalId("acc", "connectedAccountId", request.connectedAccountId),
    idempotencyKey: idempotencyKey === "" ? undefined : idempotencyKey,
    isDryRun: dryRun,
    shape: readShape(request.fields, request.maxBytes),
  };
}

function readArguments(text: string): Readonly<Record<string, unknown>> {
  if (text === "") return {};
  const { value, unsafe } = parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const kind = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
    throw argumentsMalformed(`is ${kind}`);
  }
  if (unsafe.length > 0) {
    const places = unsafe.slice(0, pointersMax).map((pointer) => formatValue(pointer));
    const others = unsafe.length > pointersMax ? ` and ${unsafe.length - pointersMax} more` : "";
    throw argumentsMalformed(
      `holds integers beyond 2^53 - 1, which would lose digits, at ${places.join(", ")}${others}; send them as texts`,
    );
  }
  return value as Readonly<Record<string, unknown>>;
}

function parse(text: string): { value: unknown; unsafe: readonly string[] } {
  try {
    return { value: JSON.parse(text), unsafe: unsafeIntegers(text) };
  } catch (error) {
    throw argumentsMalformed(`is not JSON${reasonOf(error)}`);
  }
}

/** What the parser says, without what it quotes: arguments hold secrets, and errors are logged. */
function reasonOf(error: unknown): string {
  const [place] = /at position \d+(?: \(line \d+ column \d+\))?|nested deeper .*/.exec(String(error)) ?? [];
  return place === undefined ? "" : ` (${place})`;
}

function readShape(fields: readonly string[], bytesMax: number): ResultShape {
  if (fields.length > fieldsMax)
    throw callOptionInvalid("fields", `has ${fields.length} paths, more than ${fieldsMax}`);
  for (const field of fields) {
    if (field.length > pathLengthMax || !/^[^.\s]+(?:\.[^.\s]+)*$/.test(field)) {
      throw callOptionInvalid("fields", `holds ${formatValue(field)}, which is not a dotted path`);
    }
  }
  if (bytesMax !== 0 && bytesMax < bytesMin) throw callOptionInvalid("maxBytes", `is ${bytesMax}`);
  return { fields, bytesMax };
}
