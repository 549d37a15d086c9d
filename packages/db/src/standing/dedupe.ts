import { isoTime, type StandingProgramId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingDedupe } from "../schema/standing.ts";
import { fieldsBut, fieldsOf, type NewRow, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows } from "../sql/parts.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** A key that a program has seen, and until when it is remembered. */
export type SeenKey = Readonly<Row<typeof standingDedupe>>;

const columns = selectList(standingDedupe, ["programId", "key", "until"], "d");

/** By primary key, a look-up each. */
const readSeen = compose(
  "read_standing_dedupe",
  { keys: rows(fieldsOf(standingDedupe, "programId", "key")) },
  ({ keys }) => query<RawRow<SeenKey>>`select ${columns.text} from ${keys.from("w")} cross join lateral (
      select * from standing_dedupe where program_id = w.program_id and key = w.key offset 0) d`,
);

/** Which keys locked programs have seen. */
export async function readSeenKeys(
  tx: Executor,
  keys: readonly { readonly programId: StandingProgramId; readonly key: string }[],
): Promise<SeenKey[]> {
  if (keys.length === 0) return [];
  return (await readSeen(tx, { keys })).map((row) => columns.read(row));
}

/** By primary key. */
const writeSeen = compose(
  "write_standing_dedupe",
  { seen: rows(fieldsBut(standingDedupe)) },
  ({ seen }) =>
    query`${seen.insertInto(standingDedupe)} on conflict (program_id, key) do update set until = excluded.until`,
);

/** Remembers keys of locked programs, each once. */
export async function writeSeenKeys(tx: Executor, seen: readonly NewRow<typeof standingDedupe>[]): Promise<void> {
  if (seen.length > 0) await writeSeen(tx, { seen });
}

/** By standing_dedupe_until, which forgets what is not remembered any more. What somebody writes at the moment is passed by. */
const sweepSeen = statement<{ key: string }>(
  "sweep_standing_dedupe",
  `delete from standing_dedupe where ctid = any(array(
     select ctid from standing_dedupe where until < $1::timestamptz order by until limit $2::int4 for update skip locked)) returning key`,
);

/** Forgets a batch of keys that are not remembered since `beforeMs`; answers how many. */
export async function sweepSeenKeys(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepSeen(db, [isoTime(beforeMs), limit])).length;
}
