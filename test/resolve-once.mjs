// Loaded into each worker of the tests before anything else: Node looks for the package.json above every module it resolves, each time
// anew, and reads all that it exports: two thirds of what a worker takes to import the service. What one module of a folder is, the
// others are as well, and a package is the same for all modules of the package that names it.
import { registerHooks } from "node:module";

/** What was resolved before: whole answers for packages, formats for folders. */
const packages = new Map();
const formats = new Map();
const relative = /^\.\.?\//;
const named = /^(?:@[a-z0-9-]+\/)?[a-z0-9]/i;
/** The package that a module belongs to, by its folder. */
const owner = /^file:\/\/.*\/(?:node_modules\/(?:@[^/]+\/)?[^/]+|packages\/[^/]+|test|gen|bench)\//;

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL, conditions, importAttributes } = context;
    const isOfModule = conditions?.includes("import") === true && importAttributes?.type === undefined;
    if (!isOfModule || !parentURL?.startsWith("file:") || specifier.includes("?")) return next(specifier, context);
    if (relative.test(specifier)) return resolveFile(new URL(specifier, parentURL), specifier, context, next);
    const folder = named.test(specifier) ? owner.exec(parentURL)?.[0] : undefined;
    if (folder === undefined || specifier.startsWith("node:")) return next(specifier, context);
    const key = `${folder} ${specifier}`;
    const known = packages.get(key) ?? next(specifier, context);
    packages.set(key, known);
    return { ...known, shortCircuit: true };
  },
});

/** A file beside the one that imports it: as the others of its folder with its ending, once one of them was resolved. */
function resolveFile({ href }, specifier, context, next) {
  const ending = href.slice(href.lastIndexOf("."));
  if (ending !== ".ts" && ending !== ".js" && ending !== ".mjs") return next(specifier, context);
  const key = `${href.slice(0, href.lastIndexOf("/"))} ${ending}`;
  const format = formats.get(key);
  if (format !== undefined) return { url: href, format, shortCircuit: true };
  const found = next(specifier, context);
  if (found.format?.startsWith("module") && found.url === href) formats.set(key, found.format);
  return found;
}
