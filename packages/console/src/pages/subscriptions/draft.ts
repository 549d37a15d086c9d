import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { formatDuration, parseDuration } from "@svc/core/duration";
import type {
  CreateSubscriptionRequestSchema,
  EndpointCredentialsSchema,
  PreviewSubscriptionRequestSchema,
  Subscription,
  UpdateSubscriptionRequestSchema,
} from "@svc/gen/triggers";
import { prettyJson } from "../../words/pretty-json.ts";

/** The settings of a subscription as the user types them. */
export type SubscriptionDraft = {
  endpointUrl: string;
  description: string;
  /** Slug of the toolkit (one app's tools and webhooks) whose events the subscription receives; empty for all toolkits. */
  toolkitSlug: string;
  /** Id of the entity (customer or user) whose events the subscription receives; empty for all entities. */
  entityId: string;
  /** Slugs of the chosen event types; empty for all event types of the app. */
  types: readonly string[];
  /** The condition in CEL that an event must meet; empty if every event matches. */
  filter: string;
  /** Name of the format of deliveries, as the API names it. */
  format: string;
  /** The template of the body as JSON text, for the format `custom`. */
  bodyJson: string;
  /** The waits between the attempts of one delivery, such as `10s, 1m, 1h`. If empty, the waits that the deployment sets apply. */
  waits: string;
  /** Duration of failures after which svc deactivates the subscription, such as `5d`; empty for the default. */
  giveUpAfter: string;
  neverGiveUp: boolean;
  /** Maximum duration of an attempt, such as `10s`; empty for the default. */
  timeout: string;
  /** Maximum number of attempts that start in `pacePer`; empty for no limit. */
  paceMax: string;
  /** The period in which at most `paceMax` attempts start: `1s`, `1m` or `1h`. */
  pacePer: string;
  /** Maximum number of attempts that run at the same time. If empty, the deployment's limit applies. */
  concurrency: string;
  /** True if the credentials of this draft replace those of the subscription. svc never returns credentials, so they cannot be edited. */
  replacesCredentials: boolean;
  headers: readonly { name: string; value: string }[];
  auth: AuthKind;
  username: string;
  password: string;
  token: string;
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scope: string;
  audience: string;
};

/** Kind of authentication that an endpoint requires from svc, in the words of the API. Empty if it requires none. */
export type AuthKind = "" | "basic" | "bearer" | "oauth2";

/** A template that the form offers for the format `custom`. */
const exampleBody = '{\n  "text": {\n    "$text": "{event.type} for {event.entityId}"\n  }\n}';

const noCredentials = {
  ...{ headers: [], auth: "" as const, username: "", password: "", token: "" },
  ...{ tokenUrl: "", clientId: "", clientSecret: "", scope: "", audience: "" },
};

/** The draft with which the form of a new subscription starts. */
export const newDraft: SubscriptionDraft = {
  ...{ endpointUrl: "", description: "", toolkitSlug: "", entityId: "", types: [], filter: "" },
  ...{ format: "svc", bodyJson: exampleBody },
  ...{ waits: "", giveUpAfter: "", neverGiveUp: false, timeout: "" },
  ...{ paceMax: "", pacePer: "1s", concurrency: "" },
  ...{ replacesCredentials: true, ...noCredentials },
};

/** Returns the draft of a form that edits an existing subscription. The draft starts with the subscription's present settings. */
export function draftOf(subscription: Subscription): SubscriptionDraft {
  const { endpointUrl, description, toolkitSlug, entityId, match, format, retry, pace, credentials } = subscription;
  return {
    ...{ endpointUrl, description, toolkitSlug, entityId, types: typesOf(subscription), filter: match?.filter ?? "" },
    format: format?.kind || "svc",
    bodyJson: format?.kind === "custom" ? prettyJson(format.bodyJson) : exampleBody,
    waits: (retry?.schedule ?? []).map((wait) => formatDuration(durationMs(wait))).join(", "),
    giveUpAfter: retry?.giveUpAfter === undefined ? "" : formatDuration(durationMs(retry.giveUpAfter)),
    neverGiveUp: retry?.neverGiveUp ?? false,
    timeout: retry === undefined || retry.timeoutMs === 0 ? "" : formatDuration(retry.timeoutMs),
    paceMax: pace === undefined || pace.max === 0 ? "" : String(pace.max),
    pacePer: pace?.per || "1s",
    concurrency: pace === undefined || pace.concurrency === 0 ? "" : String(pace.concurrency),
    ...{ replacesCredentials: credentials === undefined, ...noCredentials },
  };
}

/** Returns the slugs of the event types that a subscription names. Empty if it receives all events of its app. */
function typesOf({ match, triggerSlug }: Pick<Subscription, "match" | "triggerSlug">): readonly string[] {
  const several = match?.triggerSlugs ?? [];
  return several.length > 0 || triggerSlug === "" ? several : [triggerSlug];
}

/** The fields of the form that the console itself checks. */
type CheckedField = "types" | "waits" | "giveUpAfter" | "timeout" | "paceMax" | "concurrency";

/**
 * Returns the errors in a draft that the console finds itself, by field: in the event types, the durations and the whole numbers. The
 * service checks all other fields. `subscription`: the subscription that the draft changes; undefined for a new one.
 */
