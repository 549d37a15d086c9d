import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { git, root } from "./run.mjs";

const stampFile = join(root, "node_modules", ".cache", "passed-checks.json");

/**
 * Remembers the files with which a check has last passed, so that the check need not be repeated for the same files. It uses git to find
 * changes; without git, it remembers nothing.
 */
export async function openPassedChecks() {
  const contents = await contentsOfFiles();
  const stamps = readStamps();
  /**
   * Returns a hash of everything that influences a check: the content of all files at or below its paths, the dependencies, the checks
   * themselves, and Node's version.
   */
  const stampOf = (paths) => {
    if (contents === undefined) return undefined;
    const hash = createHash("sha256").update(process.version);
    const isIn = (file) =>
      [...paths, "scripts", "package.json", "pnpm-lock.yaml"].some(
        (path) => path === "." || file === path || file.startsWith(`${path}/`),
      );
    for (const [file, content] of contents) if (isIn(file)) hash.update(`${file}\0${content}\0`);
    return hash.digest("hex");
  };
  return {
    /**
     * Returns the files that have changed since `keepFiles` was called, without deleted files. Returns undefined if this is unknown, or if
     * a file at `paths`, which influences all results, has changed.
     */
    changedFiles: (paths) => {
      const { decidedBy, files } = stamps.files ?? {};
      if (contents === undefined || files === undefined || decidedBy !== stampOf(paths)) return undefined;
      return [...contents].flatMap(([file, content]) => (content === "gone" || files[file] === content ? [] : [file]));
    },
    keepFiles: (paths) => {
      stamps.files = { decidedBy: stampOf(paths), files: Object.fromEntries(contents ?? []) };
    },
    has: (name, paths) => {
      const stamp = stampOf(paths);
      return stamp !== undefined && stamps[name] === stamp;
    },
    keep: (name, paths) => {
      stamps[name] = stampOf(paths);
      mkdirSync(dirname(stampFile), { recursive: true });
      writeFileSync(stampFile, JSON.stringify(stamps));
    },
  };
}

function readStamps() {
  try {
    return JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return {};
  }
}

/** Returns every file of the checkout that git does not ignore, in order, with a hash of its content. Returns undefined if git fails. */
async function contentsOfFiles() {
  const [staged, changed] = await Promise.all([
    git("ls-files", "-s", "-z"),
    git("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"),
  ]);
  if (staged.code !== 0 || changed.code !== 0) return undefined;
  const contents = new Map();
  for (const line of staged.output.split("\0")) {
    const [about, file] = line.split("\t");
    if (file !== undefined) contents.set(file, about);
  }
  for (const line of changed.output.split("\0")) {
    if (line !== "") contents.set(line.slice(3), contentOf(line.slice(3)));
  }
  return [...contents].sort(([a], [b]) => (a < b ? -1 : 1));
}

function contentOf(file) {
  try {
    return createHash("sha256")
      .update(readFileSync(join(root, file)))
      .digest("hex");
  } catch {
    return "gone";
  }
}
