import type { ConnectionsOptions, TestRead } from "../options.ts";

/** Dependencies of a connection test. `testRead`: makes a read as a tool call, to test the credential. */
export type TestConnectionContext = ConnectionsOptions & { readonly testRead: TestRead };
