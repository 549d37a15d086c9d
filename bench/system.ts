import type { PostKindName } from "./post-kinds.ts";

/** What a system under test is started with. */
export type SystemSetup = {
  readonly databaseUrl: string;
  readonly post: PostKindName;
  /** Where deliveries go. */
  readonly endpointUrl: string;
  /** Connections to the endpoint, which is also the most deliveries in flight. */
  readonly endpointConnections: number;
  /** The checkout whose server is started. Default: this one. */
  readonly checkout?: string | undefined;
  /** How many processes it has. Default: one. */
  readonly processes?: number | undefined;
};

/** A system under test, running as a process of its own. */
export type System = {
  readonly pid: number;
  /** Processes of it beside that one. Default: none. */
  readonly otherPids?: readonly number[];
  /** Its own store, where it keeps nothing in PostgreSQL. */
  readonly storePid?: number | undefined;
  /** Where it takes posts, on 127.0.0.1. */
  readonly port: number;
  /** How many results it has recorded so far: deliveries made, or, in a run without deliveries, events stored. */
  recorded(): Promise<number>;
  stop(): Promise<void>;
};

/** One of the systems that a case compares. */
export type Variant = {
  /** As the report names it. */
  readonly name: string;
  start(setup: SystemSetup): Promise<System>;
};
