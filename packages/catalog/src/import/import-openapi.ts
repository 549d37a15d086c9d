import { isSlug } from "../check/known-names.ts";
import { toolkitLimits } from "../private/toolkit-limits.ts";
import type { AccessClass, ActionDocument, AuthDocument, ToolkitDocument } from "../read/documents.ts";
import { authOf, credentialPlaces, type ImportedAuth, type OpenIdProvider } from "./auth.ts";
import { ImportError, LeftOutError } from "./import-fault.ts";
import { type FittingTool, type ImportedTool, type OperationContext, type ToolOverride, toolOf } from "./operation.ts";
import { type DocumentNode, ExternalReferenceError, type OpenapiDocument, readDocument } from "./read.ts";
import { objectOf } from "./schema.ts";
import { type LeftOut, listedLeftOut, type Operation, selectOperations } from "./select.ts";
import { foreignHostOf, type ImportedServer, isServedAt, serverOf, withPathKey } from "./servers.ts";
import { plainText, quotedTexts, safeText, snakeCase, textOf, wordsOf } from "./texts.ts";
import {
  checkOverrides,
  checkReads,
  cutName,
  type ImportOverride,
  keptNames,
  keyOf,
  namesOf,
  overrideOf,
  type ToolNames,
  withoutMilderClass,
} from "./tool-names.ts";

/** Options of an import. `documentUrl`: address from which the document was read; empty if the caller sent the text. */
export type ImportOptions = {
  readonly slug: string;
  readonly category: string;
  readonly documentUrl: string;
  readonly server: string;
  readonly auth: string;
  readonly idempotencyHeader: string;
  readonly only: readonly string[];
  readonly except: readonly string[];
  readonly overrides: readonly ImportOverride[];
  /**
   * Names that an earlier import gave to the tools, by operation (such as `GET /pets`). The new import uses the same names. `overrides` are
   * not yet applied to them.
   */
  readonly names: ToolNames;
  /**
   * Tools of the accepted definition, if a source is read again; undefined for a new toolkit. An override that matches no tool any more is
   * then only a note of the report.
   */
  readonly accepted?: ReadonlySet<string> | undefined;
  /**
   * Tools that an earlier attempt of the same import made, and that break a rule for toolkit definitions. The next attempt leaves them out.
   * `detail`: the broken rule.
   */
  readonly refused: readonly { readonly tool: string; readonly detail: string }[];
  /** The OpenID provider of the document, if its metadata was read. Without it, the import throws OpenIdNeededError for its address. */
  readonly openId?: OpenIdProvider | undefined;
};

/**
 * The report of an import for the person who imports: what the OpenAPI document contains, which tools svc made, and what svc left out.
 * `foreignHost`: host of `baseUrl`, if it belongs to another domain than the address of the document; otherwise empty.
 */
export type ImportedReport = {
  readonly title: string;
  readonly version: string;
  readonly format: string;
  readonly baseUrl: string;
  readonly foreignHost: string;
  readonly operations: number;
  readonly classes: Readonly<Record<AccessClass, number>>;
  readonly leftOut: readonly LeftOut[];
  readonly notes: readonly { readonly tool: string; readonly kind: string; readonly detail: string }[];
  readonly suggestions: readonly { readonly tool: string; readonly class: AccessClass }[];
};

/**
 * Result of an import. `definitionJson`: the toolkit's definition in the form that PublishToolkit accepts. `names`: the tool name of each
 * operation, from this and earlier imports. `moved`: by operation, the tool names that belonged to other operations at an earlier import.
 * `flagged`: names of earlier imported tools whose texts are now suspicious. `ruledClasses`: the access class of each tool as svc
 * determines it, without the user's overrides; the stricter one if the operation suggests one.
 */
export type ImportedToolkit = {
  readonly definitionJson: string;
  readonly report: ImportedReport;
  readonly names: ToolNames;
  readonly moved: ToolNames;
  readonly flagged: readonly string[];
  readonly ruledClasses: Readonly<Record<string, AccessClass>>;
};

