import { createHash } from "node:crypto";
import { type Clock, createMinuteCount, type ProjectId } from "@svc/core";
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
import { auditRecord, type ExportRecord, usageRecords } from "./records.ts";
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

/**
 * Starts to send the audit log and the usage of projects to a target. svc stores its position after the target has accepted the records. If
 * a node ends before that, some records are sent again, and none is lost.
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
    hour: { fromMs: 0, rest: [] },
    last: { kind: "usage", projectId: undefined },
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
      const noteFault = (fault: unknown) => {
        faults.push(fault);
        return undefined;
      };
      await sendInTurn(sending, isOver, noteFault);
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
  /** The hour of usage that this node sent last, and its records that the target has not taken yet. The next batch continues with them. */
  readonly hour: { fromMs: number; rest: readonly ExportRecord[] };
  /** The last batch that this node sent: its kind, and the project of the last batch of the audit log. The next run continues after it. */
  readonly last: { kind: ExportRecord["kind"]; projectId: ProjectId | undefined };
};

/**
 * Sends batches of the audit log and batches of the usage alternately, and for the audit log one batch of each project in turn. So a project
 * with many entries does not hold back the others. Ends when nothing is left. `isOver`: true if no further batch may begin. `noteFault`:
 * called with the error of a batch that was not sent. The next run tries it again.
 */
async function sendInTurn(
  sending: Sending,
  isOver: () => boolean,
  noteFault: (fault: unknown) => undefined,
): Promise<void> {
  const { db, streams, last } = sending;
  const chains = await findUnsentChains(db, streams.audit, last.projectId);
  let hasUsage = true;
  while ((hasUsage || chains.length > 0) && !isOver()) {
    last.kind = last.kind === "audit" ? "usage" : "audit";
    const chain = last.kind === "audit" ? chains.shift() : undefined;
    if (chain !== undefined) {
      last.projectId = chain.projectId;
      const rest = await sendChain(sending, chain).catch(noteFault);
      if (rest !== undefined) chains.push(rest);
    } else if (last.kind === "usage" && hasUsage) {
      hasUsage = (await sendUsage(sending).catch(noteFault)) ?? false;
    }
  }
}

/**
 * Sends the next batch of a chain of the audit log, in order. Returns the chain with its new position; undefined if the target has all of
 * its entries.
 */
async function sendChain({ db, target, streams }: Sending, chain: UnsentChain): Promise<UnsentChain | undefined> {
  const { projectId, after, length } = chain;
  const events = await listChainedAuditEvents(db, projectId, { from: after + 1, to: length, limit: batchMax });
  const last = events.at(-1)?.position;
  // An entry is missing only if someone deleted it past svc. `svc audit verify` reports that.
  if (last === undefined || last === null) return undefined;
  await target.send(events.map(auditRecord));
  await putExportPosition(db, streams.audit, { projectId, position: last });
  return last < length ? { ...chain, after: last } : undefined;
}

/**
 * Sends the next batch of the usage of the first hour that has ended and that the target lacks. The first export begins with the present
 * hour. Returns false if the target has all hours that have ended.
 */
async function sendUsage({ db, clock, target, streams, hour }: Sending): Promise<boolean> {
  const nowMs = clock.now();
  const stored = await findExportPosition(db, streams.usage);
  const fromMs = stored ?? nowMs - (nowMs % hourMs);
  if (stored === undefined) await putExportPosition(db, streams.usage, { position: fromMs });
  if (fromMs + hourMs + settleMs > nowMs) return false;
  if (hour.fromMs !== fromMs)
    Object.assign(hour, { fromMs, rest: usageRecords(fromMs, await readHourlyUsage(db, fromMs)) });
  if (hour.rest.length > 0) await target.send(hour.rest.slice(0, batchMax));
  hour.rest = hour.rest.slice(batchMax);
  if (hour.rest.length === 0) await putExportPosition(db, streams.usage, { position: fromMs + hourMs });
  return true;
}
