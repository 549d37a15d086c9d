import { createTenantValidators, fitInput } from "@svc/catalog";
import { isJsonObject, isoTime, type JsonObject, parseExactJson } from "@svc/core";
import type { InboxEvent } from "@svc/db/standing/inbox";
import { fillGiven } from "@svc/program";
import type { TemplateValues } from "../definition/definition.ts";
import type { LoadedVersion } from "../versions.ts";
import type { Occurrence } from "./occurrence.ts";

// The depth of the JSON needs no limit here, because it was checked when svc received the event.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/** Returns an event in the form in which the templates of definitions can use it. */
export function eventOf({ id, triggerSlug, entityId, occurredAt, receivedAt, payload }: InboxEvent): JsonObject {
  return {
    ...{ id, triggerSlug, entityId },
    occurredAt: isoTime(occurredAt),
    receivedAt: isoTime(receivedAt),
    payload: parseExactJson(payload, unbounded) as JsonObject,
  };
}

/**
 * Returns the values that the templates in the definition of a standing program (a schedule) can use if events start a run. `events` is the
 * list of all the events, and `event` is the last of them.
 */
export function givenOfEvents(events: readonly JsonObject[]): JsonObject {
  const event = events.at(-1);
  return { ...(event !== undefined && { event }), events };
}

/**
 * Returns the occurrence for an event: the data with which the event starts a run of a standing program (a program that starts jobs on a
 * schedule or event).
 */
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
 * Returns the input for the job of a schedule's run. This is the caller's input if there is one. Otherwise the schedule's definition makes
 * the input from `given`, the values of the due time or event. Returns undefined if there is neither; the program's own input is then used.
 * Returns an error if the program does not accept the input.
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
  if (!isJsonObject(filled.value)) return { fault: "input is not an object" };
  const { inputSchema } = program;
  if (inputSchema === undefined) return { fault: "the program declares no inputSchema" };
  const { value, faults } = fitInput(inputSchema, createTenantValidators()(inputSchema), filled.value);
  const [first] = faults;
  return first === undefined ? { value: value as JsonObject } : { fault: `input${first.pointer} ${first.message}` };
}
