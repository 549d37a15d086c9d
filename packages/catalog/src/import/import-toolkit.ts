import { type ProjectId, type ThreadPool, ThreadStoppedError } from "@svc/core";
import { catalogFaults } from "../errors.ts";
import type { Toolkit } from "../model.ts";
import { parsePrivateToolkit } from "../private/parse-definition.ts";
import { DefinitionError, definitionFaultText } from "../read/definition-file.ts";
import type { ImportFault } from "./import-fault.ts";
import type { ImportedReport, ImportedToolkit, ImportOptions } from "./import-openapi.ts";

/** URL of the module that runs in a separate thread and converts OpenAPI documents. */
export const importThread = new URL("./import-thread.ts", import.meta.url);

/** Memory of the thread that converts OpenAPI documents, in MiB. */
export const importMemoryMib = 512;

/** Maximum processor time for the conversion of one OpenAPI document, in milliseconds. */
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
export type ImportSource = Omit<ImportOptions, "documentUrl" | "refused"> & {
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

/** Creates the function that makes toolkits from OpenAPI documents. */
export function createToolkitImporter({ threads, read }: ImporterOptions): ToolkitImporter {
  const convert = async (text: string, options: ImportOptions, projectId: ProjectId): Promise<ImportedToolkit> => {
    const message = { text, options };
    const answer = (await threads.run({ projectId, message, cpuMsMax }).catch(refuseStopped)) as
      | ImportedToolkit
      | { readonly fault: ImportFault };
    if (!("fault" in answer)) return answer;
    const { reason, problem, advice } = answer.fault;
    throw catalogFaults[reason](problem, advice);
  };
  return async ({ url, document, ...options }, projectId) => {
    if ((url === "") === (document === "")) {
      throw catalogFaults.SOURCE_INVALID("openapi needs either url or document", "Set exactly one of the two.");
    }
    const text = url === "" ? document : await readAt(url, projectId, read);
    const wanted = { ...options, documentUrl: url };
    const first = await convert(text, { ...wanted, refused: [] }, projectId);
    const faults = await toolkitOrFaults(first.definitionJson, projectId);
    if ("toolkit" in faults) return { ...first, ...faults };
    // A tool that breaks a rule of definitions is left out, so that it does not prevent the import of the others.
    const refused = faults.tools.map(([tool, detail]) => ({ tool, detail }));
    const second = await convert(text, { ...wanted, refused }, projectId);
    const again = await toolkitOrFaults(second.definitionJson, projectId);
    if ("toolkit" in again) return { ...second, ...again };
    throw catalogFaults.DEFINITION_INVALID(again.error);
  };
}

function refuseStopped(error: unknown): never {
  if (!(error instanceof ThreadStoppedError) || error.reason === "closed") throw error;
  const what = error.reason === "cpu" ? `${cpuMsMax / 1_000} s of processor time` : `${importMemoryMib} MiB of memory`;
  const advice = "Send a smaller document, or only the paths that you need.";
  throw catalogFaults.IMPORT_TOO_COSTLY(`converting the document takes more than ${what}`, advice);
}

async function readAt(url: string, projectId: ProjectId, read: ImporterOptions["read"]): Promise<string> {
  const address = URL.parse(url);
  const isLoopback = address !== null && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(address.hostname);
  const isAllowed = address?.protocol === "https:" || (address?.protocol === "http:" && isLoopback);
  if (address === null || !isAllowed) throw catalogFaults.SOURCE_URL_REFUSED(url, "it is not an https address");
  if (address.username !== "" || address.password !== "")
    throw catalogFaults.SOURCE_URL_REFUSED(address.origin, "an address with a password is not allowed");
  const answer = await read(address.href, projectId);
  switch (answer.kind) {
    case "text":
      return answer.text;
    case "refused":
      throw catalogFaults.SOURCE_URL_REFUSED(url, answer.message);
    case "failed":
      throw catalogFaults.SOURCE_UNREACHABLE(url, answer.message);
  }
}

type ToolFaults = {
  readonly error: DefinitionError;
  readonly tools: readonly (readonly [tool: string, detail: string])[];
};

/**
 * Returns the toolkit (the tools of one app) of a definition. If some tools break a rule for definitions, returns these tools with the
 * rules. Throws DEFINITION_INVALID if a part outside the tools breaks a rule.
 */
async function toolkitOrFaults(
  definitionJson: string,
  projectId: ProjectId,
): Promise<{ readonly toolkit: Toolkit } | ToolFaults> {
  try {
    return { toolkit: await parsePrivateToolkit(definitionJson, projectId) };
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const tools = new Map(
      error.faults.map((fault) => [fault.file.replace(/^tools\./, ""), definitionFaultText(fault)]),
    );
    if (error.faults.some(({ file }) => !file.startsWith("tools."))) throw catalogFaults.DEFINITION_INVALID(error);
    return { error, tools: [...tools] };
  }
}
