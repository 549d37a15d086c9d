import { asWritten, documentType } from "./document.ts";

/** The forms in which a subscription can receive events, in addition to svc's own. */
export const formatKinds = ["standard", "cloudevents", "cloudevents_binary"] as const;

/** The form in which a subscription receives events, if it is not svc's own. */
export type SubscriptionFormat = { readonly kind: (typeof formatKinds)[number]; readonly bodyJson: string };

/** Optional parts of a subscription. A part that is absent is not set. */
export type SubscriptionSettings = {
  readonly format?: SubscriptionFormat;
  /** The part of the sealed credentials that reads show: the names of the headers, and the kind of authentication. */
  readonly credentials?: { readonly headerNames: readonly string[]; readonly auth: string };
};

/** Document type of the column `subscriptions.settings`. */
export const subscriptionSettingsDocument = documentType<SubscriptionSettings>("subscriptions.settings", [asWritten]);
