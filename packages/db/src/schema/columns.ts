import { type Id, type IdPrefix, idOfUuid, uuidOfId } from "@svc/core";
import { customType } from "drizzle-orm/pg-core";

/** A column that stores an id's UUID and reads as the id itself, so a row never shows a bare UUID. */
export function idColumn<P extends IdPrefix>(prefix: P) {
  return customType<{ data: Id<P>; driverData: string }>({
    dataType: () => "uuid",
    toDriver: (id) => uuidOfId(id),
    fromDriver: (uuid) => idOfUuid(prefix, uuid),
  });
}

/** A point in time, read and written as epoch milliseconds (PostgreSQL keeps microseconds; no row of ours has them). */
export const time = customType<{ data: number; driverData: string }>({
  dataType: () => "timestamp (3) with time zone",
  toDriver: (ms) => new Date(ms).toISOString(),
  fromDriver: (text) => Date.parse(text),
});

/** Raw bytes: digests and sealed values. */
export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => "bytea" });
