import { enableCompileCache, registerHooks } from "node:module";

/**
 * Settings of glibc's allocator, which reads them only at the start of a process. Large blocks are returned when they are freed: by default
 * the allocator raises that limit to the largest block it has seen, and keeps 300 MB after a burst of large bodies. Two arenas instead of
 * eight per core.
 */
const settings = {
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
  MALLOC_ARENA_MAX: "2",
} as const;

/**
 * Replaces this process by the same one with the allocator's settings, if that is possible and none are set. Its process id and files stay.
 * Takes a tenth of a second. Returns if there is nothing to do.
 */
export function settleAllocator(): void {
  const isSet = Object.keys(settings).some((name) => process.env[name] !== undefined);
  // A parent that communicates with this process, as `node --watch` does, would lose it.
  if (process.platform !== "linux" || isSet || process.send !== undefined || process.execve === undefined) return;
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...process.env, ...settings });
}

/** Packages with many ECMAScript modules that import each other by paths ending in `.js`. */
const largePackages =
  /\/node_modules\/(?:drizzle-orm|@bufbuild\/protobuf\/dist\/esm|@connectrpc\/[^/]+\/dist\/esm|uuid\/dist-node)\//;

/**
 * Makes later imports fast. Compiled code is kept in `cacheDir`, if it can be written. Relative imports, which are nearly all, are resolved
 * here: for each module of these packages Node 24 looks for the package.json around it and parses its `exports` (package_json_reader.js,
 * getPackageScopeConfig), although the file names already say the type.
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

/** The service's own sources, which are JavaScript in the package. */
const ownSources = new URL("../../", import.meta.url).href;

function isOwn(parentURL: string): boolean {
  return parentURL.startsWith(ownSources) && !parentURL.slice(ownSources.length).includes("/node_modules/");
}

function resolved(specifier: string, parentURL: string, format: string) {
  return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
}