/**
 * Limits of an import. They are slightly lower than the limits of private toolkits, so that the imported toolkit can be published.
 * `toolBytesMax`: maximum size of one tool as JSON, in bytes. `patternsMax`: maximum size of all regular expressions together, in
 * instructions of the compiled expressions.
 */
const [toolsMax, bytesMax] = [toolkitLimits.tools, toolkitLimits.bytes * 0.97];
const [toolBytesMax, patternsMax] = [40_960, toolkitLimits.patternSteps * 0.9];
/** Returns the toolkit (the tools of one app) that an OpenAPI document describes, with a report. Throws ImportError. */
export function importOpenapi(text: string, options: ImportOptions): ImportedToolkit {
  return readOpenapi(text)(options);
}

/**
 * Reads an OpenAPI document and returns a function that makes a toolkit from it. A second call of this function may differ only in
 * `refused` (operations to leave out), and reuses the tools of the first call. If the first call had to shorten tools, they are made again,
 * because fewer tools may fit unshortened. Both functions throw ImportError.
 */
export function readOpenapi(text: string): (options: ImportOptions) => ImportedToolkit {
  const document = readDocument(text);
  const begin = (): Progress => {
    return { bytesMax: toolBytesMax, tried: new Map(), patterns: { left: patternsMax, known: new Set() } };
  };
  let progress = begin();
  return (options) => {
    if (progress.bytesMax < toolBytesMax) progress = begin();
    return importDocument(document, progress, options);
  };
}

/**
 * How far the conversion of a document is. `bytesMax`: size that each tool may have, in bytes. `tried`: the tool of each operation, or the
 * reason why it has none, by method and path, as the last attempt left it. `patterns`: the regular expressions of all attempts.
 */
type Progress = {
  bytesMax: number;
  readonly tried: Map<string, FittingTool | Error>;
  readonly patterns: OperationContext["patterns"];
};

function importDocument(document: OpenapiDocument, progress: Progress, options: ImportOptions): ImportedToolkit {
  const { operations, leftOut, count } = selectOperations(document, options);
  if (operations.length > toolsMax) throw tooManyTools(operations);
  const declared = authOf(document.root, operations, { given: options.auth, openId: options.openId });
  const address = serverOf(document.root, { given: options.server, documentUrl: options.documentUrl });
  const { server, auth, remarks, keyPrefix } = keyed(address, declared, operations);
  const { scopesOf, isAuthorized } = declared;
  const credentials = credentialPlaces(auth);
  const isKnown = (operation: Operation) => Object.hasOwn(options.names, keyOf(operation));
  const isServed = ({ item, node }: Operation) => {
    const own = node["servers"] ?? item["servers"];
    const isNamed = Array.isArray(own) && own.length > 0;
    return !isNamed || isServedAt(own, address.baseUrl, options.documentUrl);
  };
  const { idempotencyHeader } = options;
  const { patterns } = progress;
  const shared = { root: document.root, idempotencyHeader, keyPrefix, credentials, patterns };
  const tools = toolsWithin({ ...shared, scopesOf, isAuthorized, isKnown, isServed }, operations, {
    ...options,
    progress,
  });
  const flagged: string[] = [];
  const toolkit: ToolkitDocument = { ...describe(document, options, (field) => flagged.push(field)), ...server, auth };
  const definitionJson = JSON.stringify({
    toolkit,
    tools: Object.fromEntries(tools.made.map(([name, { document: tool }]) => [name, tool])),
  });
  return {
    definitionJson,
    names: keptNames(options, { names: tools.names, tools: tools.made.map(([name]) => name) }),
    moved: tools.moved,
    flagged: tools.made.filter(([, { isFlagged }]) => isFlagged).map(([name]) => name),
    ruledClasses: ruledClassesOf(tools.made),
    report: {
      title: safeText(infoOf(document)["title"], 200) ?? toolkit.name,
      version: plainText(infoOf(document)["version"], 60),
      format: document.version,
      baseUrl: server.baseUrl,
      foreignHost: foreignHostOf(server.baseUrl, options.documentUrl),
      operations: count,
      classes: countClasses(tools.made),
      leftOut: listedLeftOut([...leftOut, ...tools.leftOut]),
      notes: [
        ...flagged.map((field) => ({ tool: "", kind: "flagged", detail: `${field} is left out` })),
        ...[...remarks, ...foreignOauth(auth, options.documentUrl)].map((detail) => ({
          tool: "",
          kind: "auth",
          detail: plainText(detail, 200),
        })),
        ...options.refused.map(({ tool, detail }) => ({ tool, kind: "refused", detail: plainText(detail, 300) })),
        ...webhookNotes(document),
        ...tools.unused,
        ...tools.made.flatMap(([tool, { notes }]) => notes.map((note) => ({ tool, ...note }))),
      ],
      suggestions: tools.made.flatMap(([tool, { suggested }]) =>
        suggested === undefined ? [] : [{ tool, class: suggested }],
      ),
    },
  };
}

