import type { IncomingMessage, ServerResponse } from "node:http";
import { serverFaults } from "../errors.ts";
import { answerError } from "../http/answer.ts";
import { consolePath } from "./headers.ts";
import type { BuiltConsole, ConsoleFile } from "./read-files.ts";

/** Answers GET and HEAD of a path below `/console/`. */
export type ServeAsset = (path: string, req: IncomingMessage, res: ServerResponse) => void;

/** Pages that stand at a path of their own; every other path is the index page's. */
const pages: Readonly<Record<string, string>> = { answer: "answer.html", connect: "connect.html" };

/**
 * Makes the way of the console's files, read at start by exact path: no request reaches the file system. Assets, whose names have
 * their content's hash, are kept for good; pages are asked for again each time. Without files every page says what is missing.
 */
export function createAssets(built: BuiltConsole): ServeAsset {
  const files = "files" in built ? built.files : undefined;
  const unbuilt = "files" in built ? "" : unbuiltPage(built.failure);
  return (path, req, res) => {
    const { method = "" } = req;
    if (method !== "GET" && method !== "HEAD") {
      return answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, "GET"), 405, { allow: "GET, HEAD" });
    }
    const name = path.slice(consolePath.length);
    if (files === undefined) return isFileName(name) ? answerUnknown(res, path) : answerUnbuilt(unbuilt, req, res);
    const file = files.get(pages[name] ?? name) ?? (isFileName(name) ? undefined : files.get("index.html"));
    if (file === undefined) return answerUnknown(res, path);
    answerFile(file, req, res);
  };
}

/** Slugs of tools have dots: beyond the files' own folders, a path is a page's whatever it holds. */
function isFileName(name: string): boolean {
  return name.startsWith("assets/") || (name.includes(".") && !/^(?:p|admin)\//.test(name));
}

function answerUnknown(res: ServerResponse, path: string): void {
  answerError(res, serverFaults.CALL_UNKNOWN(path), 404);
}

function answerFile(file: ConsoleFile, req: IncomingMessage, res: ServerResponse): void {
  res.setHeader("cache-control", file.etag === undefined ? "public, max-age=31536000, immutable" : "no-cache");
  res.setHeader("vary", "accept-encoding");
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

function isKnown(etag: string, header: string | undefined): boolean {
  return (header ?? "").split(",").some((one) => one.trim() === etag || one.trim() === "*");
}

function chosen({ body, br, gzip }: ConsoleFile, header: string | string[] | undefined) {
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

function unbuiltPage(failure: string): string {
  const escaped = failure.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const why = failure === "" ? "" : `<p>The last build failed:</p>\n<pre>${escaped}</pre>\n`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>The console is not built</title></head>
<body>
<h1>The console is not built</h1>
<p>The service runs and answers every call. What is missing are its pages.</p>
${why}<p>In the checkout, run <code>npm run console:build</code>, which says what is wrong, and start the service again.</p>
</body>
</html>
`;
}

function answerUnbuilt(page: string, req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(503, {
    "content-type": "text/html; charset=utf-8",
    "content-length": Buffer.byteLength(page),
    "cache-control": "no-store",
  });
  res.end(req.method === "HEAD" ? undefined : page);
}
