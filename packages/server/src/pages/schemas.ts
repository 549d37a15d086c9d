import { serverFaults } from "../errors.ts";
import { answerError, answerJson } from "../http/answer.ts";
import type { PageHandler } from "./pages.ts";

/**
 * Cache time in seconds. It is long enough that an editor does not request the schema at every key press, and short enough that a new
 * version appears on the same day.
 */
const cacheSeconds = 3600;

/**
 * Creates the handlers of the JSON Schemas for callers' documents, for editors and agents: `/schemas/program.v1.json` and
 * `/schemas/standing.v1.json`. Any page may read them, because they reveal nothing about the deployment. Only GET and HEAD.
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
