import { withWait } from "@svc/core";
import { Code, ConnectError, svcErrorDetails } from "@svc/sdk";
import { unreachableHint } from "./unreachable.ts";

/** A command that was refused or failed; the message is what its user reads, and the process ends with `exitCode`, 1 unless stated. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Which service answered, and what was shown to it. */
type Origin = { readonly url: string; readonly credential: string; readonly isAdmin: boolean };

/** What a user reads of an error, without its stack. `command` is the one that ran, such as `svc jobs park`. */
export function failureText(err: unknown, origin?: Origin, command?: string): string {
  if (err instanceof ConnectError) {
    const isRefused = err.code === Code.Unauthenticated && origin !== undefined;
    // The service cannot tell a wrong token from a wrong key.
    const text =
      isRefused && origin.isAdmin ? `${wrongToken}${reasonsText(err)}.` : spokenRefusal(err, origin, command);
    if (!isRefused) return text;
    return `${text} ${origin.url} answered; ${origin.credential}.`;
  }
  return err instanceof Error ? err.message : String(err);
}

const wrongToken = "the administrator's token is not the one that SVC_ADMIN_TOKEN is set to where the service runs";

/** What the command line calls the things that the contract names. */
const commandNames: Readonly<Record<string, string>> = {
  ListProjects: "`svc projects list`",
  CreateProject: "`svc projects create`",
  CreateApiKey: "`svc keys create`",
  ListApiKeys: "`svc keys list`",
  RevokeApiKey: "`svc keys revoke`",
  CreateAgentKey: "`svc agent-keys create`",
  ListAgentKeys: "`svc agent-keys list`",
  RevokeAgentKey: "`svc agent-keys revoke`",
  ListQuarantinedPosts: "`svc quarantine list`",
  GetQuarantinedPost: "`svc quarantine show`",
  ReleaseQuarantinedPosts: "`svc quarantine release`",
  RotateVault: "`svc vault rotate`",
  GetVaultRotation: "`svc vault status`",
  PutDeploymentSecret: "`svc vault put`",
  DeleteDeploymentSecret: "`svc vault delete`",
  ListDeploymentSecrets: "`svc vault list`",
  GetRestore: "`svc resume --dry-run`",
  ResumeRestored: "`svc resume`",
  EraseEntity: "`svc erase`",
  GetErasure: "`svc erase --follow`",
  ExportEntity: "`svc export`",
  DeleteProject: "`svc projects delete`",
  ListAuditEvents: "`svc audit list`",
  VerifyAuditLog: "`svc audit verify`",
  ParkJob: "`svc jobs park`",
  ReleaseJob: "`svc jobs release`",
  ListIngestEndpoints: "`svc endpoints`",
  CreateSubscription: "`svc subscriptions create`",
  ListSubscriptions: "`svc subscriptions list`",
  GetSubscription: "`svc subscriptions show`",
  UpdateSubscription: "`svc subscriptions update`",
  DeleteSubscription: "`svc subscriptions delete`",
  SendTestEvent: "`svc subscriptions test`",
  TryNow: "`svc subscriptions try`",
  ListEvents: "`svc events`",
  GetEvent: "`svc events show`",
  GetDelivery: "`svc deliveries show`",
  ListDeliveries: "`svc deliveries`",
  ListDeliveryAttempts: "`svc deliveries attempts`",
  ReplayEvent: "`svc replay`",
  ReplayEvents: "`svc replay --since`",
  StartReplay: "`svc events replay`",
  GetReplay: "`svc replays show`",
  ListReplays: "`svc replays list`",
  UpdateReplay: "`svc replays update`",
  CancelReplay: "`svc replays cancel`",
  ListToolkits: "`svc catalog list`",
  GetToolkit: "`svc catalog show <toolkit>`",
  ListTools: "`svc catalog show <toolkit>`",
  GetTool: "`svc catalog show <tool>`",
  DescribeTool: "`svc catalog show <tool>`",
  PublishToolkit: "`svc catalog publish`",
  DeleteToolkit: "`svc catalog delete`",
  GetToolkitConnectSpec: "`svc catalog show <toolkit>`",
  InitiateConnection: "`svc connect`",
  CreateConnectLink: "`svc connections link`",
  ListConnections: "`svc connections list`",
  GetConnection: "`svc connections show`",
  TestConnection: "`svc connections test`",
  DeleteConnection: "`svc connections delete`",
  SetAccountReferences: "`svc connections references`",
  SetProjectCredential: "`svc credentials set`",
  DeleteProjectCredential: "`svc credentials delete`",
  SetProjectPolicy: "`svc projects policy`",
  GetProjectUsage: "`svc projects usage`",
  SearchTools: "`svc search`",
  CallTool: "`svc call`",
  PutCallLimit: "`svc limits put`",
  DeleteCallLimit: "`svc limits delete`",
  ListCallLimits: "`svc limits list`",
  CreateHook: "`svc hooks create`",
  ListHooks: "`svc hooks list`",
  UpdateHook: "`svc hooks update`",
  DeleteHook: "`svc hooks delete`",
  PutSecret: "`svc secrets put`",
  DeleteSecret: "`svc secrets delete`",
  ListSecrets: "`svc secrets list`",
  ListToolCalls: "`svc tool-calls list`",
  GetToolCall: "`svc tool-calls show`",
  SubmitJob: "`svc jobs submit`",
  CheckProgram: "`svc jobs check`",
  GetJob: "`svc jobs show`",
  ListJobs: "`svc jobs list`",
  ListSteps: "`svc jobs steps`",
  ListUndoEntries: "`svc jobs undo-entries`",
  GetBacklog: "`svc stats`",
  QuerySeries: "`svc stats --since`",
  WatchProject: "`svc watch`",
  PauseJob: "`svc jobs pause`",
  ResumeJob: "`svc jobs resume`",
  ListJobEvents: "`svc jobs log`",
  WatchJob: "`svc jobs watch`",
  CancelJob: "`svc jobs cancel`",
  RetryJob: "`svc jobs retry`",
  RerunJob: "`svc jobs rerun`",
  PromoteJob: "`svc jobs promote`",
  ListSkills: "`svc skills list`",
  GetSkill: "`svc skills get`",
  DeleteSkill: "`svc skills delete`",
  AnswerAsk: "`svc answer`",
  CreateAnswerLink: "`svc asks link`",
  ListAsks: "`svc asks`",
  GetAsk: "`svc asks show`",
  CreateAskEndpoint: "`svc ask-endpoints create`",
  ListAskEndpoints: "`svc ask-endpoints list`",
  DeleteAskEndpoint: "`svc ask-endpoints delete`",
  PutContact: "`svc contacts put`",
  ListContacts: "`svc contacts list`",
  DeleteContact: "`svc contacts delete`",
  GetIdentity: "`svc whoami`",
  CreateSignInLink: "`svc console open`",
  ListSessions: "`svc console sessions`",
  EndSession: "`svc console end`",
  ListGrants: "`svc grants list`",
  UpdateGrant: "`svc grants update`",
  RevokeGrant: "`svc grants revoke`",
};

