import { call, defineFaults, field, formatValue, text } from "@svc/core";
import { nearest } from "./check/nearest.ts";
import type { Catalog } from "./model.ts";
import type { DefinitionError } from "./read/definition-file.ts";

const messageMax = 4000;

/**
 * Returns the declaration of an error about an imported document. The code that refuses the document passes the error's text and its advice
 * as arguments.
 */
function ofImport<Code extends "invalid_argument" | "resource_exhausted">(code: Code) {
  return { code, says: (problem: string) => problem, help: (_problem: string, advice: string) => advice };
}

/** Errors with which svc refuses API calls about the catalog. */
export const catalogFaults = defineFaults({
  PROJECT_NOT_FOUND: {
    code: "not_found",
    field: "projectId",
    says: (projectId: string) => `projectId ${formatValue(projectId)} is not a project of this key`,
    help: "Leave projectId empty for the shared catalog, or send the id of the key's own project.",
  },
  /**
   * The request names a toolkit (the tools and webhooks of one app) that does not exist. `seen`: toolkits that the caller can see. The
   * message suggests the toolkit in `seen` with the most similar slug.
   */
  TOOLKIT_NOT_FOUND: {
    code: "not_found",
    field: (path: string) => path,
    says: (path: string, slug: string, seen?: Pick<Catalog, "toolkits">) =>
      seen === undefined
        ? `there is no toolkit ${formatValue(slug)}`
        : text`${field(path)} ${formatValue(slug)} is not a toolkit of the catalog`,
    help: (_path: string, slug: string, seen?: Pick<Catalog, "toolkits">) =>
      seen === undefined
        ? text`${call("ListToolkits")} names the toolkits.`
        : text`${didYouMean(slug, seen.toolkits.keys())}${call("ListToolkits")} lists the slugs.`,
  },
  TOOL_NOT_FOUND: {
    code: "not_found",
    field: "slug",
    says: (slug: string) => `slug ${formatValue(slug)} is not a tool of the catalog`,
    help: (slug: string, { tools }: Pick<Catalog, "tools">) =>
      text`${didYouMean(slug, tools.keys())}Send a catalog-wide slug of the form <toolkit>.<tool>; ${call("ListTools")} lists them.`,
  },
  DEFINITION_INVALID: {
    code: "invalid_argument",
    says: ({ message }: DefinitionError) =>
      message.length > messageMax ? `${message.slice(0, messageMax)} ...` : message,
    each: ({ faults: found }: DefinitionError) =>
      found.slice(0, 100).map(({ file, path, reason, cure }) => ({
        field: path === "" ? `definitionJson.${file}` : `definitionJson.${file}.${path}`,
        help: `${reason}; ${cure}`,
      })),
  },
  SOURCE_INVALID: ofImport("invalid_argument"),
  OPENAPI_UNREADABLE: ofImport("invalid_argument"),
  OPENAPI_NOTHING_SELECTED: ofImport("invalid_argument"),
  BASE_URL_NEEDED: ofImport("invalid_argument"),
  TOOLKIT_TOO_LARGE: ofImport("invalid_argument"),
  OVERRIDE_UNKNOWN: ofImport("invalid_argument"),
  IMPORT_TOO_COSTLY: ofImport("resource_exhausted"),
  SOURCE_URL_REFUSED: {
    code: "invalid_argument",
    field: "openapi.url",
    says: (url: string, why: string) => `svc does not read ${formatValue(url)}: ${why}`,
    help: "Send the text of the document instead of its address.",
  },
  SOURCE_UNREACHABLE: {
    code: "unavailable",
    field: "openapi.url",
    says: (url: string, why: string) => `${formatValue(url)} could not be read: ${why}`,
    help: "Check the address, or send the text of the document instead of it.",
  },
  TOOLKIT_SLUG_TAKEN: {
    code: "already_exists",
    field: "slug",
    says: (slug: string) => `the slug ${formatValue(slug)} belongs to a toolkit that the project sees`,
    help: text`Choose another slug, or set ${field("replace")}.`,
  },
  /** The project has no toolkit of its own (an app's tools and webhooks) with this slug. A shared toolkit cannot be deleted. */
  PRIVATE_TOOLKIT_NOT_FOUND: {
    code: "not_found",
    field: "slug",
    says: (slug: string) => `slug ${formatValue(slug)} is not a private toolkit of this project`,
    help: text`${call("ListToolkits", "with the project's id")} shows which toolkits are its own (${field("ownerProjectId")}).`,
  },
});

function didYouMean(slug: string, known: Iterable<string>): string {
  const meant = nearest(slug, known);
  return meant === undefined ? "" : `Did you mean ${meant}? `;
}
