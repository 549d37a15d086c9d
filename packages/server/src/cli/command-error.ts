import { Code, ConnectError, svcErrorDetails } from "@svc/sdk";

/** A command that was refused or failed; the message is what its user reads, and the process ends with 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** What to do about a service that cannot be reached. */
export const startHint = "Start the service (`npm start`), or give its address with --url or SVC_URL.";

/** What a user reads of an error, without its stack. */
export function failureText(err: unknown, origin?: { url: string; credential: string }): string {
  if (err instanceof ConnectError) {
    const text = asCommands(refusalText(err));
    if (err.code !== Code.Unauthenticated || origin === undefined) return text;
    return `${text} ${origin.url} answered; ${origin.credential}.`;
  }
  return err instanceof Error ? err.message : String(err);
}

/** What the command line calls the things that the contract names. */
const commandNames: Readonly<Record<string, string>> = {
  ListProjects: "`svc projects list`",
  CreateProject: "`svc projects create`",
  CreateApiKey: "`svc keys create`",
  ListApiKeys: "`svc keys list`",
  RevokeApiKey: "`svc keys revoke`",
  ListEvents: "`svc events`",
  ListDeliveries: "`svc deliveries`",
  ReplayEvent: "`svc replay`",
  event_id: "--event",
  eventId: "--event",
  subscriptionId: "--subscription",
  toolkitSlug: "--toolkit",
  triggerSlug: "--trigger",
  subscription_id: "--subscription",
  toolkit_slug: "--toolkit",
  trigger_slug: "--trigger",
  expires_at: "--expires-in",
};

function asCommands(text: string): string {
  return text.replace(
    /\b[A-Za-z]\w+\b/g,
    (word) => (Object.hasOwn(commandNames, word) ? commandNames[word] : undefined) ?? word,
  );
}

function refusalText(err: ConnectError): string {
  const details = svcErrorDetails(err);
  // Without a detail it was the network, or a server of another kind, that ended the call.
  if (details.length === 0 && err.code === Code.Unavailable) {
    // The Fetch standard bars ports of other protocols ("port blocking").
    const text = err.rawMessage.replace(
      /: bad port$/,
      ": its port belongs to another protocol, and no HTTP client may use it",
    );
    return `${text}. ${startHint}`;
  }
  const help = details.map((detail) => detail.help).filter((text) => text !== "");
  const reasons = details.map((detail) => detail.reason).join(", ");
  return [`${err.rawMessage}${reasons === "" ? "" : ` (${reasons})`}.`, ...help].join(" ");
}
