import { realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isObject } from "@svc/core";
import { parse } from "yaml";
import type { CommandContext } from "../../command/context.ts";
import { CommandError } from "../../command/error.ts";
import { readText } from "../../command/input.ts";
import { plainText } from "../../text/plain.ts";

/** Maximum number of files of one document, and maximum bytes of all of them together. The service takes no larger document. */
const [filesMax, bytesMax] = [500, 16_777_216];

/** Matches a reference to something outside its own file, such as `$ref: schemas/order.yaml#/Order`. */
const outerReference = /["']?\$ref["']?\s*:\s*["']?[^#"'\s]/;

/** Endings of the names of files that are joined. */
const endings = new Set([".json", ".yaml", ".yml"]);

/** Names whose values are data and not parts of the document, so a `$ref` in them has no meaning. */
const dataNames = new Set(["example", "default", "enum", "const"]);

/** Names whose values are maps: the names in a map are chosen freely, such as a property or a response that is named `default`. */
const mapNames = new Set([
  ...["properties", "patternProperties", "dependentSchemas", "dependencies", "definitions", "$defs", "schemas"],
  ...["responses", "parameters", "examples", "requestBodies", "headers", "securitySchemes", "links", "callbacks"],
  ...["paths", "pathItems", "webhooks", "content", "encoding", "variables"],
]);

/** Names that show that a file is one schema or another single part, and not a map of parts. */
const partNames = ["type", "$ref", "properties", "items", "allOf", "anyOf", "oneOf", "format", "schema", "in"];

/**
 * What an object of a document is. `part`: a schema, an operation or another part, in which `dataNames` have data. `map`: a map of parts.
 * `parts`: a file with parts of names chosen freely, or with maps of them.
 */
type Place = "part" | "map" | "parts";

/** The files of one document. `root`: the folder of its first file. `keys`: the name of each file in the joined document, by its path. */
type Files = { readonly root: string; readonly keys: Map<string, string>; bytes: number };

/**
 * Returns the text of an OpenAPI document in a file, or in standard input if `file` is `-`. Joins the local files to which the document
 * refers, because the service reads no other file, and notes their names. Rejects with CommandError for a file that cannot be read, that is
 * outside of the document's folder, or that is reached by a symbolic link. Also rejects for a hidden file (its name or a folder's name
 * begins with a dot), and for one whose name does not end as JSON or YAML.
 */
export async function readDocumentFile(file: string, context: CommandContext): Promise<string> {
  const text = await readText(file, file, context);
  if (file === "-" || !outerReference.test(text)) return text;
  const root = await realpath(dirname(file));
  const first = join(root, basename(file));
  const files: Files = { root, keys: new Map([[first, ""]]), bytes: Buffer.byteLength(text) };
  const document = withReferences(parsed(text, file), { path: first, place: "part" }, files);
  if (!isObject(document) || files.keys.size === 1) return text;
  const others: Record<string, unknown> = {};
  // The map grows while its files are read, because these refer to further files.
  for (const [path, key] of files.keys) {
    if (path === first) continue;
    const part = await readPart(path, files, context);
    others[key] = withReferences(part, { path, place: placeOf(part) }, files);
  }
  const names = [...files.keys.keys()].filter((path) => path !== first).map((path) => relative(root, path));
  context.note(`Joined to the document: ${plainText(names.join(", "))}`);
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
  const entry = found === undefined ? undefined : await stat(path);
  if (entry !== undefined && !entry.isFile()) throw new CommandError(`${shown} is not a file`);
  files.bytes += entry?.size ?? 0;
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

/** Returns what the whole content of a joined file is. */
function placeOf(content: unknown): Place {
  return isObject(content) && partNames.some((name) => Object.hasOwn(content, name)) ? "part" : "parts";
}

type Position = { readonly path: string; readonly place: Place };

/** Returns a part of a file with references that fit the joined document. Adds the files to which it refers to `files`. */
function withReferences(part: unknown, { path, place }: Position, files: Files): unknown {
  if (Array.isArray(part)) return part.map((item) => withReferences(item, { path, place: "part" }, files));
  if (!isObject(part)) return part;
  const entries = Object.entries(part).map(([name, child]) => {
    if (name === "$ref" && typeof child === "string") return [name, joinedReference(child, path, files)];
    if (place === "part" && dataNames.has(name)) return [name, child];
    const isMap = place !== "map" && mapNames.has(name);
    return [name, withReferences(child, { path, place: isMap ? "map" : "part" }, files)];
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
  if (!files.keys.has(target) && !isJoined(inside))
    throw new CommandError(
      `${reference} in ${relative(files.root, path)} is not joined: only files that end in .json, .yaml or .yml are, and none that is hidden`,
    );
  const key = files.keys.get(target) ?? `f${files.keys.size}`;
  files.keys.set(target, key);
  return `#${key === "" ? "" : `/${otherFiles}/${key}`}${pointer}`;
}

/** True if a file, named from the document's folder, may be joined. */
function isJoined(inside: string): boolean {
  return endings.has(extname(inside).toLowerCase()) && !inside.split(sep).some((name) => name.startsWith("."));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The name contains a percent sign that begins no escape.
    return text;
  }
}
