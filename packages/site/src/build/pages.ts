import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { addressOf, linkBetween } from "./addresses.ts";
import { type ParsedPage, parsePage } from "./markdown.ts";

/** A page of the site, made from a file of the repository. */
export type SitePage = ParsedPage & {
  /** Path of the page in the site, without a file extension. */
  readonly path: string;
  /** Path of the page's file, relative to the repository. */
  readonly file: string;
  /** The page's Markdown, without HTML comments. Only tests read these comments. */
  readonly source: string;
};

/** Pages whose files are outside docs/, with their paths in the site. */
const others: Readonly<Record<string, string>> = { "CHANGELOG.md": "changelog" };

/**
 * Returns every page. The path of a page below docs/ is the path of its file. Throws if a page cannot be read; the message names the file.
 */
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

/** Returns the files of docs/ that pages show or link to, such as pictures and examples. Paths are relative to docs/. */
export function readFilesOf(root: string): readonly string[] {
  return globSync("**/*.{json,svg,png,service,yaml}", { cwd: join(root, "docs") }).map((file) =>
    file.replaceAll("\\", "/"),
  );
}

/**
 * Returns a function that resolves the links of a documentation page. The function returns the link's address on the site. It returns
 * undefined if the target is not on the site and has no address elsewhere.
 */
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
