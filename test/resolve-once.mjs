// Caches how Node resolves modules; it is loaded into each test worker first. For every module, Node looks for the package.json above it
// and reads all exports. This takes two thirds of the time a worker needs to import the service. All modules of a folder have the same
// format, and a package is the same for all modules of the package that imports it.
import { registerHooks } from "node:module";

/** Earlier resolutions: complete answers for packages, module formats for folders. */
const packages = new Map();
const formats = new Map();
const relative = /^\.\.?\//;
const named = /^(?:@[a-z0-9-]+\/)?[a-z0-9]/i;
/** Matches the folder of the package that a module belongs to. */
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

/** Resolves a relative import. After one file of a folder was resolved, the others with the same ending get the same format. */
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
