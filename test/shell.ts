import { execFile } from "node:child_process";
import { join } from "node:path";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { bootstrapKey } from "@svc/testing/server-process";
import { npxHere } from "./commands-here.ts";
import { root } from "./source.ts";

/** Folder in which commands run, and the URL of the service that they call with the tests' key. The URL is undefined if they call none. */
export type ShellPlace = { readonly folder: string; readonly url: string | undefined };

/**
 * Prepares shells for the blocks of a page. The returned function runs a block as printed, and resolves with the text that a terminal
 * shows. If `isHere`, this process runs the commands; otherwise each is a process of its own, as for a reader.
 */
export async function startShells({
  isHere,
}: {
  isHere: boolean;
}): Promise<(commands: string, place: ShellPlace) => Promise<string>> {
  const main = await bundled(join(root, "packages/cli/src/main.ts"));
  // npx is replaced, because it would search for the checkout in the working folder.
  const npx = isHere ? await npxHere(main) : `npx() { shift; "${process.execPath}" "${main}" "$@"; }`;
  return (commands, { folder, url }) => {
    const script = `exec 2>&1; ${npx}\n${commands}`;
    const connection = url === undefined ? {} : { SVC_URL: url, SVC_API_KEY: bootstrapKey };
    const options = { cwd: folder, env: { ...compileCache, PATH: process.env["PATH"] ?? "", ...connection } };
    // A failing command rejects nothing, since its failure shows in the output.
    return new Promise((resolve) => execFile("bash", ["-c", script], options, (_, output) => resolve(output)));
  };
}
