import type { PostKindName } from "./post-kinds.ts";

/** Start options of a measured system. */
export type SystemSetup = {
  readonly databaseUrl: string;
  readonly post: PostKindName;
  /** Address that deliveries go to. */
  readonly endpointUrl: string;
  /** Connections to the endpoint, which is also the largest number of deliveries under way. */
  readonly endpointConnections: number;
  /** The checkout whose server is started. Default: this one. */
  readonly checkout?: string | undefined;
  /** Number of the server's processes. Default: one. */
  readonly processes?: number | undefined;
};

/** A measured system, which runs as a process of its own. */
export type System = {
  readonly pid: number;
  /** Further processes of the system. Default: none. */
  readonly otherPids?: readonly number[];
  /** The engine's own store, if it does not use PostgreSQL. */
  readonly storePid?: number | undefined;
  /** Port at which the system takes posts, on 127.0.0.1. */
  readonly port: number;
  /** Returns the number of results so far: deliveries made or, in a run without deliveries, events stored. */
  recorded(): Promise<number>;
  stop(): Promise<void>;
};

/** One of the systems that a case compares. */
export type Variant = {
  /** Name of the system in the report. */
  readonly name: string;
  start(setup: SystemSetup): Promise<System>;
};
