// The contract breaks no caller: buf breaking against the commit this work started from.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { git, run } from "./run.mjs";

/** The trimmed answer of git, or undefined when it has none. */
async function ask(...args) {
  const { code, output } = await git(...args);
  const text = output.trim();
  return code === 0 && text !== "" ? text : undefined;
}

/**
 * The commit to compare with. On a branch: where it left main, so that what main gained since does not read as taken
 * away. On main itself: where it left origin/main; when that is HEAD too, HEAD while proto/ has uncommitted changes,
 * else the commit before.
 */
async function findBase() {
  const head = await ask("rev-parse", "--verify", "--quiet", "HEAD");
  if (head === undefined) return undefined;
  for (const branch of ["refs/heads/main", "refs/remotes/origin/main"]) {
    const base = await ask("merge-base", branch, "HEAD");
    if (base !== undefined && base !== head) return base;
  }
  const isDirty = (await ask("status", "--porcelain", "--", "proto")) !== undefined;
  return isDirty ? head : ask("rev-parse", "--verify", "--quiet", "HEAD~1");
}

/** Writes proto/ and buf.yaml of a commit to a folder; answers whether it holds a .proto file. */
async function checkOut(commit, folder) {
  const names = (await ask("ls-tree", "-r", "--name-only", commit, "--", "proto", "buf.yaml"))?.split("\n") ?? [];
  for (const name of names) {
    const { output } = await git("show", `${commit}:${name}`);
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), output);
  }
  return names.some((name) => name.endsWith(".proto"));
}

const folder = mkdtempSync(join(tmpdir(), "svc-breaking-"));
try {
  const base = await findBase();
  if (base === undefined) {
    process.stdout.write("skipped: no earlier commit to compare with\n");
  } else if (!(await checkOut(base, folder))) {
    process.stdout.write(`skipped: ${base.slice(0, 12)} has no .proto file\n`);
  } else {
    const { code, output } = await run("buf", ["breaking", "--against", folder]);
    process.stdout.write(code === 0 ? `compared with ${base.slice(0, 12)}\n` : `${output}\nagainst commit ${base}\n`);
    process.exitCode = code === 0 ? 0 : 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
