import { spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Root folder of the checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const tools = join(root, "node_modules", ".bin");

/**
 * Runs a command in the checkout, with the project's own tools first on PATH and without stdin. Resolves to its exit code (-1 if it could
 * not be started or was killed) and its output (stdout and stderr together). Never rejects.
 */
export function run(command, args) {
  const env = {
    ...process.env,
    PATH: `${tools}${delimiter}${process.env.PATH ?? ""}`,
    NO_COLOR: "1",
    // By default buf makes its cache below HOME, which may not be writable.
    BUF_CACHE_DIR: join(root, ".cache", "buf"),
  };
  // If both variables were set, Node would print a warning in every output.
  delete env.FORCE_COLOR;
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text) => {
        output += text;
      });
    }
    child.on("error", (error) => resolve({ code: -1, output: `${output}${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? -1, output }));
  });
}

/** Runs git, even if the checkout belongs to another user. */
export function git(...args) {
  return run("git", ["-c", "safe.directory=*", ...args]);
}