/** What the command line calls the fields of requests. */
const optionNames: Readonly<Record<string, string>> = {
  event_id: "--event",
  eventId: "--event",
  subscriptionId: "--subscription",
  perSecond: "--rate",
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
  endpointUrl: "the endpoint's URL",
  clientId: "--client-id",
  clientSecret: "the secret (--secret-stdin or --secret-env)",
  apiKey: "the key (--key-stdin or --key-env)",
  toolSlug: "tool",
  simulateFirst: "--simulate-first",
  overridesJson: "--overrides",
  principalId: "the principal",
};

/** Words of the contract that are told from others only by what stands beside them. */
const commandPhrases: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/\baccountVariables\.(\w+)/g, "--var $1"],
  [/\bconfirm\.person\b/g, "--confirm"],
  [/\bconfirm\.contact\b/g, "--confirm-by"],
  [/\bSend person `never`/g, "Give --confirm `never`"],
  [/\blatter two the principalId of a contact\b/g, "latter two --confirm-by with a contact"],
  [/ with kind TOOL_KIND_TRIGGER\b/g, ""],
  [/\bthe quota \(SetProjectPolicy\)/g, "the quota (`svc projects quotas`)"],
  [/\bListToolkits with the project's id\b/g, "ListToolkits"],
  [/ \(ownerProjectId\)/g, " (OWNER)"],
  [/\blimit\.toolkitSlug\b/g, "--toolkit"],
  [/\blimit\.keyExpression\b/g, "--key"],
  [/\blimit\.name\b/g, "the name"],
  [/\blimit\.concurrency\b/g, "--concurrency"],
  [/\blimit\.rate\.max\b/g, "the calls of --rate"],
  [/\blimit\.rate\.per\b/g, "the time of --rate"],
  [/\blimit\.rate\b/g, "--rate"],
  [
    /\bSend concurrency (from [\d,]+ to [\d,]+), rate \{max (from [\d,]+ to [\d,]+), per (from \w+ to [\w ]+)\}, or both; paused needs neither\./g,
    "Give --concurrency $1, --rate such as 10/1s (calls $2, a time $3), or both; --paused needs neither.",
  ],
  [/\bSetProjectPolicy \{"http": \{"hosts": \["([^"]+)"\]\}\}/g, "`svc projects policy <project> --http-host $1`"],
  [/\bPutSecret \{"name": "([^"]+)"\}/g, "`svc secrets put $1`"],
  [/\bscheme is empty\b/g, "--scheme is not given"],
  [/\bbasic is empty\b/g, "--username is empty"],
  [/\bSend SVC_ADMIN_TOKEN as bearer\./g, "Give that token with --admin-token or SVC_ADMIN_TOKEN."],
  [/\bSend (a project's key(?: with the role \w+)?) as bearer\./g, "Give $1 with --api-key or SVC_API_KEY."],
  [/\bSend basic\./g, "Give --username, and the password by --key-stdin or --key-env."],
];

/**
 * A text of the server with its calls and fields named as this command line names them; a call's full name counts as one word. What
 * follows a slash or a dot is part of a path, and stays.
 */
export function asCommands(text: string): string {
  return withNames(withPhrases(text), { ...commandNames, ...optionNames });
}

/** A text about a document, such as a program, with calls named as commands. Names of fields in it are those of the document, and stay. */
export function aboutDocument(text: string): string {
  return withNames(withPhrases(text), commandNames);
}

function withNames(text: string, names: Readonly<Record<string, string>>): string {
  return text.replace(/(?<![/.])\b(?:svc\.v1\.\w+\/)?([A-Za-z]\w+)\b/g, (words, name: string) => {
    return (Object.hasOwn(names, name) ? names[name] : undefined) ?? words;
  });
}

function withPhrases(text: string): string {
  return commandPhrases.reduce((told, [pattern, phrase]) => told.replace(pattern, phrase), text);
}

/** Reasons whose texts name what an expression may name, by words that are fields elsewhere. */
const expressionReasons: ReadonlySet<string> = new Set(["KEY_EXPRESSION_INVALID"]);

/** Reasons of an address that does not serve the call; of administration the service's own help says where else it may be served. */
const listenerReasons: ReadonlySet<string> = new Set(["CALL_UNKNOWN"]);

/** What to do where a project's call, or a post, is served by nobody. */
export const wrongListenerHint =
  "The listener of the administrator (SVC_ADMIN_LISTEN) and workers (SVC_ROLE) take nothing of projects: set --url or SVC_URL to the address where the service takes calls.";

/** Reasons whose texts begin with the call that was refused. */
const roleReasons: ReadonlySet<string> = new Set(["ROLE_REQUIRED"]);

/** What a refusal says, in the words of this command line. */
function spokenRefusal(err: ConnectError, origin: Origin | undefined, command: string | undefined): string {
  const has = (reasons: ReadonlySet<string>) => svcErrorDetails(err).some(({ reason }) => reasons.has(reason));
  if (has(listenerReasons) && origin?.isAdmin === false)
    return `${err.rawMessage}${reasonsText(err)}. ${wrongListenerHint}`;
  const isOfDocument = svcErrorDetails(err).some(({ field }) => /^(?:program|definition)Json/.test(field));
  const toWords = has(expressionReasons) ? withPhrases : isOfDocument ? aboutDocument : asCommands;
  const text = toWords(refusalText(err, origin));
  // A command may make another call before its own, such as one for a project's id: its user knows of the command alone.
  return command !== undefined && has(roleReasons) ? text.replace(/^`[^`]+`/, `\`${command}\``) : text;
}

function refusalText(err: ConnectError, origin: Origin | undefined): string {
  const details = svcErrorDetails(err);
  // Without a detail it was the network, or a server of another kind, that ended the call.
  if (details.length === 0 && err.code === Code.Unavailable) {
    // The Fetch standard bars ports of other protocols ("port blocking").
    const text = err.rawMessage.replace(
      /: bad port$/,
      ": its port belongs to another protocol, and no HTTP client may use it",
    );
    return `${text}. ${unreachableHint(err.cause, origin?.url ?? "")}`;
  }
  const help = details.map((detail) => detail.help).filter((text) => text !== "");
  return [`${err.rawMessage}${reasonsText(err)}.`, withWait(help.join(" "), retryAfterSeconds(err))]
    .join(" ")
    .trimEnd();
}

/** The seconds of Retry-After; undefined when there is none, or the date of another server between. */
function retryAfterSeconds({ metadata }: ConnectError): string | undefined {
  return /^\d+$/.exec(metadata.get("retry-after") ?? "")?.[0];
}

function reasonsText(err: ConnectError): string {
  const reasons = [...new Set(svcErrorDetails(err).map((detail) => detail.reason))].join(", ");
  return reasons === "" ? "" : ` (${reasons})`;
}
