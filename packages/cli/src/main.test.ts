import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

test("a process is in UTC, whatever zone it is started in", () => {
  const atExit = "process.on('exit',()=>process.stderr.write(String(new Date(0))))";
  const { stderr } = spawnSync(process.execPath, [main, "--version"], {
    encoding: "utf8",
    env: {
      ...process.env,
      TZ: "America/New_York",
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(atExit)}`,
    },
  });
  expect(stderr).toMatch(/^Thu Jan 01 1970 00:00:00 GMT\+0000/);
});
