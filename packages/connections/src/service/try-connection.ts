import type { ConnectionsOptions, TestRead } from "../options.ts";

/** Dependencies of a connection test. `testRead` makes the read as a tool call. */
export type TestConnectionContext = ConnectionsOptions & { readonly testRead: TestRead };
