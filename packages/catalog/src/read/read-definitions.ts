import { createHash, hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { requireText } from "@svc/core";
import { brokenFile, type DefinitionFile, parseDefinitionFile, readDefinitionFile } from "./definition-file.ts";
import { openParsedDefinitions, type ParsedDefinitions } from "./parsed-definitions.ts";

/**
 * Definition files of a toolkit (the tools and webhooks of one app). `folder`: name of its folder. `tools`: files by name, without .yaml.
 */
export type ToolkitFiles = {
  readonly folder: string;
  readonly toolkit: DefinitionFile;
  readonly tools: ReadonlyMap<string, DefinitionFile>;
  /** Example phrases for the tools. Absent if the folder has no sayings.yaml. */
  readonly sayings?: DefinitionFile | undefined;
  /** Digest of the texts of all files. Absent if a text could not be read, or if a definition was changed after its file was read. */
  readonly digest?: string | undefined;
};

/** Returns all definition files of a toolkit (one app) as one list: the file of the toolkit, of its tools and of its example phrases. */
export function filesOf({ toolkit, tools, sayings }: ToolkitFiles): readonly DefinitionFile[] {
  return [toolkit, ...tools.values(), ...(sayings === undefined ? [] : [sayings])];
}

/** Maximum number of files open at the same time. It keeps the disk busy and is far below the limits of operating systems. */
const openFilesMax = 64;

/**
 * Returns the files of every toolkit (app definition) in the definition folders, ordered by folder and then by name. Never rejects: a
 * missing or unreadable file gets an error. `unreadable`: folders that cannot be listed.
 */
export async function readDefinitions(
  folders: readonly string[],
): Promise<{ readonly toolkits: ToolkitFiles[]; readonly unreadable: DefinitionFile[] }> {
  const unreadable: DefinitionFile[] = [];
  const parsed = await openParsedDefinitions(folders);
  const read = createReader(parsed);
  const toolkits: Promise<ToolkitFiles>[] = [];
  for (const folder of folders) {
    const entries = await listFolder(folder);
    if (entries === undefined) {
      unreadable.push(
        brokenFile(folder, [{ reason: "cannot be listed", cure: "name a folder of toolkit definitions" }]),
      );
    }
    for (const entry of entries ?? []) {
      // Symbolic links count as toolkits too, because mounted configuration folders often consist of them.
      if (entry.isDirectory() || entry.isSymbolicLink()) toolkits.push(readToolkit(folder, entry.name, read));
    }
  }
  const all = await Promise.all(toolkits);
  await parsed.save();
  return { toolkits: all, unreadable };
}

/** A read file. `text` is absent if the file could not be read. */
type ReadFile = { readonly definition: DefinitionFile; readonly text?: string };
type Read = (file: string) => Promise<ReadFile>;

async function readToolkit(parent: string, folder: string, read: Read): Promise<ToolkitFiles> {
  const path = join(parent, folder);
  const toolsPath = join(path, "tools");
  const [toolkit, entries, sayings] = await Promise.all([
    read(join(path, "toolkit.yaml")),
    listFolder(toolsPath),
    readExamplePhrases(path, read),
  ]);
  const files = (entries ?? []).map(async ({ name }) => {
    const file = join(toolsPath, name);
    if (name.endsWith(".yaml")) return [name.slice(0, -".yaml".length), await read(file)] as const;
    const fault = { reason: "is not a .yaml file", cure: "rename it to <tool>.yaml, or move it away" };
    return [name, { definition: brokenFile(file, [fault]) }] as const;
  });
  const tools = await Promise.all(files);
  return {
    folder,
    toolkit: toolkit.definition,
    tools: new Map(tools.map(([name, { definition }]) => [name, definition])),
    sayings: sayings?.definition,
    digest: digestOf(folder, [
      ["", toolkit],
      ...tools,
      ...(sayings === undefined ? [] : [["/sayings", sayings] as const]),
    ]),
  };
}

/** Returns the example phrases of a toolkit (one app's tools); undefined if the file is missing. No other file of a toolkit is optional. */
async function readExamplePhrases(path: string, read: Read): Promise<ReadFile | undefined> {
  const entries = await listFolder(path);
  return entries?.some(({ name }) => name === "sayings.yaml") ? read(join(path, "sayings.yaml")) : undefined;
}

function digestOf(folder: string, files: readonly (readonly [string, ReadFile])[]): string | undefined {
  const whole = createHash("sha256").update(JSON.stringify(folder));
  for (const [name, { text }] of files) {
    if (text === undefined) return undefined;
    whole.update(JSON.stringify([name, hash("sha256", text)]));
  }
  return whole.digest("base64url");
}

/** Returns the entries of a folder by name, without hidden ones. Undefined if the folder cannot be listed. */
async function listFolder(folder: string) {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter(({ name }) => !name.startsWith(".")).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // The cause of this error is not needed. The caller reports that the folder cannot be listed, and the user corrects every cause in the
    // same way.
    return undefined;
  }
}

/** Returns a function that reads and parses a definition file. Of all its calls, at most `openFilesMax` read a file at the same time. */
function createReader(parsed: ParsedDefinitions): Read {
  let open = 0;
  const waiting: (() => void)[] = [];
  return async (file) => {
    if (open >= openFilesMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else open++;
    try {
      const text = requireText(await readFile(file));
      return { definition: parse(file, text, parsed), text };
    } catch (error) {
      const fault = {
        reason: `cannot be read (${(error as NodeJS.ErrnoException).code})`,
        cure: "create it, readable",
      };
      return { definition: brokenFile(file, [fault]) };
    } finally {
      const next = waiting.shift();
      if (next === undefined) open--;
      else next();
    }
  };
}

function parse(file: string, text: string, parsed: ParsedDefinitions): DefinitionFile {
  const known = parsed.find(text);
  if (known !== undefined) return readDefinitionFile(file, text, known.value);
  const read = parseDefinitionFile(file, text);
  if (read.faults.length === 0) parsed.note(text, read.value);
  return read;
}
