import { realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isObject } from "@svc/core";
import { parse } from "yaml";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";
import { readText } from "../../command/input.ts";

/** Maximum number of files of one document, and maximum bytes of all of them together. The service takes no larger document. */
const [filesMax, bytesMax] = [500, 16_777_216];

/** Matches a reference to something outside its own file, such as `$ref: schemas/order.yaml#/Order`. */
const outerReference = /["']?\$ref["']?\s*:\s*["']?[^#"'\s]/;

/** Names whose values are data and not parts of the document, so a `$ref` in them has no meaning. */
const dataNames = new Set(["example", "default", "enum", "const"]);

/** The files of one document. `root`: the folder of its first file. `keys`: the name of each file in the joined document, by its path. */
type Files = { readonly root: string; readonly keys: Map<string, string>; bytes: number };

/**
 * Returns the text of an OpenAPI document in a file, or in standard input if `file` is `-`. Joins the local files to which the document
 * refers, because the service reads no other file. Rejects with CommandError for a file that cannot be read, that is outside of the
 * document's folder, or that is reached by a symbolic link.
 */
export async function readDocumentFile(file: string, context: CommandContext): Promise<string> {
  const text = await readText(file, file, context);
  if (file === "-" || !outerReference.test(text)) return text;
  const root = await realpath(dirname(file));
  const first = join(root, basename(file));
  const files: Files = { root, keys: new Map([[first, ""]]), bytes: Buffer.byteLength(text) };
  const document = withReferences(parsed(text, file), first, files);
  if (!isObject(document) || files.keys.size === 1) return text;
  const others: Record<string, unknown> = {};
  // The map grows while its files are read, because these refer to further files.
  for (const [path, key] of files.keys) {
    if (path !== first) others[key] = withReferences(await readPart(path, files, context), path, files);
  }
  return JSON.stringify({ ...document, [otherFiles]: others });
}

/** Name in the joined document of the object that has the other files. */
const otherFiles = "x-files";

async function readPart(path: string, files: Files, context: CommandContext): Promise<unknown> {
  const shown = relative(files.root, path);
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined && found !== path)
    throw new CommandError(
      `${shown} is reached by a symbolic link: put the file itself into the folder of the document`,
    );
  files.bytes += found === undefined ? 0 : (await stat(path)).size;
  if (files.keys.size > filesMax || files.bytes > bytesMax)
    throw new CommandError(`the document has more than ${filesMax} files or ${bytesMax / 1_048_576} MiB`);
  return parsed(await readText(path, shown, context), shown);
}

function parsed(text: string, shown: string): unknown {
  try {
    return parse(text, { maxAliasCount: 1_000 });
  } catch (err) {
    throw new CommandError(`${shown} is neither JSON nor YAML: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/** Returns a part of a file with references that fit the joined document. Adds the files to which it refers to `files`. */
function withReferences(part: unknown, path: string, files: Files): unknown {
  if (Array.isArray(part)) return part.map((item) => withReferences(item, path, files));
  if (!isObject(part)) return part;
  const entries = Object.entries(part).map(([name, child]) => {
    if (name === "$ref" && typeof child === "string") return [name, joinedReference(child, path, files)];
    return [name, dataNames.has(name) ? child : withReferences(child, path, files)];
  });
  return Object.fromEntries(entries);
}

function joinedReference(reference: string, path: string, files: Files): string {
  // An address is left as it is: the service leaves out the operations that need it.
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(reference)) return reference;
  const [file = "", pointer = ""] = reference.split("#", 2);
  const target = file === "" ? path : resolve(dirname(path), decoded(file));
  const inside = relative(files.root, target);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw new CommandError(`${reference} in ${relative(files.root, path)} leads out of the folder of the document`);
  const key = files.keys.get(target) ?? `f${files.keys.size}`;
  files.keys.set(target, key);
  return `#${key === "" ? "" : `/${otherFiles}/${key}`}${pointer}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The name contains a percent sign that begins no escape.
    return text;
  }
}
