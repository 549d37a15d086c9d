import { type Fault, fault, faults, formatValue } from "@svc/core";
import type { DefinitionError } from "./definition-error.ts";
import type { Catalog } from "./model.ts";
import { nearest } from "./nearest.ts";

/** The catalog calls' projectId names a project other than the key's own, which reads as missing. */
export function projectNotFound(projectId: string): Fault {
  return fault({
    code: "not_found",
    reason: "PROJECT_NOT_FOUND",
    field: "projectId",
    message: `projectId ${formatValue(projectId)} is not a project of this key`,
    help: "Leave projectId empty for the shared catalog, or send the id of the key's own project.",
  });
}

/** The caller sees no toolkit of that slug. With `seen`, those it does see, the nearest of them is named. */
export function toolkitNotFound(field: string, slug: string, seen?: Pick<Catalog, "toolkits">): Fault {
  return fault({
    code: "not_found",
    reason: "TOOLKIT_NOT_FOUND",
    field,
    ...(seen === undefined
      ? { message: `there is no toolkit ${formatValue(slug)}`, help: "ListToolkits names the toolkits." }
      : {
          message: `${field} ${formatValue(slug)} is not a toolkit of the catalog`,
          help: `${didYouMean(slug, seen.toolkits.keys())}ListToolkits lists the slugs.`,
        }),
  });
}

/** No tool of the catalog that the caller sees has the slug. */
export function toolNotFound(slug: string, { tools }: Pick<Catalog, "tools">): Fault {
  return fault({
    code: "not_found",
    reason: "TOOL_NOT_FOUND",
    field: "slug",
    message: `slug ${formatValue(slug)} is not a tool of the catalog`,
    help: `${didYouMean(slug, tools.keys())}Send a catalog-wide slug of the form <toolkit>.<tool>; ListTools lists them.`,
  });
}

function didYouMean(slug: string, known: Iterable<string>): string {
  const meant = nearest(slug, known);
  return meant === undefined ? "" : `Did you mean ${meant}? `;
}

/** A published definition breaks rules. One detail a fault, up to 100, with its place as the field. */
export function definitionInvalid({ message, faults: found }: DefinitionError): Fault {
  return faults({
    code: "invalid_argument",
    message: message.length > messageMax ? `${message.slice(0, messageMax)} ...` : message,
    details: found.slice(0, 100).map(({ file, path, reason, cure }) => ({
      reason: "DEFINITION_INVALID",
      field: path === "" ? `definitionJson.${file}` : `definitionJson.${file}.${path}`,
      help: `${reason}; ${cure}`,
    })),
  });
}

const messageMax = 4000;

/** The project has no private toolkit of that slug; a shared one cannot be deleted. */
export function privateToolkitNotFound(slug: string): Fault {
  return fault({
    code: "not_found",
    reason: "PRIVATE_TOOLKIT_NOT_FOUND",
    field: "slug",
    message: `slug ${formatValue(slug)} is not a private toolkit of this project`,
    help: "ListToolkits with the project's id shows which toolkits are its own (ownerProjectId).",
  });
}
