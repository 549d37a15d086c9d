import { create, fromJsonString } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { type EndpointCredentials, EndpointCredentialsSchema } from "@svc/gen/triggers";
import type { Subscription } from "@svc/sdk";
import { InvalidArgumentError } from "commander";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { readSecret } from "../command/input.ts";
import { parseCount, parseSpan } from "../command/options.ts";
import type { OptionDeclaration } from "../command/request-fields.ts";
import { numberText, plainText, spanText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

type PartOption = OptionDeclaration<never>;
type Values = Readonly<Record<string, unknown>>;

/** The command line options that select which events a subscription receives. They fill the field `match` of the request. */
export const matchOptions: readonly PartOption[] = [
  ["--triggers <slug...>", "only events of any of these triggers, such as calendar.events_changed"],
  ["--filter <cel>", "only events for which this CEL expression is true, such as 'event.payload.amount > 1000'"],
];

/** The command line options that set the format in which deliveries are sent: the form and the body. */
export const formatOptions: readonly PartOption[] = [
  ["--form <kind>", "form of deliveries: svc, standard, cloudevents, cloudevents_binary or custom"],
  ["--body <json>", "template of the body, for the form custom"],
];

/** The command line options that fill `retry` of a subscription: when svc repeats a failed delivery. */
export const retryOptions: readonly PartOption[] = [
  [
    "--retry <waits>",
    "waits between the attempts of a delivery, comma separated: 10s,1m,1h",
    { parse: parseWaits as never },
  ],
  [
    "--give-up-after <duration>",
    "time of failures after which svc deactivates it, 1h to 30d, or never (default: 5d)",
    { parse: parseGiveUp as never },
  ],
  ["--timeout <duration>", "longest duration of an attempt, 1s to 15s (default: 15s)", { parse: parseSpan as never }],
];

/** The options that limit how fast svc sends deliveries to a subscription's endpoint: attempts per time, and attempts at the same time. */
export const paceOptions: readonly PartOption[] = [
  [
    "--pace <rate>",
    "start at most this many attempts in a second, minute or hour, evenly spaced: 10/1s, 60/1m or 500/1h",
    { parse: parseRate as never },
  ],
  ["--concurrency <count>", "have at most this many attempts in flight, 1 to 256", { parse: parseInFlight as never }],
];

/**
 * Returns the maximum rate of a subscription's delivery attempts, from a text such as `10/1s`. An empty text means no maximum: it removes a
 * rate that was set before.
 */
function parseRate(text: string): { max: number; per: string } {
  if (text === "") return { max: 0, per: "" };
  const [, max = "", per = ""] = /^(\d{1,9})\/(\w+)$/.exec(text) ?? [];
  if (max === "") throw new InvalidArgumentError("expected a rate such as 10/1s, 60/1m or 500/1h");
  return { max: Number(max), per };
}

/**
 * Returns the maximum number of attempts that svc makes at the same time for a subscription. An empty text gives 0, which removes a maximum
 * that was set before.
 */
function parseInFlight(text: string): number {
  return text === "" ? 0 : parseCount(text);
}

/**
 * Returns the request field `pace` (limits on the rate of delivery attempts) from the values of the command's options. Returns undefined if
 * the user gave neither `--pace` nor `--concurrency`.
 */
function paceOf({ pace, concurrency }: Values) {
  if (pace === undefined && concurrency === undefined) return undefined;
  const { max, per } = (pace as ReturnType<typeof parseRate> | undefined) ?? parseRate("");
  return { max, per, concurrency: Number(concurrency ?? 0) };
}

/** Converts a list of times such as `10s,1m,1h` to milliseconds. The times are the waits between the attempts of a delivery. */
function parseWaits(text: string): number[] {
  return text === "" ? [] : text.split(",").map((wait) => parseSpan(wait.trim()));
}

function parseGiveUp(text: string): number | "never" {
  return text === "never" ? text : parseSpan(text);
}

/**
 * Returns the request field `retry` (when svc repeats a failed delivery, and when it gives up) from the values of the command's options.
 * Returns undefined if the user gave none of these options.
 */
function retryOf({ retry, giveUpAfter, timeout }: Values) {
  if (retry === undefined && giveUpAfter === undefined && timeout === undefined) return undefined;
  const isNever = giveUpAfter === "never";
  return {
    schedule: ((retry as number[] | undefined) ?? []).map(durationFromMs),
    ...(giveUpAfter !== undefined && !isNever && { giveUpAfter: durationFromMs(Number(giveUpAfter)) }),
    neverGiveUp: isNever,
    timeoutMs: Number(timeout ?? 0),
  };
}

/** The options that set the credentials of an endpoint. No option takes a secret itself, because it would stay in the shell's history. */
export const credentialOptions: readonly PartOption[] = [
  ["--credentials-stdin", "read headers and authentication of deliveries as JSON from standard input"],
  ["--credentials-env <name>", "read headers and authentication from this environment variable"],
];

/** The command line options that remove an optional part of a subscription, such as its format, so that the default applies again. */
export const clearingOptions: readonly PartOption[] = [
  [
    "--clear-credentials",
    "remove the stored headers and authentication of deliveries",
    { conflicts: "credentialsStdin" },
  ],
];

/**
 * Returns the fields of a subscription (filter, retry schedule, format, credentials) that the command's options set, for a request of the
 * API. A field is absent if the user gave none of its options.
 */
export async function partsOf(values: Values, context: CommandContext) {
  const credentials = await readCredentials(values, context);
  const match = matchOf(values);
  const retry = retryOf(values);
  const pace = paceOf(values);
  return {
    ...(match && { match }),
    ...(retry && { retry }),
    ...(pace && { pace }),
    ...(formatOf(values) && { format: formatOf(values) }),
    ...(credentials && { credentials }),
  };
}

/**
 * Returns the field `format` (form of the request body) of a subscription, as the command's options set it. Returns undefined if they do
 * not set it. `--body` alone means the form `custom`.
 */
export function formatOf({ form, body }: Values): { kind: string; bodyJson: string } | undefined {
  if (form === undefined && body === undefined) return undefined;
  return { kind: String(form ?? "custom"), bodyJson: String(body ?? "") };
}

/**
 * Returns the request field `match` (which events a subscription receives) from the command line options. Returns undefined if none of its
 * options is given.
 */
export function matchOf({ triggers, filter }: Values): { triggerSlugs: string[]; filter: string } | undefined {
  if (triggers === undefined && filter === undefined) return undefined;
  const slugs = (triggers as string[] | undefined) ?? [];
  return { triggerSlugs: slugs.filter((slug) => slug !== ""), filter: String(filter ?? "") };
}

/** Returns the request field `updateMask`: the fields of a subscription that the options of a command change. */
export function maskOf(values: Values): string[] {
  const named = Object.entries(membersOfOptions).filter(([option]) => values[option] !== undefined);
  // `--form custom` without `--body` changes only the kind of the format. The stored body stays.
  const isBodyKept = values["form"] === "custom" && values["body"] === undefined;
  return [...named.flatMap(([, members]) => members), ...(isBodyKept ? ["format.kind"] : [])];
}

/** The subscription fields that each option of the command line changes. */
const membersOfOptions: Readonly<Record<string, readonly string[]>> = {
  triggers: ["match.triggerSlugs"],
  filter: ["match.filter"],
  retry: ["retry.schedule"],
  giveUpAfter: ["retry.giveUpAfter", "retry.neverGiveUp"],
  timeout: ["retry.timeoutMs"],
  pace: ["pace.max", "pace.per"],
  concurrency: ["pace.concurrency"],
};

/** Returns the credentials that the options of the command give; undefined if the user gave none of these options. */
async function readCredentials(
  { credentialsStdin, credentialsEnv, clearCredentials }: Values,
  context: CommandContext,
): Promise<EndpointCredentials | undefined> {
  if (clearCredentials === true) return create(EndpointCredentialsSchema);
  if (credentialsStdin === undefined && credentialsEnv === undefined) return undefined;
  const source = {
    fromInput: credentialsStdin === true ? (true as const) : undefined,
    variable: credentialsEnv as string,
  };
  const text = await readSecret("Credentials", { ...source, option: "--credentials-env" }, context);
  try {
    return fromJsonString(EndpointCredentialsSchema, text);
  } catch {
    // The JSON parser's own error text could quote a secret, so the command prints its own text with this example.
    const example = '{"headers": [{"name": "x-team", "value": "7"}], "bearer": {"token": "…"}}';
    throw new CommandError(`the credentials are not JSON such as ${example}`, 2);
  }
}

/** Throws CommandError if `svc subscriptions update` got no option that changes something. */
export function requireChange(values: Values): void {
  const { id: _, ...options } = values;
  if (Object.values(options).every((value) => value === undefined))
    throw new CommandError("nothing to change: give --endpoint, --activate, --deactivate or another option", 2);
}

/**
 * Returns the optional parts of a subscription (such as its filter and retry rules) as pairs of a label and a text for the terminal. An
 * unset part has an empty text, which is not shown.
 */
export function partFacts({
  description,
  match,
  health,
  format,
  retry,
  pace,
  credentials,
}: Subscription): readonly (readonly [string, string])[] {
  const faults = health?.filterFaults ?? 0;
  return [
    ["description", plainText(description)],
    ["filter", plainText(match?.filter ?? "")],
    [
      "events without a value",
      faults === 0 ? "" : `${numberText(faults)}, not delivered: the filter reads an absent field`,
    ],
    ["form", plainText(format?.kind ?? "")],
    ["retries after", (retry?.schedule ?? []).map((wait) => spanText(durationMs(wait))).join(", ")],
    ["gives up after", giveUpText(retry)],
    ["timeout", retry === undefined || retry.timeoutMs === 0 ? "" : spanText(retry.timeoutMs)],
    ["pace", pace === undefined ? "" : paceText(pace)],
    ["no attempt before", health?.pacedUntil === undefined ? "" : timeText(health.pacedUntil)],
    ["headers", (credentials?.headerNames ?? []).map(plainText).join(", ")],
    ["authentication", credentials?.auth ?? ""],
  ];
}

function paceText({ max, per, concurrency }: NonNullable<Subscription["pace"]>): string {
  const rate = max === 0 ? "" : `${numberText(max)} in ${per}`;
  const flight = concurrency === 0 ? "" : `${concurrency} at a time`;
  return [rate, flight].filter((part) => part !== "").join(", ");
}

function giveUpText(retry: Subscription["retry"]): string {
  if (retry?.neverGiveUp === true) return "never";
  return retry?.giveUpAfter === undefined ? "" : spanText(durationMs(retry.giveUpAfter));
}
