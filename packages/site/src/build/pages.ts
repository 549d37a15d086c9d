import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { addressOf, linkBetween } from "./addresses.ts";
import { type ParsedPage, parsePage } from "./markdown.ts";

/** A page of the site, by its file in the repository. */
export type SitePage = ParsedPage & {
  /** Its path in the site, without an ending. */
  readonly path: string;
  /** Its file, relative to the checkout. */
  readonly file: string;
  /** Its Markdown, without what only tests read. */
  readonly source: string;
};

/** Files outside of docs/ that are pages, too. */
const others: Readonly<Record<string, string>> = { "CHANGELOG.md": "changelog" };

/** Reads every page: those below docs/ by their place there. Throws, naming the file, for one that cannot be read. */
export function readPages(root: string): readonly SitePage[] {
  const below = globSync("**/*.md", { cwd: join(root, "docs") }).map((file) => file.replaceAll("\\", "/"));
  const files = [...below.map((file) => [`docs/${file}`, file.slice(0, -3)] as const), ...Object.entries(others)];
  return files.map(([file, path]) => {
    const text = readFileSync(join(root, file), "utf8");
    try {
      return { ...parsePage(text), path, file, source: text.replace(/<!--[\s\S]*?-->\n?/g, "") };
    } catch (error) {
      throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

/** The files of docs/ that pages show or link to: pictures, examples. Relative to docs/. */
export function readFilesOf(root: string): readonly string[] {
  return globSync("**/*.{json,svg,png,service,yaml}", { cwd: join(root, "docs") }).map((file) =>
    file.replaceAll("\\", "/"),
  );
}

/** Says where the links of a page lead in the site; undefined for a file that is not in it and has no address of its own. */
export function linksOf(
  pages: readonly SitePage[],
  files: readonly string[],
  repositoryUrl: string | undefined,
): (page: SitePage) => (target: string) => string | undefined {
  const published = new Map<string, string>([
    ...files.map((file) => [`docs/${file}`, file] as const),
    ...pages.map(({ file, path }) => [file, addressOf(path)] as const),
    ["docs", ""],
  ]);
  return (page) => (target) => {
    if (target.startsWith("#") || /^[a-z]+:/.test(target)) return target;
    const [path = "", anchor] = target.split("#");
    const file = posix.join(dirname(page.file), path).replace(/\/$/, "");
    const address = published.get(file);
    if (address === undefined) return repositoryUrl === undefined ? undefined : `${repositoryUrl}/blob/HEAD/${file}`;
    return linkBetween(page.path, anchor === undefined ? address : `${address}#${anchor}`);
  };
}
