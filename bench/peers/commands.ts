import type { SystemSetup } from "../system.ts";

/** The commands every peer answers. */
export type PeerCommands = {
  /** Starts it; resolves with the port it takes posts on. */
  readonly start: (setup: SystemSetup) => Promise<number>;
  /** Results recorded so far: deliveries with their outcome, or events where nothing is delivered. */
  readonly recorded: (argument: null) => Promise<number>;
};
