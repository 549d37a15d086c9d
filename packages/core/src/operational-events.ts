/**
 * Slug of the toolkit (one app's tools and webhooks) whose triggers are the operational events. It is reserved: no other toolkit can have
 * it.
 */
export const operationalToolkitSlug = "svc";

/**
 * Slug of the toolkit (one app's tools) whose tools are a project's skills: programs that the project promoted to tools. It is reserved: no
 * other toolkit can have it.
 */
export const skillsToolkitSlug = "skills";

/**
 * Number of pending deliveries of a subscription at which svc stops counting them. The field `pendingCount` of the event
 * `svc.subscription_disabled` and the field `pendingDeliveries` of GetSubscription are exact up to this number.
 */
export const pendingCountMax = 10_000;
const pendingCountMaxText = pendingCountMax.toLocaleString("en-US");

/** A field of a payload: its JSON Schema, and the value that samples have. */
type PayloadField<Value> = { readonly schema: Readonly<Record<string, unknown>>; readonly sample: Value };

/** Fields of an operational event's payload, by name. Every event has all fields of its type. */
type PayloadFields = Readonly<Record<string, PayloadField<unknown>>>;

/** A type of operational events: events that svc itself publishes about a project, such as `svc.job_failed`. */
type OperationalEventType = {
  /** When the event occurs, as a sentence for people. */
  readonly description: string;
  /** For what svc makes at most one such event, in words. Example: `account and expiry` means one event for each expiry of an account. */
  readonly once: string;
  readonly fields: PayloadFields;
};

function text(description: string, sample: string): PayloadField<string> {
  return { schema: { type: "string", description }, sample };
}

function time(description: string): PayloadField<string> {
  return { schema: { type: "string", format: "date-time", description }, sample: "2026-03-14T09:00:00.000Z" };
}

function count(description: string, sample: number): PayloadField<number> {
  return { schema: { type: "integer", minimum: 0, description }, sample };
}

function texts(description: string, sample: readonly string[]): PayloadField<readonly string[]> {
  return { schema: { type: "array", items: { type: "string" }, description }, sample };
}

function oneOf<const Value extends string>(
  description: string,
  values: readonly [Value, ...Value[]],
): PayloadField<Value> {
  return { schema: { type: "string", enum: values, description }, sample: values[0] };
}

const subscription = {
  subscriptionId: text("Id of the subscription.", "sub_01h455vb4pex5vsknk084sn02q"),
  endpointOrigin: text("Origin of the endpoint: scheme, host and port.", "https://hooks.example.com"),
  toolkitSlug: text("Toolkit of the subscription. Empty for every toolkit.", "calendar"),
  triggerSlug: text("Trigger of the subscription. Empty for every trigger.", "calendar.event_changed"),
};

const failingSince = time("Time of the first failure after the last success.");

const schedule = {
  standingProgramId: text("Id of the schedule.", "stp_01h455vb4pex5vsknk084sn02q"),
  slug: text("Slug of the schedule.", "page"),
  title: text("Title of the schedule's program.", "Page the lead"),
  version: count("Version of the schedule.", 3),
  at: time("Time of the event."),
  reason: text("A word for the reason. Empty if the type says everything.", "failures"),
  detail: text("Details of the reason, for people.", "10 runs in a row failed"),
};

/**
 * The types of operational events (events that svc makes about a project), by name. The type `job_failed` is the trigger `svc.job_failed`.
 * To add a type, add a row here. Then call `publishOperationalEvents` in the transaction that stores what happened.
 */
