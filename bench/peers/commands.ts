import type { SystemSetup } from "../system.ts";

/** Commands that every peer answers. */
export type PeerCommands = {
  /** Starts the peer. Resolves with the port at which it takes posts. */
  readonly start: (setup: SystemSetup) => Promise<number>;
  /** Number of results so far: deliveries with their outcome, or events if nothing is delivered. */
  readonly recorded: (argument: null) => Promise<number>;
};
