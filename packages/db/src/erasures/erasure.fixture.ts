import { systemClock } from "@svc/core";
import { openDatabase } from "../connect.ts";
import { stepErasure } from "./step.ts";

// A process that erases until it is killed; argv[2] is the database's address. It reports each batch to its parent process.

const db = openDatabase({ url: process.argv[2] ?? "", connectionsMax: 1 });
for (;;) {
  const moved = await stepErasure(db, systemClock.now(), { graceMs: 0, jobsMs: 0, pollMs: 0 });
  process.send?.(moved?.counts ?? {});
  if (moved === undefined) await systemClock.wait(50, new AbortController().signal);
}
