import { isRawJson, scalarText } from "@svc/core";
import type { Post } from "../model.ts";
import type { ConditionsDocument, ConditionValue, MatchDocument } from "../read/documents.ts";

type Condition = (post: Post) => boolean;

/**
 * Returns a function that tests if a webhook post satisfies a match rule of a definition. Header names are compared without case. Header
 * and query values are compared as texts. Dotted paths name fields of the body, or of the list element (`item`); these values are compared
 * as JSON. A field that the post lacks never matches. The rule cannot contain numbers above 2^53 - 1 exactly, so the rule writes such a
 * number as a text. This text matches a number in the post with the same digits.
 */
export function compileMatch(match: MatchDocument): (post: Post) => boolean {
  const conditions: Condition[] = [
    ...compileConditions(match.headers, toText, (name) => {
      const header = name.toLowerCase();
      return (post) => post.headers[header];
    }),
    ...compileConditions(match.query, toText, (name) => ({ query }) => {
      if (query instanceof URLSearchParams) return query.get(name) ?? undefined;
      return Object.hasOwn(query, name) ? query[name] : undefined;
    }),
    ...(["body", "item"] as const).flatMap((root) =>
      compileConditions(
        match[root],
        (value) => value,
        (name) => {
          const steps = name.split(".");
          return (post) => comparable(fieldOf(post[root], steps));
        },
      ),
    ),
  ];
  return (post) => conditions.every((holds) => holds(post));
}

/**
 * True if a match rule (conditions by which svc recognizes webhook posts) has no conditions. A rule without conditions matches every post.
 */
export function matchesEverything(match: MatchDocument): boolean {
  return [match.headers, match.query, match.body, match.item].every((part) => Object.keys(part ?? {}).length === 0);
}

function compileConditions(
  conditions: ConditionsDocument | undefined,
  convert: (value: ConditionValue) => unknown,
  compileField: (name: string) => (post: Post) => unknown,
): Condition[] {
  return Object.entries(conditions ?? {}).map(([name, expected]) => {
    const read = compileField(name);
    const values = new Set((Array.isArray(expected) ? expected : [expected]).map(convert));
    return (post) => {
      const value = read(post);
      return value !== undefined && values.has(value);
    };
  });
}

function toText(value: ConditionValue): string {
  return String(value);
}

function comparable(value: unknown): unknown {
  return isRawJson(value) ? scalarText(value) : value;
}

function fieldOf(body: unknown, steps: readonly string[]): unknown {
  let value = body;
  for (const step of steps) {
    if (typeof value !== "object" || value === null || isRawJson(value)) return undefined;
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}
