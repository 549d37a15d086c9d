import { fileURLToPath } from "node:url";

/** Folder of the built documentation, an absolute path. Without an index.html in it, the documentation was not built. */
export const builtFolder: string = fileURLToPath(new URL("dist", import.meta.url));