export const operationalEventTypes = {
  account_expired: {
    description: "The credential of a connected account has expired: the app refused it, or its time is over.",
    once: "account and expiry",
    fields: {
      accountId: text("Id of the connected account.", "acc_01h455vb4pex5vsknk084sn02q"),
      toolkitSlug: text("Toolkit of the account.", "crm"),
      entityId: text("Entity of the account.", "ada"),
      expiredAt: time("Time of the change to the state `expired`."),
      lastError: text("Why the account has expired, for people.", "the app refused the credential with 401"),
    },
  },
  delivery_dead: {
    description: "Deliveries to a subscription failed at their last attempt.",
    once: "minute and subscription",
    fields: {
      ...subscription,
      count: count("Number of deliveries that ended at the same time.", 1),
      deliveryIds: texts("Ids of these deliveries, at most 100.", ["dlv_01h455vb4pex5vsknk084sn02q"]),
      lastError: text("Error of the last attempt.", "http_500"),
    },
  },
  job_failed: {
    description: "A job ended as FAILED or EXPIRED.",
    once: "job",
    fields: {
      jobId: text("Id of the job.", "job_01h455vb4pex5vsknk084sn02q"),
      status: oneOf("Final status of the job.", ["failed", "expired"]),
      title: text("Title of the job's program.", "Weekly digest"),
      standingProgramId: text("Schedule that started the job. Empty for none.", ""),
      endedAt: time("Time of the job's end."),
      lastError: text("Error that ended the job. Empty if the deadline passed.", "ROWS_FAILED: 2 of 9 rows failed"),
    },
  },
  posts_quarantined: {
    description: "Posts to the webhook of a private toolkit could not become events, and are in quarantine.",
    once: "minute, toolkit and reason",
    fields: {
      toolkitSlug: text("Private toolkit that received the posts.", "own_shop"),
      reason: text("Reason of the quarantine, as in QuarantinedPost.", "no_trigger"),
      count: count("Number of posts that were stored together.", 1),
      detail: text("Details of the first post, for people.", "no trigger of own_shop matches the post"),
    },
  },
  quota_near: {
    description: "A project uses at least 80 % of a quota that svc counts for all nodes together.",
    once: "day and quota",
    fields: {
      quota: text("Name of the quota, such as `subscriptions`.", "subscriptions"),
      used: count("Usage at the time of the event, counted up to the quota.", 812),
      limit: count("The quota's limit.", 1_000),
    },
  },
  schedule_budget: {
    description: "A schedule has used up its budget of the day, so runs wait or are skipped.",
    once: "hour and schedule",
    fields: { ...schedule, count: count("Number of runs that wait or are skipped.", 4) },
  },
  schedule_missed: {
    description: "Times of a schedule passed without a start.",
    once: "hour and schedule",
    fields: { ...schedule, count: count("Number of missed times.", 19) },
  },
  schedule_paused: {
    description: "A schedule has paused by itself.",
    once: "hour and schedule",
    fields: { ...schedule, count: count("Number of failures in a row. 0 for another reason.", 10) },
  },
  schedule_start_failed: {
    description: "Runs of a schedule were refused, because their jobs could not be created after several attempts.",
    once: "hour and schedule",
    fields: { ...schedule, count: count("Number of refused runs.", 1) },
  },
  secret_expiring: {
    description:
      "A webhook secret of a private toolkit ends within 3 days, and no other secret verifies posts after its end.",
    once: "day and secret",
    fields: {
      secretId: text("Id of the webhook secret.", "wsc_01h455vb4pex5vsknk084sn02q"),
      toolkitSlug: text("Private toolkit whose posts the secret verifies.", "own_shop"),
      endsAt: time("Time after which svc refuses posts that are signed with the secret."),
    },
  },
  subscription_disabled: {
    description:
      "svc has deactivated a subscription, because its endpoint failed too long, is gone, or too much was pending.",
    once: "deactivation",
    fields: {
      ...subscription,
      reason: oneOf("Reason of the deactivation, as in inactiveReason.", ["failing", "gone", "overflow"]),
      failingSince,
      pendingCount: count(
        `Number of pending deliveries that end with it. Exact up to ${pendingCountMaxText}; ${pendingCountMaxText} also means more.`,
        3,
      ),
      lastError: text("Error of the newest failed delivery.", "http_500"),
    },
  },
  subscription_failing: {
    description: "All attempts to deliver to a subscription's endpoint have failed for 10 minutes.",
    once: "outage",
    fields: { ...subscription, failingSince, lastError: text("Error of the newest failed delivery.", "http_500") },
  },
  subscription_recovered: {
    description: "A subscription's endpoint has accepted a delivery again, after svc.subscription_failing.",
    once: "outage",
    fields: { ...subscription, failingSince, recoveredAt: time("Time of the success.") },
  },
} as const satisfies Readonly<Record<string, OperationalEventType>>;

/** Name of a type of operational events. */
export type OperationalEventName = keyof typeof operationalEventTypes;

/** Payload of the operational events of one type. */
export type OperationalEventPayload<Name extends OperationalEventName> = {
  readonly [Field in keyof FieldsOf<Name>]: FieldsOf<Name>[Field] extends PayloadField<infer Value> ? Value : never;
};

type FieldsOf<Name extends OperationalEventName> = (typeof operationalEventTypes)[Name]["fields"];

/** Returns the slug of the trigger of an operational event. */
export function operationalTriggerSlug(name: OperationalEventName): string {
  return `${operationalToolkitSlug}.${name}`;
}
