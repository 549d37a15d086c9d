export { createIngest, type Ingest, type IngestOptions } from "./ingest.ts";
export type { InboundPost, IngestOutcome } from "./outcome.ts";
export { createQuarantine, type Quarantine, type QuarantineOptions, type ReleaseResult } from "./quarantine.ts";
export { createRouting, type Routing } from "./routing.ts";
export type { TriggersContext } from "./service/context.ts";
export { createTriggersService } from "./service.ts";
export type { StoreOptions } from "./store.ts";
