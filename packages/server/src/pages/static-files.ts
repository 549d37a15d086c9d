import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, sep } from "node:path";
import { serverFaults } from "../errors.ts";
import { answerError } from "../http/answer.ts";
import type { Logger } from "../logger.ts";

/** A file that svc serves. `body`: its bytes. `br` and `gzip`: the compressed bytes, if available. */
export type StaticFile = {
  readonly type: string;
  readonly body: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
  /** ETag of a file whose name does not change with its content. Undefined if the name contains a hash of the content. */
  readonly etag: string | undefined;
  /** Value of the header Cache-Control. Default: clients ask each time if a file with an ETag has changed, and keep others for a year. */
  readonly cacheControl?: string;
  /** Request header, in addition to Accept-Encoding, on which the content depends. Default: none. */
  readonly vary?: string;
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
  ".md": "text/markdown; charset=utf-8",
  ".service": "text/plain; charset=utf-8",
  ".yaml": "text/plain; charset=utf-8",
};

/** Returns the files of a folder by their paths, with slashes. Empty if the folder is missing. */
export async function readFolder(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ignoreMissing);
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length).split(sep).filter(Boolean).join("/"));
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path))] as const)));
}

function ignoreMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
  throw error;
}

/**
 * Returns a file that svc can serve. Undefined if the type of the file is unknown, or if its name starts with a dot (such files belong to
 * the build tool).
 */
export function createFile(path: string, bytes: Pick<StaticFile, "body" | "br" | "gzip">): StaticFile | undefined {
  const type = types[extname(path)];
  if (type === undefined || path.startsWith(".")) return undefined;
  return { ...bytes, type, etag: path.startsWith("assets/") ? undefined : etagOf(bytes.body) };
}

/** Returns a page whose relative links start at `base`. */
export function withBase(html: string, base: string): string {
  const tag = `<base href="${base.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}">`;
  const present = /<base\b[^>]*>/i;
  return present.test(html) ? html.replace(present, () => tag) : html.replace(/<head\b[^>]*>/i, (head) => head + tag);
}

/**
 * Returns a weak ETag (a text that identifies the version of a file). It is weak because the same content is sent with several
 * compressions.
 */
export function etagOf(body: Buffer): string {
  return `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}

/** Answers GET or HEAD with a file. Omits the content if the client already has it. Compresses the content if the client accepts this. */
export function answerFile(file: StaticFile, req: IncomingMessage, res: ServerResponse): void {
  const fallback = file.etag === undefined ? "public, max-age=31536000, immutable" : "no-cache";
  res.setHeader("cache-control", file.cacheControl ?? fallback);
  res.setHeader("vary", file.vary === undefined ? "accept-encoding" : `accept-encoding, ${file.vary}`);
  if (file.etag !== undefined) {
    res.setHeader("etag", file.etag);
    if (isKnown(file.etag, req.headers["if-none-match"])) {
      res.writeHead(304).end();
      return;
    }
  }
  const { encoding, body } = chosen(file, req.headers["accept-encoding"]);
  if (encoding !== undefined) res.setHeader("content-encoding", encoding);
  res.writeHead(200, { "content-type": file.type, "content-length": body.byteLength });
  res.end(req.method === "HEAD" ? undefined : body);
}

/** Logs failures to read a file, each with a new request id. */
export type FailureLog = { readonly logger: Logger; createRequestId(): string };

/** Answers a request for a file that could not be read with an error, and logs the reason with the same request id. */
export function answerFailure(
  { logger, createRequestId }: FailureLog,
  res: ServerResponse,
  error: unknown,
  message: string,
): void {
  const requestId = createRequestId();
  logger.error({ err: error, requestId }, message);
  answerError(res, serverFaults.INTERNAL(requestId), undefined, { "x-request-id": requestId });
}

function isKnown(etag: string, header: string | undefined): boolean {
  return (header ?? "").split(",").some((one) => one.trim() === etag || one.trim() === "*");
}

function chosen({ body, br, gzip }: StaticFile, header: string | string[] | undefined) {
  const accepted = acceptedCodings(String(header ?? ""));
  if (br !== undefined && accepted.has("br")) return { encoding: "br", body: br };
  if (gzip !== undefined && accepted.has("gzip")) return { encoding: "gzip", body: gzip };
  return { encoding: undefined, body };
}

function acceptedCodings(header: string): ReadonlySet<string> {
  const entries = header.split(",").map((entry) => entry.trim().toLowerCase());
  const wanted = entries.filter((entry) => !/;\s*q=0(?:\.0*)?$/.test(entry));
  return new Set(wanted.map((entry) => entry.split(";")[0]?.trim() ?? ""));
}
