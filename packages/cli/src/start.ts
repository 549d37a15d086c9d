// An import by name would fail on an old Node, which lacks `registerHooks`, before svc can say which Node it needs.
import * as modules from "node:module";

/**
 * Settings of glibc's memory allocator, which glibc reads when a process starts.
 * - MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_: sizes in bytes from which freed memory returns to the system.
 * - MALLOC_ARENA_MAX: number of memory areas. The default is eight per core.
 */
const settings = {
  // Without fixed values, glibc raises them to the largest block so far, and keeps 300 MB after a burst of large bodies.
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
  MALLOC_ARENA_MAX: "2",
} as const;

/**
 * Restarts this process so that `settings` apply to its memory allocator. The process keeps its id and its open files. Does nothing if one
 * of the settings is already set, or if the system does not support such a restart.
 */
export function settleAllocator(): void {
  const isSet = Object.keys(settings).some((name) => process.env[name] !== undefined);
  // A parent process may communicate with this process (as `node --watch` does). A restart would close that channel.
  if (process.platform !== "linux" || isSet || process.send !== undefined || process.execve === undefined) return;
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...process.env, ...settings });
}

/**
 * Packages with many ECMAScript modules that import each other by paths ending in `.js`. `start.ts` resolves these imports itself, because
 * that is faster than Node's own way.
 */
const largePackages =
  /\/node_modules\/(?:drizzle-orm|@bufbuild\/protobuf\/dist\/esm|@connectrpc\/[^/]+\/dist\/esm|uuid\/dist-node)\//;

/**
 * Makes later imports fast in two ways. Node keeps compiled code in the folder `cacheDir`, if the folder can be written. This function
 * resolves relative imports itself, which are nearly all imports. Without this, Node 24 searches a package.json for each module and parses
 * its `exports` (package_json_reader.js, getPackageScopeConfig). That is not needed here, because the file names show the type of each
 * module.
 */
export function quickenImports(cacheDir: string): void {
  modules.enableCompileCache(cacheDir);
  modules.registerHooks({
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

/** URL of the folder with the service's own sources. In the published package these are JavaScript files. */
const ownSources = new URL("../../", import.meta.url).href;

function isOwn(parentURL: string): boolean {
  return parentURL.startsWith(ownSources) && !parentURL.slice(ownSources.length).includes("/node_modules/");
}

function resolved(specifier: string, parentURL: string, format: string) {
  return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
}
