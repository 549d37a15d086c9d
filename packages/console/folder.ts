import { fileURLToPath } from "node:url";

/** Folder of the built console, an absolute path. Missing or without an index.html, the console was not built: see `buildErrorFile`. */
export const builtFolder: string = fileURLToPath(new URL("dist", import.meta.url));

/** Where a build that failed leaves what it printed, an absolute path. Missing, no build failed. */
export const buildErrorFile: string = fileURLToPath(new URL("dist/build-error.txt", import.meta.url));

/** The console's colours, sizes and spaces, an absolute path: for pages of the service that are none of the console. It is there unbuilt, too. */
export const tokensFile: string = fileURLToPath(new URL("src/ui/tokens.css", import.meta.url));
