import { formatDuration } from "@svc/core";
import type { Program, Step, StepOf } from "@svc/program";

/** Maximum length of a title, in characters. */
const charactersMax = 120;

type Titles = { readonly [Kind in Step["kind"]]: (step: StepOf<Kind>, program: Pick<Program, "points">) => string };

const titles: Titles = {
  call: ({ tool }) => toolTitle(tool),
  http: ({ http: { method, host } }) => `${method} ${host}`,
  run: ({ skill }) => `Run ${skill}`,
  map: ({ source }) => `For each row of ${source}`,
  filter: ({ source, where }) => `Keep ${source} where ${where.source}`,
  reduce: ({ source }) => `Sum up ${source}`,
  sort: ({ source }) => `Sort ${source}`,
  limit: ({ source, max }) => `First ${max} of ${source}`,
  distinct: ({ source }) => `Distinct rows of ${source}`,
  join: ({ source, right }) => `Join ${source} with ${right}`,
  group: ({ source }) => `Group ${source}`,
  compute: ({ source }) => `Compute fields of ${source}`,
  flatten: ({ source, field }) => `Each ${field} of ${source}`,
  take: () => "Take rows from a list",
  judge: ({ point }, { points }) => {
    const first = points.get(point)?.escalation[0]?.principal;
    return first === undefined ? "Ask for approval" : `Ask ${first}`;
  },
  fail: ({ pauses }) => (pauses ? "Pause the job" : "Fail the job"),
  if: ({ condition }) => `If ${condition.source}`,
  parallel: ({ branches }) => `${branches.length} branches at once`,
  until: ({ condition, max }) => `Until ${condition.source}, at most ${max} times`,
  wait: ({ wait }) => ("forMs" in wait ? `Wait ${formatDuration(wait.forMs)}` : "Wait until a time"),
};

/**
 * Returns a text that says in few words what a step does, such as `List deals` or `For each row of deals`. It is made from the program, so
 * it has no value of a row.
 */
export function stepTitle<Kind extends Step["kind"]>(step: StepOf<Kind>, program: Pick<Program, "points">): string {
  const title = titles[step.kind as Kind](step, program);
  const characters = [...title];
  return characters.length <= charactersMax ? title : `${characters.slice(0, charactersMax - 1).join("")}…`;
}

/** Returns the name of a tool as words: `sales_crm.list_deals` becomes `List deals`. */
function toolTitle(slug: string): string {
  const words = slug.slice(slug.indexOf(".") + 1).replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
