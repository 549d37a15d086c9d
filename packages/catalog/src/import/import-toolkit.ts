import { type ProjectId, type ThreadPool, ThreadStoppedError } from "@svc/core";
import { catalogFaults } from "../errors.ts";
import type { Toolkit } from "../model.ts";
import { parsePrivateToolkit } from "../private/parse-definition.ts";
import { DefinitionError, definitionFaultText } from "../read/definition-file.ts";
import type { ImportFault } from "./import-fault.ts";
import type { ImportedReport, ImportedToolkit, ImportOptions } from "./import-openapi.ts";

/** Module of the thread that converts OpenAPI documents. */
export const importThread = new URL("./import-thread.ts", import.meta.url);

/** Memory of that thread in MiB. */
export const importMemoryMib = 512;

/** Maximum processor time of a conversion, milliseconds. */
const cpuMsMax = 30_000;

/** Text at an address. `refused`: svc may not read the address. `failed`: no text came. `message`: the end of a sentence. */
export type ReadSource =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refused" | "failed"; readonly message: string };

/** Dependencies of imports. */
export type ImporterOptions = {
  /** Threads that run `importThread`, with `importMemoryMib` of memory. */
  readonly threads: Pick<ThreadPool, "run">;
  /** Reads the text at an https address for a project. The address guard applies. */
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

/** Makes a checked toolkit (the tools of one app) from a document. Stores nothing. Rejects with a fault of `catalogFaults`. */
export type ToolkitImporter = (source: ImportSource, projectId: ProjectId) => Promise<CheckedImport>;

/** Creates the function that imports documents. */
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

/** Returns the toolkit (the tools of one app) of a definition, or the tools that break a rule. Throws faults of the whole definition. */
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
