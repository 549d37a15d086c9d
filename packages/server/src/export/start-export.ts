import { createHash } from "node:crypto";
import { type Clock, createMinuteCount } from "@svc/core";
import { listChainedAuditEvents } from "@svc/db/audit/chains";
import type { Database } from "@svc/db/connect";
import {
  findExportPosition,
  findUnsentChains,
  putExportPosition,
  readHourlyUsage,
  type UnsentChain,
} from "@svc/db/exports/positions";
import { takeSweepTurn } from "@svc/db/sweep-turns/repo";
import type { ExportTarget } from "../config/export-target.ts";
import type { Logger } from "../logger.ts";
import { type Loop, startLoop } from "../loop.ts";
import { auditRecord, usageRecords } from "./records.ts";
import { type OpenTarget, openTarget } from "./targets.ts";

/** Interval in milliseconds at which a node tries to take the turn. A run begins no batch after this time. */
const everyMs = 5_000;
/**
 * Time in milliseconds for which only one node sends. It is longer than a run with its last batch takes, so that no two nodes send at once.
 */
const turnMs = 20_000;
/** Maximum number of records that are sent together. */
const batchMax = 500;
const hourMs = 3_600_000;
/** Time in milliseconds after the end of an hour for which svc waits, because nodes write their counts late. */
const settleMs = 600_000;
/** Maximum number of hours of usage that one run sends. */
const hoursMax = 24;

/**
 * Starts to send the audit log and the usage of projects to a target. A position is stored after the target has taken the records. So a
 * node that ends in between sends some of them again, and none is lost.
 */
export function startExport(
  target: ExportTarget,
  { db, clock, logger }: { readonly db: Database; readonly clock: Clock; readonly logger: Logger },
): Loop {
  const digest = createHash("sha256").update(target.address).digest("hex");
  const opened = openTarget(target);
  const sending: Sending = {
    db,
    clock,
    target: opened,
    streams: { audit: `audit ${digest}`, usage: `usage ${digest}` },
    hour: { fromMs: 0, taken: new Set() },
  };
  const beyondMinute = createMinuteCount({ clock, most: 1 });
  const loop = startLoop({
    ...{ clock, everyMs },
    async run() {
      const startMs = clock.now();
      if (!(await takeSweepTurn(db, "export", { nowMs: startMs, everyMs: turnMs }))) return;
      const isOver = () => clock.now() - startMs >= everyMs;
      // A record that the target refuses must not hold back the records of other projects.
      const faults: unknown[] = [];
      const noteFault = (fault: unknown) => void faults.push(fault);
      for (const chain of await findUnsentChains(db, sending.streams.audit))
        await sendChain(sending, chain, isOver).catch(noteFault);
      await sendUsage(sending, isOver).catch(noteFault);
      if (faults.length > 0) throw faults[0];
    },
    onError(err) {
      if (beyondMinute("") === undefined)
        logger.warn({ err }, "records could not be sent to SVC_EXPORT_TO; svc tries again");
    },
  });
  return {
    async stop() {
      await loop.stop();
      await opened.close();
    },
  };
}

type Sending = {
  readonly db: Database;
  readonly clock: Clock;
  readonly target: OpenTarget;
  readonly streams: Readonly<Record<"audit" | "usage", string>>;
  /** The hour of usage that this node sent last, and its records that the target has taken. The next run continues within the hour. */
  readonly hour: { fromMs: number; taken: Set<string> };
};

/** Sends the entries of one chain of the audit log that the target lacks, in order. `isOver`: true if no further batch may begin. */
async function sendChain(
  { db, target, streams }: Sending,
  { projectId, after, length }: UnsentChain,
  isOver: () => boolean,
): Promise<void> {
  for (let sent = after; sent < length && !isOver(); ) {
    const events = await listChainedAuditEvents(db, projectId, { from: sent + 1, to: length, limit: batchMax });
    const last = events.at(-1)?.position;
    // An entry is missing only if someone deleted it past svc. `svc audit verify` reports that.
    if (last === undefined || last === null) return;
    await target.send(events.map(auditRecord));
    await putExportPosition(db, streams.audit, { projectId, position: last });
    sent = last;
  }
}

/**
 * Sends the usage of each hour that has ended since the last one. The first export begins with the present hour. `isOver`: true if no
 * further batch may begin.
 */
async function sendUsage({ db, clock, target, streams, hour }: Sending, isOver: () => boolean): Promise<void> {
  const nowMs = clock.now();
  const stored = await findExportPosition(db, streams.usage);
  let fromMs = stored ?? nowMs - (nowMs % hourMs);
  if (stored === undefined) await putExportPosition(db, streams.usage, { position: fromMs });
  for (let hours = 0; hours < hoursMax && fromMs + hourMs + settleMs <= nowMs && !isOver(); hours++) {
    if (hour.fromMs !== fromMs) Object.assign(hour, { fromMs, taken: new Set() });
    const records = usageRecords(fromMs, await readHourlyUsage(db, fromMs)).filter(({ json }) => !hour.taken.has(json));
    for (let sent = 0; sent < records.length; sent += batchMax) {
      if (isOver()) return;
      const batch = records.slice(sent, sent + batchMax);
      await target.send(batch);
      for (const { json } of batch) hour.taken.add(json);
    }
    fromMs += hourMs;
    await putExportPosition(db, streams.usage, { position: fromMs });
  }
}
