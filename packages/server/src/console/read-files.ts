import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

/** A file of the console as it is answered. `br` and `gzip` are the same bytes compressed, where that was done. */
export type ConsoleFile = {
  readonly type: string;
  readonly body: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
  /** Of a file whose name stays when its content changes; undefined where the name has the content's hash. */
  readonly etag: string | undefined;
};

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/vnd.microsoft.icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

/** The built console: its files by their path in the folder, with slashes; or why there are none, where its build left word. */
export type BuiltConsole = { readonly files: ReadonlyMap<string, ConsoleFile> } | { readonly failure: string };

/** Where a build that failed leaves what it printed. */
const failureFile = "build-error.txt";
const failureCharacters = 8_000;

/**
 * Reads what was built into a folder, which may be missing. Pages get `<base href>` set to `base`; that of the console says, too, whether
 * the apps are a sandbox, so that its band is there from the first and moves nothing.
 */
export async function readConsole(
  folder: string,
  { base, isSandbox }: { base: string; isSandbox: boolean },
): Promise<BuiltConsole> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ignoreMissing);
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length).split(sep).filter(Boolean).join("/"));
  const all = new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path))] as const)),
  );
  if (!all.has("index.html"))
    return { failure: (all.get(failureFile)?.toString("utf8") ?? "").slice(0, failureCharacters) };
  const files = new Map<string, ConsoleFile>();
  for (const [path, body] of all) {
    const type = types[extname(path)];
    // What begins with a dot is the build's own.
    if (type === undefined || path === failureFile || path.startsWith(".")) continue;
    files.set(
      path,
      path.endsWith(".html")
        ? pageOf(body, base, isSandbox && path === "index.html")
        : fileOf(path, { type, body }, all),
    );
  }
  return { files };
}

function ignoreMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
  throw error;
}

function fileOf(
  path: string,
  { type, body }: Pick<ConsoleFile, "type" | "body">,
  all: ReadonlyMap<string, Buffer>,
): ConsoleFile {
  const etag = path.startsWith("assets/") ? undefined : etagOf(body);
  return { type, body, br: all.get(`${path}.br`), gzip: all.get(`${path}.gz`), etag };
}

/** Compressed here: what stands beside the file has another base. */
function pageOf(html: Buffer, base: string, isSandbox: boolean): ConsoleFile {
  const based = withBase(html.toString("utf8"), base);
  const body = Buffer.from(isSandbox ? based.replace(/<base\b[^>]*>/i, (tag) => `${tag}${sandboxTag}`) : based);
  const type = types[".html"] ?? "";
  return { type, body, br: brotliCompressSync(body), gzip: gzipSync(body), etag: etagOf(body) };
}

/** Read by packages/console (session/base.ts). */
const sandboxTag = '<meta name="svc-sandbox" content="on">';

function withBase(html: string, base: string): string {
  const tag = `<base href="${base.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}">`;
  const present = /<base\b[^>]*>/i;
  return present.test(html) ? html.replace(present, () => tag) : html.replace(/<head\b[^>]*>/i, (head) => head + tag);
}

/** Weak, since the same content is answered compressed in several ways. */
function etagOf(body: Buffer): string {
  return `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}
