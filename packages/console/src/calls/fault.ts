import { Code, ConnectError } from "@connectrpc/connect";
import { textOfWire } from "@svc/core/fault-text";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { pageText } from "../words/page-words.ts";

/** One thing that was wrong with a call, as the service told it. */
export type WireFault = {
  /** A stable name in UPPER_SNAKE_CASE; docs/errors.md has each. */
  reason: string;
  /** Empty where no single field is at fault. */
  field: string;
  /** What would be right, with the pages for the calls that the service named. */
  help: string;
};

/** A call that failed, ready to be shown. */
export type CallFailure = { message: string; code: string; requestId: string; faults: readonly WireFault[] };

/** What a call threw, as it is shown. Never throws. */
export function failureOf(error: unknown): CallFailure {
  const cause = ConnectError.from(error);
  const faults = cause.findDetails(ErrorDetailSchema).map(({ reason, field, help, parts }) => {
    const ofHelp = parts.filter(({ inMessage }) => !inMessage);
    return { reason, field, help: pageText(textOfWire(help, ofHelp)) };
  });
  const unreachable = cause.code === Code.Unknown && cause.cause instanceof TypeError;
  return {
    message: unreachable ? "The service cannot be reached." : cause.rawMessage,
    code: unreachable ? "unreachable" : Code[cause.code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase(),
    requestId: cause.metadata.get("x-request-id") ?? "",
    faults: unreachable
      ? [{ reason: "UNREACHABLE", field: "", help: "See whether it runs; this page tries again by itself." }]
      : faults,
  };
}

/** What a call failed with, as far as fields of its page can say it: at which of them what is wrong, and `rest` for what none of them says. */
export function placeFailure<Field extends string>(
  error: unknown,
  fields: readonly Field[],
): { at: Partial<Record<Field, string>>; rest: unknown } {
  if (error === null || error === undefined) return { at: {}, rest: null };
  const { message, faults } = failureOf(error);
  const at: Partial<Record<Field, string>> = {};
  for (const { field, help } of faults) {
    // Of several faults the message tells of all, and the help what is to be done about each.
    const says = faults.length === 1 ? `${message}. ${help}`.trim() : help || message;
    const named = fields.find((name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}/`));
    if (named === undefined) return { at: {}, rest: error };
    at[named] = at[named] === undefined ? says : `${at[named]} ${says}`;
  }
  return faults.length === 0 ? { at, rest: error } : { at, rest: null };
}
