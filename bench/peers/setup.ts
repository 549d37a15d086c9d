import type { PostKindName } from "../post-kinds.ts";

/** What every peer is started with. */
export type PeerSetup = {
  readonly databaseUrl: string;
  readonly endpointUrl: string;
  readonly post: PostKindName;
  /** Connections to the endpoint, which is also the most deliveries in flight. */
  readonly endpointConnections: number;
};

/** The commands every peer answers. */
export type PeerCommands = {
  /** Starts it; resolves with the port it takes posts on. */
  readonly start: (setup: PeerSetup) => Promise<number>;
  /** Deliveries whose outcome is recorded, or, where nothing is stored, that were answered. */
  readonly recorded: (argument: null) => Promise<number>;
};
