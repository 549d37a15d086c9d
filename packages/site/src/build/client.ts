import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import type { ClientFiles } from "./template.ts";

const folder = fileURLToPath(new URL("../client", import.meta.url));

/** Builds the browser code into the `assets` folder of `outDir`. Returns the names of the built files. */
export async function buildClient(outDir: string): Promise<Omit<ClientFiles, "index">> {
  await build({
    configFile: false,
    root: folder,
    base: "./",
    logLevel: "warn",
    build: {
      ...{ outDir, emptyOutDir: true, manifest: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
      target: ["chrome154", "firefox150", "safari26"],
      rolldownOptions: { input: ["site.ts", "theme.ts", "site.css", "icon.svg"].map((name) => join(folder, name)) },
    },
  });
  const manifest = JSON.parse(readFileSync(join(outDir, ".vite", "manifest.json"), "utf8"));
  const nameOf = (source: string) => String(manifest[source].file);
  return { style: nameOf("site.css"), theme: nameOf("theme.ts"), script: nameOf("site.ts"), icon: nameOf("icon.svg") };
}
