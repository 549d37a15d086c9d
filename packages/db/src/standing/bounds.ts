import { idOfUuid, isoTime, type KeyId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingRates, standingUsage } from "../schema/standing.ts";
import { fieldsBut, fieldsOf, type NewRow, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/**
 * State of the rate limit (such as ten starts an hour) of a standing program (a schedule), for one rate key. Runs with different rate keys
 * are limited separately.
 */
export type StandingRate = Readonly<Row<typeof standingRates>>;

/** Numbers of runs, tool calls and writes of one standing program (a schedule) on one day. */
export type StandingUsage = Readonly<Row<typeof standingUsage>>;

const rateColumns = selectList(standingRates, ["programId", "key", "at"], "r");

/**
 * Reads the state of rate limits of standing programs (programs that start jobs on a schedule or event). Finds each row by the primary key.
 */
const readRates = compose(
  "read_standing_rates",
  { keys: rows(fieldsOf(standingRates, "programId", "key")) },
  ({ keys }) => query<RawRow<StandingRate>>`select ${rateColumns.text} from ${keys.from("w")} cross join lateral (
      select * from standing_rates where program_id = w.program_id and key = w.key offset 0) r`,
);

/**
 * Returns the states of rate limits of schedules. Each of `keys` names a schedule and one key of its rate limit, because each key is
 * limited separately. The caller must have locked the programs.
 */
export async function readStandingRates(
  tx: Executor,
  keys: readonly Pick<StandingRate, "programId" | "key">[],
): Promise<StandingRate[]> {
  if (keys.length === 0) return [];
  return (await readRates(tx, { keys })).map((row) => rateColumns.read(row));
}

/**
 * Stores the state of rate limits of standing programs (programs that start jobs on a schedule or event). Finds existing rows by the
 * primary key.
 */
const writeRates = compose(
  "write_standing_rates",
  { rates: rows(fieldsBut(standingRates)) },
  ({ rates }) => query`${rates.insertInto(standingRates)} on conflict (program_id, key) do update set at = excluded.at`,
);

/**
 * Stores the state of rate limits of standing programs (programs that start jobs on a schedule or event). The caller's transaction must
 * hold the locks on the programs.
 */
export async function writeStandingRates(tx: Executor, rates: readonly NewRow<typeof standingRates>[]): Promise<void> {
  if (rates.length > 0) await writeRates(tx, { rates });
}

/**
 * Deletes the states of rate limits that no longer limit anything. Finds them by the index standing_rates_at. Skips rows that another
 * transaction is writing.
 */
const sweepRates = statement<{ key: string }>(
  "sweep_standing_rates",
  `delete from standing_rates where ctid = any(array(
     select ctid from standing_rates where at < $1::timestamptz order by at limit $2::int4 for update skip locked)) returning key`,
);

/**
 * Deletes states of rate limits that have not delayed any start since `beforeMs`. Deletes at most `limit` of them, and returns how many it
 * deleted.
 */
export async function sweepStandingRates(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepRates(db, [isoTime(beforeMs), limit])).length;
}

const usageColumns = selectList(standingUsage, ["programId", "day", "runs", "toolCalls", "writes"], "u");

/**
 * Reads how many calls and runs standing programs (schedules) used on given days. Finds the rows by the primary key of standing_usage, with
 * one index lookup for each program and day.
 */
const readUsage = compose(
  "read_standing_usage",
  { days: rows(fieldsOf(standingUsage, "programId", "day")) },
  ({ days }) => query<RawRow<StandingUsage>>`select ${usageColumns.text} from ${days.from("w")} cross join lateral (
      select * from standing_usage where program_id = w.program_id and day = w.day offset 0) u`,
);

/** Returns the usage (numbers of runs, calls and writes) of standing programs (schedules) on given days. */
export async function readStandingUsage(
  tx: Executor,
  days: readonly Pick<StandingUsage, "programId" | "day">[],
): Promise<StandingUsage[]> {
  if (days.length === 0) return [];
  return (await readUsage(tx, { days })).map((row) => usageColumns.read(row));
}

/**
 * Adds numbers of runs, calls and writes to the stored usage of standing programs (schedules) by day. Finds each row by the primary key of
 * standing_usage, which is the program and the day.
 */
const addUsage = compose(
  "add_standing_usage",
  { used: rows(fieldsBut(standingUsage)) },
  ({ used }) => query`${used.insertInto(standingUsage)} on conflict (program_id, day) do update set
    runs = standing_usage.runs + excluded.runs, tool_calls = standing_usage.tool_calls + excluded.tool_calls,
    writes = standing_usage.writes + excluded.writes`,
);

/**
 * Adds numbers of runs, calls and writes to the stored usage of standing programs (schedules) on given days. The list `used` must contain
 * each pair of program and day only once.
 */
export async function addStandingUsage(tx: Executor, used: readonly NewRow<typeof standingUsage>[]): Promise<void> {
  if (used.length > 0) await addUsage(tx, { used });
}

/** Finds those of the given keys that are neither revoked nor expired. Uses the primary key of api_keys. */
const usableKeys = statement<{ id: string }>(
  "find_usable_keys",
  `select id::text from api_keys where id = any($1::uuid[]) and revoked_at is null
     and (expires_at is null or expires_at > $2::timestamptz)`,
);

/** Returns those of the given API keys that can be used at `nowMs`: neither revoked nor expired. */
export async function findUsableKeys(tx: Executor, ids: readonly KeyId[], nowMs: number): Promise<Set<KeyId>> {
  const found = await usableKeys(tx, [arrayLiteral(ids.map(uuidOfId)), isoTime(nowMs)]);
  return new Set(found.map(({ id }) => idOfUuid("key", id)));
}
