import { enableCompileCache, registerHooks } from "node:module";

/**
 * Settings of glibc's allocator, which it takes only at the start of a process. What is large is given back as it is freed: left alone
 * the allocator raises that bound to the largest that it has seen, and keeps 300 MB of what a burst of large bodies was. Two arenas in
 * place of eight a core.
 */
const settings = {
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
  MALLOC_ARENA_MAX: "2",
} as const;

/**
 * Replaces this process by the same one under the allocator's settings, where that is possible and none are set: its number and its
 * files stay. Takes a tenth of a second. Returns where there is nothing to do.
 */
export function settleAllocator(): void {
  const isSet = Object.keys(settings).some((name) => process.env[name] !== undefined);
  // A parent that talks to this process, as `node --watch` does, would lose it.
  if (process.platform !== "linux" || isSet || process.send !== undefined || process.execve === undefined) return;
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...process.env, ...settings });
}

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