/** Returns a note about the webhooks of a document, which do not become triggers. */
function webhookNotes({ root }: OpenapiDocument): ImportedReport["notes"] {
  const names = Object.keys(objectOf(root["webhooks"]));
  if (names.length === 0) return [];
  const shown = names.slice(0, 10).map((name) => safeText(name, 60) ?? "");
  const detail = plainText(`${names.length} webhooks do not become triggers: ${shown.join(", ")}`, 300);
  return [{ tool: "", kind: "webhooks", detail }];
}

/** Returns a remark for each host of OAuth that belongs to another domain than the document. */
function foreignOauth(auth: readonly AuthDocument[], documentUrl: string): readonly string[] {
  const addresses = auth.flatMap((scheme) => {
    if (scheme.type === "oauth2") return [scheme.authorizeUrl, scheme.tokenUrl];
    return scheme.type === "client_credentials" ? [scheme.tokenUrl] : [];
  });
  const hosts = new Set(addresses.map((address) => foreignHostOf(address, documentUrl)).filter((host) => host !== ""));
  return [...hosts].map((host) => `OAuth uses ${host}, which is of another domain than the document`);
}

type KeyedToolkit = Pick<ImportedAuth, "auth" | "remarks"> & {
  readonly server: ImportedServer;
  readonly keyPrefix: string;
};

/** Returns the base address and the authentication of a toolkit. If the app takes its key in the path, the address has the key's segment. */
function keyed(
  server: ImportedServer,
  { auth, remarks, pathKey }: ImportedAuth,
  operations: readonly Operation[],
): KeyedToolkit {
  if (pathKey === undefined) return { server, auth, remarks, keyPrefix: "" };
  const found = withPathKey(
    server,
    pathKey,
    operations.map(({ path }) => path),
  );
  if (found !== undefined) {
    const remark = `the key is sent in the path, in the place of ${found.segment}; the document's other schemes are not used`;
    const { prefix: keyPrefix } = found;
    return { server: found.server, auth: [{ type: "api_key", placement: "path" }], remarks: [remark], keyPrefix };
  }
  if (auth.length > 0) return { server, auth, remarks, keyPrefix: "" };
  const problem = `auth names the path segment ${JSON.stringify(pathKey)}, which neither the server nor all operations have`;
  throw new ImportError("SOURCE_INVALID", problem, `The server is ${server.baseUrl}.`, "openapi.auth");
}

type ToolsOptions = Pick<ImportOptions, "overrides" | "refused" | "names" | "accepted"> & {
  readonly progress: Progress;
};
type MadeTools = {
  readonly made: readonly (readonly [name: string, tool: ImportedTool])[];
  readonly leftOut: readonly LeftOut[];
  readonly names: ToolNames;
  readonly moved: ToolNames;
  /** Notes about overrides that match no tool any more. */
  readonly unused: ImportedReport["notes"];
};

/**
 * Returns the tools of the given operations. If all tools together exceed `bytesMax`, converts those again that have more than half the
 * bytes for each tool, which shortens their schemas. Repeats this until the tools fit.
 */
