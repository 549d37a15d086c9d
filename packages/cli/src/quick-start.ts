import { enableCompileCache, registerHooks } from "node:module";

/** Packages with many ECMAScript modules, whose files import each other by paths that end in `.js`. */
const largePackages =
  /\/node_modules\/(?:drizzle-orm|@bufbuild\/protobuf\/dist\/esm|@connectrpc\/[^/]+\/dist\/esm|uuid\/dist-node)\//;

/**
 * Makes the imports that follow quick: compiled code is kept in `cacheDir` (without, where it cannot be written), and relative
 * imports, which are nearly all, are resolved here. Node 24 looks for the package.json around each module of theirs, and parses its
 * `exports` each time (package_json_reader.js, getPackageScopeConfig), to learn what their names say already.
 */
export function quickenImports(cacheDir: string): void {
  enableCompileCache(cacheDir);
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL } = context;
      if (parentURL !== undefined && specifier.startsWith(".")) {
        if (specifier.endsWith(".ts")) return resolved(specifier, parentURL, "module-typescript");
        if (specifier.endsWith(".js") && (isOwn(parentURL) || largePackages.test(parentURL)))
          return resolved(specifier, parentURL, "module");
      }
      return nextResolve(specifier, context);
    },
  });
}

/** The service's sources: JavaScript too once they are a package. */
const ownSources = new URL("../../", import.meta.url).href;

function isOwn(parentURL: string): boolean {
  return parentURL.startsWith(ownSources) && !parentURL.slice(ownSources.length).includes("/node_modules/");
}

function resolved(specifier: string, parentURL: string, format: string) {
  return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
}
