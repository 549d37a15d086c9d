import { type PartedText, type PartKind, partedOf, renderAdvice, renderText, textOfWire } from "@svc/core";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { Code, ConnectError, svcErrorDetails } from "@svc/sdk";
import { commandOf, optionOf, ownAdvice } from "./api-names.ts";
import { unreachableHint } from "./unreachable.ts";

/**
 * The error of a command that was refused or failed. Its message is for the user. `exitCode`: the exit code of the process; 1 by default.
 */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * The service that answered a call. `credential`: where the sent key or token came from, in words. `isAdmin`: true if it was the
 * administrator's token.
 */
type Origin = { readonly url: string; readonly credential: string; readonly isAdmin: boolean };

/**
 * The command that ran. `path`: its name (for example `svc jobs park`). `options`: the command's options and arguments. The key is the
 * request field that the option sets.
 */
export type RanCommand = { readonly path: string; readonly options: ReadonlyMap<string, string> };

/** Returns the text of an error for users, without its stack. */
export function failureText(err: unknown, origin?: Origin, command?: RanCommand): string {
  if (err instanceof ConnectError) {
    const isRefused = err.code === Code.Unauthenticated && origin !== undefined;
    // The service cannot know which of two values is wrong: the user's administrator token, or its own SVC_ADMIN_TOKEN. So the text names
    // both.
    const text =
      isRefused && origin.isAdmin ? `${wrongToken}${reasonsText(err)}.` : spokenRefusal(err, origin, command);
    if (!isRefused) return text;
    return `${text} ${origin.url} answered; ${origin.credential}.`;
  }
  return err instanceof Error ? err.message : String(err);
}

const wrongToken = "the administrator's token differs from SVC_ADMIN_TOKEN of the service";

/**
 * Error reasons which mean that the called address does not serve this call. For calls with a project's key, the command line then prints
 * `wrongListenerHint`. For calls with the administrator's token, it prints the service's own hint, because that hint names the right
 * address.
 */
const listenerReasons: ReadonlySet<string> = new Set(["CALL_UNKNOWN"]);

/**
 * Advice if the called address is the administrator's listener, or a worker (a server process that only runs jobs). Neither accepts calls
 * or incoming webhooks of projects.
 */
export const wrongListenerHint =
  "The administrator's listener (SVC_ADMIN_LISTEN) and workers (SVC_ROLE) accept nothing from projects: set --url or SVC_URL to the address where the service accepts calls.";

/** Returns the text of an API error for the terminal. Names of API calls and fields are replaced by commands and options. */
function spokenRefusal(err: ConnectError, origin: Origin | undefined, command: RanCommand | undefined): string {
  const details = refusalsOf(err);
  // If the error has no details, it came from the network, or from a server that is not svc. The text then gives advice about the
  // connection.
  if (details.length === 0 && err.code === Code.Unavailable) {
    // fetch refuses to connect to the ports of other protocols (Fetch standard, "port blocking").
    const text = err.rawMessage.replace(
      /: bad port$/,
      ": its port belongs to another protocol, and no HTTP client may use it",
    );
    return `${text}. ${unreachableHint(err.cause, origin?.url ?? "")}`;
  }
  if (details.some(({ reason }) => listenerReasons.has(reason)) && origin?.isAdmin === false)
    return `${err.rawMessage}${reasonsText(err)}. ${wrongListenerHint}`;
  const { reason = "", message = partedOf(err.rawMessage) } = details[0] ?? {};
  // True if the text names the command instead of the refused call. A command may make several calls (for example to find a project's id),
  // and the user knows only the command.
  const isOfRole = command !== undefined && reason === "ROLE_REQUIRED";
  const what = renderText(message, (kind, name) =>
    kind === "call" && isOfRole ? `\`${command.path}\`` : ownName(kind, name, reason, command),
  );
  const advice = renderAdvice(details.map(adviceOf), retryAfterSeconds(err), (kind, name, index) =>
    ownName(kind, name, details[index]?.reason, command),
  );
  return [`${what}${reasonsText(err)}.`, advice].join(" ").trimEnd();
}

function adviceOf({ reason, field, help }: Refusal): PartedText {
  const named = help.parts.flatMap(({ kind, start, length }) =>
    kind === "field" ? [help.text.slice(start, start + length)] : [],
  );
  return partedOf(ownAdvice[reason]?.(named, field) ?? help);
}

/** One error of a refused call. Its texts are divided into parts, such as names of calls and plain text. */
export type Refusal = {
  readonly reason: string;
  readonly field: string;
  readonly help: PartedText;
  /** Message of the refusal, the same for each of its errors. Its named parts are marked only in the first error. */
  readonly message: PartedText;
};

/** Returns the errors of a refused call, in the service's order. Returns an empty list if the error is not a refusal by svc. */
export function refusalsOf(err: ConnectError): Refusal[] {
  return err.findDetails(ErrorDetailSchema).map(({ reason, field, help, parts }) => {
    const message = parts.filter(({ inMessage }) => inMessage);
    const ofHelp = parts.filter(({ inMessage }) => !inMessage);
    return { reason, field, message: textOfWire(err.rawMessage, message), help: textOfWire(help, ofHelp) };
  });
}

/**
 * Returns a text of an error for the user of the command line. Names of API calls and fields in the text are replaced by commands and
 * options.
 */
export function spokenText(said: PartedText): string {
  return renderText(said, (kind, name) => ownName(kind, name));
}

function ownName(kind: PartKind, name: string, reason?: string, command?: RanCommand): string {
  if (kind === "call") return commandOf(name, reason);
  return kind === "field" ? optionOf(name, command?.options) : name;
}

/**
 * Returns the seconds in the Retry-After header. Returns undefined if there is no such header, or if its value is a date (from a server
 * that is not svc).
 */
function retryAfterSeconds({ metadata }: ConnectError): string | undefined {
  return /^\d+$/.exec(metadata.get("retry-after") ?? "")?.[0];
}

function reasonsText(err: ConnectError): string {
  const reasons = [...new Set(svcErrorDetails(err).map((detail) => detail.reason))].join(", ");
  return reasons === "" ? "" : ` (${reasons})`;
}
