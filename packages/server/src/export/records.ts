import { isoTime, type ProjectId } from "@svc/core";
import type { AuditEvent } from "@svc/db/audit/list";
import type { HourlyUsage } from "@svc/db/exports/positions";
import { actorText, projectText } from "../admin/audit.ts";

/** A record as it leaves svc. `at`: its time, in epoch milliseconds. `json`: one line of JSON, without a line break. */
export type ExportRecord = { readonly kind: "audit" | "usage"; readonly at: number; readonly json: string };

/**
 * Returns the record of an audit entry that already has its position in the audit log of its project. The positions of a project have no
 * gaps, so the receiver can find a missing record.
 */
export function auditRecord(event: AuditEvent): ExportRecord {
  const { id, at, projectId, action, subject, entityDigest, outcome, position, hash } = event;
  const record = {
    ...{ kind: "audit", id, at: isoTime(at), projectId: projectText(projectId), position },
    ...{ actor: actorText(event), action, subject, outcome },
    entityDigest: entityDigest?.toString("hex") ?? "",
    hash: hash?.toString("hex") ?? "",
  };
  return { kind: "audit", at, json: JSON.stringify(record) };
}

const hourMs = 3_600_000;

/** Returns one record for each project with activity in an hour: its counts by series and outcome. */
export function usageRecords(atMs: number, usage: readonly HourlyUsage[]): ExportRecord[] {
  const byProject = Map.groupBy(usage, ({ projectId }) => projectId);
  return [...byProject].map(([projectId, counts]) => usageRecord(projectId, atMs, counts));
}

function usageRecord(projectId: ProjectId, atMs: number, counts: readonly HourlyUsage[]): ExportRecord {
  const from = isoTime(atMs);
  const bySeries = Map.groupBy(counts, ({ series }) => series);
  const shown = Object.fromEntries(
    [...bySeries].map(([series, own]) => [
      series,
      Object.fromEntries(own.map(({ outcome, count }) => [outcome, count])),
    ]),
  );
  // A repeated record of the same hour has the same id, so the receiver can ignore it.
  const record = {
    kind: "usage",
    id: `${projectId}/${from}`,
    projectId,
    from,
    until: isoTime(atMs + hourMs),
    counts: shown,
  };
  return { kind: "usage", at: atMs, json: JSON.stringify(record) };
}
