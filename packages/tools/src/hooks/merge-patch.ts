import { isObject, isRawJson } from "@svc/core";

type Values = Readonly<Record<string, unknown>>;

/** An object as a JSON merge patch changes it (RFC 7396): null takes a field away, an object is merged, all else takes the place of what was. */
export function mergePatch(target: Values, patch: Values): Values {
  // Without a prototype's setter a field may be called __proto__.
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
