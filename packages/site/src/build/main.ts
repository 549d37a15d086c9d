// Builds the site into a folder: `node packages/site/src/build/main.ts <folder>`. scripts/build-site.mjs runs this script if a source has
// changed.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeIndex } from "../search/search.ts";
import { buildClient } from "./client.ts";
import { compressFolder } from "./compress.ts";
import { writeLlms, writeLlmsFull } from "./llms.ts";
import { navigationOf, pagesOf } from "./navigation.ts";
import { linksOf, readFilesOf, readPages } from "./pages.ts";
import { sectionsOf } from "./sections.ts";
import { type PageParts, writePage } from "./template.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

async function main(folder: string): Promise<void> {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const client = await buildClient(folder);
  const read = readPages(root);
  const navigation = navigationOf(new Map(read.map(({ path, title }) => [path, title])));
  const order = [{ path: "index", label: "Overview" }, ...pagesOf(navigation)];
  const pages = order.flatMap(({ path }) => read.find((page) => page.path === path) ?? []);
  const indexText = writeIndex(sectionsOf(pages));
  const index = `assets/index-${createHash("sha256").update(indexText).digest("hex").slice(0, 8)}.json`;
  write(index, indexText);
  const files = readFilesOf(root);
  for (const file of files) cpSync(join(root, "docs", file), join(folder, file), { recursive: true });
  const repositoryUrl = readRepositoryUrl();
  const linksFrom = linksOf(pages, files, repositoryUrl);
  const common = { navigation, files: { ...client, index } };
  for (const page of pages) {
    const { path, title, summary, headings, file, source } = page;
    const place = order.findIndex((one) => one.path === path);
    const editUrl = repositoryUrl === undefined ? undefined : `${repositoryUrl}/edit/HEAD/${file}`;
    const parts: PageParts = {
      ...{ ...common, path, title, summary, headings },
      html: page.render(linksFrom(page)),
      source: { file, editUrl },
      before: order[place - 1],
      next: order[place + 1],
    };
    write(`${path}.html`, writePage(parts));
    write(`${path}.md`, source);
  }
  write("404.html", writePage({ ...common, ...notFound }));
  write("llms.txt", writeLlms(pages));
  write("llms-full.txt", writeLlmsFull(pages));
  compressFolder(folder);
}

const notFound = {
  path: "404",
  title: "This page does not exist",
  summary: "",
  html: '<h1>This page does not exist</h1>\n<p>Search for it with the button above, or start at <a href="./">the first page</a>.</p>\n',
  headings: [],
  source: undefined,
  before: undefined,
  next: undefined,
};

/** Returns the URL of the source repository from package.json; undefined if package.json has none. */
function readRepositoryUrl(): string | undefined {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return repository?.url?.replace(/^git\+|\.git$/g, "");
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder to build into");
await main(resolve(folder));
