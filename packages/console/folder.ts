import { fileURLToPath } from "node:url";

/** Folder of the built console, an absolute path. If it is missing or has no index.html, the console was not built: see `buildErrorFile`. */
export const builtFolder: string = fileURLToPath(new URL("dist", import.meta.url));

/** File with the output of a failed build, an absolute path. If the file is missing, the last build did not fail. */
export const buildErrorFile: string = fileURLToPath(new URL("dist/build-error.txt", import.meta.url));

/**
 * File with the console's colours, sizes and spaces, an absolute path. Pages outside the console use it. It exists even if the console is
 * not built.
 */
export const tokensFile: string = fileURLToPath(new URL("src/ui/tokens.css", import.meta.url));
