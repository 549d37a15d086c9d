import { isJsonObject, isRawJson } from "@svc/core";
import { isCall, type JsonObject, type JsonValue, type MapCall, type SecretSlot } from "@svc/program";
import { createRedactor, mask, maskArguments, maskedTexts, readHttpAddress } from "@svc/tools";
import type { JobState } from "../state/job.ts";
import { isSensitiveField } from "../state/sensitive-rows.ts";
import { shownOf } from "../state/shown.ts";
import { type SimulatedCall, showsMore, type UnsentWrites } from "../state/simulated.ts";
import type { CallPlace } from "./effects.ts";
import { toolOf } from "./invoke.ts";
import type { StepAt } from "./step-kind.ts";

/**
 * A write that a simulated job does not send, with its arguments filled in. `at`: only for a write of a `map` step; the step, the row, and
 * the answers of the row's calls so far.
 */
export type FilledWrite = {
  readonly call: MapCall;
  readonly place: CallPlace;
  readonly args: JsonObject;
  readonly secretUses: readonly SecretSlot[];
  readonly at?: {
    readonly step: StepAt<"map">["step"];
    readonly row: JsonObject;
    readonly calls: Readonly<Record<string, JsonValue>>;
  };
};

/**
 * Limits of the shown arguments of a write. `textMax`: maximum characters of a text; the rest is cut. `itemsMax`: maximum items of a list.
 * `argumentsMax`: arguments that are larger in total are not shown.
 */
const textMax = 200;
const itemsMax = 10;
const argumentsMax = 4_096;
const masked = "***";

/**
 * Returns what a simulated call would have sent. `count`: 1 for a write, 0 for a read. `calls`: the contents of the write; empty if the job
 * already shows the maximum number of writes for this call.
 */
export function unsentWrite(state: JobState, write: FilledWrite): UnsentWrites {
  const { call, place } = write;
  if (toolOf(state, call).action.class === "read") return { count: 0, calls: [] };
  const isShown = showsMore(state.simulated, place.stepId, place.callId);
  return { count: 1, calls: isShown ? [shownWrite(state, write)] : [] };
}

/** Returns the contents of an unsent write of a simulated job as people may see them: secrets and sensitive values are masked. */
function shownWrite(state: JobState, { call, place, args, ...write }: FilledWrite): SimulatedCall {
  const { action } = toolOf(state, call);
  const open = call.http === undefined ? maskArguments(action.inputSchema, args) : { ...args, url: addressOf(args) };
  const hidden = write.secretUses.reduce((value, { path }) => withMask(value, path), open as JsonValue);
  const redact = createRedactor([...shownOf(state).secrets, ...secretsOf(state, write.at)]);
  const text = JSON.stringify(shortened(hidden, redact));
  const argumentsJson = text.length > argumentsMax ? "" : text;
  return { callId: place.callId, ordinal: place.ordinal, toolSlug: call.tool, entityId: call.entity, argumentsJson };
}

/** Returns the address of a request as svc would send it. The parameters of `query` are left out, because they are shown separately. */
function addressOf({ url = "" }: JsonObject): JsonValue {
  const read = readHttpAddress(url);
  return "address" in read ? read.address : url;
}

/** Returns the sensitive texts in one row of a `map` step and in the answers of the calls for this row. */
function secretsOf({ loaded }: JobState, at: FilledWrite["at"]): string[] {
  if (at === undefined || !loaded.hasSensitive) return [];
  const { step, row, calls } = at;
  const inRow = Object.entries(row).flatMap(([name, value]) =>
    isSensitiveField(loaded, step.source, [name]) ? maskedTexts(value, masked) : [],
  );
  const inAnswers = step.calls.flatMap((call) => {
    const answer = calls[call.id];
    const schema = isCall(call) ? loaded.tools.get(call.tool)?.action.outputSchema : undefined;
    return answer === undefined || schema === undefined ? [] : maskedTexts(answer, mask(schema, answer));
  });
  return [...inRow, ...inAnswers];
}

/** Returns a copy of a value in which the part at the given path is replaced by `***`. */
function withMask(value: JsonValue, [first, ...rest]: readonly (string | number)[]): JsonValue {
  if (first === undefined) return masked;
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value;
    return items.map((item, index) => (index === first ? withMask(item, rest) : item));
  }
  const fields = isJsonObject(value) ? value : {};
  return { ...fields, [first]: withMask(fields[first] ?? null, rest) };
}

/** Returns a copy of a value with sensitive texts masked and long values cut. */
function shortened(value: JsonValue, redact: (text: string) => string): JsonValue {
  if (typeof value === "string") {
    const text = redact(value);
    return text.length <= textMax ? text : `${text.slice(0, textMax).toWellFormed()}…`;
  }
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value;
    const first = items.slice(0, itemsMax).map((item) => shortened(item, redact));
    return items.length > itemsMax ? [...first, "…"] : first;
  }
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shortened(item, redact)]));
}
