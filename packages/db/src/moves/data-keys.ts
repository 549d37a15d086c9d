import { type DataKeyUse, dataKeyHeader, type ProjectId } from "@svc/core";
import { sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { projectLiteral } from "./tables.ts";

/**
 * A data key (encryption key) of a project that moves to another deployment. `former`: number of the key in the source. `wrapped`: the key
 * itself, encrypted.
 */
export type MovedDataKey = { readonly former: number; readonly use: DataKeyUse; readonly wrapped: Buffer };

/** Reserves new numbers for data keys (encryption keys) and returns them. No other data key of this deployment gets these numbers. */
export async function reserveDataKeyNumbers(tx: Executor, count: number): Promise<number[]> {
  const rows = await tx.orm.execute<{ number: string }>(
    sql`select nextval(pg_get_serial_sequence('data_keys', 'number'))::text as number from generate_series(1, ${count}::int4)`,
  );
  return rows.map(({ number }) => Number(number)).toSorted((a, b) => a - b);
}

/** Stores the data keys (encryption keys) of a project that moves to this deployment, with the numbers that were reserved for them. */
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

/**
 * Returns an encrypted value for the destination of a move. The number of its data key is replaced by the key's number there. A value that
 * no data key encrypts is returned unchanged.
 */
export function withKeyNumber(sealed: Buffer, numbers: ReadonlyMap<number, number>): Buffer {
  const header = dataKeyHeader(0);
  if (sealed.byteLength < header.byteLength || sealed[0] !== header[0]) return sealed;
  const number = numbers.get(sealed.readUInt32BE(1));
  return number === undefined ? sealed : Buffer.concat([dataKeyHeader(number), sealed.subarray(header.byteLength)]);
}
