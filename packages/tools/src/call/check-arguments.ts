import { type Action, applyDefaults } from "@svc/catalog";
import type { ArgumentFault } from "../outcome.ts";
import { mask, masked } from "./mask.ts";

/** Arguments ready to be sent: defaults applied, `confirm` taken out. */
export type CheckedArguments = {
  readonly params: Readonly<Record<string, unknown>>;
  readonly isConfirmed: boolean;
};

const givenMax = 200;

/** Judges arguments by the tool's input schema: every fault at once, each with what was given there. */
export function checkArguments(
  action: Pick<Action, "class" | "inputSchema" | "validateInput">,
  given: Readonly<Record<string, unknown>>,
): CheckedArguments | { readonly faults: readonly ArgumentFault[] } {
  const faults = action.validateInput(given);
  if (faults.length > 0) {
    const shown = mask(action.inputSchema, given);
    const givenAt = (pointer: string) => (valueAt(shown, pointer) === masked ? "" : textOf(valueAt(shown, pointer)));
    return { faults: faults.map(({ pointer, message }) => ({ pointer, message, givenJson: givenAt(pointer) })) };
  }
  const filled = applyDefaults(action.inputSchema, given) as Record<string, unknown>;
  if (action.class !== "destructive") return { params: filled, isConfirmed: true };
  const { confirm, ...params } = filled;
  return { params, isConfirmed: confirm === true };
}

/** Faults that a sentence names; the answer lists all of them. */
const describedMax = 20;

/** Writes faults as one sentence a caller can act on. */
export function describeFaults(faults: readonly ArgumentFault[]): string {
  const texts = faults.slice(0, describedMax).map(({ pointer, message, givenJson }) => {
    const place = pointer === "" ? "the arguments" : pointer;
    return `${place} ${message}${givenJson === "" || pointer === "" ? "" : `, and is ${givenJson}`}`;
  });
  const others = faults.length > describedMax ? `; and ${faults.length - describedMax} more` : "";
  return `${faults.length === 1 ? "1 fault" : `${faults.length} faults`} in the arguments: ${texts.join("; ")}${others}`;
}

/** The value at a JSON Pointer (RFC 6901); undefined when there is none. */
function valueAt(value: unknown, pointer: string): unknown {
  let found = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > givenMax ? `${text.slice(0, givenMax - 3).toWellFormed()}...` : text;
}
