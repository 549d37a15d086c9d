import { Code, ConnectError, svcErrorDetails } from "@svc/sdk";

/** A command that was refused or failed; the message is what its user reads, and the process ends with `exitCode`, 1 unless stated. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
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
  ListToolkits: "`svc catalog list`",
  ListTools: "`svc catalog show <toolkit>`",
  PublishToolkit: "`svc catalog publish`",
  DeleteToolkit: "`svc catalog delete`",
  GetToolkitConnectSpec: "`svc catalog show <toolkit>`",
  InitiateConnection: "`svc connect`",
  ListConnections: "`svc connections list`",
  GetConnection: "`svc connections show`",
  DeleteConnection: "`svc connections delete`",
  SetProjectPolicy: "`svc projects policy`",
  SearchTools: "`svc search`",
  CallTool: "`svc call`",
  ListToolCalls: "`svc tool-calls list`",
  SubmitJob: "`svc jobs submit`",
  GetJob: "`svc jobs show`",
  ListJobs: "`svc jobs list`",
  CancelJob: "`svc jobs cancel`",
  PromoteJob: "`svc jobs promote`",
  AnswerAsk: "`svc answer`",
  ListAsks: "`svc asks`",
  GetAsk: "`svc asks show`",
  PutContact: "`svc contacts put`",
  ListContacts: "`svc contacts list`",
  DeleteContact: "`svc contacts delete`",
  event_id: "--event",
  eventId: "--event",
  subscriptionId: "--subscription",
  toolkitSlug: "--toolkit",
  triggerSlug: "--trigger",
  subscription_id: "--subscription",
  toolkit_slug: "--toolkit",
  trigger_slug: "--trigger",
  expires_at: "--expires-in",
  entityId: "--entity",
  connectedAccountId: "--account",
  accountVariables: "--var",
  accessClass: "--class",
  argumentsJson: "--args-json",
  idempotencyKey: "--idempotency-key",
  maxBytes: "--max-bytes",
  redirectUrl: "--redirect-url",
  redirectUrls: "--redirect-url",
  planApproval: "--plan-approval",
  apiKey: "the key (--key-stdin or --key-env)",
  toolSlug: "tool",
  simulateFirst: "--simulate-first",
  overridesJson: "--overrides",
  principalId: "the principal",
};

/** Words of the contract that are told from others only by what stands beside them. */
const commandPhrases: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/\baccountVariables\.(\w+)/g, "--var $1"],
  [/\bscheme is empty\b/g, "--scheme is not given"],
  [/\bbasic is empty\b/g, "--username is empty"],
  [/\bSend basic\./g, "Give --username, and the password by --key-stdin or --key-env."],
];

/** A text of the service with its calls and fields named as this command line names them; a call's full name counts as one word. */
export function asCommands(text: string): string {
  const spoken = commandPhrases.reduce((told, [pattern, phrase]) => told.replace(pattern, phrase), text);
  return spoken.replace(/\b(?:svc\.v1\.\w+\/)?([A-Za-z]\w+)\b/g, (words, name: string) => {
    return (Object.hasOwn(commandNames, name) ? commandNames[name] : undefined) ?? words;
  });
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
  const reasons = [...new Set(details.map((detail) => detail.reason))].join(", ");
  return [`${err.rawMessage}${reasons === "" ? "" : ` (${reasons})`}.`, ...help].join(" ");
}