function toolsWithin(
  context: Omit<OperationContext, "bytesMax">,
  operations: readonly Operation[],
  options: ToolsOptions,
): MadeTools {
  const names = namesOf(operations, options.names);
  const unused = checkOverrides(names, options);
  if (options.accepted === undefined) checkReads(operations, names, options.overrides);
  const { progress } = options;
  for (; progress.bytesMax >= 1_000; progress.bytesMax /= 2) {
    const most = progress.bytesMax;
    const made = makeTools({ ...context, bytesMax: most }, operations, { ...options, chosenNames: names });
    const tools = { ...made, unused };
    if (tools.made.length === 0)
      throw new ImportError(
        "OPENAPI_NOTHING_SELECTED",
        `all ${operations.length} operations are left out (${reasonsOf(tools.leftOut)})`,
        "Select other operations.",
      );
    if (Buffer.byteLength(JSON.stringify(tools.made.map(([, { document }]) => document))) <= bytesMax) return tools;
  }
  throw tooManyTools(operations);
}

function reasonsOf(leftOut: readonly LeftOut[]): string {
  return [...new Set(leftOut.map(({ reason }) => reason))].join(", ");
}

function makeTools(
  context: OperationContext,
  operations: readonly Operation[],
  options: ToolsOptions & { readonly chosenNames: readonly string[] },
): Omit<MadeTools, "unused"> {
  const made = new Map<string, ImportedTool>();
  const names: Record<string, string> = {};
  const moved: Record<string, string> = {};
  const leftOut: LeftOut[] = [];
  const earlier = new Set(Object.values(options.names));
  for (const [index, operation] of operations.entries()) {
    const name = options.chosenNames[index] ?? "";
    const isMoved = earlier.has(name) && !Object.hasOwn(options.names, keyOf(operation));
    const given = overrideOf(name, options.overrides);
    const override = isMoved ? withoutMilderClass(given, operation) : given;
    try {
      const chosen = override?.name || name;
      if (!context.isServed(operation)) throw new LeftOutError("other_server");
      if (!context.isAuthorized(operation)) throw new LeftOutError("other_auth");
      if (options.refused.some(({ tool }) => tool === chosen)) throw new LeftOutError("refused");
      const { tool } = triedTool(context, operation, { override, tried: options.progress.tried });
      const detail = `another operation has the name now, so the class ${given?.class} does not apply`;
      const notes = override === given ? tool.notes : [...tool.notes, { kind: "override", detail }];
      made.set(chosen, { ...tool, notes });
      // The name stays that of the earlier operation, so that the choice for it does not apply at the next refresh either.
      (isMoved ? moved : names)[keyOf(operation)] = name;
    } catch (error) {
      const reason =
        error instanceof ExternalReferenceError
          ? "external_ref"
          : error instanceof LeftOutError
            ? error.message
            : undefined;
      if (reason === undefined) throw error;
      const { summary, description } = operation.node;
      leftOut.push({
        ...{ operation: `${operation.method} ${operation.path}`, reason },
        ...(reason === "flagged" && { name, description: quotedTexts([summary, description]) }),
      });
    }
  }
  return { made: withDistinctTexts(made), leftOut, names, moved };
}

type TriedOptions = { readonly override: ToolOverride | undefined; readonly tried: Progress["tried"] };

/** Returns the tool of an operation as `toolOf` does. Begins with the tool of the last attempt, and throws its error again. */
function triedTool(context: OperationContext, operation: Operation, { override, tried }: TriedOptions): FittingTool {
  const key = keyOf(operation);
  const earlier = tried.get(key);
  if (earlier instanceof Error) throw earlier;
  try {
    const found = toolOf(context, operation, { override, earlier });
    tried.set(key, found);
    return found;
  } catch (error) {
    if (error instanceof LeftOutError || error instanceof ExternalReferenceError) tried.set(key, error);
    throw error;
  }
}

