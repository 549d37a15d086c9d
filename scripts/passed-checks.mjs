import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { git, root } from "./run.mjs";

const stampFile = join(root, "node_modules", ".cache", "passed-checks.json");

/**
 * Remembers over which files a check passed last, so that it need not look at the same ones again. Only in a checkout of git, which tells what
 * has changed; elsewhere nothing is remembered.
 */
export async function openPassedChecks() {
  const contents = await contentsOfFiles();
  const stamps = readStamps();
  /** What decides a check: the content of every file at or below its paths, the dependencies, the checks themselves, Node's release. */
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
     * The files that are not as they were when `keepFiles` was called, without those that are gone; undefined where nobody knows, or where what
     * decides about each of them, at `paths`, has changed itself.
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

/** Every file of the checkout that is not ignored, in order, with what tells its content; undefined where git does not answer. */
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
