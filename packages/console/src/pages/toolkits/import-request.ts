import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AddedTool, ImportToolkitRequestSchema, ToolkitSource } from "@svc/gen/catalog";

/**
 * A source of a toolkit (its OpenAPI document or MCP server) as the user entered it: an address, or the text of a chosen file, with the
 * options of the import.
 */
export type SourceInput = {
  readonly url: string;
  readonly file: { readonly name: string; readonly text: string } | undefined;
  readonly slug: string;
  /** Header that carries the key of an MCP server. If it is set, the address is that of an MCP server. */
  readonly header: string;
  /** Address or number of the server to which calls are sent. For an OpenAPI document only. */
  readonly server: string;
  /** Authentication in the form of the API, such as `bearer`. For an OpenAPI document only. */
  readonly auth: string;
  readonly replace: boolean;
  /** True if svc reads the document again each day. */
  readonly watch: boolean;
  /** True if svc accepts later changes of the source by itself, except those that may be dangerous. */
  readonly trust: boolean;
};

/** A form without input. */
export const emptySource: SourceInput = {
  ...{
    url: "",
    file: undefined,
    slug: "",
    header: "",
    server: "",
    auth: "",
    replace: false,
    watch: false,
    trust: false,
  },
};

/**
 * Returns the form values for importing a toolkit of the project again from its source. They keep the settings `watch` and `trust`, which
 * the new import would otherwise reset. `header`: header with the key of an MCP server.
 */
export function inputAgain(
  { kind, origin, nextRefreshAt, trust }: Pick<ToolkitSource, "kind" | "origin" | "nextRefreshAt" | "trust">,
  slug: string,
  header: string,
): SourceInput {
  const kept = { watch: kind === "openapi" && nextRefreshAt !== undefined, trust };
  return { ...emptySource, url: origin, slug, header: kind === "mcp" ? header : "", replace: true, ...kept };
}

/** Kind of the source of an import. */
export type ImportKind = "openapi" | "mcp";

/** A choice for one tool of an import, as the API takes it. */
type ToolOverride = { readonly match: string; readonly class?: string; readonly description?: string };

/** Returns the request that imports a toolkit from a source of the given kind, with the user's choices for its tools. */
export function importRequest(
  { url, file, slug, header, server, auth, replace, watch, trust }: SourceInput,
  kind: ImportKind,
  overrides: readonly ToolOverride[] = [],
): MessageInitShape<typeof ImportToolkitRequestSchema> {
  const shared = { slug: slug.trim(), replace, trust, overrides: [...overrides] };
  if (kind === "mcp") return { ...shared, mcp: { url: url.trim(), header: header.trim() } };
  const source = file === undefined ? { url: url.trim() } : { document: file.text };
  return {
    ...shared,
    watch: watch && file === undefined,
    openapi: { ...source, server: server.trim(), auth: auth.trim() },
  };
}

/**
 * True if an address where svc found no OpenAPI document may be an MCP server. `reason`: the error code with which svc refused the document.
 */
export function mayBeMcp(reason: string): boolean {
  return reason === "OPENAPI_UNREADABLE" || reason === "SOURCE_UNREACHABLE";
}

/** The choices of the user for tools of an import: classes and descriptions, by the name of the tool. */
export type ToolChoices = {
  readonly classes: Readonly<Record<string, string>>;
  readonly descriptions: Readonly<Record<string, string>>;
};

/**
 * Returns the overrides of an import request: the classes and descriptions that the user chose for tools. A class that the import itself
 * proposes is left out.
 */
export function overridesOf(
  tools: readonly AddedTool[],
  { classes, descriptions }: ToolChoices,
): readonly ToolOverride[] {
  const proposed = new Map(tools.map((tool) => [tool.name, tool.class]));
  const chosen = Object.entries(classes).filter(([name, access]) => proposed.get(name) !== access);
  const written = Object.entries(descriptions).filter(([, text]) => text.trim() !== "");
  return [
    ...chosen.map(([match, access]) => ({ match, class: access })),
    ...written.map(([match, text]) => ({ match, description: text.trim() })),
  ];
}
