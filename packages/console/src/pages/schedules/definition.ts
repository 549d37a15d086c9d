import { findPart } from "../../json/locate.ts";
import { removeValue, setText, setValue } from "../../json/patch.ts";
import { type Json, memberOf, readObject } from "../../json/value.ts";
import { prettyJson } from "../../words/pretty-json.ts";

/**
 * The automatic start of a schedule that the user chooses: `cron`, `every` and `at` are times, `trigger` is events, `poll` is new
 * rows.
 */
export type StartedBy = "cron" | "every" | "at" | "trigger" | "poll";

/** Returns the text of a new schedule's definition: nine o'clock on working days in the time zone `timeZone`. */
export function newDefinition(timeZone: string, programText: string): string {
  const rest = `{
  "version": 1,
  "timeZone": ${JSON.stringify(timeZone)},
  "source": { "schedule": { "cron": ["0 9 * * 1-5"] } },
  "program": {}
}
`;
  return setText(rest, "/program", programText.trim());
}

/** Returns what starts a schedule with this definition. */
export function startedBy(definition: Json | undefined): StartedBy {
  const source = memberOf(definition, "source");
  if (memberOf(source, "poll") !== undefined) return "poll";
  if (memberOf(source, "trigger") !== undefined) return "trigger";
  const schedule = memberOf(source, "schedule");
  return memberOf(schedule, "every") !== undefined ? "every" : memberOf(schedule, "at") !== undefined ? "at" : "cron";
}

/** First value of each source. `nowIso`: the current time, such as `2026-12-01T09:00:00Z`. */
const first: Readonly<Record<StartedBy, (nowIso: string) => unknown>> = {
  cron: () => ["0 9 * * 1-5"],
  every: () => "15m",
  at: (nowIso) => [nowIso],
  trigger: () => ({ slug: "" }),
  poll: () => ({ call: "", entity: "", every: "5m" }),
};

/**
 * Returns a definition that starts by something else. What the three sources of times share, such as the jitter, stays. `nowIso`: the first
 * value of set times.
 */
export function withSource(text: string, by: StartedBy, nowIso: string): string {
  const value = first[by](nowIso);
  if (by === "trigger" || by === "poll") return setValue(text, "/source", { [by]: value });
  const schedule = "/source/schedule";
  if (findPart(text, schedule) === undefined) return setValue(text, "/source", { schedule: { [by]: value } });
  const others = (["cron", "every", "at"] as const).filter((name) => name !== by);
  return others.reduce(
    (old, name) => removeValue(old, `${schedule}/${name}`),
    setValue(text, `${schedule}/${by}`, value),
  );
}

/** Returns the text of the program in a definition, with its own indentation, as CheckProgram takes it. Empty if there is none. */
export function programOf(text: string): string {
  const part = findPart(text, "/program");
  return part === undefined ? "" : text.slice(part.value, part.to);
}

/** Returns the program that runs a skill with this input, as JSON text. */
export function programOfSkill(toolSlug: string, inputText: string): string {
  const input = readObject(inputText) ?? {};
  return prettyJson(
    JSON.stringify({ version: 1, title: `Run ${toolSlug}`, steps: [{ id: "run", run: toolSlug, input }] }),
  );
}

/** True if a schedule's definition contains `***`, which the service returns in place of secret values of the program's input. */
export function hasHiddenInput(text: string): boolean {
  const definition = readObject(text);
  const inputs = [memberOf(definition, "input"), memberOf(definition, "program", "input")];
  return JSON.stringify(inputs).includes('"***"');
}

/** Returns a name for a schedule with this title: lower-case words with hyphens, at most 63 characters. Empty if there are none. */
export function slugOf(title: string): string {
  const words = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");
  return words.slice(0, 63).replace(/-+$/, "");
}
