// Checks that changes of the contract (proto/) break no caller: runs buf breaking against the commit from which this work started.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { git, run } from "./run.mjs";

/** Returns the trimmed output of a git command, or undefined if the command fails or prints nothing. */
async function ask(...args) {
  const { code, output } = await git(...args);
  const text = output.trim();
  return code === 0 && text !== "" ? text : undefined;
}

/**
 * Returns the commit to compare with. On a branch, it is the commit where the branch left main, so that later additions to main do not look
 * like removals. On main, it is the commit where main left origin/main. If that is HEAD itself, it is HEAD if proto/ has uncommitted
 * changes, and else the commit before HEAD.
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

/** Writes proto/ and buf.yaml of a commit to a folder. Returns true if the folder then contains a .proto file. */
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
