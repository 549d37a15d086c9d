import { isoTime } from "@svc/core";
import type { Executor } from "../connect.ts";
import type { turnedSweeps } from "../schema/words.ts";
import { statement } from "../sql/statement.ts";

/** Name of a sweep (regular background work). Only one node runs each turn of the sweep. */
type TurnedSweep = (typeof turnedSweeps)[number];

/** If a sweep (regular background work) is due at time $2, sets its next time to $3 and returns its name. */
const takeTurn = statement<{ sweep: string }>(
  "take_sweep_turn",
  `insert into sweep_turns as t (sweep, next_at) values ($1::text, $3::timestamptz)
   on conflict (sweep) do update set next_at = excluded.next_at where t.next_at <= $2::timestamptz returning sweep`,
);

/**
 * Takes the right to run a sweep (a regular pass over stored rows) now, for this node. Returns false if a node has taken it less than
 * `everyMs` milliseconds ago. If a node stops during its sweep, another node runs the next one.
 */
export async function takeSweepTurn(
  db: Executor,
  sweep: TurnedSweep,
  { nowMs, everyMs }: { readonly nowMs: number; readonly everyMs: number },
): Promise<boolean> {
  return (await takeTurn(db, [sweep, isoTime(nowMs), isoTime(nowMs + everyMs)])).length > 0;
}