export function faultsOf(
  draft: SubscriptionDraft,
  subscription?: Pick<Subscription, "triggerSlug">,
): Partial<Record<CheckedField, string>> {
  const faults: Partial<Record<CheckedField, string>> = {};
  if (draft.types.length === 0 && (subscription?.triggerSlug ?? "") !== "")
    faults.types = "Add an event type: this subscription was created for one, so it cannot receive all of them.";
  for (const field of ["waits", "giveUpAfter", "timeout"] as const) {
    const fault = faultOfDurations(draft[field]);
    if (fault !== undefined) faults[field] = fault;
  }
  for (const field of ["paceMax", "concurrency"] as const)
    if (!/^(?:[1-9]\d{0,8})?$/.test(draft[field].trim())) faults[field] = "Enter a whole number, or leave it empty.";
  return faults;
}

function faultOfDurations(text: string): string | undefined {
  try {
    readDurations(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `The ${error.message}.` : String(error);
  }
}

/** Returns the durations of a list such as `10s, 1m`, in milliseconds. Throws an Error for a text that is not a duration. */
function readDurations(text: string): number[] {
  return text.trim() === "" ? [] : text.split(",").map((part) => parseDuration(part.trim()));
}

/** Returns the request that creates a subscription with the settings that the user typed. */
export function createRequest(draft: SubscriptionDraft): MessageInitShape<typeof CreateSubscriptionRequestSchema> {
  const { endpointUrl, toolkitSlug, entityId, description, types, filter } = draft;
  return {
    ...{ endpointUrl: endpointUrl.trim(), toolkitSlug, entityId: entityId.trim(), description: description.trim() },
    ...((types.length > 0 || filter.trim() !== "") && { match: matchOf(draft) }),
    ...(draft.format !== "svc" && { format: formatOf(draft) }),
    ...(hasRetry(draft) && { retry: retryOf(draft) }),
    ...((draft.paceMax.trim() !== "" || draft.concurrency.trim() !== "") && { pace: paceOf(draft) }),
    ...(hasCredentials(draft) && { credentials: credentialsOf(draft) }),
  };
}

/**
 * Returns the request that changes a subscription's settings from the old draft to the new one. Settings that are equal in both are left
 * out.
 */
export function updateRequest(
  id: string,
  from: SubscriptionDraft,
  to: SubscriptionDraft,
): MessageInitShape<typeof UpdateSubscriptionRequestSchema> {
  const differs = (...names: (keyof SubscriptionDraft)[]) =>
    names.some((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]));
  const isTyped = differs("types");
  return {
    id,
    ...(differs("endpointUrl") && { endpointUrl: to.endpointUrl.trim() }),
    ...(differs("description") && { description: to.description.trim() }),
    ...((isTyped || differs("filter")) && { match: matchOf(to) }),
    ...((differs("format") || (to.format === "custom" && differs("bodyJson"))) && { format: formatOf(to) }),
    ...(differs("waits", "giveUpAfter", "neverGiveUp", "timeout") && { retry: retryOf(to) }),
    ...(differs("paceMax", "pacePer", "concurrency") && { pace: paceOf(to) }),
    ...((differs("replacesCredentials") || (to.replacesCredentials && hasCredentials(to))) && {
      credentials: credentialsOf(to),
    }),
  };
}

/**
 * Returns the request that shows which past events a subscription with these settings would have received. `id`: the subscription that the
 * draft changes; empty for a new one.
 */
export function previewRequest(
  id: string,
  draft: SubscriptionDraft,
): MessageInitShape<typeof PreviewSubscriptionRequestSchema> {
  const { toolkitSlug, entityId } = draft;
  return { id, toolkitSlug, entityId: entityId.trim(), match: matchOf(draft), format: formatOf(draft) };
}

function matchOf({ types, filter }: SubscriptionDraft) {
  return { triggerSlugs: [...types], filter: filter.trim() };
}

function formatOf({ format, bodyJson }: SubscriptionDraft) {
  return { kind: format, bodyJson: format === "custom" ? bodyJson : "" };
}

function hasRetry({ waits, giveUpAfter, neverGiveUp, timeout }: SubscriptionDraft): boolean {
  return neverGiveUp || [waits, giveUpAfter, timeout].some((text) => text.trim() !== "");
}

function retryOf({ waits, giveUpAfter, neverGiveUp, timeout }: SubscriptionDraft) {
  const [giveUpMs] = readDurations(giveUpAfter);
  return {
    schedule: readDurations(waits).map(durationFromMs),
    ...(giveUpMs !== undefined && !neverGiveUp && { giveUpAfter: durationFromMs(giveUpMs) }),
    ...{ neverGiveUp, timeoutMs: readDurations(timeout)[0] ?? 0 },
  };
}

function paceOf({ paceMax, pacePer, concurrency }: SubscriptionDraft) {
  const max = Number(paceMax);
  return { max, per: max === 0 ? "" : pacePer, concurrency: Number(concurrency) };
}

function hasCredentials({ headers, auth }: SubscriptionDraft): boolean {
  return headers.length > 0 || auth !== "";
}

function credentialsOf(draft: SubscriptionDraft): MessageInitShape<typeof EndpointCredentialsSchema> {
  const { headers, auth, username, password, token, tokenUrl, clientId, clientSecret, scope, audience } = draft;
  return {
    headers: headers.map(({ name, value }) => ({ name: name.trim(), value: value.trim() })),
    ...(auth === "basic" && { basic: { username, password } }),
    ...(auth === "bearer" && { bearer: { token: token.trim() } }),
    ...(auth === "oauth2" && {
      oauth2: {
        ...{ tokenUrl: tokenUrl.trim(), clientId: clientId.trim(), clientSecret },
        ...{ scope: scope.trim(), audience: audience.trim() },
      },
    }),
  };
}
