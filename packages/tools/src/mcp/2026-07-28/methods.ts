import { complete, type McpMethod } from "../offer.ts";
import type { Served } from "../served.ts";
import { spokenVersions } from "../versions.ts";

/** The methods of this revision itself. */
export function ownMethods(served: Omit<Served, "methods">): Readonly<Record<string, McpMethod>> {
  return {
    "server/discover": {
      isCacheable: true,
      async answer(_params, { address }) {
        const instructions = served.instructions(address);
        return complete({
          supportedVersions: spokenVersions,
          capabilities: served.capabilities,
          ...(instructions !== "" && { instructions }),
        });
      },
    },
  };
}
