import { call, defineFaults, field, formatValue, text } from "@svc/core";
import { nearest } from "./check/nearest.ts";
import type { Catalog } from "./model.ts";
import type { DefinitionError, FileFault } from "./read/definition-file.ts";

const messageMax = 4000;

/**
 * Returns the declaration of an error about an import. `code`: the error code. `usual`: the request field that the error names by default.
 */
function ofImport<Code extends "invalid_argument" | "resource_exhausted">(code: Code, usual: string) {
  return {
    code,
    field: (_problem: string, _advice: string, wrong = usual) => wrong,
    says: (problem: string) => problem,
    help: (_problem: string, advice: string) => advice,
  };
}

const importFaults = {
  SOURCE_INVALID: ofImport("invalid_argument", "openapi"),
  OPENAPI_UNREADABLE: ofImport("invalid_argument", "openapi"),
  OPENAPI_NOTHING_SELECTED: ofImport("invalid_argument", "only"),
  BASE_URL_NEEDED: ofImport("invalid_argument", "openapi.server"),
  TOOLKIT_TOO_LARGE: ofImport("invalid_argument", "only"),
  OVERRIDE_UNKNOWN: ofImport("invalid_argument", "overrides"),
  IMPORT_TOO_COSTLY: ofImport("resource_exhausted", "openapi"),
};

/** Reason why an OpenAPI document cannot become a toolkit (the tools of one app). */
export type ImportFaultReason = keyof typeof importFaults;

