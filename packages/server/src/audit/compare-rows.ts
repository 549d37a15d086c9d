import type { AuditChain } from "@svc/db/audit/chains";
import type { AuditEvent } from "@svc/db/audit/list";
import { type ChainKey, eventMac, isSame, linkHash } from "./chain.ts";

/**
 * A fault that a verification found in a chain of the audit log. `position`: the row's position; 0 if the fault concerns the whole chain.
 */
export type RowFault = {
  readonly position: number;
  /**
   * Id of the audit log row that is wrong. Empty if no row exists at this position, or if the error concerns the project's whole chain of
   * rows.
   */
  readonly eventId: string;
  readonly kind: "changed" | "removed" | "moved" | "head";
  /** Description of the fault, in a sentence for people. */
  readonly message: string;
};

/**
 * Rows of the audit log, in the order of their positions in a chain (the rows of one project, linked by hashes). They start after the
 * position `after`. `end`: end of the chain, if the rows reach it.
 */
type Rows = {
  readonly rows: readonly AuditEvent[];
  readonly after: number;
  readonly end: Pick<AuditChain, "length" | "hash"> | undefined;
};

// Maximum distance in positions within which the original position of a moved row is searched. `movedMax`: number of faults after which
// moved rows are no longer searched.
const reachPlaces = 25;
const movedMax = 20;

/**
 * Compares rows of the audit log with their MACs (keyed hashes). Checks the hashes that link each row to the row before, and the recorded
 * end of this chain. Returns the faults.
 */
export function compareRows(key: ChainKey, { rows, after, end }: Rows): RowFault[] {
  const faults: RowFault[] = [];
  let at = after;
  // Hash of the previous row. Undefined if the previous row is missing or may be changed; the link to it is then not checked.
  let before: Buffer | undefined = after === 0 ? Buffer.alloc(0) : undefined;
  for (const row of rows) {
    const position = row.position ?? 0;
    if (position <= after) {
      before = row.hash ?? undefined;
      continue;
    }
    if (position > at + 1) {
      faults.push(removedFault(at + 1, position - 1));
      before = undefined;
    }
    const fault = rowFault(key, row, { before, mayLook: faults.length < movedMax });
    if (fault !== undefined) faults.push(fault);
    before = fault === undefined ? (row.hash ?? undefined) : undefined;
    at = position;
  }
  if (end === undefined) return faults;
  if (at < end.length) faults.push(removedFault(at + 1, end.length));
  else if (before !== undefined && !isSame(end.hash, before)) faults.push(changedFault(rows.at(-1), "its hash"));
  return faults;
}

function rowFault(
  key: ChainKey,
  row: AuditEvent,
  { before, mayLook }: { before: Buffer | undefined; mayLook: boolean },
): RowFault | undefined {
  const position = row.position ?? 0;
  const mac = eventMac(key, row, position);
  if (!isSame(mac, row.mac)) {
    const was = mayLook ? placeOf(key, row) : undefined;
    if (was === undefined) return changedFault(row, "its content");
    return {
      position,
      eventId: row.id,
      kind: "moved",
      message: `the event at position ${position} was at position ${was}`,
    };
  }
  const isLinked = before === undefined || isSame(linkHash(key, before, mac), row.hash);
  return isLinked ? undefined : changedFault(row, "its hash");
}

/**
 * Returns the position at which a row of the audit log was originally stored, if only its position was changed later. Undefined if the
 * row's content was changed, or if the original position is not near the present one.
 */
function placeOf(key: ChainKey, row: AuditEvent): number | undefined {
  const position = row.position ?? 0;
  for (let place = Math.max(1, position - reachPlaces); place <= position + reachPlaces; place++) {
    if (isSame(eventMac(key, row, place), row.mac)) return place;
  }
  return undefined;
}

function changedFault(row: AuditEvent | undefined, what: string): RowFault {
  const position = row?.position ?? 0;
  return {
    ...{ position, eventId: row?.id ?? "", kind: "changed" },
    message: `the event at position ${position} was changed: ${what}`,
  };
}

function removedFault(from: number, to: number): RowFault {
  const message =
    from === to ? `the event at position ${from} is missing` : `the events at positions ${from} to ${to} are missing`;
  return { position: from, eventId: "", kind: "removed", message };
}
