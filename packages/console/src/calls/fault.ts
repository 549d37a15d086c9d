import { Code, ConnectError } from "@connectrpc/connect";
import { textOfWire } from "@svc/core/fault-text";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { pageText } from "../words/page-words.ts";

/** One error of an API call, in the form in which the service returned it: its reason, the wrong field, and advice. */
export type WireFault = {
  /** A stable name of the error's cause in UPPER_SNAKE_CASE. The page docs/reference/errors explains each name. */
  reason: string;
  /** Name of the wrong request field; empty if the error is not about a single field. */
  field: string;
  /** Advice on how to correct the error. If the service's text names API calls, the advice has links to the pages of those calls. */
  help: string;
};

/** A failed API call, in the form in which the page shows it. `faults`: the single errors that the service reported. */
export type CallFailure = { message: string; code: string; requestId: string; faults: readonly WireFault[] };

/** Converts an error that an API call threw into the values that the page shows. Never throws. */
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
      ? [
          {
            reason: "UNREACHABLE",
            field: "",
            help: "Check that the service is running. The page tries again automatically.",
          },
        ]
      : faults,
  };
}

/** Returns a call's errors by the field of the page at which each is shown. `rest` holds the errors that belong to no field. */
export function placeFailure<Field extends string>(
  error: unknown,
  fields: readonly Field[],
): { at: Partial<Record<Field, string>>; rest: unknown } {
  if (error === null || error === undefined) return { at: {}, rest: null };
  const { message, faults } = failureOf(error);
  const at: Partial<Record<Field, string>> = {};
  for (const { field, help } of faults) {
    // Text for the field. If the call has several errors, the whole message lists all of them. So only the help about the error of this
    // field is shown.
    const says = faults.length === 1 ? `${message}. ${help}`.trim() : help || message;
    const named = fields.find((name) => field === name || [".", "/", "["].some((end) => field.startsWith(name + end)));
    if (named === undefined) return { at: {}, rest: error };
    at[named] = at[named] === undefined ? says : `${at[named]} ${says}`;
  }
  return faults.length === 0 ? { at, rest: error } : { at, rest: null };
}
