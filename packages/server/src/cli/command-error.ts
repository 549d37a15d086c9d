import { Code, ConnectError, svcErrorDetails } from "@svc/sdk";

/** A command that was refused or failed; the message is what its user reads, and the process ends with 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** What to do about a service that cannot be reached. */
export const startHint = "Start the service (`npm start`), or give its address with --url or SVC_URL.";

/** What a user reads of an error, without its stack. */
export function failureText(err: unknown): string {
  if (err instanceof ConnectError) return refusalText(err);
  return err instanceof Error ? err.message : String(err);
}

function refusalText(err: ConnectError): string {
  const details = svcErrorDetails(err);
  // Without a detail it was the network, or a server of another kind, that ended the call.
  if (details.length === 0 && err.code === Code.Unavailable) {
    return `${err.rawMessage}. ${startHint}`;
  }
  const help = details.map((detail) => detail.help).filter((text) => text !== "");
  const reasons = details.map((detail) => detail.reason).join(", ");
  return [`${err.rawMessage}${reasons === "" ? "" : ` (${reasons})`}.`, ...help].join(" ");
}
