// Runs tests on another version of Node than the one that the packages install. `npm run test:node -- <path of node> [files]` runs Vitest with
// this program, and puts its folder first on PATH for the processes that tests start. Without files it runs the fast part, as `npm test`
// does.
import { spawnSync } from "node:child_process";
import { delimiter, dirname, join, resolve } from "node:path";
import { root } from "./run.mjs";

const [program, ...files] = process.argv.slice(2);
if (program === undefined) {
  process.stderr.write("name the program, such as /opt/node-26/bin/node\n");
  process.exit(2);
}

const path = resolve(program);
const PATH = [dirname(path), process.env.PATH].join(delimiter);
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const { status } = spawnSync(path, [vitest, "run", ...files], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PATH },
});
process.exitCode = status ?? 1;
