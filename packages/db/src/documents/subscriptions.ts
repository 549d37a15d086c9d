import { asWritten, documentType } from "./document.ts";

/** Formats in which a subscription can receive events, in addition to svc's own format. */
export const formatKinds = ["standard", "cloudevents", "cloudevents_binary", "custom"] as const;

/** Format in which a subscription receives events. It is set only if the format is not svc's own. */
export type SubscriptionFormat = { readonly kind: (typeof formatKinds)[number]; readonly bodyJson: string };

/** Retry settings of a subscription. A field that is absent has the value of the deployment. Times are in milliseconds. */
export type SubscriptionRetry = {
  readonly scheduleMs?: readonly number[];
  /** Duration of continuous failures after which the subscription is deactivated, in milliseconds. Null means never. */
  readonly giveUpAfterMs?: number | null;
  readonly timeoutMs?: number;
};

/**
 * The rate limit of a subscription: how many deliveries may start in a time and be in progress at once. A field that is absent does not
 * limit.
 */
export type SubscriptionPace = {
  /**
   * Number of attempts to deliver to this subscription that may start in `perMs` milliseconds, evenly spaced. Present exactly if `perMs` is
   * present.
   */
  readonly max?: number;
  readonly perMs?: number;
  /** Maximum number of attempts to deliver to this subscription that are in flight at the same time, over all nodes. */
  readonly concurrency?: number;
};

/** The optional settings of a subscription, such as its filter and its rate limit. A setting that is absent is not used. */
export type SubscriptionSettings = {
  readonly retry?: SubscriptionRetry;
  readonly pace?: SubscriptionPace;
  /** A free text in which the project's people describe the subscription. */
  readonly description?: string;
  /** A condition in CEL over the event. Only events for which it holds are delivered. */
  readonly filter?: string;
  readonly format?: SubscriptionFormat;
  /** Names of the headers and kind of authentication that a subscription sends. Reads show only this part of the sealed credentials. */
  readonly credentials?: { readonly headerNames: readonly string[]; readonly auth: string };
};

/** Reads and writes the JSON of the column `subscriptions.settings`: the optional parts of a subscription, such as its filter. */
export const subscriptionSettingsDocument = documentType<SubscriptionSettings>("subscriptions.settings", [asWritten]);
