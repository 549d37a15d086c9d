import { type Json, objectOf } from "./draft-json.ts";

/** Names of parts that a definition has and the form does not show. */
export function keptParts(kept: Json): string[] {
  const { schedule, trigger, poll } = objectOf(kept["source"]);
  const shown = (names: readonly string[], part: unknown, prefix: string) =>
    Object.keys(objectOf(part))
      .filter((name) => !names.includes(name))
      .map((name) => `${prefix}${name}`);
  return [
    ...shown(
      ["version", "title", "timeZone", "source", "when", "input", "overlap", "rate", "budget", "pauseAfter", "program"],
      kept,
      "",
    ),
    ...shown(["cron", "every", "at"], schedule, "schedule."),
    ...shown(["slug", "entity"], trigger, "trigger."),
    ...shown(["call", "entity", "every", "args", "first", "per"], poll, "poll."),
    ...shown(["policy", "max"], kept["overlap"], "overlap."),
    ...shown(["max", "per"], kept["rate"], "rate."),
    ...shown(["runs", "toolCalls", "writes"], kept["budget"], "budget."),
  ];
}
