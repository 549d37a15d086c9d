import { isRawJson } from "@svc/core";
import { atOnce, inTurns, type Redactor } from "./redact.ts";
import { secretMin } from "./secret-forms.ts";

/**
 * Returns a copy of a result in which secrets are removed from every text and name. Returns the same value if nothing changed. If an app
 * repeats its credential, the caller then does not see it.
 */
export function redactTexts(value: unknown, redact: Redactor): unknown {
  return atOnce(redactUnlessSpared(value, redact, JSON.stringify(value)));
}

/** Maximum values and characters that are redacted in one step. Such a step takes less than a millisecond. */
const small = { values: 1_000, characters: 65_536 };

/**
 * Returns a result of any size, redacted. For a large result, the function repeatedly waits for `turn`, so that other work can run.
 * `source`: the JSON text that contains every text and name of the result. If it contains no secret, the result is not searched.
 */
export async function redactTextsInTurns(
  value: unknown,
  redact: Redactor,
  { turn, source }: { readonly turn: () => Promise<void>; readonly source?: string | undefined },
): Promise<unknown> {
  if (source !== undefined && source.length <= small.characters && atOnce(isSpared(source, redact))) return value;
  if (isSmall(value, { ...small })) return redactTexts(value, redact);
  return inTurns(redactUnlessSpared(value, redact, source), turn);
}

function isSmall(value: unknown, left: { values: number; characters: number }): boolean {
  left.values--;
  if (typeof value === "string") left.characters -= value.length;
  if (left.values < 0 || left.characters < 0) return false;
  if (typeof value !== "object" || value === null || isRawJson(value)) return true;
  if (Array.isArray(value)) return value.every((item) => isSmall(item, left));
  for (const name in value) {
    left.characters -= name.length;
    if (!isSmall((value as Record<string, unknown>)[name], left)) return false;
  }
  return true;
}

type Parts = Generator<undefined, unknown>;

function* redactUnlessSpared(value: unknown, redact: Redactor, source: string | undefined): Parts {
  return (yield* isSpared(source, redact)) ? value : yield* redactEach(value, redact);
}

function* isSpared(source: string | undefined, { spares }: Redactor): Generator<undefined, boolean> {
  return source !== undefined && spares !== undefined && (yield* spares(source));
}

function* redactEach(value: unknown, redact: Redactor): Parts {
  // A text shorter than `secretMin` cannot contain a secret. So most ids and names of a large result need no search.
  if (typeof value === "string") return value.length < secretMin ? value : yield* redactText(value, redact);
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  return yield* Array.isArray(value) ? redactItems(value, redact) : redactFields(value, redact);
}

function* redactText(text: string, redact: Redactor): Generator<undefined, string> {
  return redact.inParts === undefined ? redact(text) : yield* redact.inParts(text);
}

function* redactItems(list: readonly unknown[], redact: Redactor): Parts {
  let isSame = true;
  const items: unknown[] = [];
  for (const item of list) {
    const shown = yield* redactEach(item, redact);
    isSame &&= shown === item;
    items.push(shown);
    yield;
  }
  return isSame ? list : items;
}

function* redactFields(object: object, redact: Redactor): Parts {
  let isSame = true;
  const entries: [string, unknown][] = [];
  for (const name of Object.keys(object)) {
    const child = (object as Record<string, unknown>)[name];
    const shownName = redact.ofName?.(name) ?? name;
    const shown = yield* redactEach(child, redact);
    isSame &&= shownName === name && shown === child;
    entries.push([shownName, shown]);
    yield;
  }
  return isSame ? object : yield* objectOf(entries);
}

/**
 * Builds an object from its entries, in small parts. `Object.defineProperty` is used, because an assignment to the name `__proto__` would
 * set the prototype instead of a field.
 */
function* objectOf(entries: readonly (readonly [string, unknown])[]): Parts {
  const object: object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
    yield;
  }
  return object;
}