/**
 * Returns the tools with descriptions that are all different. If several tools have the same description, the HTTP method and the path are
 * added to each of them.
 */
function withDistinctTexts(tools: ReadonlyMap<string, ImportedTool>): MadeTools["made"] {
  const plain = (text: string) => text.replaceAll(/\s+/g, " ").toLowerCase();
  const counts = Map.groupBy(tools.values(), ({ document }) => plain(document.description));
  return [...tools].map(([name, tool]) => {
    const { document } = tool;
    if ((counts.get(plain(document.description))?.length ?? 0) < 2) return [name, tool];
    const { method, path } = document.request ?? { method: "", path: "" };
    const suffix = ` (${method} ${path.replaceAll(/\{\{params\.?([^{}|]*?)(?: \|[^{}]*)?\}\}/g, "{$1}").slice(0, 300)})`;
    return [
      name,
      {
        ...tool,
        document: { ...document, description: `${document.description.slice(0, 800 - suffix.length)}${suffix}` },
      },
    ];
  });
}

/** Returns the number of imported tools in each access class. */
export function countClasses(tools: MadeTools["made"]): Record<AccessClass, number> {
  const counts = { read: 0, write: 0, destructive: 0 };
  for (const [, { document }] of tools) counts[(document as ActionDocument).class]++;
  return counts;
}

/**
 * Returns for each imported tool, by name, the access class that svc determines from the operation, without the user's overrides. If svc
 * also suggests a stricter class for the operation, returns the stricter one.
 */
export function ruledClassesOf(tools: MadeTools["made"]): ImportedToolkit["ruledClasses"] {
  return Object.fromEntries(tools.map(([name, { ruledClass }]) => [name, ruledClass]));
}

function infoOf({ root }: OpenapiDocument): DocumentNode {
  return objectOf(root["info"]);
}

type Description = Pick<ToolkitDocument, "slug" | "name" | "description" | "version" | "category">;

/** Returns the name, slug and description of the toolkit. `onFlagged`: called with a field of the document if its text is suspicious. */
function describe(
  document: OpenapiDocument,
  { slug, category }: ImportOptions,
  onFlagged: (field: string) => void,
): Description {
  const info = infoOf(document);
  const textOfInfo = (field: string, lengthMax: number) => {
    const text = safeText(info[field], lengthMax);
    if (text === undefined) onFlagged(`info.${field}`);
    return text ?? "";
  };
  const title = textOfInfo("title", 60) || "API";
  const named = slug || slugOf(title);
  if (!isSlug(named)) {
    const problem = `slug ${JSON.stringify(named.slice(0, 80))} is not a toolkit slug`;
    throw new ImportError(
      "SOURCE_INVALID",
      problem,
      "Write lower-case words joined by _, at most 60 characters.",
      "slug",
    );
  }
  const text = textOfInfo("description", 400);
  return {
    slug: named,
    name: title,
    description: text.length >= 20 ? text : `${title}: imported from its ${document.version} document.`.slice(0, 400),
    version: /^\d+\.\d+\.\d+$/.test(textOf(info["version"])) ? textOf(info["version"]) : "1.0.0",
    category: category || "developer-infrastructure",
  };
}

function slugOf(title: string): string {
  const words = wordsOf(title).filter((word) => !["api", "the", "rest", "openapi"].includes(word));
  return cutName(snakeCase(words.join(" ") || title));
}

function tooManyTools(operations: readonly Operation[]): ImportError {
  const tags = Map.groupBy(operations, ({ tags: [tag = "(no tag)"] }) => tag);
  const counted = [...tags].sort(([, a], [, b]) => b.length - a.length).slice(0, 15);
  const list = counted.map(([tag, { length }]) => `${plainText(tag, 40)} ${length}`).join(", ");
  const problem = `${operations.length} operations make too large a toolkit; a private toolkit has at most ${toolsMax} tools and ${toolkitLimits.bytes / 1_048_576} MiB`;
  return new ImportError("TOOLKIT_TOO_LARGE", problem, `Select some by tag: ${list}.`);
}
