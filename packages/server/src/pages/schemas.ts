import { serverFaults } from "../errors.ts";
import { answerError, answerJson } from "../http/answer.ts";
import type { PageHandler } from "./pages.ts";

/** Long enough that an editor does not request it at every key press, short enough to show a new version on the same day. */
const cacheSeconds = 3600;

/**
 * Creates the schemas of callers' documents, for editors and agents: `/schemas/program.v1.json` and `/schemas/standing.v1.json`. They are
 * public and readable by any page, because they reveal nothing about the deployment. GET and HEAD only.
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
