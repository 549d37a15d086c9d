import { durationMs } from "@bufbuild/protobuf/wkt";
import type { CatalogView, JsonSchema } from "@svc/catalog";
import { field, formatValue, isPrintableText, text } from "@svc/core";
import { formatKinds, type SubscriptionSettings } from "@svc/db/documents/subscriptions";
import type { Subscription, SubscriptionChange } from "@svc/db/subscriptions/repo";
import type { SubscriptionFormat, SubscriptionPace, SubscriptionRetry } from "@svc/gen/triggers";
import { readBody } from "@svc/program";
import { triggerFaults } from "../errors.ts";
import { checkMatch, isStorable, payloadsOf, type SentMatch } from "./subscription-match.ts";

/** The parts of a subscription that a request can change. A part is undefined if the request does not contain it. */
export type SentParts = {
  readonly description?: string | undefined;
  readonly match?: SentMatch | undefined;
  readonly format?: SubscriptionFormat | undefined;
  readonly retry?: SubscriptionRetry | undefined;
  readonly pace?: SubscriptionPace | undefined;
};

type Before = Pick<Subscription, "settings" | "toolkitSlug" | "triggerSlug" | "triggerSlugs">;

/**
 * Returns the columns of a subscription that an update changes for four fields: description, `match`, format and retry. A field in the
 * request replaces the old value, and an empty one deletes it. Throws the errors of CreateSubscription for invalid values.
 */
export function changeOfParts(
  view: CatalogView,
  before: Before,
  { description, match, format, retry, pace }: SentParts,
): Pick<SubscriptionChange, "settings" | "triggerSlug" | "triggerSlugs" | "filterFaults"> {
  const changed: { -readonly [Name in keyof SubscriptionSettings]?: SubscriptionSettings[Name] | undefined } = {};
  const selected = match && checkMatch(view, before, match);
  if (description !== undefined) changed.description = checkDescription(description);
  if (selected !== undefined) changed.filter = selected.filter;
  if (format !== undefined) changed.format = checkFormat(format, payloadsOf(view, { ...before, ...selected }));
  if (retry !== undefined) changed.retry = checkRetry(retry);
  if (pace !== undefined) changed.pace = checkPace(pace);
  const columns = selected && {
    ...{ triggerSlug: selected.triggerSlug, triggerSlugs: selected.triggerSlugs },
    ...(selected.filter !== before.settings?.filter && { filterFaults: 0 }),
  };
  if (Object.keys(changed).length === 0) return { ...columns };
  const settings = definedOf({ ...before.settings, ...changed });
  return { ...columns, settings: Object.keys(settings).length === 0 ? null : settings };
}

/** Returns the settings without those that are undefined. */
function definedOf(settings: object): SubscriptionSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

const descriptionCharactersMax = 200;

function checkDescription(description: string): string | undefined {
  if (description === "") return undefined;
  if (!isPrintableText(description, descriptionCharactersMax))
    throw triggerFaults.SUBSCRIPTION_DESCRIPTION_INVALID(descriptionCharactersMax);
  return description;
}

const [second, hour, day] = [1_000, 3_600_000, 86_400_000];
/**
 * Upper limits of a subscription's retry settings. `waits`: number of waits between attempts. The others are times in milliseconds: `wait`:
 * one wait. `whole`: all waits together. `giveUp`: failures until svc deactivates the subscription. `timeout`: one attempt.
 */
const retryBounds = { waits: 20, wait: 3 * day, whole: 14 * day, giveUp: 30 * day, timeout: 15_000 };

