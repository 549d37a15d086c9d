import type { PageScope } from "@svc/core";
import { adminFaults } from "./errors.ts";

const nameCharactersMax = 100;
// Control and format characters, among them those that turn the direction of text: a name with them shows as another one.
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** A required name of a project or key, as it was given. Throws NAME_INVALID. */
export function requireName(name: string): string {
  if (name.trim() === "" || [...name].length > nameCharactersMax || invisible.test(name))
    throw adminFaults.NAME_INVALID(name, nameCharactersMax);
  return name;
}

/** The scope of an administrator's list: it spans projects, so no project stands in it. */
export function adminScope(call: string, filters: PageScope["filters"] = {}): PageScope {
  return { call, projectId: "", filters };
}
