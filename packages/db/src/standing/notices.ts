import type { StandingProgramId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingNotices } from "../schema/standing.ts";
import type { StandingNoticeKind } from "../schema/words.ts";
import { fieldsBut, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";

/** A notice about a program, of one kind. */
export type StandingNotice = { readonly programId: StandingProgramId; readonly kind: StandingNoticeKind };

const columns = selectList(standingNotices, ["programId", "kind"], "n");

/**
 * The statement finds notices by the primary key of the table standing_notices. If the same notice was stored less than an hour ago, it
 * stays unchanged and is not returned.
 */
const note = compose(
  "note_standing_notices",
  { notices: rows(fieldsBut(standingNotices)) },
  ({ notices }) => query<RawRow<Row<typeof standingNotices, "programId" | "kind">>>`
    insert into standing_notices as n (${notices.columns}) select ${notices.values("i")} from ${notices.from("i")}
    order by i.program_id, i.kind
    on conflict (program_id, kind) do update set at = excluded.at where n.at <= excluded.at - interval '1 hour'
    returning ${columns.text}`,
);

/**
 * Stores notices about standing programs that this transaction has locked. The given list must not contain the same program and kind twice.
 * Returns the notices to publish: at most one for each program and kind per hour.
 */
export async function noteStandingNotices(
  tx: Executor,
  notices: readonly StandingNotice[],
  nowMs: number,
): Promise<StandingNotice[]> {
  if (notices.length === 0) return [];
  const found = await note(tx, { notices: notices.map((notice) => ({ ...notice, at: nowMs })) });
  return found.map((row) => columns.read(row));
}
