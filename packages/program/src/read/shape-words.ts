import type { JsonObject } from "../json.ts";

/** The URL path of the JSON Schema of programs. */
export const schemaPath = "/schemas/program.v1.json";

/** Names that people use by mistake for fields of programs. Each has a list of the real names, which are tried in this order. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  approval: ["judge"],
  approve: ["judge"],
  ask: ["judge"],
  compensate: ["undo"],
  confirm: ["judge"],
  duration: ["wait"],
  human: ["judge"],
  prompt: ["question", "judge"],
  question: ["judge"],
  revert: ["undo"],
  rollback: ["undo"],
  seconds: ["wait"],
  switch: ["if"],
  text: ["question"],
  transform: ["compute"],
  action: ["call"],
  actions: ["do", "steps"],
  aggregate: ["as"],
  aggregates: ["as"],
  arguments: ["args"],
  body: ["args"],
  by: ["key"],
  calls: ["do"],
  catch: ["onError"],
  condition: ["where", "if", "when", "until"],
  connection: ["entity"],
  account: ["entity"],
  delay: ["wait"],
  description: ["title"],
  each: ["map"],
  expression: ["where", "if", "when"],
  expr: ["where", "if", "when"],
  fields: ["keep"],
  for_each: ["map"],
  forEach: ["map"],
  foreach: ["map"],
  function: ["call"],
  if: ["when"],
  choice: ["if"],
  choices: ["if"],
  count: ["max"],
  input: ["args"],
  inputs: ["input", "args"],
  maxAttempts: ["max"],
  attempts: ["max"],
  times: ["max"],
  uses: ["call"],
  script: ["compute"],
  items: ["rows", "from"],
  list: ["from"],
  loop: ["map"],
  name: ["id", "title"],
  otherwise: ["else"],
  output: ["result", "rows"],
  outputs: ["result"],
  over: ["map"],
  pagination: ["page"],
  paginate: ["page"],
  parameters: ["args", "params"],
  params: ["args"],
  path: ["from"],
  result: ["rows"],
  retries: ["retry"],
  select: ["keep"],
  sleep: ["wait"],
  source: ["map", "filter", "reduce"],
  steps: ["do", "then"],
  tasks: ["steps", "do"],
  tool: ["call"],
  user: ["entity"],
  variables: ["params"],
  vars: ["params"],
  while: ["until"],
  with: ["args"],
};

/** Pattern for a comparison or a test, such as `a == b`. A text that matches is an expression, not a message for people. */
const condition = /[<>=!]=|[<>]|&&|\|\||\bhas\(|\bin\b|^!/;

/**
 * Returns a hint for a step such as `throw`, with which other workflow languages end a run. The hint shows svc's own step for this. Returns
 * undefined for any other step.
 */
export function failingStep(value: JsonObject): string | undefined {
  const name = Object.keys(value).find((key) => {
    return failing.test(key.slice(0, 40).toLowerCase()) && (typeof value[key] === "string" || value[key] === true);
  });
  if (name === undefined || name.toLowerCase() === "end") return undefined;
  const { [name]: own, id, when } = value;
  const source = [own, when, value["if"], value["condition"]].find(
    (one) => typeof one === "string" && condition.test(one),
  );
  const given = typeof source === "string" ? source.slice(0, 200) : undefined;
  const isDemand = given === own && /^(assert|require|expect|ensure|guard)/.test(name.toLowerCase());
  const texts = [value["message"], value["text"], value["reason"], value["error"], own];
  const text = texts.find((one) => typeof one === "string" && one !== source && !condition.test(one));
  const step = {
    id: typeof id === "string" ? id.slice(0, 60) : "enough",
    fail: typeof text === "string" ? text.slice(0, 200) : `Stopped by ${given ?? "rows.deals < 10"}`,
    when: given === undefined ? "rows.deals < 10" : isDemand ? `!(${given})` : given,
  };
  return `end the job as failed with ${JSON.stringify(step)}; to end it as succeeded, put the steps after it into an if`;
}

/** Pattern for the names that other workflow languages use for ending a run. */
const failing =
  /^(fail|throw|raise|error|stop|abort|exit|assert|require|expect|ensure|guard|end|return|break|halt|terminate)/;

/** Names of steps in other workflow languages, each with the closest kinds of steps in svc. */
const kindWords: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(lookup|intersect|except|minus)/, ["join"]],
  [failing, ["fail", "if"]],
  [/^(try|rescue|finally)/, ["call", "parallel"]],
  [/^(notify|email|mail|send|message|slack|post_message)/, ["call"]],
  [/^(fetch|request|webhook|get|post|put|patch|delete|url)/, ["http", "call"]],
  [/^(code|script|python|javascript|js|eval|exec)/, ["compute", "http"]],
  [/^(repeat|poll|retry|until|while)/, ["until"]],
  [/^(dedupe|deduplicate|unique)/, ["distinct"]],
  [/^(top|head|first|last|slice|offset|skip)/, ["limit", "sort"]],
  [/^(order|rank)/, ["sort"]],
  [/^(count|sum|total|average|avg|min|max)/, ["reduce", "group"]],
  [/^(split|expand|explode|unnest|unwind)/, ["flatten"]],
  [/^(set|let|assign|variable|value|format|template)/, ["compute", "reduce"]],
  [/^(workflow|subflow|job|skill|program)/, ["run"]],
  [/^(where|match|exclude|reject|find)/, ["filter"]],
];

/** Returns the kinds of steps that are closest to a name. Returns an empty list if none is close. */
export function kindsLike<Kind extends string>(name: string, kinds: readonly Kind[]): readonly Kind[] {
  const [, near = []] = kindWords.find(([pattern]) => pattern.test(name.slice(0, 40).toLowerCase())) ?? [];
  return kinds.filter((kind) => near.includes(kind));
}

/** Returns the known field for which a wrong field name was probably meant, or undefined if no known field has a similar name. */
export function meantField(name: string, known: readonly string[]): string | undefined {
  const synonym = (Object.hasOwn(synonyms, name) ? synonyms[name] : undefined)?.find((field) => known.includes(field));
  if (synonym !== undefined) return synonym;
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const sought = plain(name.slice(0, 40));
  return known.find((field) => plain(field) === sought) ?? known.find((field) => isNear(plain(field), sought));
}

/**
 * True if one edit (a letter added, removed or changed, or two letters swapped) turns one name into the other. False for names of two
 * letters, because too many of them are close.
 */
function isNear(a: string, b: string): boolean {
  if (a.length < 4 || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const other = Math.max(a.length, b.length) - start - end;
  const isSwapped = a.length === b.length && other === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
  return other <= 1 || isSwapped;
}
