import { complete, type McpMethod } from "../offer.ts";
import { type Served, serverInfo } from "../served.ts";
import { versions } from "./versions.ts";

const [latest] = versions;

/** The methods of this revision itself. Nothing is kept of a handshake: every POST stands for itself. */
export function ownMethods(served: Omit<Served, "methods">): Readonly<Record<string, McpMethod>> {
  return {
    initialize: {
      async answer({ protocolVersion }, { address }) {
        const isSpoken = versions.some((version) => version === protocolVersion);
        const instructions = served.instructions(address);
        return complete({
          protocolVersion: isSpoken ? protocolVersion : latest,
          capabilities: served.capabilities,
          serverInfo: serverInfo(served),
          ...(instructions !== "" && { instructions }),
        });
      },
    },
    ping: { answer: async () => complete({}) },
  };
}
