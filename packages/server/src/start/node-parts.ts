import { engineNames, type NodeLimits, type NodeParts } from "@svc/node";
import { loopbackRanges } from "../config/loopback.ts";
import type { Config } from "../config/settings.ts";

/**
 * Returns the parts from which a node is created, as the configuration says. A node with the role `api` starts no engines; worker nodes
 * process the work that it stores.
 */
export function nodePartsOf(
  config: Config,
  erasures?: NodeLimits["erasures"],
): Pick<NodeParts, "variable" | "embeddings" | "ranges" | "limits" | "sandboxMode" | "engines" | "tracedToolkits"> {
  const own = loopbackRanges(config);
  const { endpointConcurrency, retryScheduleMs, bodyBytesMax: postBytesMax } = config;
  return {
    embeddings: config.embeddings,
    variable: (name) => config.environment.get(name),
    ranges: { endpoints: [...config.endpointRanges, ...own], apps: [...config.providerRanges, ...own] },
    limits: {
      deliveries: { endpointConcurrency, retryScheduleMs },
      postBytesMax,
      ...(config.toolkitRefreshMs !== "off" && { mcpSourcesEveryMs: config.toolkitRefreshMs }),
      erasures,
      standing: { projectRunsMax: config.standingRunsMax, programsMax: config.standingProgramsMax },
      retention: {
        eventsMs: config.eventRetentionMs,
        callsMs: config.callRetentionMs,
        jobRowsMs: config.jobRowRetentionMs,
        jobsMs: config.jobRetentionMs,
        standingRunsMs: config.standingRunRetentionMs,
      },
    },
    sandboxMode: config.sandboxMode,
    tracedToolkits: config.tracedToolkits,
    engines: enginesOf(config),
  };
}

function enginesOf({ role, processRole, isStandingHeld, toolkitRefreshMs }: Config): NonNullable<NodeParts["engines"]> {
  if (role === "api") return [];
  if (processRole === "requests") return ["deliveries", "shortJobs"];
  const isOff = { standing: isStandingHeld, sources: toolkitRefreshMs === "off" };
  return engineNames.filter((name) => !(name === "standing" || name === "sources") || !isOff[name]);
}
