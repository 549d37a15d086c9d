import { setImmediate as turn } from "node:timers/promises";
import { dataKeyHeader, type ProjectId, parseId, SealError } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { type OldValue, readSealedPage, type SealedRow, sealedTableNames, writeResealed } from "@svc/db/vault/reseal";
import type { VaultRotation } from "@svc/db/vault/rotations";
import type { VaultContext } from "./context.ts";
import { move } from "./move.ts";

/** Maximum time in milliseconds for which encrypting rows may occupy the event loop. After that, other work of the process may run. */
const timeSliceMs = 4;
/** Maximum pause in milliseconds after a batch of encrypted rows. The pause leaves the database time for other work. */
const pauseMsMax = 100;

/**
 * Encrypts the next batch of rows with the new vault key, and stores the position of the rotation. Returns `done` if a whole pass over all
 * tables found no row to encrypt.
 */
export async function resealPage(context: VaultContext, rotation: VaultRotation): Promise<"more" | "done"> {
  const { db, clock, limits, onFaultPoint } = context;
  const names = sealedTableNames();
  const table = rotation.atTable === "" ? names[0] : rotation.atTable;
  if (table === undefined) return "done";
  const beganMs = clock.now();
  const page = await readSealedPage(db, {
    table,
    after: rotation.atKey,
    oldBefore: dataKeyHeader(rotation.lastOldNumber + 1),
    limit: limits.pageRows,
  });
  // Loads the data keys of the projects, and creates those that are missing. A project that had no activity under this version has none
  // yet.
  await context.state.sealer.ready(projectsOf(page.rows));
  const { rows, found, problem } = await resealRows(context, table, page.rows);
  const following = page.next === undefined ? names[names.indexOf(table) + 1] : table;
  const passFound = rotation.resealedInPass + found;
  const isPassOver = following === undefined;
  if (isPassOver && passFound === 0 && rotation.pass > 1) return "done";
  await withTransaction(db, async (tx) => {
    const written = rows.length === 0 ? 0 : await writeResealed(tx, table, rows);
    await move(context, tx, rotation, {
      atTable: following ?? "",
      atKey: page.next ?? "",
      resealed: rotation.resealed + written,
      resealedInPass: isPassOver ? 0 : passFound,
      seen: isPassOver ? 0 : rotation.seen + page.seen,
      pass: rotation.pass + (isPassOver ? 1 : 0),
      // After this pause, no node writes back a value that it read before the pass.
      notBefore: isPassOver ? clock.now() + limits.graceMs : null,
      ...(problem !== undefined && { problem }),
    });
  });
  if (rows.length > 0) {
    await onFaultPoint?.("page-written");
    // The pause is as long as the work on this batch was, so that half of the time is left for other work of the database and this node.
    await clock.wait(Math.min(clock.now() - beganMs, pauseMsMax), new AbortController().signal);
  }
  return "more";
}

function projectsOf(rows: readonly SealedRow[]): Set<ProjectId> {
  const scopes = rows.flatMap(({ values }) => values.flatMap((value) => value?.context.split("/", 1) ?? []));
  return new Set(scopes.flatMap((scope) => parseId("prj", scope) ?? []));
}

type ResealedRow = { readonly row: SealedRow; readonly sealed: (Buffer | undefined)[] };

async function resealRows({ state: { sealer }, logger }: VaultContext, table: string, page: readonly SealedRow[]) {
  const rows: ResealedRow[] = [];
  let found = 0;
  let problem: string | undefined;
  let sliceStartMs = performance.now();
  const reseal = (value: OldValue | undefined): Buffer | undefined => {
    if (value === undefined) return undefined;
    try {
      const sealed = sealer.seal(sealer.open(value.sealed, value.context), value.context);
      found++;
      return sealed;
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      // The value could not be decrypted before the rotation either, so nothing is lost. The rotation reports this and continues.
      problem = `${table} has values that cannot be decrypted: ${error.message}`;
      logger.warn({ table, err: error }, "a sealed value cannot be decrypted, and stays as it is");
      return undefined;
    }
  };
  for (const row of page) {
    const sealed = row.values.map(reseal);
    if (sealed.some((value) => value !== undefined)) rows.push({ row, sealed });
    if (performance.now() - sliceStartMs < timeSliceMs) continue;
    await turn();
    sliceStartMs = performance.now();
  }
  return { rows, found, problem };
}
