import type { Clock, ProjectId, Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { Logger } from "../logger.ts";
import { type Loop, startLoop } from "../loop.ts";
import { placeEvents } from "./place-events.ts";

const everyMs = 2_000;

/**
 * Starts to give each new row of the audit log a position in its project's chain. A chain links rows by hashes, so that a removed row is
 * noticed. A row gets its position within two seconds. If a row is removed before it has a position, the removal is not noticed.
 */
export function startPlacing(options: {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly logger: Logger;
}): Loop {
  const { logger, ...parts } = options;
  const broken = new Set<ProjectId>();
  const onBroken = (projectId: ProjectId, why: string) =>
    logger.error(
      { projectId, why },
      "a chain of the audit log was changed; svc adds nothing more to it: see svc audit verify",
    );
  return startLoop({
    clock: parts.clock,
    everyMs,
    async run() {
      while (await placeEvents({ ...parts, broken, onBroken }));
    },
    onError: (err) => logger.warn({ err }, "entries of the audit log could not be added to their chains"),
  });
}
