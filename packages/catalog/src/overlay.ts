import { isObject } from "@svc/core";
import { faultsOfPaging } from "./check-paging.ts";
import { faultsOfPoll, isPollDocument } from "./check-poll.ts";
import { createDefinitionFile, type DefinitionFile } from "./definition-file.ts";

/** A definition with a deployment's overlay over it (RFC 7396); its faults name both files. */
export function overlayDefinition(
  file: DefinitionFile,
  patch: object | undefined,
  deploymentFile: string,
): DefinitionFile {
  if (patch === undefined || file.faults.length > 0) return file;
  const name = `${file.file} (with the overlay of ${deploymentFile})`;
  const merged = mergePatch(file.value, patch);
  const paged = Object.hasOwn(patch, "paging") ? merged : withSoundPaging(merged);
  return createDefinitionFile(name, Object.hasOwn(patch, "poll") ? paged : withSoundPoll(paged), file.lineOf);
}

/**
 * An overlay that takes an argument or a field away from a list, and says nothing of its paging, takes that away as well where it went
 * by what is gone: overlays are older than paging.
 */
function withSoundPaging(definition: unknown): unknown {
  if (!isObject(definition) || !isObject(definition.paging)) return definition;
  const { paging, ...others } = definition;
  const { arg, from, more } = paging as { readonly [name: string]: unknown };
  const hasForm = [arg, from ?? "", more ?? ""].every((text) => typeof text === "string");
  // What has not its form is left to the check that says so.
  if (!hasForm || !isObject(definition.input) || !isObject(definition.output)) return definition;
  return faultsOfPaging(definition).length === 0 ? definition : others;
}

/** The same of how its new rows are found. */
function withSoundPoll(definition: unknown): unknown {
  if (!isObject(definition) || definition.poll === undefined) return definition;
  const { poll, ...others } = definition;
  if (!isPollDocument(poll) || !isObject(definition.input) || !isObject(definition.output)) return definition;
  const access = definition.class === "read" ? "read" : "write";
  const { input, output } = definition;
  return faultsOfPoll({ poll, class: access, input, output }).length === 0 ? definition : others;
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
