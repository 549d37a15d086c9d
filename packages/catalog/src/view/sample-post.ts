import { isoTime, type Placeholder, parseTemplateTree, placeholdersOfTree } from "@svc/core";
import type { SamplePost, UnsignedPost, Webhook } from "../model.ts";
import type { MatchDocument, TriggerDocument } from "../read/documents.ts";
import { type SampleSchema, sampleValue, schemaAt, typeOf } from "../schema/sample-value.ts";

type Place = { root: string; path: readonly (string | number)[] };

/** Time of the sample webhook posts that svc displays. It is fixed, so that a sample is always the same. */
export const shownSampleMs: number = Date.UTC(2026, 0, 15, 9);

/**
 * Returns a made-up webhook post that a trigger accepts. The post has the values that the trigger's match rule requires, and a value for
 * each field that the trigger's templates read. `each`: path of the list whose elements become events; in the sample, the list has one
 * element. The fields that identify duplicates depend on `nowMs`, so that a later sample is a new event.
 */
export function samplePost(trigger: TriggerDocument, nowMs: number, each?: readonly string[]): SamplePost {
  const post: UnlistedPost = { headers: {}, query: {}, body: undefined, item: undefined };
  placeMatch(post, trigger.match);
  const schemas = payloadSchemas(trigger);
  const fill = (template: unknown, value: (schema: SampleSchema, name: string) => unknown, mark = "") => {
    const placeholders = placeholdersOfTree(parseTemplateTree(template ?? "")).map(([placeholder]) => placeholder);
    // Placeholders with filters are filled first. A filter requires a certain form of the value. A value of this form also fits a
    // placeholder without a filter that reads the same field.
    for (const placeholder of placeholders.sort((a, b) => b.filters.length - a.filters.length)) {
      const name = nameOf(placeholder);
      const filtered = filteredValue(placeholder, name + mark);
      place(post, placeholder, filtered ?? value(schemas.get(keyOf(placeholder)) ?? {}, name));
    }
  };
  fill(trigger.account ?? trigger.entity, (schema, name) => sampleValue(schema, name, nowMs));
  fill(trigger.dedupe, (schema, name) => (isNumber(schema) ? nowMs : `sample-${name}-${nowMs}`), `-${nowMs}`);
  fill(trigger.occurredAt, () => isoTime(nowMs));
  fill(trigger.payload, (schema, name) => sampleValue(schema, name, nowMs));
  const { item, ...sample } = post;
  if (each === undefined) return sample;
  return { ...sample, body: placed(sample.body, each.slice(1), [item ?? {}]) };
}

/** A sample webhook post that is not complete yet. `item`: an element that is added to the list in the body later. */
type UnlistedPost = SamplePost & { item: unknown };

function placeMatch(post: UnlistedPost, match: MatchDocument): void {
  for (const root of ["headers", "query", "body", "item"] as const) {
    for (const [name, expected] of Object.entries(match[root] ?? {})) {
      const value: unknown = Array.isArray(expected) ? expected[0] : expected;
      place(post, { root, path: root === "body" || root === "item" ? name.split(".") : [name.toLowerCase()] }, value);
    }
  }
}

/**
 * Returns the schemas of the values that a trigger's payload takes from a webhook post. The keys are the paths of the values in the post.
 * The schemas come from the trigger's output schema.
 */
function payloadSchemas({ payload, output }: TriggerDocument): Map<string, SampleSchema> {
  const schemas = new Map<string, SampleSchema>();
  for (const [placeholder, path] of placeholdersOfTree(parseTemplateTree(payload))) {
    const isInteger = placeholder.filters.some(({ name }) => name === "int");
    schemas.set(keyOf(placeholder), isInteger ? { type: "integer" } : schemaAt(output, path));
  }
  return schemas;
}

/**
 * Returns a value that the filter of a placeholder accepts, such as a list for `csv`. A filter is a function that changes the value.
 * Returns undefined if the placeholder has no filter, or a filter for which no special value is needed.
 */
function filteredValue({ filters }: Placeholder, name: string): unknown {
  const [filter] = filters;
  if (filter?.name === "segment") return `https://example.com/${filter.argument}/sample-${name}`;
  if (filter?.name === "csv" || filter?.name === "each") return [`sample-${name}`];
  return filter?.name === "json" ? { sample: name } : undefined;
}

/** Sets a value in a webhook post if there is no value yet. Values of headers and query become texts. */
function place(post: UnlistedPost, { root, path }: Place, value: unknown): void {
  const [first] = path;
  if ((root === "headers" || root === "query") && typeof first === "string") {
    post[root][first] ??= String(value);
  } else if (root === "body" || root === "item") {
    post[root] = placed(post[root], path, value);
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

/** Returns the last name in a placeholder's path, without the prefix of an app: `x-calendar-channel-id` becomes `channel-id`. */
function nameOf({ path }: Placeholder): string {
  const last = path.findLast((step) => typeof step === "string") ?? "value";
  return String(last).replace(/^x-[a-z0-9]+-/, "");
}

/**
 * Returns a sample webhook post with its body in the form that the app's toolkit declares: JSON, a form, a text or bytes. The post is not
 * signed yet.
 */
export function encodeSample(webhook: Pick<Webhook, "body">, sample: SamplePost): Omit<UnsignedPost, "path"> {
  const [type, body] = encodeBody(webhook, sample);
  const contentType: Record<string, string> = body.length === 0 ? {} : { "content-type": type };
  return { headers: { ...contentType, ...sample.headers }, query: sample.query, body };
}

function encodeBody({ body: { content, form } }: Pick<Webhook, "body">, { body }: SamplePost): [string, Buffer] {
  const formType = "application/x-www-form-urlencoded";
  if (body === undefined) return ["", Buffer.alloc(0)];
  if (content === "text") return ["text/plain", Buffer.from(String(body))];
  if (content === "base64") return ["application/octet-stream", Buffer.from(String(body), "base64")];
  const json = JSON.stringify(body);
  if (form === undefined) return ["application/json", Buffer.from(json)];
  if (form !== "*") return [formType, Buffer.from(`${new URLSearchParams({ [form]: json })}`)];
  const fields = Object.entries(body as object).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  );
  return [formType, Buffer.from(`${new URLSearchParams(fields)}`)];
}
