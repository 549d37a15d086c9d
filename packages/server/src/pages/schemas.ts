import { serverFaults } from "../errors.ts";
import { answerError, answerJson } from "../http/answer.ts";
import type { PageHandler } from "./pages.ts";

/** Long enough that an editor does not ask at every key, short enough that a new version is seen the same day. */
const cacheSeconds = 3600;

/**
 * The schemas of what callers write, for editors and agents: `/schemas/program.v1.json` and
 * `/schemas/standing.v1.json`. Public, since they say nothing of the
 * deployment; any page may read them. GET and HEAD only.
 */
export function createSchemas({
  program,
  standing,
}: {
  program: object;
  standing: object;
}): ReadonlyMap<string, PageHandler> {
  return new Map([
    ["/schemas/program.v1.json", serving(program)],
    ["/schemas/standing.v1.json", serving(standing)],
  ]);
}

function serving(schema: object): PageHandler {
  const text = JSON.stringify(schema, undefined, 2);
  const headers = {
    "content-type": "application/schema+json",
    "cache-control": `public, max-age=${cacheSeconds}`,
    "access-control-allow-origin": "*",
  };
  return (req, res) => {
    if (req.method === "GET" || req.method === "HEAD") answerJson(res, 200, text, headers);
    else answerError(res, serverFaults.METHOD_NOT_ALLOWED(req.method ?? "", "GET"), 405, { allow: "GET, HEAD" });
  };
}
