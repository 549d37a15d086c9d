import {
  type AccountId,
  assertExhaustive,
  Fault,
  httpTargetOf,
  type ProjectId,
  type ThreadPool,
  ThreadStoppedError,
} from "@svc/core";
import type { FoundToolkitClient } from "@svc/db/catalog/clients";
import { faultOfHeaderName } from "../check/known-names.ts";
import { catalogFaults } from "../errors.ts";
import type { Toolkit } from "../model.ts";
import { buildCheckedToolkit } from "../private/parse-definition.ts";
import { DefinitionError, type FileFault } from "../read/definition-file.ts";
import type { OauthDocument } from "../read/documents.ts";
import type { MergeResult, MergeTask } from "../source/compare-texts.ts";
import type { OpenIdProvider } from "./auth.ts";
import type {
  ChosenImportOptions,
  DocumentBytes,
  ImportedAndCompared,
  ImportResult,
  ImportTask,
  SourceToImport,
} from "./import-checked.ts";
import type { ImportFault } from "./import-fault.ts";
import type { McpImportOptions, McpListing } from "./import-mcp.ts";
import type { ImportedToolkit } from "./import-openapi.ts";

/** URL of the module that runs in a separate thread and converts OpenAPI documents. */
export const importThread = new URL("./import-thread.ts", import.meta.url);

/** Memory of the thread that converts OpenAPI documents, in MiB. */
export const importMemoryMib = 512;

/** Maximum processor time for the conversion of one OpenAPI document and the checks of the result, in milliseconds. */
const cpuMsMax = 30_000;

/**
 * Maximum number of imports that a node makes or that wait for its thread. Each may hold a document of 16 MiB in memory.
 */
const importsMax = 8;

/**
 * Result of reading the document at a URL: its bytes, or an error. `refused`: svc may not read the URL. `failed`: svc got no document from
 * it. `message`: the reason, as the end of a sentence.
 */
export type ReadSource =
  | ({ readonly kind: "document" } & DocumentBytes)
  | { readonly kind: "refused" | "failed"; readonly message: string };

/**
 * Result of asking an MCP server for its tools. `oauth`: the scheme of OAuth by which accounts of the server are connected. `client`: the
 * project's OAuth client, which is stored with the toolkit; undefined if the project has one. `accountId`: the account with which svc lists
 * the tools, now and later; undefined if the server needs none. `unauthorized`: the server wants a credential. `not_mcp`: the server at the
 * address is not an MCP server. `refused`: svc may not connect to the address. `failed`: no answer came. `no_account`: the account that
 * lists the tools cannot be used. `wrong_account`: the query names an account that the toolkit does not have. `message`: the reason, as the
 * end of a sentence.
 */
export type McpServerReading =
  | ({
      readonly kind: "listing";
      readonly listing: McpListing;
      readonly accountId?: AccountId | undefined;
    } & FoundOauth)
  | ({ readonly kind: "unauthorized"; readonly message: string } & FoundOauth)
  | {
      readonly kind: "not_mcp" | "refused" | "failed" | "no_account" | "wrong_account";
      readonly message: string;
    };

/**
 * Result of reading the metadata of an OpenID provider. `unusable`: svc cannot use it; `message` is the reason, as the end of a sentence.
 */
export type OpenIdReading =
  | ({ readonly kind: "found" } & OpenIdProvider)
  | { readonly kind: "unusable"; readonly message: string };

type FoundOauth = {
  readonly oauth?: OauthDocument | undefined;
  readonly client?: FoundToolkitClient | undefined;
};

/**
 * A request to read the tools of an MCP server. `slug`: the toolkit whose connected account may be used; empty for none. `accountId`: id of
 * the account to use, as the caller gave it; empty for the one that listed the tools before. `takesOauth`: true to find out how the server
 * uses OAuth, if it wants a credential. `isTrial`: true to register no OAuth client.
 */
export type McpServerQuery = {
  readonly url: string;
  readonly slug: string;
  readonly accountId: string;
  readonly projectId: ProjectId;
  readonly takesOauth: boolean;
  readonly isTrial: boolean;
};

