import type { IncomingMessage, ServerResponse } from "node:http";
import { serverFaults } from "../errors.ts";
import type { Health } from "../health/health.ts";
import { answerError, answerJson } from "../http/answer.ts";
import type { Metrics } from "../metrics/types.ts";

/** Serves a path that needs no key. */
export type ProbeHandler = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Creates the probes. `/healthz`: answers if the process runs. `/readyz`: answers 200 if the node accepts traffic, otherwise 503 with the
 * reason. `/metrics`, if enabled: metrics in Prometheus' text format. Only GET and HEAD.
 */
export function createProbes({
  health,
  metrics,
}: {
  health: Health;
  metrics: Metrics | undefined;
}): ReadonlyMap<string, ProbeHandler> {
  const probes: [string, (res: ServerResponse) => Promise<void> | void][] = [
    ["/healthz", (res) => answerJson(res, 200, '{"status":"ok"}')],
    [
      "/readyz",
      async (res) => {
        const status = await health.check();
        answerJson(res, status === "ready" ? 200 : 503, JSON.stringify({ status }));
      },
    ],
  ];
  if (metrics !== undefined) probes.push(["/metrics", (res) => answerMetrics(res, metrics)]);
  return new Map(probes.map(([path, answer]) => [path, onlyGet(answer)]));
}

async function answerMetrics(res: ServerResponse, metrics: Metrics): Promise<void> {
  answerJson(res, 200, await metrics.text(), { "content-type": metrics.contentType });
}

function onlyGet(answer: (res: ServerResponse) => Promise<void> | void): ProbeHandler {
  return (req, res) => {
    if (req.method !== "GET" && req.method !== "HEAD") {
      return answerError(res, serverFaults.METHOD_NOT_ALLOWED(req.method ?? "", "GET"), 405, { allow: "GET, HEAD" });
    }
    res.setHeader("cache-control", "no-store");
    Promise.resolve(answer(res)).catch(() => res.destroy());
  };
}
