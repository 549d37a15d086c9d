import { idOfUuid, requireText } from "@svc/core";
import { bodyFor, type DeliveredEvent } from "./outgoing.ts";

/**
 * A format of deliveries that `describeForm` can describe, for a document about the project's event types. A subscription chooses its
 * format.
 */
export type DescribedForm = "svc" | "standard" | "cloudevents";

/** JSON Schema of one property whose value is a text. */
type TextSchema = { readonly type: "string"; readonly [keyword: string]: string };

/** A header of a delivery. Its name is written as svc sends it. */
export type DescribedHeader = {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: TextSchema;
};

/**
 * Description of the request that svc sends to an endpoint in one of its formats (for example CloudEvents). `payloadName`: name of the
 * body's last property, which contains the event's payload. `text`: rules for receivers, in Markdown.
 */
export type FormDescription = {
  readonly contentType: string;
  readonly headers: readonly DescribedHeader[];
  readonly payloadName: "payload" | "data";
  readonly text: string;
  /**
   * Returns the JSON Schemas of the body's properties, by the properties' names. The property that contains the event's payload is left
   * out, because the caller adds the payload's schema. `type`: name of the event type.
   */
  properties(event: Slugs & { readonly type: string }): Readonly<Record<string, TextSchema>>;
  /** Names of properties that are absent from some bodies of deliveries. */
  readonly optional: readonly string[];
  /** Returns a made-up body with a payload, as svc would send it. */
  example(event: Slugs & Pick<DeliveredEvent, "payload">): string;
};

type Slugs = Pick<DeliveredEvent, "toolkitSlug" | "triggerSlug">;

/**
 * Returns a description of one format of deliveries, such as CloudEvents: its headers and its fields. A test compares the description with
 * real deliveries.
 */
export function describeForm(form: DescribedForm): FormDescription {
  const common = { headers: headersOf(form), text: receiverText, optional: [], example: exampleIn(form) };
  switch (form) {
    case "svc":
      return { ...common, contentType: "application/json", payloadName: "payload", properties: svcProperties };
    case "standard":
      return { ...common, contentType: "application/json", payloadName: "data", properties: standardProperties };
    case "cloudevents":
      return {
        ...common,
        ...{
          contentType: "application/cloudevents+json",
          payloadName: "data",
          properties: cloudProperties,
          optional: ["subject"],
        },
      };
  }
}

const receiverText = `svc posts every event to the URL of a subscription.

- Answer with a status of 2xx within 15 seconds. Otherwise svc sends the same delivery again later.
- A delivery may arrive more than once, and in any order. Its \`webhook-id\` stays the same.
- Verify \`webhook-signature\` as Standard Webhooks describes: \`v1,\` and the base64 HMAC-SHA256 of \
\`<webhook-id>.<webhook-timestamp>.<body>\`. The key is the bytes of the base64 text after \`whsec_\` in the signing \
secret of the subscription. Use the received bytes of the body, and refuse an old \`webhook-timestamp\`.`;

function exampleIn(form: DescribedForm): FormDescription["example"] {
  const format = form === "svc" ? undefined : { kind: form, bodyJson: "" };
  return (event) => {
    const { body } = bodyFor({ agent: undefined, format }, { ...exampleEvent, ...event });
    return requireText(body);
  };
}

const exampleEvent = {
  id: idOfUuid("evt", "019b76da-a800-7000-8000-000000000001"),
  kind: "event",
  entityId: "customer-1",
  occurredAtMs: 1_767_225_600_000,
  receivedAtMs: 1_767_225_600_125,
} as const;

function text(description: string, rules: Readonly<Record<string, string>> = {}): TextSchema {
  return { type: "string", ...rules, description };
}

function constant(value: string): TextSchema {
  return { type: "string", const: value };
}

const eventId = "^evt_[0-9a-z]{26}$";
const deliveryId = "^dlv_[0-9a-z]{26}$";
const hexSignature = "^sha256=[0-9a-f]{64}$";
const dateTime = { format: "date-time" };

const svcProperties: FormDescription["properties"] = ({ toolkitSlug, triggerSlug }) => ({
  id: text("Id of the event. It is the same in every delivery of the event.", { pattern: eventId }),
  type: constant("event"),
  toolkitSlug: constant(toolkitSlug),
  triggerSlug: constant(triggerSlug),
  entityId: text("Id of the customer or user that the event is about. Empty if the event names none."),
  occurredAt: text("Time of the event.", dateTime),
  receivedAt: text("Time at which svc received the event.", dateTime),
});

const standardProperties: FormDescription["properties"] = ({ type }) => ({
  type: constant(type),
  timestamp: text("Time of the event.", dateTime),
});

const cloudProperties: FormDescription["properties"] = ({ toolkitSlug, type }) => ({
  specversion: constant("1.0"),
  id: text("Id of the event. It is the same in every delivery of the event.", { pattern: eventId }),
  source: constant(`/toolkits/${toolkitSlug}`),
  type: constant(type),
  subject: text("Id of the customer or user that the event is about. Absent if the event names none."),
  time: text("Time of the event.", dateTime),
  datacontenttype: constant("application/json"),
});

function headersOf(form: DescribedForm): readonly DescribedHeader[] {
  const [idOf, pattern] = form === "svc" ? ["delivery", deliveryId] : ["event", eventId];
  const signature = "[A-Za-z0-9+/]{43}=";
  return [
    ...(form === "svc" ? svcHeaders : []),
    header("webhook-id", `Id of the ${idOf}. It is the same at every attempt.`, pattern),
    header("webhook-timestamp", "Time of the attempt, in Unix seconds.", "^[0-9]+$"),
    header(
      "webhook-signature",
      "`v1,` and the signature. During a rotation of the secret, two of them with a space between: one for each secret.",
      `^v1,${signature}( v1,${signature})?$`,
    ),
    { name: "user-agent", required: false, description: "`svc/1`, or a value of the subscription.", schema: anyText },
  ];
}

const anyText: TextSchema = { type: "string" };

function header(name: string, description: string, pattern: string, required = true): DescribedHeader {
  return { name, required, description, schema: { type: "string", pattern } };
}

const svcHeaders = [
  header(
    "X-Svc-Signature",
    "`sha256=` and the hex HMAC-SHA256 of the exact body. The key is the text of the signing secret, with `whsec_`.",
    hexSignature,
  ),
  header(
    "X-Svc-Signature-Next",
    "Only during a rotation of the secret: the signature with the new secret. `X-Svc-Signature` has the former one.",
    hexSignature,
    false,
  ),
  header("X-Svc-Delivery-Id", "Id of the delivery. It is the same at every attempt.", deliveryId),
];
