import { assertExhaustive, httpTargetOf, type ProjectId, type ThreadPool, ThreadStoppedError } from "@svc/core";
import { catalogFaults } from "../errors.ts";
import type { Toolkit } from "../model.ts";
import { parseKeptToolkit } from "../private/parse-definition.ts";
import { DefinitionError, type FileFault } from "../read/definition-file.ts";
import type { ChosenImportOptions, ImportResult } from "./import-checked.ts";
import type { ImportedReport, ImportedToolkit } from "./import-openapi.ts";

/** URL of the module that runs in a separate thread and converts OpenAPI documents. */
export const importThread = new URL("./import-thread.ts", import.meta.url);

/** Memory of the thread that converts OpenAPI documents, in MiB. */
export const importMemoryMib = 512;

/** Maximum processor time for the conversion of one OpenAPI document and the checks of the result, in milliseconds. */
const cpuMsMax = 30_000;

/**
 * Result of reading the document at a URL: its text, or an error. `refused`: svc may not read the URL. `failed`: svc got no text from it.
 * `message`: the reason, as the end of a sentence.
 */
export type ReadSource =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refused" | "failed"; readonly message: string };

/** Dependencies of the function that imports OpenAPI documents as toolkits. */
export type ImporterOptions = {
  /** Threads that run `importThread`, with `importMemoryMib` of memory. */
  readonly threads: Pick<ThreadPool, "run">;
  /** Reads the text at an https address on behalf of a project. The address guard of svc refuses private addresses. */
  readonly read: (url: string, projectId: ProjectId) => Promise<ReadSource>;
};

/** A document to import, with the options of the import. Exactly one of `url` and `document` is not empty. */
export type ImportSource = Omit<ChosenImportOptions, "documentUrl"> & {
  readonly url: string;
  readonly document: string;
};

/** The toolkit (the tools of one app) that an import made, its definition as JSON text, and the report. */
export type CheckedImport = {
  readonly toolkit: Toolkit;
  readonly definitionJson: string;
  readonly report: ImportedReport;
};

/**
 * Makes a checked toolkit (the tools of one app) from an OpenAPI document. Stores nothing. Rejects with an error of `catalogFaults` if the
 * document cannot become a toolkit.
 */
export type ToolkitImporter = (source: ImportSource, projectId: ProjectId) => Promise<CheckedImport>;

/**
 * Creates the function that makes toolkits from OpenAPI documents. A project has one import at a time on a node: a second one is refused
 * with IMPORT_TOO_COSTLY, so that waiting documents do not fill the memory.
 */
export function createToolkitImporter({ threads, read }: ImporterOptions): ToolkitImporter {
  const importing = new Set<ProjectId>();
  const convert = async (
    text: string,
    options: ChosenImportOptions,
    projectId: ProjectId,
  ): Promise<ImportedToolkit> => {
    const message = { text, options };
    const result = (await threads.run({ projectId, message, cpuMsMax }).catch(refuseStopped)) as ImportResult;
    if ("definitionFaults" in result)
      throw catalogFaults.DEFINITION_INVALID(new DefinitionError(result.definitionFaults), fieldOfImport);
    if (!("fault" in result)) return result;
    const { reason, problem, advice, field } = result.fault;
    throw catalogFaults[reason](problem, advice, field);
  };
  return async ({ url, document, ...options }, projectId) => {
    if ((url === "") === (document === "")) {
      throw catalogFaults.SOURCE_INVALID("openapi needs either url or document", "Set exactly one of the two.");
    }
    if (importing.has(projectId)) {
      throw catalogFaults.IMPORT_TOO_COSTLY(
        "another import of the project is still running",
        "Wait until it has ended.",
        "",
      );
    }
    importing.add(projectId);
    try {
      const text = url === "" ? document : await readAt(url, projectId, read);
      const made = await convert(text, { ...options, documentUrl: url }, projectId);
      // The thread has made all checks. What is left is cheap, and other work of the node can run between its parts.
      return { ...made, toolkit: await parseKeptToolkit(made.definitionJson, projectId) };
    } finally {
      importing.delete(projectId);
    }
  };
}

/** Returns the field of an import request that causes a broken rule in the definition that svc made of it. */
function fieldOfImport({ file, path }: FileFault): string {
  return file === "toolkit" && (path === "slug" || path === "category") ? path : "openapi";
}

function refuseStopped(error: unknown): never {
  if (!(error instanceof ThreadStoppedError) || error.reason === "closed") throw error;
  const what = error.reason === "cpu" ? `${cpuMsMax / 1_000} s of processor time` : `${importMemoryMib} MiB of memory`;
  const advice = "Send a smaller document, or only the paths that you need.";
  throw catalogFaults.IMPORT_TOO_COSTLY(`converting the document takes more than ${what}`, advice);
}

async function readAt(url: string, projectId: ProjectId, read: ImporterOptions["read"]): Promise<string> {
  // A fragment is not part of the request for the document.
  const address = url.replace(/#.*$/s, "");
  const target = httpTargetOf(address);
  if ("fault" in target) throw catalogFaults.SOURCE_URL_REFUSED(withoutCredentials(url), `it ${target.fault}`);
  const answer = await read(address, projectId);
  switch (answer.kind) {
    case "text":
      return answer.text;
    case "refused":
      throw catalogFaults.SOURCE_URL_REFUSED(url, answer.message);
    case "failed":
      throw catalogFaults.SOURCE_UNREACHABLE(url, answer.message);
    default:
      return assertExhaustive(answer);
  }
}

/** Returns an address without its user name and password, so that an error can quote it. */
function withoutCredentials(url: string): string {
  const address = URL.parse(url);
  if (address === null || (address.username === "" && address.password === "")) return url;
  return Object.assign(address, { username: "", password: "" }).href;
}
