import { isObject } from "@svc/core";
import { createDefinitionFile, type DefinitionFile } from "./definition-file.ts";

/** A definition with a deployment's overlay over it (RFC 7396); its faults name both files. */
export function overlayDefinition(
  file: DefinitionFile,
  patch: object | undefined,
  deploymentFile: string,
): DefinitionFile {
  if (patch === undefined || file.faults.length > 0) return file;
  const name = `${file.file} (with the overlay of ${deploymentFile})`;
  return createDefinitionFile(name, mergePatch(file.value, patch), file.lineOf);
}

/** Applies a JSON Merge Patch (RFC 7396) to a JSON value; neither is changed. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
