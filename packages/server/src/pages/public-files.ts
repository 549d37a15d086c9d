import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { openapiFile } from "@svc/gen/openapi";
import { serverFaults } from "../errors.ts";
import { answerError } from "../http/answer.ts";
import type { PageHandler } from "./pages.ts";
import { answerFailure, answerFile, etagOf, type FailureLog, type StaticFile } from "./static-files.ts";

/** Makes the page handler of a public file. `read` returns the file for a request. */
export type PublicFile = (read: (req: IncomingMessage) => StaticFile | Promise<StaticFile>) => PageHandler;

/** Headers that let pages of any origin read a public file. */
const anyOrigin = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET",
  "access-control-allow-headers": "Content-Type, If-None-Match, MCP-Protocol-Version",
  "access-control-expose-headers": "ETag",
} as const;

const allowed = { allow: "GET, HEAD, OPTIONS" } as const;

/**
 * Creates the function that serves public files. A public file needs no key, and pages of any origin may read it. A file that cannot be
 * read is answered with an error, which is logged.
 */
export function createPublicFile(log: FailureLog): PublicFile {
  return (read) => (req, res) => {
    for (const [name, value] of Object.entries(anyOrigin)) res.setHeader(name, value);
    const { method = "" } = req;
    if (method === "OPTIONS") return void res.writeHead(204, allowed).end();
    if (method !== "GET" && method !== "HEAD")
      return answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, "GET"), 405, allowed);
    const answer = async () => answerFile(await read(req), req, res);
    answer().catch((error: unknown) => answerFailure(log, res, error, "a public file could not be read"));
  };
}

/** Returns a public file with the content `text`. `more`: its cache headers and its compressed content. */
export function jsonFile(
  type: string,
  text: string | Buffer,
  more: Pick<StaticFile, "cacheControl" | "vary"> & { readonly gzip?: Buffer } = {},
): StaticFile {
  const body = typeof text === "string" ? Buffer.from(text) : text;
  return { type, body, br: undefined, gzip: undefined, etag: etagOf(body), ...more };
}

/** Creates the handler of `/openapi.json`, the OpenAPI 3.1 document of svc's own calls. The file is read at the first request. */
export function createOpenapi(publicFile: PublicFile): ReadonlyMap<string, PageHandler> {
  let loading: Promise<StaticFile> | undefined;
  const read = async () => {
    const bytes = await readFile(openapiFile);
    return jsonFile("application/json", bytes, { gzip: await promisify(gzip)(bytes) });
  };
  const load = () => {
    loading ??= read().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return new Map([["/openapi.json", publicFile(load)]]);
}

/**
 * Returns the handlers of the JSON Schemas of programs and schedules, by path. Editors and agents read these schemas, and may cache them
 * for an hour.
 */
export function createSchemas(
  publicFile: PublicFile,
  { program, standing }: { program: object; standing: object },
): ReadonlyMap<string, PageHandler> {
  const serving = (schema: object) => {
    const text = JSON.stringify(schema, undefined, 2);
    const file = jsonFile("application/schema+json", text, { cacheControl: "public, max-age=3600" });
    return publicFile(() => file);
  };
  return new Map([
    ["/schemas/program.v1.json", serving(program)],
    ["/schemas/standing.v1.json", serving(standing)],
  ]);
}
