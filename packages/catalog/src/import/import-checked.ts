import { createHash } from "node:crypto";
import { readForeignText } from "@svc/core";
import { checkPrivateToolkit } from "../private/parse-definition.ts";
import { DefinitionError, definitionFaultText, type FileFault } from "../read/definition-file.ts";
import {
  acceptTrusted,
  type ComparedDefinitions,
  compareTexts,
  type TrustedChanges,
  toolNamesOf,
} from "../source/compare-texts.ts";
import type { OpenIdProvider } from "./auth.ts";
import { ImportError, type ImportFault, OpenIdNeededError } from "./import-fault.ts";
import { importMcp, listingText, type McpImportOptions, type McpListing } from "./import-mcp.ts";
import { type ImportedToolkit, type ImportOptions, readOpenapi } from "./import-openapi.ts";

/** Options that the caller of the API chooses for the import of an app's tools. Options that svc sets itself are not included. */
export type ChosenImportOptions = Omit<ImportOptions, "refused" | "accepted" | "openId">;

/**
 * A toolkit that was made from a source. `digest`: hexadecimal SHA-256 of the content of the source. `comparison`: differences from the
 * accepted definition; undefined for a new toolkit, or without differences. `trusted`: the differences that svc accepts by itself;
 * undefined if it accepts none.
 */
export type ImportedAndCompared = Omit<ImportedToolkit, "ruledClasses"> & {
  readonly digest: string;
  readonly comparison: ComparedDefinitions | undefined;
  readonly trusted: TrustedChanges | undefined;
};

/**
 * Result of an import: the new toolkit, or why there is none. `fault`: the source cannot be converted. `definitionFaults`: the rules that
 * the converted toolkit breaks. `openIdUrl`: the address of OpenID metadata without which the source cannot be converted.
 */
export type ImportResult =
  | ImportedAndCompared
  | { readonly fault: ImportFault }
  | { readonly openIdUrl: string }
  | { readonly definitionFaults: readonly FileFault[] };

/** Converts a document and returns the toolkit. `refused`: tools that break a rule and must be left out. */
type MakeToolkit = (refused: ImportOptions["refused"]) => ImportedToolkit;

/** The bytes of a document as a server sent them. `contentType`: value of the header Content-Type, which may name the charset. */
export type DocumentBytes = { readonly bytes: Uint8Array; readonly contentType: string | undefined };

/** An OpenAPI document (its text, or its bytes), or the list of an MCP server's tools, with the options of its import. */
export type SourceToImport =
  | { readonly document: string | DocumentBytes; readonly options: ChosenImportOptions }
  | { readonly listing: McpListing; readonly options: Omit<McpImportOptions, "refused" | "accepted"> };

/**
 * A task for the thread that imports. `current`: the accepted definition of the toolkit as JSON text, with which the result is compared;
 * undefined for a new toolkit. `isTrusted`: true if svc accepts changes of the source by itself. `openId`: the OpenID provider whose
 * metadata an earlier run of the task needed.
 */
export type ImportTask = {
  readonly source: SourceToImport;
  readonly current: string | undefined;
  readonly isTrusted: boolean;
  readonly openId?: OpenIdProvider | undefined;
};

/** Does the task of the thread that imports: converts the document of the task with `importChecked`. */
export async function runImport({ source, current, isTrusted, openId }: ImportTask): Promise<ImportResult> {
  const accepted = current === undefined ? undefined : toolNamesOf(current);
  const read = "listing" in source ? { text: listingText(source.listing) } : textOf(source.document);
  if ("fault" in read) return read;
  let makeDocument: ReturnType<typeof readOpenapi> | undefined;
  const result = await importChecked((refused) => {
    if ("listing" in source) return importMcp(source.listing, { ...source.options, accepted, refused });
    makeDocument ??= readOpenapi(read.text);
    return makeDocument({ ...source.options, accepted, refused, openId });
  });
  if (!("definitionJson" in result)) return result;
  const { ruledClasses, ...imported } = result;
  const { definitionJson: next, flagged } = imported;
  const comparison = current === undefined ? undefined : compareTexts(current, next, flagged);
  const isAccepted = isTrusted && current !== undefined && comparison !== undefined;
  return {
    ...imported,
    digest: createHash("sha256")
      .update(read.text)
      .update(JSON.stringify(openId ?? ""))
      .digest("hex"),
    comparison,
    trusted: isAccepted ? await acceptTrusted({ current, next, flagged, ruledClasses }) : undefined,
  };
}

function textOf(document: string | DocumentBytes): { readonly text: string } | { readonly fault: ImportFault } {
  if (typeof document === "string") return { text: document };
  const read = readForeignText(document.bytes, document.contentType);
  if ("text" in read) return read;
  const advice = "Send the text of the document instead of its address.";
  return { fault: new ImportError("OPENAPI_UNREADABLE", `the text of the document ${read.fault}`, advice).fault };
}

/**
 * Converts a document and checks the result by the rules of private toolkits. A tool that breaks a rule is left out, so that it does not
 * prevent the import of the others. Takes seconds of processor time for a large document, so it runs in a thread of its own.
 */
async function importChecked(make: MakeToolkit): Promise<ImportedToolkit | Exclude<ImportResult, ImportedAndCompared>> {
  try {
    const first = make([]);
    const faults = await faultsOf(first);
    if (faults.length === 0) return first;
    if (faults.some(({ file }) => !file.startsWith(toolPrefix))) return { definitionFaults: faults };
    const second = make(refusedTools(faults));
    const left = await faultsOf(second);
    return left.length === 0 ? second : { definitionFaults: left };
  } catch (error) {
    if (error instanceof ImportError) return { fault: error.fault };
    if (error instanceof OpenIdNeededError) return { openIdUrl: error.url };
    throw error;
  }
}

const toolPrefix = "tools.";

/** Returns the rules of private toolkits that a definition breaks. Takes seconds of processor time for a large definition. */
export async function faultsOf({
  definitionJson,
}: Pick<ImportedToolkit, "definitionJson">): Promise<readonly FileFault[]> {
  try {
    await checkPrivateToolkit(definitionJson);
    return [];
  } catch (error) {
    if (error instanceof DefinitionError) return error.faults;
    throw error;
  }
}

function refusedTools(faults: readonly FileFault[]): ImportOptions["refused"] {
  const details = new Map(faults.map((fault) => [fault.file.slice(toolPrefix.length), definitionFaultText(fault)]));
  return [...details].map(([tool, detail]) => ({ tool, detail }));
}