/**
 * An import of a source, or a refresh (another read of it), that has ended. `outcome`: `ok`, `changed` (a refresh with changes),
 * `unreachable`, `refused` (another error that the caller gets) or `failed` (an error of svc).
 */
export type SourceReading = {
  readonly purpose: "import" | "refresh";
  readonly kind: "openapi" | "mcp";
  readonly outcome: "ok" | "changed" | "unreachable" | "refused" | "failed";
};

/** Dependencies of the function that imports OpenAPI documents and MCP servers as toolkits. */
export type ImporterOptions = {
  /** Threads that run `importThread`, with `importMemoryMib` of memory. */
  readonly threads: Pick<ThreadPool, "run">;
  /** Reads the document at an https address on behalf of a project. The address guard of svc refuses private addresses. */
  readonly read: (url: string, projectId: ProjectId) => Promise<ReadSource>;
  /** Reads the metadata of an OpenID provider (OpenID Connect Discovery) on behalf of a project, behind the same address guard. */
  readonly readOpenId: (url: string, projectId: ProjectId) => Promise<OpenIdReading>;
  /**
   * Asks an MCP server for its tools, with the credential of an account that the project has connected to the toolkit, if there is one. The
   * address guard of svc refuses private addresses.
   */
  readonly readMcp: (query: McpServerQuery) => Promise<McpServerReading>;
  /** Called with each import and each refresh that has ended. */
  readonly onRead?: ((reading: SourceReading) => void) | undefined;
};

/**
 * An OpenAPI document to import, with the options of the import. If `document` is empty, it is read from `url`. `isWatched`: true if svc
 * reads the document again each day. `isTrusted`: true if svc accepts changes of the document by itself. `moved`: names of tools that other
 * operations had before, by operation.
 */
type DocumentSource = Omit<ChosenImportOptions, "documentUrl"> & {
  readonly url: string;
  readonly document: string;
  readonly isWatched: boolean;
  readonly isTrusted: boolean;
  readonly moved: ImportedToolkit["moved"];
};

/**
 * An MCP server to import, with the options of the import. `isTrusted`: true if svc accepts changes of its tools by itself.
 * `listingAccountId`: id of the account that lists its tools, as the caller gave it; empty for the one that listed them before.
 */
type McpSource = Omit<McpImportOptions, "refused" | "accepted" | "oauth"> & {
  readonly isTrial?: boolean | undefined;
  readonly listingAccountId: string;
  readonly isTrusted: boolean;
};

/** Source of an import: an OpenAPI document, or an MCP server. */
export type ImportSource = ({ readonly kind: "openapi" } & DocumentSource) | ({ readonly kind: "mcp" } & McpSource);

/**
 * The toolkit that svc made by reading a source (a document or an MCP server). `listingAccountId`: the account with which svc lists the
 * tools of an MCP server; undefined for none.
 */
export type ReadImport = ImportedAndCompared & { readonly listingAccountId: AccountId | undefined };

/** The toolkit (the tools of one app) that an import made, with its definition as JSON text, its names of tools, and the report. */
export type CheckedImport = Omit<ReadImport, "comparison" | "trusted"> & {
  readonly toolkit: Toolkit;
  /** OAuth client of the project that is stored with the toolkit. Undefined if there is none, or if the project has one already. */
  readonly client: FoundToolkitClient | undefined;
};

/**
 * Makes checked toolkits (each the tools of one app) from OpenAPI documents and MCP servers. Stores nothing. All functions reject with an
 * error of `catalogFaults` if the source cannot become a toolkit.
 */
