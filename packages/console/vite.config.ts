import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { writePageFiles } from "./page-files.ts";
import { createChunkNames } from "./shared-chunks.ts";

/**
 * Writes a compressed copy (`.br` and `.gz`) next to every text file. It runs after the bundle is written, because chunks contain
 * placeholders before that.
 */
const compress: Plugin = {
  name: "compress",
  apply: "build",
  writeBundle: {
    order: "post",
    handler({ dir = "dist" }) {
      for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(?:js|css|html|svg)$/.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const bytes = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
        writeFileSync(
          `${path}.br`,
          brotliCompressSync(bytes, {
            params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
          }),
        );
      }
    },
  },
};

const pageFiles: Plugin = {
  name: "page-files",
  apply: "build",
  writeBundle: { order: "post", handler: ({ dir = "dist" }) => writePageFiles(dir) },
};

/** Address of the running service for `npm run console:dev`. */
const service = process.env["SVC_PUBLIC_URL"] ?? "http://127.0.0.1:8080";

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // Makes addresses of the built console relative to `<base href>`, which the service sets to the console's address.
  base: command === "build" ? "./" : "/console/",
  plugins: [react(), compress, pageFiles],
  build: {
    target: ["chrome154", "firefox150", "safari26"],
    manifest: true,
    // Keeps small assets in files of their own. The content security policy of the pages allows data URLs only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      input: Object.fromEntries(
        ["index", "answer", "connect", "portal"].map((name) => [name, join(import.meta.dirname, `${name}.html`)]),
      ),
      output: { codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: createChunkNames() }] } },
    },
  },
  server: { proxy: { "^/(?:svc\\.v1\\.|(?:console|portal)/(?:session|answer|connect)$|oauth/)": { target: service } } },
}));
