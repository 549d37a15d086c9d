import type { ConnectionsOptions, TestRead } from "../options.ts";

/** The parts that a test of a connection needs. `testRead` makes the read as a call of a tool. */
export type TestConnectionContext = ConnectionsOptions & { readonly testRead: TestRead };
