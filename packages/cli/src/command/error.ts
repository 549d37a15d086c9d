import { type PartedText, type PartKind, partedOf, renderAdvice, renderText, textOfWire } from "@svc/core";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { Code, ConnectError, svcErrorDetails } from "@svc/sdk";
import { commandOf, optionOf, ownAdvice } from "./api-names.ts";
import { unreachableHint } from "./unreachable.ts";

/** A command that was refused or failed. The message is for the user, and the process ends with `exitCode`, 1 by default. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The service that answered, and the credential that was sent to it. */
type Origin = { readonly url: string; readonly credential: string; readonly isAdmin: boolean };

/** The command that ran, such as `svc jobs park`. `options`: its options and arguments, by the request fields that they fill. */
export type RanCommand = { readonly path: string; readonly options: ReadonlyMap<string, string> };

/** Returns the text of an error for users, without its stack. */
export function failureText(err: unknown, origin?: Origin, command?: RanCommand): string {
  if (err instanceof ConnectError) {
    const isRefused = err.code === Code.Unauthenticated && origin !== undefined;
    // The service cannot tell if a token or a key is wrong, so both are named.
    const text =
      isRefused && origin.isAdmin ? `${wrongToken}${reasonsText(err)}.` : spokenRefusal(err, origin, command);
    if (!isRefused) return text;
    return `${text} ${origin.url} answered; ${origin.credential}.`;
  }
  return err instanceof Error ? err.message : String(err);
}

const wrongToken = "the administrator's token differs from SVC_ADMIN_TOKEN of the service";

/** Reasons that mean: this address does not serve the call. For calls of administration, the service's own hint names the right address. */
const listenerReasons: ReadonlySet<string> = new Set(["CALL_UNKNOWN"]);

/** Advice if the address serves no calls or posts of projects. */
export const wrongListenerHint =
  "The administrator's listener (SVC_ADMIN_LISTEN) and workers (SVC_ROLE) accept nothing from projects: set --url or SVC_URL to the address where the service accepts calls.";

/** Returns the text of a refusal, with names of calls and fields replaced by commands and options. */
function spokenRefusal(err: ConnectError, origin: Origin | undefined, command: RanCommand | undefined): string {
  const details = refusalsOf(err);
  // Without details, the error came from the network or from a server that is not svc.
  if (details.length === 0 && err.code === Code.Unavailable) {
    // fetch does not connect to ports of other protocols (Fetch standard, "port blocking").
    const text = err.rawMessage.replace(
      /: bad port$/,
      ": its port belongs to another protocol, and no HTTP client may use it",
    );
    return `${text}. ${unreachableHint(err.cause, origin?.url ?? "")}`;
  }
  if (details.some(({ reason }) => listenerReasons.has(reason)) && origin?.isAdmin === false)
    return `${err.rawMessage}${reasonsText(err)}. ${wrongListenerHint}`;
  const { reason = "", message = partedOf(err.rawMessage) } = details[0] ?? {};
  // The command may have made another call first, for example to find a project's id. The user knows only the command, so the command is
  // named.
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

/** One fault of a refused call, with its texts in parts. */
export type Refusal = {
  readonly reason: string;
  readonly field: string;
  readonly help: PartedText;
  /** The message of the error. For the first fault of the error, the text has its parts. */
  readonly message: PartedText;
};

/** Returns the faults of a refused call, in the service's order. Returns an empty list if the error is not a refusal. */
export function refusalsOf(err: ConnectError): Refusal[] {
  return err.findDetails(ErrorDetailSchema).map(({ reason, field, help, parts }) => {
    const message = parts.filter(({ inMessage }) => inMessage);
    const ofHelp = parts.filter(({ inMessage }) => !inMessage);
    return { reason, field, message: textOfWire(err.rawMessage, message), help: textOfWire(help, ofHelp) };
  });
}

/** Returns a text of a refusal with the names of the command line. */
export function spokenText(said: PartedText): string {
  return renderText(said, (kind, name) => ownName(kind, name));
}

function ownName(kind: PartKind, name: string, reason?: string, command?: RanCommand): string {
  if (kind === "call") return commandOf(name, reason);
  return kind === "field" ? optionOf(name, command?.options) : name;
}

/**
 * Returns the seconds of the Retry-After header. Returns undefined if the header is absent, or is a date (from a server that is not svc).
 */
function retryAfterSeconds({ metadata }: ConnectError): string | undefined {
  return /^\d+$/.exec(metadata.get("retry-after") ?? "")?.[0];
}

function reasonsText(err: ConnectError): string {
  const reasons = [...new Set(svcErrorDetails(err).map((detail) => detail.reason))].join(", ");
  return reasons === "" ? "" : ` (${reasons})`;
}