export type ToolkitImporter = {
  /** Makes a new toolkit. */
  convert(source: ImportSource, projectId: ProjectId): Promise<CheckedImport>;
  /** Reads the source of a toolkit again, and compares the result with its accepted definition (JSON text). */
  refresh(source: ImportSource, current: string, projectId: ProjectId): Promise<ReadImport>;
  /** Returns the rules of private toolkits that a definition breaks. Rejects with IMPORT_TOO_COSTLY if checking it takes too long. */
  check(definitionJson: string, projectId: ProjectId): Promise<readonly FileFault[]>;
  /**
   * Applies accepted changes to a definition, and checks the result. Resolves to `outdated` if they are other changes than `task.digest`.
   */
  merge(
    task: MergeTask,
    projectId: ProjectId,
  ): Promise<Extract<MergeResult, { readonly definitionJson: string }> | "outdated">;
};

/**
 * Creates the importer of OpenAPI documents and MCP servers. A project has one import at a time on a node, and all projects together have
 * `importsMax`. A further one is refused with IMPORT_TOO_COSTLY, so that waiting documents do not fill the memory.
 */
export function createToolkitImporter({
  threads,
  read,
  readOpenId,
  readMcp,
  onRead,
}: ImporterOptions): ToolkitImporter {
  const importing = new Set<ProjectId>();
  const merging = new Set<ProjectId>();
  const run = (
    message: { import: ImportTask } | { merge: MergeTask } | { check: string },
    projectId: ProjectId,
  ): Promise<unknown> => threads.run({ projectId, message, cpuMsMax }).catch(refuseStopped);
  const runTask = async (task: ImportTask, projectId: ProjectId): Promise<Exclude<ImportResult, OpenIdNeed>> => {
    const result = (await run({ import: task }, projectId)) as ImportResult;
    if (!("openIdUrl" in result)) return result;
    const { openIdUrl: url } = result;
    const found = task.openId === undefined ? await readOpenId(url, projectId) : undefined;
    if (found?.kind === "found") return runTask({ ...task, openId: { ...found, url } }, projectId);
    throw catalogFaults.SOURCE_UNREACHABLE("openapi.auth", shownAddress(url), found?.message ?? "it was read before");
  };
  const importUncounted = async (
    { kind, ...source }: ImportSource,
    current: string | undefined,
    projectId: ProjectId,
  ): Promise<ImportedWithClient> => {
    if (importing.has(projectId)) {
      const problem = "another import of the project is still running";
      throw catalogFaults.IMPORT_TOO_COSTLY(problem, "Wait until it has ended.", "");
    }
    if (importing.size >= importsMax) {
      const problem = `${importing.size} imports of other projects are still running`;
      throw catalogFaults.IMPORT_TOO_COSTLY(problem, "Try again in a minute.", "");
    }
    importing.add(projectId);
    try {
      const { client, listingAccountId, ...made } =
        "document" in source
          ? await documentToImport(source, projectId, read)
          : await serverToImport(source, { projectId, isNew: current === undefined }, readMcp);
      // A source that an older svc stored has no value for `isTrusted`.
      const isTrusted = source.isTrusted === true;
      const result = await runTask({ source: made, current, isTrusted }, projectId);
      if ("definitionFaults" in result)
        throw catalogFaults.DEFINITION_INVALID(new DefinitionError(result.definitionFaults), (fault) =>
          fieldOfImport(fault, kind),
        );
      if (!("fault" in result)) return { ...result, client, listingAccountId };
      throw refusalOf(result.fault);
    } finally {
      importing.delete(projectId);
    }
  };
  const importOne = async (
    source: ImportSource,
    current: string | undefined,
    projectId: ProjectId,
  ): Promise<ImportedWithClient> => {
    const [purpose, { kind }] = [current === undefined ? "import" : "refresh", source] as const;
    try {
      const made = await importUncounted(source, current, projectId);
      onRead?.({ purpose, kind, outcome: made.comparison === undefined ? "ok" : "changed" });
      return made;
    } catch (error) {
      onRead?.({ purpose, kind, outcome: failureOf(error) });
      throw error;
    }
  };
  return {
    async convert(source, projectId) {
      if (source.kind === "openapi" && (source.url === "") === (source.document === ""))
        throw catalogFaults.SOURCE_INVALID("openapi needs either url or document", "Set exactly one of the two.");
      const { comparison: _comparison, trusted: _trusted, ...made } = await importOne(source, undefined, projectId);
      // The thread has made all checks.
      return {
        ...made,
        toolkit: await buildCheckedToolkit(made.definitionJson, { ownerProjectId: projectId, isImported: true }),
      };
    },
    refresh: importOne,
    check: async (definitionJson, projectId) =>
      (await run({ check: definitionJson }, projectId)) as readonly FileFault[],
    async merge(task, projectId) {
      if (merging.has(projectId)) {
        const problem = "the project accepts other changes of a toolkit right now";
        throw catalogFaults.IMPORT_TOO_COSTLY(problem, "Wait until that has ended.", "");
      }
      merging.add(projectId);
      const merged = run({ merge: task }, projectId).finally(() => merging.delete(projectId));
      const result = (await merged) as MergeResult;
      if ("isOutdated" in result) return "outdated";
      if ("fault" in result) throw refusalOf(result.fault);
      if (!("definitionFaults" in result)) return result;
      throw catalogFaults.DEFINITION_INVALID(new DefinitionError(result.definitionFaults), () => "toolNames");
    },
  };
}

