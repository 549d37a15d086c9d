import { findPart } from "../../json/locate.ts";
import { removeValue, setText, setValue } from "../../json/patch.ts";
import { type Json, memberOf, readObject } from "../../json/value.ts";
import { prettyJson } from "../../words/pretty-json.ts";

/**
 * The automatic start of a schedule that the user chooses: `cron`, `every` and `at` are times, `trigger` is events, `poll` is new
 * rows.
 */
export type StartedBy = "cron" | "every" | "at" | "trigger" | "poll";

/**
 * Returns the definition (JSON text) of a new schedule, which runs the program at nine o'clock from Monday to Friday in the time zone
 * `timeZone`.
 */
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

/** Returns the kind of automatic start in a schedule's definition: times, events or new rows. Returns `cron` if the definition has none. */
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
 * Returns a schedule's definition in which another kind of source starts the schedule. Settings that all time sources share, such as the
 * jitter, are kept. `nowIso`: the current time, used for the first value of `at`.
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

/**
 * Returns the program in a schedule's definition, as its text in the definition. CheckProgram can check this text. Empty if there is no
 * program.
 */
export function programOf(text: string): string {
  const part = findPart(text, "/program");
  return part === undefined ? "" : text.slice(part.value, part.to);
}

/** Returns a program, as JSON text, whose only step runs the skill `toolSlug` with this input. */
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

/**
 * Returns a suggested name for a schedule with this title: lower-case words with hyphens, at most 63 characters. Empty if the title has no
 * letters or digits.
 */
export function slugOf(title: string): string {
  const words = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");
  return words.slice(0, 63).replace(/-+$/, "");
}
