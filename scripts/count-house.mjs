// Prints the size of the product: files, lines, lines of code (without comments and empty lines), short files, exports that one other file
// uses, and type names that several files export. `node_modules/.bin/node scripts/count-house.mjs [--json] [--names] [--check] [folder]`;
// `--check` fails if a limit is exceeded; `folder` is another checkout to count, such as an old commit.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, resolve } from "node:path";

/**
 * Largest allowed size of the product. If a change makes room, lower the limit. Raise a limit only if a new feature, or a file that became
 * too long, needs it; the commit says why. `code` counts lines without comments and empty lines, so a longer comment needs no higher limit.
 * `shortFiles` counts files of at most 30 lines, and here comments do count.
 */
const limits = { files: 1_945, code: 179_800, shortFiles: 180, oneUseShare: 0.474, sharedTypeNames: 0 };

const options = new Set(process.argv.slice(2).filter((argument) => argument.startsWith("--")));
const root = resolve(
  process.argv.slice(2).find((argument) => !argument.startsWith("--")) ?? join(import.meta.dirname, ".."),
);

/** Returns the sources of the product by path from the root, without tests, generated files and helpers of tests. */
function readSources() {
  const paths = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).filter(
    (path) =>
      !/\.(test|fixture)\.tsx?$/.test(path) && !path.startsWith("packages/testing/") && !path.includes("/test-plans/"),
  );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

const sources = readSources();

/** Returns the file that an import in a file refers to, or undefined if it is not a file of the product. */
function targetOf(from, specifier) {
  if (specifier.startsWith(".")) return normalize(join(dirname(from), specifier));
  const [, name, rest] = /^@svc\/([a-z]+)(\/.*)?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const folder = join("packages", name);
  if (!existsSync(join(root, folder, "package.json"))) return undefined;
  const { exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const found = typeof exports === "string" ? exports : (exports?.[`.${rest ?? ""}`] ?? exports?.["./*"]);
  const path = (typeof found === "string" ? found : found?.default)?.replace("*", rest?.slice(1) ?? "");
  return path === undefined ? undefined : normalize(join(folder, path));
}

/** Returns the names in the braces of an import or export, as the other file exports them: without aliases and `type`. */
function namesIn(braces) {
  return braces
    .split(",")
    .map(
      (part) =>
        part
          .trim()
          .replace(/^type\s+/, "")
          .split(/\s+as\s+/)[0],
    )
    .filter((name) => name !== "");
}

const declaration =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(function\*?|const|let|class|type|interface) (\w+)/gm;
const reexport = /^export (?:type )?\{([^}]*)\} from "([^"]+)";/gm;
const importing = /^import (?:type )?(?:\w+,? ?)?(?:\{([^}]*)\}|\* as \w+)? ?(?:from )?"([^"]+)";/gm;

/** All exports of the product, by `file#name`. */
const exported = new Map();
/** For each name that a file re-exports: the file from which it comes. */
const passedOn = new Map();
for (const [path, text] of sources) {
  for (const [, kind, name] of text.matchAll(declaration))
    exported.set(`${path}#${name}`, { path, kind, name, users: new Set() });
  for (const [, braces, specifier] of text.matchAll(reexport))
    for (const name of namesIn(braces)) passedOn.set(`${path}#${name}`, `${targetOf(path, specifier)}#${name}`);
}

/** Follows an exported name through index files, and returns where it is declared. */
function declaredAt(key) {
  const next = passedOn.get(key);
  return next === undefined || next === key ? key : declaredAt(next);
}

for (const [path, text] of sources) {
  for (const [, braces = "", specifier] of text.matchAll(importing)) {
    const target = targetOf(path, specifier);
    for (const name of namesIn(braces)) exported.get(declaredAt(`${target}#${name}`))?.users.add(path);
  }
}

const all = [...exported.values()];

/** Returns the number of lines that are neither empty nor only a comment. */
function codeLinesOf(text) {
  return text.split("\n").filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line)).length;
}

const lineCounts = [...sources].map(([path, text]) => ({
  path,
  lines: text.split("\n").length - 1,
  code: codeLinesOf(text),
}));
const typeFiles = Map.groupBy(
  all.filter(({ kind }) => kind === "type" || kind === "interface" || kind === "class"),
  ({ name }) => name,
);
const shared = [...typeFiles].filter(([, files]) => files.length > 1);
const oneUse = all.filter(({ users }) => users.size === 1);

/** Returns the counts for the whole product and for each package. */
function figures() {
  const packageOf = (path) => path.split("/")[1];
  const byPackage = Object.fromEntries(
    [...Map.groupBy(lineCounts, ({ path }) => packageOf(path))].map(([name, files]) => {
      const own = all.filter(({ path }) => packageOf(path) === name);
      return [
        name,
        {
          files: files.length,
          lines: files.reduce((sum, { lines }) => sum + lines, 0),
          code: files.reduce((sum, { code }) => sum + code, 0),
          shortFiles: files.filter(({ lines }) => lines <= 30).length,
          exports: own.length,
          oneUse: own.filter(({ users }) => users.size === 1).length,
        },
      ];
    }),
  );
  const sum = (key) => Object.values(byPackage).reduce((total, figures) => total + figures[key], 0);
  const whole = {
    files: sum("files"),
    lines: sum("lines"),
    code: sum("code"),
    shortFiles: sum("shortFiles"),
    exports: sum("exports"),
    oneUse: sum("oneUse"),
  };
  return {
    ...whole,
    oneUseShare: Number((whole.oneUse / whole.exports).toFixed(3)),
    sharedTypeNames: shared.length,
    byPackage,
  };
}

const counted = figures();
if (options.has("--json")) {
  process.stdout.write(`${JSON.stringify(counted, undefined, 2)}\n`);
} else {
  const row = (name, { files, lines, code, shortFiles, exports, oneUse: used }) =>
    `${name.padEnd(12)}${[files, lines, code, shortFiles, exports, used].map((value) => String(value).padStart(9)).join("")}${`${Math.round((100 * used) / exports)} %`.padStart(7)}`;
  const rows = Object.entries(counted.byPackage).map(([name, figures]) => row(name, figures));
  process.stdout.write(
    `${["package        files    lines     code     <=30  exports  one use", ...rows, row("all", counted), `type names that several files export: ${counted.sharedTypeNames}`].join("\n")}\n`,
  );
}
if (options.has("--check")) {
  const beyond = Object.entries(limits).filter(([name, limit]) => counted[name] > limit);
  for (const [name, limit] of beyond)
    process.stderr.write(`${name}: ${counted[name]}, at most ${limit}: fold or delete instead\n`);
  process.exitCode = beyond.length === 0 ? 0 : 1;
}
if (options.has("--names")) {
  for (const { path, name, users } of oneUse)
    process.stdout.write(`one use: ${path} ${name} <- ${[...users].join()}\n`);
  for (const [name, files] of shared)
    process.stdout.write(`type ${name}: ${files.map(({ path }) => relative("packages", path)).join(", ")}\n`);
}
