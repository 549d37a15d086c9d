// The sources as JavaScript: types blanked out, so that every line and column stays where it is, and imports naming the files that are there.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";
import { parse } from "acorn";
import { root } from "../run.mjs";

/** Folders of the workspace that the service consists of, by the names they are imported by. */
export const workspace = new Map(
  ["gen", ...readdirSync(join(root, "packages")).map((name) => `packages/${name}`)]
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .map((folder) => [readManifest(join(root, folder)).name, { folder, manifest: readManifest(join(root, folder)) }]),
);

/** The package.json of a folder. */
export function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** The packages of the workspace that `name` needs to run, itself first. */
export function workspaceOf(name, known = new Set()) {
  if (known.has(name)) return known;
  known.add(name);
  const { dependencies = {} } = workspace.get(name).manifest;
  for (const needed of Object.keys(dependencies)) if (workspace.has(needed)) workspaceOf(needed, known);
  return known;
}

/**
 * Writes a program below the checkout to the same place below `target`, as JavaScript (`.js` for `.ts`), with every source it imports and
 * every file that one of them reads beside itself. What it does not lead to, tests for one, is left out.
 */
export function writeProgram(program, target) {
  const waiting = [program];
  const known = new Set(waiting);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const found of file.endsWith(".ts") ? writeStripped(file, target) : copyFile(file, target)) {
      if (known.has(found)) continue;
      known.add(found);
      waiting.push(found);
    }
  }
}

function copyFile(file, target) {
  mkdirSync(dirname(join(target, file)), { recursive: true });
  cpSync(join(root, file), join(target, file));
  return [];
}

/** Answers the files that it names. */
function writeStripped(file, target) {
  const stripped = stripTypeScriptTypes(readFileSync(join(root, file), "utf8"), { mode: "strip" });
  const tree = parse(stripped, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true });
  const named = specifiersIn(tree)
    .map((literal) => ({ ...literal, file: fileOf(literal.value, file) }))
    .filter(({ file: found }) => found !== undefined)
    .sort((a, b) => b.start - a.start);
  const code = named.reduce(
    (text, { start, end, file: found }) =>
      `${text.slice(0, start)}${JSON.stringify(asJavaScript(pathBetween(file, found)))}${text.slice(end)}`,
    stripped,
  );
  const to = join(target, asJavaScript(file));
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, code, { mode: code.startsWith("#!") ? 0o755 : 0o644 });
  return named.map(({ file: found }) => found);
}

/** The string literals by which a module names others: imports, exports, and `new URL(…, import.meta.url)`. */
function specifiersIn(node) {
  if (node === null || typeof node !== "object") return [];
  if (Array.isArray(node)) return node.flatMap(specifiersIn);
  const named = namedBy(node);
  const own = named?.type === "Literal" && typeof named.value === "string" ? [named] : [];
  return [...own, ...Object.values(node).flatMap(specifiersIn)];
}

const importing = new Set(["ImportDeclaration", "ImportExpression", "ExportNamedDeclaration", "ExportAllDeclaration"]);

function namedBy(node) {
  if (importing.has(node.type)) return node.source;
  return node.type === "NewExpression" && node.callee.name === "URL" ? node.arguments[0] : undefined;
}

/** The file of the checkout that a source names; undefined where it names none: a dependency, or a folder. */
function fileOf(specifier, from) {
  const [scope, name, ...rest] = specifier.split("/");
  const found = workspace.get(`${scope}/${name}`);
  if (found !== undefined) return join(found.folder, exported(found.manifest, rest.join("/")));
  const path = join(dirname(from), specifier);
  const isTaken = path.startsWith("packages/") || path.startsWith("gen/");
  return isTaken && statSync(join(root, path), { throwIfNoEntry: false })?.isFile() ? path : undefined;
}

function pathBetween(from, to) {
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

/** The file that a package exports under a name, as its package.json says. */
function exported({ name, exports }, subpath) {
  const direct = exports[subpath === "" ? "." : `./${subpath}`];
  if (direct !== undefined) return direct;
  for (const [pattern, file] of Object.entries(exports)) {
    if (pattern === "./*") return file.replace("*", subpath);
  }
  throw new Error(`${name} exports no ${subpath}`);
}

function asJavaScript(path) {
  return path.replace(/\.ts$/, ".js");
}
