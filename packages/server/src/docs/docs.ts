import type { IncomingMessage, ServerResponse } from "node:http";
import { serverFaults } from "../errors.ts";
import { answerError } from "../http/answer.ts";
import { setPageHeaders } from "../pages/page-headers.ts";
import {
  answerFailure,
  answerFile,
  createFile,
  type FailureLog,
  readFolder,
  type StaticFile,
  withBase,
} from "../pages/static-files.ts";

/** Serves the documentation. */
export type Docs = {
  /** Sets the headers of every answer below `/docs/`. */
  setHeaders(res: ServerResponse): void;
  /** Answers a request whose path `isDocsPath` accepts. */
  serve(path: string, req: IncomingMessage, res: ServerResponse): void;
};

export type DocsOptions = FailureLog & {
  readonly folder: string;
  /** Path of the documentation in browsers, with a final slash. */
  readonly base: string;
};

const docsPath = "/docs/";

/** True if a path belongs to the documentation. */
export function isDocsPath(path: string): boolean {
  return path.startsWith(docsPath) || path === "/docs";
}

/**
 * Creates the handler that serves the documentation pages. It reads their files at the first request, so that they do not delay the start.
 * It never uses the path of a request as a file system path.
 */
export function createDocs({ folder, base, ...log }: DocsOptions): Docs {
  let loading: Promise<Site> | undefined;
  const load = () => {
    loading ??= readSite(folder, base);
    return loading;
  };
  return {
    setHeaders: setPageHeaders,
    serve(path, req, res) {
      const { method = "" } = req;
      if (method !== "GET" && method !== "HEAD") {
        return answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, "GET"), 405, { allow: "GET, HEAD" });
      }
      load().then(
        (site) => answer(site, base, path, req, res),
        (error) => {
          loading = undefined;
          answerFailure(log, res, error, "documentation could not be read");
        },
      );
    },
  };
}

/** The built documentation. `notFound`: its page for unknown addresses. */
type Site = { readonly files: ReadonlyMap<string, StaticFile>; readonly notFound: Buffer };

async function readSite(folder: string, base: string): Promise<Site> {
  const all = await readFolder(folder);
  const files = [...all].flatMap(([path, body]) => {
    const file = createFile(path, { body, br: all.get(`${path}.br`), gzip: all.get(`${path}.gz`) });
    return file === undefined ? [] : ([[path, file]] as const);
  });
  // The page 404.html is shown for unknown paths of any depth, so its relative links need a base address (a `<base>` tag). Other pages have
  // a fixed path and need none.
  const page = all.get("404.html")?.toString("utf8") ?? unbuiltPage;
  return { files: new Map(files), notFound: Buffer.from(withBase(page, base)) };
}

const unbuiltPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>The documentation is not built</title></head>
<body>
<h1>The documentation is not built</h1>
<p>The service runs and answers every call. In the checkout, run <code>npm run docs:build</code>, which says what is wrong, and start the
service again. The same texts are in the folder <code>docs</code>.</p>
</body>
</html>
`;

function answer(site: Site, base: string, path: string, req: IncomingMessage, res: ServerResponse): void {
  const name = path === "/docs" ? undefined : path.slice(docsPath.length);
  const file = name === undefined ? undefined : fileAt(site, name);
  const other = otherAddress(site, name);
  if (file !== undefined) answerFile(file, req, res);
  else if (other !== undefined) res.writeHead(302, { location: `${base}${other}`, "content-length": 0 }).end();
  else if (/\.\w+$/.test(path)) answerError(res, serverFaults.CALL_UNKNOWN(path), 404);
  else {
    const { notFound } = site;
    res.writeHead(404, { "content-type": "text/html; charset=utf-8", "content-length": notFound.byteLength });
    res.end(req.method === "HEAD" ? undefined : notFound);
  }
}

/**
 * Returns the file for a path. The page `guides/undo` is the file `guides/undo.html`. A path that ends in a slash is the index page of its
 * folder.
 */
function fileAt({ files }: Site, name: string): StaticFile | undefined {
  if (name === "" || name.endsWith("/")) return files.get(`${name}index.html`);
  return files.get(name) ?? files.get(`${name}.html`);
}

/**
 * Returns the address to which a wrong address of a page is redirected. The address can be wrong because a final slash is missing or is too
 * much. Undefined if no page is similar.
 */
function otherAddress({ files }: Site, name: string | undefined): string | undefined {
  if (name === undefined) return "";
  const plain = name.replace(/\/$/, "");
  if (name.endsWith("/") && files.has(`${plain}.html`)) return plain;
  return files.has(`${name}/index.html`) ? `${name}/` : undefined;
}
