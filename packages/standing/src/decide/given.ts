import { createHash } from "node:crypto";
import { isObject, isoTime, type JsonObject, scalarText, storableText } from "@svc/core";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import { fillGiven, type GivenTemplate } from "@svc/program";
import type { TemplateValues } from "../definition/definition.ts";
import { localTimeOf } from "../schedule/catch-up.ts";

/** The cause of a run. The template values of the run are made from it. */
export type Fire = Pick<StandingRunRecord, "kind" | "fireAt" | "missed" | "previousAt"> & {
  /**
   * Values that expressions and templates of the schedule's definition can use for this run, by name. For an event, they are `event` and
   * `events`.
   */
  readonly given?: JsonObject | undefined;
};

/**
 * Returns the values that the templates of a schedule (for example for the input of a run) can use. They are computed from the cause of the
 * run: its time, its event or its polled rows.
 */
export function givenOf({ kind, fireAt, missed, previousAt, given }: Fire, timeZone: string): TemplateValues {
  const { date, time } = localTimeOf(fireAt, timeZone);
  return {
    ...given,
    fire: {
      at: isoTime(fireAt),
      localDate: date,
      localTime: time,
      timeZone,
      kind,
      missed,
      ...(previousAt !== null && { previousAt: isoTime(previousAt) }),
    },
  };
}

/**
 * Maximum characters of a key that a definition's template makes for a run (for example a concurrency key). svc replaces a longer key by
 * its hash.
 */
const keyCharactersMax = 200;

/**
 * Returns the text of a key (for example of the policy `dedupe`), made from the key's template in the schedule's definition. Returns "" if
 * the schedule's definition has no such template. Returns a fault if the template cannot be filled in.
 */
export function keyOf(
  template: GivenTemplate | undefined,
  given: TemplateValues,
): { text: string } | { fault: string } {
  if (template === undefined) return { text: "" };
  const filled = fillGiven(template, given);
  if ("fault" in filled) return { fault: filled.fault.message };
  const text = scalarText(filled.value);
  if (text === undefined) return { fault: `a key is ${isObject(filled.value) ? "an object" : "a list"}, not a text` };
  const storable = storableText(text);
  if (storable.length <= keyCharactersMax) return { text: storable };
  return { text: createHash("sha256").update(storable).digest("hex") };
}
