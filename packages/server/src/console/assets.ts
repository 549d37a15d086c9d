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
