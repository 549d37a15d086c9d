import { isObject, isRawJson } from "@svc/core";

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns an object with a JSON merge patch (RFC 7396) applied: null removes a field, an object is merged, any other value replaces the old
 * value.
 */
export function mergePatch(target: Values, patch: Values): Values {
  // A Map is used because a field may be named `__proto__`, which a plain object would treat specially.
  const merged = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, isMerged(value) ? mergePatch(objectOf(merged.get(name)), value) : value);
  }
  return Object.fromEntries(merged);
}

function objectOf(value: unknown): Values {
  return isMerged(value) ? value : {};
}

function isMerged(value: unknown): value is Values {
  return isObject(value) && !isRawJson(value);
}
