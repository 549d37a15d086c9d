import { fieldText, isObject, memberOf, readObject } from "../json/value.ts";

/** An example that svc ships: a program, or a schedule's definition (JSON) with its program. */
export type Example = {
  /** Name in addresses, such as `count-deals` or `standing/report-each-morning`. */
  readonly name: string;
  readonly title: string;
  /** Apps that it calls. */
  readonly apps: readonly string[];
  readonly isSchedule: boolean;
  readonly text: string;
};

const files = import.meta.glob<string>("../../../../docs/examples/**/*.json", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** The examples of programs and schedules that the documentation shows, by title. Each passes the check of the service. */
export const examples: readonly Example[] = Object.entries(files)
  .map(([path, text]) => {
    const name = path.replace(/^.*\/docs\/examples\//, "").replace(/\.json$/, "");
    const root = readObject(text);
    const isSchedule = memberOf(root, "source") !== undefined;
    return { name, isSchedule, text, title: fieldText(memberOf(root, "title")), apps: appsOf(root) };
  })
  .toSorted((a, b) => a.title.localeCompare(b.title));

function appsOf(value: unknown): readonly string[] {
  const apps = new Set<string>();
  const collect = (part: unknown): void => {
    if (Array.isArray(part)) for (const item of part) collect(item);
    if (!isObject(part)) return;
    const call = part["call"];
    if (typeof call === "string" && call.includes(".")) apps.add(call.split(".")[0] ?? "");
    for (const inner of Object.values(part)) collect(inner);
  };
  collect(value);
  return [...apps];
}
