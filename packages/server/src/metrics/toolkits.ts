import { Counter } from "prom-client";
import type { Registers } from "./exemplars.ts";
import type { Metrics } from "./types.ts";

/** Registers the metrics of imported toolkits, of the MCP servers behind them, and of searches for tools. */
export function registerToolkits(
  registers: Registers,
): Pick<Metrics, "sourceRead" | "upstreamAsked" | "toolsSearched"> {
  const imports = new Counter({
    name: "svc_toolkit_imports_total",
    help: "Imports of toolkits by kind of the source and outcome: ok, unreachable, refused or failed. Includes dry runs.",
    labelNames: ["kind", "outcome"],
    registers,
  });
  const refreshes = new Counter({
    name: "svc_toolkit_refreshes_total",
    help: "Refreshes of imported toolkits by kind of the source and outcome: ok, changed, unreachable, refused or failed.",
    labelNames: ["kind", "outcome"],
    registers,
  });
  const requests = new Counter({
    name: "svc_upstream_requests_total",
    help: "Requests of svc to MCP servers by protocol revision, method and outcome.",
    labelNames: ["era", "method", "outcome"],
    registers,
  });
  const searches = new Counter({
    name: "svc_searches_total",
    help: "Searches for tools by the confidence of the first tool: high, medium, low, or none if none was found.",
    labelNames: ["confidence"],
    registers,
  });
  return {
    sourceRead: ({ purpose, kind, outcome }) => (purpose === "import" ? imports : refreshes).inc({ kind, outcome }),
    upstreamAsked: ({ era, method, outcome }) => requests.inc({ era, method, outcome }),
    toolsSearched: (confidence) => searches.inc({ confidence }),
  };
}
