import type { IncomingMessage, ServerResponse } from "node:http";
import { serverFaults } from "../errors.ts";
import { answerError } from "../http/answer.ts";
import { answerFile } from "../pages/static-files.ts";
import { consolePath } from "./headers.ts";
import type { BuiltConsole } from "./read-files.ts";

/** Answers GET and HEAD of a path below `/console/`. */
export type ServeAsset = (path: string, req: IncomingMessage, res: ServerResponse) => void;

/** Pages of the console that have their own path, each with its file. Every other path shows the index page. */
const pages: Readonly<Record<string, string>> = { answer: "answer.html", connect: "connect.html" };

/**
 * Creates the handler of the console's files. The files are read at the start and found by their exact paths, so no request reaches the
 * file system. The names of assets contain a hash of their content, so browsers may cache them forever; pages are requested each time. If
 * the console was not built, every page says what is missing.
 */
export function createAssets(built: BuiltConsole): ServeAsset {
  if (!("files" in built)) return createUnbuilt(built.failure);
  const { files, links } = built;
  const index = files.get("index.html");
  return (path, req, res) => {
    if (answerOtherMethod(req, res)) return;
    const name = path.slice(consolePath.length);
    const file = files.get(pages[name] ?? name) ?? (isFileName(name) ? undefined : index);
    if (file === undefined) return answerUnknown(res, path);
    const link = file === index ? links(name) : undefined;
    if (link !== undefined) res.setHeader("link", link);
    answerFile(file, req, res);
  };
}

/** Creates the handler for a console that was not built. Every page says what is missing. */
function createUnbuilt(failure: string): ServeAsset {
  const page = unbuiltPage(failure);
  return (path, req, res) => {
    if (answerOtherMethod(req, res)) return;
    if (isFileName(path.slice(consolePath.length))) answerUnknown(res, path);
    else answerUnbuilt(page, req, res);
  };
}

/** Refuses a request whose method is not GET or HEAD. Returns true if it did. */
function answerOtherMethod({ method = "" }: IncomingMessage, res: ServerResponse): boolean {
  if (method === "GET" || method === "HEAD") return false;
  answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, "GET"), 405, { allow: "GET, HEAD" });
  return true;
}

/** True if a path names a file. A path under `p/` or `admin/` always names a page, even if it contains a dot. */
function isFileName(name: string): boolean {
  return name.startsWith("assets/") || (name.includes(".") && !/^(?:p|admin)\//.test(name));
}

function answerUnknown(res: ServerResponse, path: string): void {
  answerError(res, serverFaults.CALL_UNKNOWN(path), 404);
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
