import { createTenantValidators, fitInput } from "@svc/catalog";
import { isJsonObject, isoTime, type JsonObject, parseExactJson } from "@svc/core";
import type { InboxEvent } from "@svc/db/standing/inbox";
import { fillGiven } from "@svc/program";
import type { TemplateValues } from "../definition/definition.ts";
import type { LoadedVersion } from "../versions.ts";
import type { Occurrence } from "./occurrence.ts";

// It was bounded when it was received.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/** An event as definitions name it. */
export function eventOf({ id, triggerSlug, entityId, occurredAt, receivedAt, payload }: InboxEvent): JsonObject {
  return {
    ...{ id, triggerSlug, entityId },
    occurredAt: isoTime(occurredAt),
    receivedAt: isoTime(receivedAt),
    payload: parseExactJson(payload, unbounded) as JsonObject,
  };
}

/** What is given beside `fire` of events, the last one being `event`. */
export function givenOfEvents(events: readonly JsonObject[]): JsonObject {
  const event = events.at(-1);
  return { ...(event !== undefined && { event }), events };
}

/** An event as something that is due. */
export function occurrenceOfEvent({ id, receivedAt, payload }: InboxEvent, event: JsonObject): Occurrence {
  return {
    kind: "event",
    sourceKey: `e:${id}`,
    fireAt: receivedAt,
    missed: 0,
    previousAt: null,
    callerKeyId: null,
    input: undefined,
    given: givenOfEvents([event]),
    event: { eventId: id, atMs: receivedAt, bytes: Buffer.byteLength(payload) },
  };
}

/**
 * The input of a run's job: what a caller gave, else what the definition makes of `given`; undefined for the program's own. A fault
 * where it is not what the program takes.
 */
export function inputOf(
  { definition, program }: Pick<LoadedVersion, "definition" | "program">,
  given: TemplateValues,
  called: JsonObject | undefined,
): { readonly value: JsonObject | undefined } | { readonly fault: string } {
  if (called === undefined && definition.input === undefined) return { value: undefined };
  const filled =
    called === undefined && definition.input ? fillGiven(definition.input, given) : { value: called ?? {} };
  if ("fault" in filled) return { fault: `input: ${filled.fault.message}` };
  if (!isJsonObject(filled.value)) return { fault: "input is no object" };
  const { inputSchema } = program;
  if (inputSchema === undefined) return { fault: "the program declares no inputSchema" };
  const { value, faults } = fitInput(inputSchema, createTenantValidators()(inputSchema), filled.value);
  const [first] = faults;
  return first === undefined ? { value: value as JsonObject } : { fault: `input${first.pointer} ${first.message}` };
}
