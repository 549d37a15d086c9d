import { startChild } from "./child.ts";
import type { PeerCommands } from "./peers/commands.ts";
import type { Variant } from "./system.ts";

/** Names of the peers (systems to compare with), each in peers/<name>.ts. */
export type PeerName =
  | "relay"
  | "no-store"
  | "graphile-worker"
  | "pg-boss"
  | "one-insert"
  | "jobs-graphile-worker"
  | "jobs-pg-boss";

/** Returns a peer as a variant. */
export function peerVariant(peer: PeerName, name: string): Variant {
  return {
    name,
    start: async (setup) => {
      const child = startChild<PeerCommands>(new URL(`peers/${peer}.ts`, import.meta.url));
      try {
        const port = await child.ask("start", setup);
        return { pid: child.pid, port, recorded: () => child.ask("recorded", null), stop: child.stop };
      } catch (error) {
        await child.stop();
        throw error;
      }
    },
  };
}
