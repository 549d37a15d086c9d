import { quotas } from "@svc/core";

/** The command for each call of the API, such as the command for `JobsService.GetJob`. Each group of commands adds its own to this map. */
const commands = new Map<string, string>();

/**
 * Registers for each given API call the command that replaces the call's name in messages. If a call already has a command, that command
 * stays.
 */
export function nameCommands(named: Iterable<readonly [call: string, command: string]>): void {
  for (const [call, command] of named) if (!commands.has(call)) commands.set(call, command);
}

/**
 * Example of an API request, as an error text of the service may contain it: the text names a call (such as PutSecret), followed by JSON
 * with the values to send. The type has only those request fields that the command line can set with an option or argument.
 */
type Example = { readonly name?: string; readonly http?: { readonly hosts?: readonly string[] } };

/** Functions that turn an example request of an API call into a command line. The key is the name of the call. */
const commandsOfExamples: Readonly<Record<string, (request: Example) => string>> = {
  PutSecret: ({ name = "" }) => `svc secrets put ${name}`,
  SetProjectPolicy: ({ http }) => `svc projects policy <project> --http-host ${http?.hosts?.[0] ?? ""}`,
};

/** The option or argument of the command line for each request field. Some keys are phrases that the service uses for a field. */
const options: ReadonlyMap<string, string> = new Map(
  Object.entries({
    eventId: "--event",
    subscriptionId: "--subscription",
    perSecond: "--rate",
    toolkitSlug: "--toolkit",
    triggerSlug: "--trigger",
    entityId: "--entity",
    connectedAccountId: "--account",
    accountVariables: "--var",
    accessClass: "--class",
    argumentsJson: "--args-json",
    idempotencyKey: "--idempotency-key",
    maxBytes: "--max-bytes",
    redirectUrl: "--redirect-url",
    replace: "--replace",
    redirectUrls: "--redirect-url",
    planApproval: "--plan-approval",
    endpointUrl: "the endpoint's URL",
    clientId: "--client-id",
    issuer: "--issuer",
    clientSecret: "the secret (--secret-stdin or --secret-env)",
    apiKey: "the key (--key-stdin or --key-env)",
    toolSlug: "tool",
    simulateFirst: "--simulate-first",
    overridesJson: "--overrides",
    principalId: "the principal",
    ownerProjectId: "OWNER",
    basic: "--username",
    "scheme is empty": "--scheme is not given",
    "confirm.person": "--confirm",
    "confirm.contact": "--confirm-by",
    "limit.toolkitSlug": "--toolkit",
    "limit.keyExpression": "--key",
    "limit.name": "the name",
    "limit.concurrency": "--concurrency",
    "limit.rate": "--rate",
    "limit.rate.max": "the calls of --rate",
    "limit.rate.per": "the time of --rate",
  }),
);

/**
 * Advice for the user after a refused call, by the reason of the refusal. This advice is in the words of the command line and replaces the
 * advice of the service. `named`: the fields that the service's advice names. `field`: the field that was wrong. If a function returns
 * undefined, the service's advice is shown.
 */
export const ownAdvice: Readonly<Record<string, (named: readonly string[], field: string) => string | undefined>> = {
  ROLE_REQUIRED: ([credential = ""]) =>
    credential === "SVC_ADMIN_TOKEN"
      ? "Give that token with --admin-token or SVC_ADMIN_TOKEN."
      : `Give ${credential} with --api-key or SVC_API_KEY.`,
  CONFIRM_INVALID: () =>
    "Give --confirm `never`, `destructive` or `writes`, and with the latter two --confirm-by with a contact that `svc contacts put` has created.",
  CALL_LIMIT_BOUND_INVALID: () =>
    "Give --concurrency from 1 to 10,000, --rate such as 10/1s (calls from 1 to 100,000, a time from 1s to 1 day), or both; --paused needs neither.",
  CREDENTIAL_MISSING: (_named, field) =>
    field === "basic" ? "Give --username, and the password with --key-stdin or --key-env." : undefined,
};

const quotaReasons: ReadonlySet<string> = new Set(Object.values(quotas).map(({ reason }) => reason));

/**
 * Returns the command of the command line for an API call that an error text names. In `named`, the name of the service may precede the
 * call's name, and an example request may follow it.
 */
export function commandOf(named: string, reason = ""): string {
  const [path = "", ...how] = named.split(" ");
  const name = path.slice(path.lastIndexOf("/") + 1);
  const example = how.join(" ");
  const command = example.startsWith("{") ? commandOfExample(name, example) : commands.get(name);
  if (name === "SetProjectPolicy" && quotaReasons.has(reason)) return "`svc projects quotas`";
  return command === undefined ? named : `\`${command}\``;
}

/**
 * Returns the command for the API call `name` with the request `example` (JSON text). Undefined if there is none for this call, or if
 * `example` is not valid.
 */
function commandOfExample(name: string, example: string): string | undefined {
  try {
    return Object.hasOwn(commandsOfExamples, name) ? commandsOfExamples[name]?.(JSON.parse(example)) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the words for a request field in an error message: an option, an argument or a phrase. `own`: the options of the command that
 * ran. Returns the field's path if nothing else is known.
 */
export function optionOf(path: string, own: ReadonlyMap<string, string> = new Map()): string {
  const nameOf = (field: string) => {
    const usual = options.get(field);
    return usual === undefined || usual.startsWith("--") ? (own.get(field) ?? usual) : usual;
  };
  const known = nameOf(path);
  if (known !== undefined) return known;
  const end = [...path].findIndex((character) => character === "." || character === "[");
  const head = end < 0 ? path : path.slice(0, end);
  if (head === "accountVariables") return `--var ${path.slice(end + 1)}`;
  return `${nameOf(head) ?? head}${path.slice(head.length)}`;
}

/**
 * Matches the name of a call in a text. If the call has example requests, also matches the JSON object (at most two levels deep) after its
 * name.
 */
const nameInText = new RegExp(
  `\\b(?:(?:${Object.keys(commandsOfExamples).join("|")}) \\{(?:[^{}]|\\{[^{}]*\\})*\\}|[A-Za-z_]\\w*)`,
  "g",
);

/**
 * Returns a result's text in which commands replace the names of API calls. The text has no markup, so a name is replaced only if it is a
 * separate word.
 */
export function withCommands(said: string, own: Readonly<Record<string, string>> = {}): string {
  return said.replace(nameInText, (named) => {
    const [name = ""] = named.split(" ");
    if (Object.hasOwn(own, named)) return own[named] ?? named;
    return commands.has(name) ? commandOf(named) : named;
  });
}