type ImportedWithClient = ReadImport & Pick<CheckedImport, "client">;

type OpenIdNeed = { readonly openIdUrl: string };

function refusalOf({ reason, problem, advice, field }: ImportFault): Fault {
  return catalogFaults[reason](problem, advice, field);
}

function failureOf(error: unknown): SourceReading["outcome"] {
  if (!(error instanceof Fault)) return "failed";
  return error.details.some(({ reason }) => reason === "SOURCE_UNREACHABLE") ? "unreachable" : "refused";
}

/** Returns the field of an import request that causes a broken rule in the definition that svc made of it. */
function fieldOfImport({ file, path }: FileFault, source: "openapi" | "mcp"): string {
  return file === "toolkit" && (path === "slug" || path === "category") ? path : source;
}

/** A source to import, with the OAuth client of the project that is stored with the toolkit, and the account that lists its tools. */
type FoundSource = SourceToImport & {
  readonly client?: FoundToolkitClient | undefined;
  readonly listingAccountId?: AccountId | undefined;
};

async function documentToImport(
  { url, document, isWatched: _isWatched, isTrusted: _isTrusted, moved: _moved, ...options }: DocumentSource,
  projectId: ProjectId,
  read: ImporterOptions["read"],
): Promise<FoundSource> {
  const found = document === "" ? await readAt(url, projectId, read) : document;
  return { document: found, options: { ...options, documentUrl: url } };
}

/** Description of an MCP server that lists its tools only to a connected account. It becomes a toolkit without tools. */
const silentServer: McpListing = { name: "", title: "", version: "", protocol: "", pages: [] };

/** `isNew`: true for a new toolkit, which may begin without tools. */
async function serverToImport(
  source: McpSource,
  { projectId, isNew }: { readonly projectId: ProjectId; readonly isNew: boolean },
  readMcp: ImporterOptions["readMcp"],
): Promise<FoundSource> {
  const { isTrial = false, isTrusted: _isTrusted, listingAccountId: accountId, ...options } = source;
  const { url, header, slug } = options;
  const address = checkMcpSource(source);
  const takesOauth = header === "" && isNew;
  const reading = await readMcp({ url: address, slug, accountId, projectId, takesOauth, isTrial });
  const accountField = isNew ? "mcp.listingAccountId" : "listingAccountId";
  switch (reading.kind) {
    case "listing":
      return {
        listing: reading.listing,
        options: { ...options, url: address, oauth: reading.oauth },
        client: reading.client,
        listingAccountId: reading.accountId,
      };
    case "unauthorized": {
      // Without this, each tool of a known toolkit would count as gone.
      if (!isNew) throw catalogFaults.SOURCE_UNREACHABLE("mcp.url", shownAddress(url), reading.message);
      const { oauth, client } = reading;
      if (header === "" && oauth === undefined)
        throw catalogFaults.UPSTREAM_NEEDS_CLIENT(shownAddress(url), reading.message);
      return { listing: silentServer, options: { ...options, url: address, oauth, overrides: [] }, client };
    }
    case "not_mcp":
      throw catalogFaults.UPSTREAM_NOT_MCP(shownAddress(url), reading.message);
    case "refused":
      throw catalogFaults.SOURCE_URL_REFUSED("mcp.url", shownAddress(url), reading.message);
    case "failed":
      throw catalogFaults.SOURCE_UNREACHABLE("mcp.url", shownAddress(url), reading.message);
    case "no_account":
      throw catalogFaults.SOURCE_UNREACHABLE(accountField, shownAddress(url), reading.message);
    case "wrong_account":
      throw catalogFaults.SOURCE_INVALID(
        reading.message,
        "Give the id of an account that is connected to the toolkit.",
        accountField,
      );
  }
}

