import { isRawJson } from "@svc/core";
import type { Redactor } from "./redact.ts";
import { secretMin } from "./secret-forms.ts";

/**
 * A copy of a result in which every text and name is redacted; the same value when nothing had to be. An app that repeats the
 * credential it was sent does not get it into an answer.
 */
export function redactTexts(value: unknown, redact: Redactor): unknown {
  if (redact.spares?.(JSON.stringify(value) ?? "") === true) return value;
  const parts = redactEach(value, redact);
  for (;;) {
    const { done, value: shown } = parts.next();
    if (done === true) return shown;
  }
}

/** Values and characters that are gone through at once: it takes less than a millisecond. */
const small = { values: 1_000, characters: 65_536 };
/** How long others wait at most, about, while a large result is gone through. Milliseconds. */
const timeSliceMs = 4;

/** The same of a result of any size: of a large one it waits for `turn` again and again, so that others get theirs. */
export async function redactTextsInTurns(
  value: unknown,
  redact: Redactor,
  turn: () => Promise<void>,
): Promise<unknown> {
  if (isSmall(value, { ...small })) return redactTexts(value, redact);
  const parts = redactEach(value, redact);
  for (;;) {
    await turn();
    const startedMs = performance.now();
    do {
      const { done, value: shown } = parts.next();
      if (done === true) return shown;
    } while (performance.now() - startedMs < timeSliceMs);
  }
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

function* redactEach(value: unknown, redact: Redactor): Parts {
  // Shorter texts hold no secret: most ids and names of a large result are not even searched.
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

/** Not by assignment: a field may be named __proto__. */
function* objectOf(entries: readonly (readonly [string, unknown])[]): Parts {
  const object: object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
    yield;
  }
  return object;
}
