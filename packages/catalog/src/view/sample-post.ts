import { isoTime, type Placeholder, parseTemplateTree, placeholdersOfTree } from "@svc/core";
import type { SamplePost } from "../model.ts";
import type { MatchDocument, TriggerDocument } from "../read/documents.ts";
import { type SampleSchema, sampleValue, schemaAt, typeOf } from "../schema/sample-value.ts";

type Place = { root: string; path: readonly (string | number)[] };

/** The time of samples that are shown: the same one is the same post, whoever reads it and when. */
export const shownSampleMs: number = Date.UTC(2026, 0, 15, 9);

/**
 * Makes a post that a trigger takes, from its definition read backwards: what it matches, and something wherever one of its templates
 * reads. What the dedupe key is made of is another one at another time (numbers grow), so that a post of a later time is a new event.
 */
export function samplePost(trigger: TriggerDocument, nowMs: number): SamplePost {
  const post: SamplePost = { headers: {}, query: {}, body: undefined };
  placeMatch(post, trigger.match);
  const schemas = payloadSchemas(trigger);
  const fill = (template: unknown, value: (schema: SampleSchema, name: string) => unknown, mark = "") => {
    const placeholders = placeholdersOfTree(parseTemplateTree(template ?? "")).map(([placeholder]) => placeholder);
    // A filter asks for a certain form, which serves the same value read without one.
    for (const placeholder of placeholders.sort((a, b) => b.filters.length - a.filters.length)) {
      const name = nameOf(placeholder);
      const filtered = filteredValue(placeholder, name + mark);
      place(post, placeholder, filtered ?? value(schemas.get(keyOf(placeholder)) ?? {}, name));
    }
  };
  fill(trigger.account, (schema, name) => sampleValue(schema, name, nowMs));
  fill(trigger.dedupe, (schema, name) => (isNumber(schema) ? nowMs : `sample-${name}-${nowMs}`), `-${nowMs}`);
  fill(trigger.occurredAt, () => isoTime(nowMs));
  fill(trigger.payload, (schema, name) => sampleValue(schema, name, nowMs));
  return post;
}

function placeMatch(post: SamplePost, match: MatchDocument): void {
  for (const root of ["headers", "query", "body"] as const) {
    for (const [name, expected] of Object.entries(match[root] ?? {})) {
      const value: unknown = Array.isArray(expected) ? expected[0] : expected;
      place(post, { root, path: root === "body" ? name.split(".") : [name.toLowerCase()] }, value);
    }
  }
}

/** What the output schema says of the values that the payload reads, by where it reads them. */
function payloadSchemas({ payload, output }: TriggerDocument): Map<string, SampleSchema> {
  const schemas = new Map<string, SampleSchema>();
  for (const [placeholder, path] of placeholdersOfTree(parseTemplateTree(payload))) {
    const isInteger = placeholder.filters.some(({ name }) => name === "int");
    schemas.set(keyOf(placeholder), isInteger ? { type: "integer" } : schemaAt(output, path));
  }
  return schemas;
}

/** The value a filter needs, undefined where there is none, or where any number does. */
function filteredValue({ filters }: Placeholder, name: string): unknown {
  const [filter] = filters;
  if (filter?.name === "segment") return `https://example.com/${filter.argument}/sample-${name}`;
  if (filter?.name === "csv" || filter?.name === "each") return [`sample-${name}`];
  return filter?.name === "json" ? { sample: name } : undefined;
}

/** Puts a value where nothing is yet. Headers and query hold texts. */
function place(post: SamplePost, { root, path }: Place, value: unknown): void {
  const [first] = path;
  if ((root === "headers" || root === "query") && typeof first === "string") {
    post[root][first] ??= String(value);
  } else if (root === "body") {
    post.body = placed(post.body, path, value);
  }
}

function placed(target: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return target ?? value;
  const isContainer = typeof target === "object" && target !== null;
  if (target !== undefined && !isContainer) return target;
  if (typeof step === "number") {
    const list: unknown[] = Array.isArray(target) ? target : [];
    for (let index = 0; index <= step; index++) list[index] = placed(list[index], rest, value);
    return list;
  }
  const object = (target ?? {}) as Record<string, unknown>;
  return { ...object, [step]: placed(object[step], rest, value) };
}

function isNumber(schema: SampleSchema): boolean {
  return ["integer", "number"].includes(typeOf(schema));
}

function keyOf({ root, path }: Place): string {
  return JSON.stringify([root, ...path]);
}

/** The last word of a path, for a value that tells where it came from: `x-calendar-channel-id` is `channel-id`. */
function nameOf({ path }: Placeholder): string {
  const last = path.findLast((step) => typeof step === "string") ?? "value";
  return String(last).replace(/^x-[a-z0-9]+-/, "");
}
