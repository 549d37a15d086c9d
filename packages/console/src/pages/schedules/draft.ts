import { locatePointer } from "../../words/placed-faults.ts";
import { prettyJson } from "../../words/pretty-json.ts";
import { type Json, jsonOf, linesOf, objectOf, parseExact, textOf } from "./draft-json.ts";

/**
 * The automatic start of a schedule that the user chooses: `cron`, `every` and `at` are times, `trigger` is events, `poll` is new
 * rows.
 */
export type StartedBy = "cron" | "every" | "at" | "trigger" | "poll";

/** The values of the schedule form, as texts. For an empty text, the service uses its default. */
export type Draft = {
  title: string;
  timeZone: string;
  by: StartedBy;
  /** Cron expressions, one per line. (The next field, `at`, has points in time, also one per line.) */
  cron: string;
  at: string;
  every: string;
  toolkit: string;
  trigger: string;
  entity: string;
  call: string;
  pollEntity: string;
  pollEvery: string;
  /** Arguments of the call that the schedule polls, as JSON text. */
  args: string;
  first: string;
  per: string;
  when: string;
  input: string;
  policy: string;
  overlapMax: string;
  rateMax: string;
  ratePer: string;
  runs: string;
  toolCalls: string;
  writes: string;
  pauseAfter: string;
};

/** For each field of the schedule form, the JSON Pointer to the value in the schedule's definition that the field sets. */
export const pointers: Readonly<Record<Exclude<keyof Draft, "by" | "toolkit">, string>> = {
  title: "/title",
  timeZone: "/timeZone",
  cron: "/source/schedule/cron",
  every: "/source/schedule/every",
  at: "/source/schedule/at",
  trigger: "/source/trigger/slug",
  entity: "/source/trigger/entity",
  call: "/source/poll/call",
  pollEntity: "/source/poll/entity",
  pollEvery: "/source/poll/every",
  args: "/source/poll/args",
  first: "/source/poll/first",
  per: "/source/poll/per",
  when: "/when",
  input: "/input",
  policy: "/overlap/policy",
  overlapMax: "/overlap/max",
  rateMax: "/rate/max",
  ratePer: "/rate/per",
  runs: "/budget/runs",
  toolCalls: "/budget/toolCalls",
  writes: "/budget/writes",
  pauseAfter: "/pauseAfter",
};

/** Returns the initial values for a new schedule: nine o'clock on working days in the time zone `timeZone`. */
export function newDraft(timeZone: string): Draft {
  return { ...draftOf({}), timeZone, cron: "0 9 * * 1-5" };
}

/**
 * Reads an existing definition for editing: its fields, the text of its program, and the complete definition (`kept`), so that fields
 * unknown to the form are not lost.
 */
export function readDefinition(definitionJson: string): { draft: Draft; programText: string; kept: Json } {
  const definition = objectOf(parseExact(definitionJson));
  const { from, to } = locatePointer(definitionJson, "/program");
  // The program's text is cut out unchanged. Parsing it and writing it again would turn 1.0 into 1, which is an integer in place of a
  // decimal number.
  const programText = prettyJson(definitionJson.slice(from, to).replace(/^"program"\s*:/, ""));
  return { draft: draftOf(definition), programText, kept: definition };
}

function draftOf(definition: Json): Draft {
  const { schedule: times, trigger: event, poll: list } = objectOf(definition["source"]);
  const [schedule, trigger, poll] = [objectOf(times), objectOf(event), objectOf(list)];
  const [overlap, rate, budget] = [
    objectOf(definition["overlap"]),
    objectOf(definition["rate"]),
    objectOf(definition["budget"]),
  ];
  const slug = textOf(trigger["slug"]);
  return {
    title: textOf(definition["title"]),
    timeZone: textOf(definition["timeZone"]),
    by:
      list !== undefined
        ? "poll"
        : event !== undefined
          ? "trigger"
          : schedule["every"] !== undefined
            ? "every"
            : schedule["at"] !== undefined
              ? "at"
              : "cron",
    ...{ cron: linesOf(schedule["cron"]), at: linesOf(schedule["at"]), every: textOf(schedule["every"]) },
    ...{ toolkit: slug.split(".")[0] ?? "", trigger: slug, entity: textOf(trigger["entity"]) },
    ...{ call: textOf(poll["call"]), pollEntity: textOf(poll["entity"]), pollEvery: textOf(poll["every"]) },
    ...{ args: jsonOf(poll["args"]), first: jsonOf(poll["first"]), per: textOf(poll["per"]) },
    ...{ when: textOf(definition["when"]), input: jsonOf(definition["input"]) },
    ...{ policy: textOf(overlap["policy"]), overlapMax: textOf(overlap["max"]) },
    ...{ rateMax: textOf(rate["max"]), ratePer: textOf(rate["per"]) },
    ...{ runs: textOf(budget["runs"]), toolCalls: textOf(budget["toolCalls"]), writes: textOf(budget["writes"]) },
    pauseAfter: textOf(definition["pauseAfter"]),
  };
}

/** True if a schedule's definition contains `***`, which the service returns in place of secret values of the program's input. */
export function hasHiddenInput(definitionJson: string): boolean {
  try {
    const { input, program } = objectOf(parseExact(definitionJson));
    return JSON.stringify([input, objectOf(program)["input"]]).includes('"***"');
  } catch {
    // The text is not JSON, because the user is still editing it. Another check reports this to the user.
    return false;
  }
}

/** Returns the names of the parts that a definition has but the form does not show. */
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
