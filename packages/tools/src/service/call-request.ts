import type { Message } from "@bufbuild/protobuf";
import type { TestRead } from "@svc/connections";
import {
  assertExhaustive,
  formatValue,
  isEntityId,
  isJsonNumber,
  isObject,
  isPrintableText,
  JsonTooLargeError,
  optionalId,
  type ProjectPrincipal,
  parseExactJson,
  RepeatedNameError,
} from "@svc/core";
import type { CallToolRequest } from "@svc/gen/tools";
import type { CallAnswer, CallReply } from "../call/call-reply.ts";
import type { CallRequest } from "../call/call-request.ts";
import type { ToolCaller } from "../call/call-tool.ts";
import type { ResultShape } from "../call/record/shape.ts";
import { errorAnswerStart } from "../call/send/read-answer.ts";
import { toolFaults } from "../errors.ts";

const keyCharactersMax = 200;
const pathLengthMax = 200;
const fieldsMax = 100;
const bytesMin = 256;

/**
 * Maximum number of values in the arguments of a call, including lists and objects. Parsed values need many times the memory of their text.
 */
export const argumentValuesMax = 100_000;

/** Fields of CallToolRequest. `args`: the parsed arguments, if given; they replace `argumentsJson`. */
type CallFields = Omit<CallToolRequest, keyof Message> & { readonly args: CallRequest["args"] };

/** Returns the call in a request of CallTool. Throws the invalid_argument errors of CallTool. */
export function readCallRequest(
  request: { readonly [Name in keyof CallFields]?: CallFields[Name] | undefined },
  { projectId, keyId, role, binding, confirm }: ProjectPrincipal,
): CallRequest & { readonly shape: ResultShape } {
  const { toolSlug = "", argumentsJson = "", args, entityId = "", connectedAccountId = "" } = request;
  const { idempotencyKey = "", dryRun = false, fields = [], maxBytes = 0 } = request;
  if (entityId !== "" && !isEntityId(entityId)) throw toolFaults.ENTITY_ID_INVALID(entityId);
  if (!isPrintableText(idempotencyKey, keyCharactersMax)) throw toolFaults.IDEMPOTENCY_KEY_INVALID(idempotencyKey);
  return {
    caller: { projectId, keyId, role, ...(binding && { binding }), ...(confirm && { confirm }) },
    toolSlug,
    args: args ?? readArguments(argumentsJson),
    entityId,
    accountId: optionalId("acc", "connectedAccountId", connectedAccountId),
    idempotencyKey: idempotencyKey === "" ? undefined : idempotencyKey,
    isDryRun: dryRun,
    shape: readShape(fields, maxBytes),
  };
}

function readArguments(text: string): Readonly<Record<string, unknown>> {
  if (text === "") return {};
  const value = parse(text);
  if (isObject(value)) return value;
  const kind =
    value === null ? "null" : Array.isArray(value) ? "a list" : `a ${isJsonNumber(value) ? "number" : typeof value}`;
  throw toolFaults.ARGUMENTS_MALFORMED(`is ${kind}`);
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text, { valuesMax: argumentValuesMax, hasUniqueNames: true });
  } catch (error) {
    if (error instanceof RepeatedNameError) throw toolFaults.ARGUMENTS_MALFORMED("repeats a name in an object");
    if (error instanceof JsonTooLargeError) {
      throw toolFaults.ARGUMENTS_MALFORMED(
        `has more than ${argumentValuesMax} values, which is the maximum for a call`,
      );
    }
    throw toolFaults.ARGUMENTS_MALFORMED(`is not JSON${reasonOf(error)}`);
  }
}

/**
 * Returns the parser's message without the text that it quotes. That text comes from the arguments, which may contain secrets, and the
 * message is logged.
 */
function reasonOf(error: unknown): string {
  const [place] = /at position \d+(?: \(line \d+ column \d+\))?|nested deeper .*/.exec(String(error)) ?? [];
  return place === undefined ? "" : ` (${place})`;
}

function readShape(fields: readonly string[], bytesMax: number): ResultShape {
  if (fields.length > fieldsMax)
    throw toolFaults.CALL_OPTION_INVALID("fields", `has ${fields.length} paths, more than ${fieldsMax}`);
  for (const field of fields) {
    if (field.length > pathLengthMax || !/^[^.\s]+(?:\.[^.\s]+)*$/.test(field)) {
      throw toolFaults.CALL_OPTION_INVALID("fields", `holds ${formatValue(field)}, which is not a dotted path`);
    }
  }
  if (bytesMax !== 0 && bytesMax < bytesMin) throw toolFaults.CALL_OPTION_INVALID("maxBytes", `is ${bytesMax}`);
  return { fields, bytesMax };
}

/**
 * Returns the answer of a call. If there is none, throws TOOL_NOT_FOUND, IDEMPOTENCY_KEY_REUSED, CALL_IN_PROGRESS, CALL_LIMIT or
 * CALL_LIMIT_PAUSED.
 */
export function answerOf(called: CallReply): CallAnswer {
  switch (called.outcome) {
    case "answered":
    case "held":
      return called.answer;
    case "in_progress":
      throw toolFaults.CALL_IN_PROGRESS(called.idempotencyKey);
    case "key_reused":
      throw toolFaults.IDEMPOTENCY_KEY_REUSED(called.idempotencyKey);
    case "limited": {
      const { limit, isPaused, retryAfterMs } = called;
      throw isPaused ? toolFaults.CALL_LIMIT_PAUSED(limit, retryAfterMs) : toolFaults.CALL_LIMIT(limit, retryAfterMs);
    }
    case "refused":
      throw called.refusal;
    case "no_such_tool":
      throw toolFaults.TOOL_NOT_FOUND("toolSlug", called.toolSlug, called.meant);
    default:
      return assertExhaustive(called);
  }
}

/** Creates the function that tests a connected account by calling a reading tool. It rejects with the errors of CallTool. */
export function createTestRead(caller: Pick<ToolCaller, "call">): TestRead {
  return async ({ principal, toolkit, action, args, account }) => {
    const { projectId, keyId, role, binding, confirm } = principal;
    const { callId = "", result } = answerOf(
      await caller.call({
        caller: { projectId, keyId, role, ...(binding && { binding }), ...(confirm && { confirm }) },
        toolSlug: action.slug,
        args,
        entityId: account.entityId,
        accountId: account.id,
        idempotencyKey: undefined,
        isDryRun: false,
        pinned: { toolkit, action },
      }),
    );
    const { outcome, message, providerStatus } = result;
    return { callId, isOk: outcome === "ok", message, providerStatus, saysError: message.startsWith(errorAnswerStart) };
  };
}
