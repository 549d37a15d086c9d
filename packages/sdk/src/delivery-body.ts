import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { type Ask, AskSchema } from "@svc/gen/jobs";
import { DeliveryVerificationError } from "./delivery-verification-error.ts";
import { addToJson, isObject, parseKeepingDigits } from "./json.ts";

/** The body of a delivered event. */
export type EventDeliveryBody = {
  type: "event";
  /** Id of the event, `evt_…`. It is the same in every delivery of the event, including replays. */
  id: string;
  toolkitSlug: string;
  /** Slug of the trigger (`calendar.events_changed`). It begins with the toolkit's slug, so it is unique in the catalog. */
  triggerSlug: string;
  /** The entity (customer or user) whose connected account the event names; empty if it names none. */
  entityId: string;
  /** Time of the event by the provider's clock, RFC 3339 UTC. */
  occurredAt: string;
  /** Time at which svc received the event, RFC 3339 UTC. */
  receivedAt: string;
  /**
   * The normalized payload. It satisfies the output schema of the trigger's tool. A number that a double cannot hold exactly (such as an id
   * of 19 digits) is a text with its digits.
   */
  payload: Record<string, unknown>;
};

/** The body of a test delivery, which SendTestEvent sends. Its slugs and its entityId are empty, and its payload is `{}`. */
export type TestDeliveryBody = Omit<EventDeliveryBody, "type" | "payload"> & {
  type: "test";
  payload: Record<string, never>;
};

/** The body that the endpoint of a contact receives with a question. It is sent once for each hop (stage of the question's escalation). */
export type AskDeliveryBody = {
  type: "ask_raised";
  /** Id of this message, `evt_…`. Each message about a question has its own id. */
  id: string;
  /** Id of the job that asks the question. To answer the question, send this id in AnswerAsk together with `ask.requestId`. */
  jobId: string;
  /** The question, as it was when it was sent to the endpoint. */
  ask: Ask;
};

/** The bodies that an endpoint receives; `type` distinguishes them. */
export type DeliveryBody = EventDeliveryBody | TestDeliveryBody | AskDeliveryBody;

const textFields = ["id", "toolkitSlug", "triggerSlug", "entityId", "occurredAt", "receivedAt"] as const;

/**
 * Parses the body of a verified delivery. Throws a DeliveryVerificationError if the body is not a delivery of a type that this version of
 * the SDK knows.
 */
export function parseDeliveryBody(bytes: Uint8Array): DeliveryBody {
  const value = parseJson(bytes);
  if (!isObject(value)) throw invalid("expected a JSON object");
  if (value.type === "ask_raised") return readAsk(value);
  for (const name of textFields) {
    if (typeof value[name] !== "string") throw invalid(`${name}: expected a text`);
  }
  if (!isObject(value.payload)) throw invalid("payload: expected an object");
  if (value.type !== "event" && value.type !== "test") throw invalid(`type: expected "event", "test" or "ask_raised"`);
  return value as DeliveryBody;
}

function readAsk({ id, jobId, ask }: Record<string, unknown>): AskDeliveryBody {
  if (typeof id !== "string") throw invalid("id: expected a text");
  if (typeof jobId !== "string") throw invalid("jobId: expected a text");
  try {
    const message = fromJson(AskSchema, ask as JsonValue, { ignoreUnknownFields: true });
    addToJson(AskSchema, message);
    return { type: "ask_raised", id, jobId, ask: message };
  } catch {
    throw invalid("ask: expected an ask");
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return parseKeepingDigits(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalid("expected JSON in UTF-8");
  }
}

function invalid(fault: string): DeliveryVerificationError {
  return new DeliveryVerificationError("body_invalid", `body of the delivery: ${fault}`);
}
