import { numberOf } from "../../form/value.ts";
import { prettyJson } from "../../words/pretty-json.ts";
import type { Draft } from "./draft.ts";
import { given, itemsOf, type Json, objectOf, readValue } from "./draft-json.ts";

/**
 * Returns the schedule's definition as JSON text. The program's text is unchanged. If a typed value is not a valid number or JSON, it is
 * included as typed, and the service reports the error at its field.
 */
export function definitionText(draft: Draft, programText: string, kept: Json = {}): string {
  const { program: _, ...rest } = kept;
  const { policy, overlapMax, rateMax, ratePer, runs, toolCalls, writes } = draft;
  const definition = given({
    ...rest,
    version: 1,
    title: draft.title,
    timeZone: draft.timeZone,
    source: sourceOf(draft, objectOf(kept["source"])),
    when: draft.when,
    input: readValue(draft.input),
    overlap: policy === "" ? undefined : given({ ...objectOf(kept["overlap"]), policy, max: numberOf(overlapMax) }),
    rate:
      rateMax === "" && ratePer === ""
        ? undefined
        : given({ ...objectOf(kept["rate"]), max: numberOf(rateMax), per: ratePer }),
    budget:
      runs === "" && toolCalls === "" && writes === ""
        ? undefined
        : given({
            ...objectOf(kept["budget"]),
            ...{ runs: numberOf(runs), toolCalls: numberOf(toolCalls), writes: numberOf(writes) },
          }),
    pauseAfter: numberOf(draft.pauseAfter),
  });
  return `${JSON.stringify(definition).slice(0, -1)},"program":${programText}}`;
}

function sourceOf(draft: Draft, kept: Json): Json {
  const { by } = draft;
  if (by === "trigger") {
    return { trigger: { ...given({ ...objectOf(kept["trigger"]), entity: draft.entity }), slug: draft.trigger } };
  }
  if (by === "poll") {
    const { call, pollEntity: entity, pollEvery: every, per } = draft;
    const written = { args: readValue(draft.args), first: readValue(draft.first), per };
    return { poll: { ...given({ ...objectOf(kept["poll"]), ...written }), call, entity, every } };
  }
  const { cron: _, every: __, at: ___, ...rest } = objectOf(kept["schedule"]);
  return { schedule: { ...rest, [by]: by === "every" ? draft.every : itemsOf(draft[by]) } };
}

/** Returns the program that runs a skill with this input, as JSON text. */
export function programOfSkill(toolSlug: string, inputText: string): string {
  return prettyJson(
    JSON.stringify({
      version: 1,
      title: `Run ${toolSlug}`,
      steps: [{ id: "run", run: toolSlug, input: readValue(inputText) ?? {} }],
    }),
  );
}
