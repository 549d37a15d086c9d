import { boolean, pgTable, text } from "drizzle-orm/pg-core";
import { time } from "./columns.ts";

/**
 * Backups that the store was restored from. Until the last one is resumed the nodes take posts and calls, and send nothing by
 * themselves: what they would send, the store that the backup was taken of may have sent since.
 */
export const restores = pgTable("restores", {
  /** What the restore was told by: the id in its marker, or the text of SVC_RESTORED. */
  key: text("key").primaryKey(),
  /** All that was committed before it is in the store. */
  backupEndsAt: time("backup_ends_at").notNull(),
  /** When the restored store was first started. */
  restoredAt: time("restored_at").notNull(),
  /** Null while it is held. */
  resumedAt: time("resumed_at"),
  /** Whether nothing was sent since the backup's end, as who resumed it said. */
  isNothingSince: boolean("is_nothing_since").notNull().default(false),
});