function checkRetry({
  schedule,
  giveUpAfter,
  neverGiveUp,
  timeoutMs,
}: SubscriptionRetry): SubscriptionSettings["retry"] | undefined {
  const refuse = triggerFaults.RETRY_INVALID;
  const scheduleMs = schedule.map(durationMs);
  const wholeMs = scheduleMs.reduce((sum, ms) => sum + ms, 0);
  const giveUpAfterMs = neverGiveUp ? null : giveUpAfter && durationMs(giveUpAfter);
  if (scheduleMs.length > retryBounds.waits)
    throw refuse("retry.schedule", `has ${scheduleMs.length} waits`, `Send at most ${retryBounds.waits}.`);
  const faulty = scheduleMs.findIndex((ms) => ms < second || ms > retryBounds.wait);
  if (faulty >= 0)
    throw refuse(`retry.schedule[${faulty}]`, "is not between 1 second and 3 days", "Send a wait such as 30s.");
  if (wholeMs > retryBounds.whole)
    throw refuse("retry.schedule", "takes longer than 14 days", "Send shorter or fewer waits.");
  if (neverGiveUp && giveUpAfter !== undefined)
    throw refuse("retry.giveUpAfter", "is set together with neverGiveUp", "Send one of them.");
  if (typeof giveUpAfterMs === "number" && (giveUpAfterMs < hour || giveUpAfterMs > retryBounds.giveUp))
    throw refuse("retry.giveUpAfter", "is not between 1 hour and 30 days", "Send a time such as 432000s.");
  if (timeoutMs !== 0 && (timeoutMs < second || timeoutMs > retryBounds.timeout))
    throw refuse("retry.timeoutMs", `is ${timeoutMs}`, "Send 1,000 to 15,000 milliseconds.");
  const retry = {
    ...(scheduleMs.length > 0 && { scheduleMs }),
    ...(giveUpAfterMs !== undefined && { giveUpAfterMs }),
    ...(timeoutMs !== 0 && { timeoutMs }),
  };
  return Object.keys(retry).length === 0 ? undefined : retry;
}

const [paceMax, concurrencyMax] = [10_000, 256];
const pacePeriods = new Map([
  ["1s", second],
  ["1m", 60 * second],
  ["1h", hour],
]);

function checkPace({ max, per, concurrency }: SubscriptionPace): SubscriptionSettings["pace"] | undefined {
  const refuse = triggerFaults.PACE_INVALID;
  const perMs = pacePeriods.get(per);
  if (per !== "" && perMs === undefined) throw refuse("pace.per", `is ${formatValue(per)}`, "Send 1s, 1m or 1h.");
  if (perMs === undefined && max !== 0)
    throw refuse("pace.per", "is missing", text`Send 1s, 1m or 1h: the time in which ${field("pace.max")} may start.`);
  if (perMs !== undefined && max === 0)
    throw refuse("pace.max", "is missing", text`Send 1 to 10,000: how many may start in ${field("pace.per")}.`);
  if (max > paceMax) throw refuse("pace.max", `is ${max}`, "Send 1 to 10,000.");
  if (concurrency > concurrencyMax) throw refuse("pace.concurrency", `is ${concurrency}`, "Send 1 to 256.");
  const pace = { ...(perMs !== undefined && { max, perMs }), ...(concurrency !== 0 && { concurrency }) };
  return Object.keys(pace).length === 0 ? undefined : pace;
}

/**
 * Returns the pace of a subscription in the form of the API. The pace says how many deliveries svc sends to the endpoint within a time
 * (`max`) and at the same time (`concurrency`).
 */
export function paceFields({ max = 0, perMs, concurrency = 0 }: NonNullable<SubscriptionSettings["pace"]>) {
  const per = [...pacePeriods].find(([, ms]) => ms === perMs)?.[0] ?? "";
  return { max, per, concurrency };
}

function checkFormat(
  { kind, bodyJson }: SubscriptionFormat,
  payloads: readonly JsonSchema[],
): SubscriptionSettings["format"] {
  const refuse = triggerFaults.SUBSCRIPTION_BODY_INVALID;
  const known = formatKinds.find((one) => one === kind);
  if (kind !== "" && kind !== "svc" && known === undefined)
    throw refuse("format.kind", `is ${formatValue(kind)}`, `Send svc, ${formatKinds.join(", ")}.`);
  if (known !== "custom") {
    if (bodyJson !== "") throw refuse("format.bodyJson", "is not used by this form", "Leave it empty, or send custom.");
    return known && { kind: known, bodyJson };
  }
  if (!isStorable(bodyJson))
    throw refuse(
      "format.bodyJson",
      "has U+0000 or half of a character",
      "Write it as an escape of JSON, or leave it out.",
    );
  const read = readBody(bodyJson, payloads);
  if ("body" in read) return { kind: known, bodyJson };
  const { pointer, message, hint } = read.fault;
  const cure = `${hint.slice(0, 1).toUpperCase()}${hint.slice(1)}.`;
  throw refuse("format.bodyJson", `${pointer} ${message}`.trim(), cure);
}
