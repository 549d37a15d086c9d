import { serverFaults } from "../errors.ts";
import { answerError, answerJson } from "./answer.ts";
import type { PageHandler } from "./pages.ts";

/** `/`, for who opens the address in a browser: what is served where. GET and HEAD only: a POST there names no call. It says nothing of the deployment. */
export function createHome({ version }: { version: string }): ReadonlyMap<string, PageHandler> {
  const text = JSON.stringify(
    {
      service: "svc",
      version,
      calls: "POST /svc.v1.<Service>/<Call> with a JSON body and Authorization: Bearer <key>; declared in proto/svc/v1",
      mcp: "POST /mcp with the same key; docs/agents.md",
      health: "GET /readyz",
      docs: "README.md and docs/ of the checkout",
    },
    undefined,
    2,
  );
  const serve: PageHandler = (req, res) => {
    if (req.method === "GET" || req.method === "HEAD") answerJson(res, 200, `${text}\n`);
    else answerError(res, serverFaults.CALL_UNKNOWN("/"), 404);
  };
  return new Map([["/", serve]]);
}
