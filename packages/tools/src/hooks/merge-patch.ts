import { isObject, isRawJson } from "@svc/core";

type Values = Readonly<Record<string, unknown>>;

/** Applies a JSON merge patch (RFC 7396) to an object: null removes a field, an object is merged, any other value replaces the old one. */
export function mergePatch(target: Values, patch: Values): Values {
  // A Map has no prototype setter, so a field may be named __proto__.
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