/** A problem of search phrases. `field`: its place in the request. `says`: what is wrong, with the tool and the phrase. `help`: the cure. */
export type PhraseProblem = { readonly field: string; readonly says: string; readonly help: string };

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
  /** The definition of a toolkit breaks a rule. `fieldOf`: returns the field of the request that caused a broken rule. */
  DEFINITION_INVALID: {
    code: "invalid_argument",
    says: ({ message }: DefinitionError) =>
      message.length > messageMax ? `${message.slice(0, messageMax)} ...` : message,
    each: ({ faults: found }: DefinitionError, fieldOf: (fault: FileFault) => string = fieldInDefinition) =>
      found.slice(0, 100).map((fault) => ({ field: fieldOf(fault), help: `${fault.reason}; ${fault.cure}` })),
  },
  ...importFaults,
  SOURCE_URL_REFUSED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (_path: string, url: string, why: string) => `svc does not read ${formatValue(url)}: ${why}`,
    help: (path: string) =>
      path === "mcp.url"
        ? "Give an address that the service may reach. The operator lists private addresses in SVC_PROVIDER_CIDRS."
        : "Send the text of the document instead of its address.",
  },
  SOURCE_UNREACHABLE: {
    code: "unavailable",
    field: (path: string) => path,
    says: (_path: string, url: string, why: string) => `${formatValue(url)} could not be read: ${why}`,
    help: (path: string) => {
      if (path === "openapi.auth") return "Choose the authentication yourself with openapi.auth, such as bearer.";
      if (/listingAccountId$/.test(path))
        return text`Connect an account again, or name another one with ${call("RefreshToolkit")} and ${field("listingAccountId")}.`;
      return path === "mcp.url"
        ? "Check the address."
        : "Check the address, or send the text of the document instead of it.";
    },
  },
  /** The source of an import says something else than when the caller looked at it. */
  SOURCE_CHANGED: {
    code: "failed_precondition",
    field: "digest",
    says: "the source has changed since the trial run",
    help: "Look at the source again before you import it, or import it without digest.",
  },
  /** The server at the address is not an MCP server that svc can use. */
  UPSTREAM_NOT_MCP: {
    code: "failed_precondition",
    field: "mcp.url",
    says: (url: string, why: string) => `${formatValue(url)} is not an MCP server with Streamable HTTP: ${why}`,
    help: "Give the address to which MCP messages are posted, often ending in /mcp.",
  },
  /** The MCP server wants a credential, and svc knows of no way to get one. */
  UPSTREAM_NEEDS_CLIENT: {
    code: "failed_precondition",
    field: "mcp.header",
    says: (url: string, why: string) => `${formatValue(url)} lists its tools only with a credential: ${why}`,
    help: text`Store an OAuth client of the issuer with ${call("PutToolkitClient")} and import again, or name the header that carries an account's key, such as Authorization.`,
  },
  TOOLKIT_SLUG_TAKEN: {
    code: "already_exists",
    field: "slug",
    says: (slug: string) => `the slug ${formatValue(slug)} belongs to a toolkit that the project sees`,
    help: text`Choose another slug, or set ${field("replace")}.`,
  },
  /** The project has no toolkit of its own (an app's tools and webhooks) with this slug. A shared toolkit cannot be deleted. */
  /** A call about the source of a toolkit names one that was published from files. */
  TOOLKIT_HAS_NO_SOURCE: {
    code: "failed_precondition",
    field: "slug",
    says: (slug: string) => `${formatValue(slug)} has no source: it was not imported`,
    help: text`Publish a new version with ${call("PublishToolkit")}, or import a document with ${call("ImportToolkit")}.`,
  },
  /** Other changes wait than those that the caller has seen. `wrong`: the field of the request with the old value. */
  CHANGES_OUTDATED: {
    code: "failed_precondition",
    field: (_slug: string, wrong: string) => wrong,
    says: (slug: string) => `the changes of ${formatValue(slug)} are not the newest`,
    help: text`Read the changes again with ${call("GetToolkitSource")}, and look at them before you accept them.`,
  },
  /** Only changes of suspicious tools wait, and the request names none of them. */
  CHANGES_FLAGGED: {
    code: "failed_precondition",
    field: "toolNames",
    says: (_slug: string, flagged: readonly string[]) =>
      `only tools whose texts give orders to the reader have changed: ${flagged.slice(0, 5).join(", ")}`,
    help: text`Read their texts, and name those that you accept in ${field("toolNames")}.`,
  },
  /** Changes were left off the list, so the caller cannot have seen them. The request names no tools, which would accept all changes. */
  CHANGES_LEFT_OFF: {
    code: "failed_precondition",
    field: "toolNames",
    says: (slug: string, leftOff: number) =>
      `the list of changes of ${formatValue(slug)} has no place for ${leftOff} altered parts`,
    help: text`Name tools that are listed whole in ${field("toolNames")}. The answer then lists the next changes.`,
  },
  /** No changes wait, or none for the tool `name`. If only the origin has changed, `name` is undefined, too. */
  CHANGES_NOT_FOUND: {
    code: "not_found",
    field: (_slug: string, name?: string) => (name === undefined ? "slug" : "toolNames"),
    says: (slug: string, name?: string) =>
      name === undefined
        ? `no changes of tools of ${formatValue(slug)} wait`
        : `no change of the tool ${formatValue(name)} waits`,
    help: text`${call("RefreshToolkit")} reads the source again. Set ${field("origin")} to accept a new address or authentication.`,
  },
  /** Search phrases that a project adds to its toolkit (the tools of one app) are wrong. */
  PHRASES_INVALID: {
    code: "invalid_argument",
    says: ([first, ...others]: readonly PhraseProblem[]) =>
      `${first?.says ?? ""}${others.length === 0 ? "" : ` (and ${others.length} more)`}`,
    each: (problems: readonly PhraseProblem[]) =>
      problems.map(({ field: path, says, help }) => {
        return { field: path, help: problems.length === 1 ? help : `${says}. ${help}` };
      }),
  },
  PRIVATE_TOOLKIT_NOT_FOUND: {
    code: "not_found",
    field: (_slug: string, path?: string) => path ?? "slug",
    says: (slug: string, _path?: string) => `slug ${formatValue(slug)} is not a private toolkit of this project`,
    help: text`${call("ListToolkits", "with the project's id")} shows which toolkits are its own (${field("ownerProjectId")}).`,
  },
});

function fieldInDefinition({ file, path }: FileFault): string {
  return path === "" ? `definitionJson.${file}` : `definitionJson.${file}.${path}`;
}

function didYouMean(slug: string, known: Iterable<string>): string {
  const meant = nearest(slug, known);
  return meant === undefined ? "" : `Did you mean ${meant}? `;
}
