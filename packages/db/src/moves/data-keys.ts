import { type DataKeyUse, dataKeyHeader, type ProjectId } from "@svc/core";
import { sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { projectLiteral } from "./tables.ts";

/** A data key of a project for the destination of a move. `former`: its number in the source. */
export type MovedDataKey = { readonly former: number; readonly use: DataKeyUse; readonly wrapped: Buffer };

/** Returns new numbers of data keys, which no other data key of the deployment gets. */
export async function reserveDataKeyNumbers(tx: Executor, count: number): Promise<number[]> {
  const rows = await tx.orm.execute<{ number: string }>(
    sql`select nextval(pg_get_serial_sequence('data_keys', 'number'))::text as number from generate_series(1, ${count}::int4)`,
  );
  return rows.map(({ number }) => Number(number)).toSorted((a, b) => a - b);
}

/** Stores the data keys of a project that moves to this deployment, the oldest first, with reserved numbers. */
export async function putMovedDataKeys(
  tx: Executor,
  projectId: ProjectId,
  keys: readonly (MovedDataKey & { readonly number: number })[],
): Promise<void> {
  // Rotations of the source have no meaning here. The newest key of a use gets 0, as a key that was made when it was first needed.
  const later = (one: MovedDataKey) => keys.filter(({ use, former }) => use === one.use && former > one.former).length;
  for (const key of keys)
    await tx.orm.execute(sql`insert into data_keys (number, project_id, use, rotation, wrapped, created_at) overriding system value
      values (${key.number}, ${projectLiteral(projectId)}, ${key.use}, ${-later(key)}, ${key.wrapped}, now())`);
}

/** Returns a sealed value with the number of the same data key in the destination. Other values stay as they are. */
export function withKeyNumber(sealed: Buffer, numbers: ReadonlyMap<number, number>): Buffer {
  const header = dataKeyHeader(0);
  if (sealed.byteLength < header.byteLength || sealed[0] !== header[0]) return sealed;
  const number = numbers.get(sealed.readUInt32BE(1));
  return number === undefined ? sealed : Buffer.concat([dataKeyHeader(number), sealed.subarray(header.byteLength)]);
}