/** Returns the address of an MCP server as it is stored. Throws SOURCE_INVALID and SOURCE_URL_REFUSED. */
function checkMcpSource({ url, header }: McpSource): string {
  if (!/^https?:/i.test(url)) {
    const advice =
      "Give its https address. For a server that runs as a command, run a bridge from stdio to HTTP on the same machine as svc.";
    throw catalogFaults.SOURCE_INVALID(
      `mcp.url ${JSON.stringify(shownAddress(url).slice(0, 200))} is not the address of an MCP server`,
      advice,
      "mcp.url",
    );
  }
  const fault = header === "" ? undefined : faultOfKeyHeader(header);
  if (fault !== undefined)
    throw catalogFaults.SOURCE_INVALID(
      `mcp.header ${JSON.stringify(header.slice(0, 100))} ${fault}`,
      "Name a header such as Authorization or X-Api-Key.",
      "mcp.header",
    );
  return new URL(addressOf("mcp.url", url)).href;
}

function faultOfKeyHeader(header: string): string | undefined {
  if (/^mcp-/i.test(header)) return "is a header of the protocol";
  return faultOfHeaderName(header)?.[0];
}

function refuseStopped(error: unknown): never {
  if (!(error instanceof ThreadStoppedError) || error.reason === "closed") throw error;
  const what = error.reason === "cpu" ? `${cpuMsMax / 1_000} s of processor time` : `${importMemoryMib} MiB of memory`;
  const advice = "Send a smaller document, or only the paths that you need.";
  throw catalogFaults.IMPORT_TOO_COSTLY(`converting and checking it takes more than ${what}`, advice);
}

/** Returns the address of a source without its fragment. Throws SOURCE_URL_REFUSED if svc does not call such an address. */
function addressOf(field: "openapi.url" | "mcp.url", url: string): string {
  // A fragment is not part of the request for the document.
  const address = url.replace(/#.*$/s, "");
  const target = httpTargetOf(address);
  if ("fault" in target) throw catalogFaults.SOURCE_URL_REFUSED(field, shownAddress(url), `it ${target.fault}`);
  return address;
}

async function readAt(url: string, projectId: ProjectId, read: ImporterOptions["read"]): Promise<DocumentBytes> {
  const answer = await read(addressOf("openapi.url", url), projectId);
  switch (answer.kind) {
    case "document":
      return { bytes: answer.bytes, contentType: answer.contentType };
    case "refused":
      throw catalogFaults.SOURCE_URL_REFUSED("openapi.url", shownAddress(url), answer.message);
    case "failed":
      throw catalogFaults.SOURCE_UNREACHABLE("openapi.url", shownAddress(url), answer.message);
    default:
      return assertExhaustive(answer);
  }
}

/** Returns an address without its user name, password, query and fragment, so that an error can quote it: each may be a secret. */
function shownAddress(url: string): string {
  const address = URL.parse(url);
  const text = url.replace(/[?#].*$/s, "");
  if (address === null || (address.username === "" && address.password === "")) return text;
  return Object.assign(address, { username: "", password: "", search: "", hash: "" }).href;
}
