import { fileURLToPath } from "node:url";

/**
 * The environment in which processes keep what they compiled for those that come after them, which is a third of a start. Node
 * looks at the text of each file, so that a changed one is compiled anew.
 */
export const compileCache: { readonly NODE_COMPILE_CACHE: string } = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../../node_modules/.cache/compiled", import.meta.url)),
};
