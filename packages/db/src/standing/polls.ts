import { isoTime, type StandingProgramId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { standingPolls, standingSeen } from "../schema/standing.ts";
import { fieldsBut, fieldsOf, namesBut, type Row, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList, values } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** The poll state of a standing program (a schedule): the position in the tool's list that the program reads regularly to find new rows. */
export type StandingPollRecord = Readonly<Row<typeof standingPolls>>;

const pollColumns = selectList(standingPolls, namesBut(standingPolls), "p");

/** Reads the poll state (position in the tool's list) of each given standing program (a schedule), by primary key. */
const readPolls = statement<RawRow<StandingPollRecord>>(
  "read_standing_polls",
  `select ${pollColumns.text} from standing_polls p where p.program_id = any($1::uuid[])`,
);

/**
 * Returns the poll states of standing programs (schedules): how far each has read the tool's list that it polls. A program that was never
 * polled is absent.
 */
export async function readStandingPolls(
  db: Executor,
  ids: readonly StandingProgramId[],
): Promise<Map<StandingProgramId, StandingPollRecord>> {
  if (ids.length === 0) return new Map();
  const found = await readPolls(db, [arrayLiteral(ids.map(uuidOfId))]);
  return new Map(found.map((row) => pollColumns.read(row)).map((poll) => [poll.programId, poll]));
}

/**
 * Stores the poll state of a standing program (a schedule): how far it has read its list. Finds an existing row by the primary key of
 * standing_polls.
 */
const writePoll = compose(
  "write_standing_poll",
  { polls: rows(fieldsBut(standingPolls)) },
  ({ polls }) => query`${polls.insertInto(standingPolls)} on conflict (program_id) do update set
    generation = excluded.generation, identity = excluded.identity, state = excluded.state, is_primed = excluded.is_primed,
    polls = excluded.polls, seen = excluded.seen, has_stale = excluded.has_stale, polled_at = excluded.polled_at,
    outcome = excluded.outcome, code = excluded.code, detail = excluded.detail, pages = excluded.pages, rows = excluded.rows,
    found = excluded.found, failures_in_row = excluded.failures_in_row`,
);

/** Stores the poll state of a standing program (a schedule): how far it has read its list. The caller must have locked the program. */
export async function writeStandingPoll(tx: Executor, poll: StandingPollRecord): Promise<void> {
  await writePoll(tx, { polls: [poll] });
}

/**
 * Selects the row ids that the polls of a standing program (a schedule) have already seen. They are stored under a generation (a number).
 * If svc must forget all of them, the program gets the next generation.
 */
export type KnownIdSet = { readonly programId: StandingProgramId; readonly generation: number };

/**
 * A row that earlier polls of a schedule have found. `digest`: hash of the row's id, in hexadecimal. `content`: hash of the row's fields;
 * empty unless the schedule looks for changed rows. `seenAt`: when a poll last read the row, in epoch milliseconds.
 */
export type KnownId = { readonly digest: string; readonly content: string; readonly seenAt: number };

const ofKnown = fieldsOf(standingSeen, "programId", "generation");
const knownColumns = selectList(standingSeen, ["digest", "content", "seenAt"], "s");

/**
 * Finds which of the requested row ids a poll has already seen. Uses the primary key of `standing_seen`, with one index lookup for each
 * requested row id.
 */
const selectKnown = compose(
  "find_standing_seen",
  { of: values(ofKnown), ids: rows(fieldsOf(standingSeen, "digest")) },
  ({ of, ids }) => query<RawRow<Row<typeof standingSeen, "digest" | "content" | "seenAt">>>`
    select ${knownColumns.text} from ${ids.from("w")} cross join lateral (
      select * from standing_seen where program_id = ${of.programId} and generation = ${of.generation} and digest = w.digest offset 0) s`,
);

/**
 * Returns which of the given row ids earlier polls of a schedule have found. `digests`: digests of the row ids. The result has the known ids
 * by digest.
 */
export async function findKnownIds(
  db: Executor,
  of: KnownIdSet,
  digests: readonly string[],
): Promise<Map<string, KnownId>> {
  if (digests.length === 0) return new Map();
  const ids = digests.map((digest) => ({ digest: Buffer.from(digest, "hex") }));
  const found = (await selectKnown(db, { of, ids })).map((row) => knownColumns.read(row));
  return new Map(
    found.map(({ digest, content, seenAt }) => {
      const id = { digest: digest.toString("hex"), content: content.toString("hex"), seenAt };
      return [id.digest, id];
    }),
  );
}

/**
 * Stores ids of polled rows, or a new time for ids that are stored already. Finds them by the primary key of standing_seen. The column
 * `xmax` of PostgreSQL is 0 only in rows that this transaction has inserted, so it shows which ids are new.
 */
const upsertKnown = compose(
  "remember_standing_seen",
  { of: values({ ...ofKnown, seenAt: timestamptz }), ids: rows(fieldsOf(standingSeen, "digest", "content")) },
  ({ of, ids }) => query<{ isNew: boolean }>`
    insert into standing_seen (program_id, generation, seen_at, ${ids.columns})
    select ${of.programId}, ${of.generation}, ${of.seenAt}, ${ids.values("i")} from ${ids.from("i")}
    on conflict (program_id, generation, digest) do update set content = excluded.content, seen_at = excluded.seen_at
    returning (xmax = 0) as "isNew"`,
);

/**
 * Stores the ids of rows that polls of a locked program have read, so that later polls recognize these rows. Returns the number of ids that
 * were not stored before.
 */
export async function rememberIds(
  tx: Executor,
  of: KnownIdSet & { readonly seenAt: number },
  list: readonly Pick<KnownId, "digest" | "content">[],
): Promise<number> {
  if (list.length === 0) return 0;
  const ids = list.map(({ digest, content }) => {
    return { digest: Buffer.from(digest, "hex"), content: Buffer.from(content, "hex") };
  });
  return (await upsertKnown(tx, { of, ids })).filter(({ isNew }) => isNew).length;
}

/** Stores the time at which a poll found known row ids again. */
const refreshKnown = compose(
  "refresh_standing_seen",
  // One lookup in the primary key for each row id. The caller has locked the schedule, so no other transaction moves its rows (`ctid`).
  { of: values({ ...ofKnown, seenAt: timestamptz }), ids: rows(fieldsOf(standingSeen, "digest")) },
  ({ of, ids }) => query`update standing_seen s set seen_at = ${of.seenAt} from ${ids.from("i")} cross join lateral (
      select ctid from standing_seen where program_id = ${of.programId} and generation = ${of.generation} and digest = i.digest offset 0) f
    where s.ctid = f.ctid`,
);

/**
 * Stores the time at which a poll last read ids that it already knew. Such an id identifies a row of an app's list. The caller has locked
 * the standing program (schedule) of the poll.
 */
export async function refreshKnownIds(
  tx: Executor,
  of: KnownIdSet & { readonly seenAt: number },
  digests: readonly string[],
): Promise<void> {
  const ids = digests.map((digest) => ({ digest: Buffer.from(digest, "hex") }));
  if (ids.length > 0) await refreshKnown(tx, { of, ids });
}

/**
 * Deletes remembered ids of polled rows if a schedule has too many of them. Deletes first the ids that no poll has found for the longest
 * time. Uses the primary key and reads all ids of the schedule. It runs once a day, or once per ten thousand new ids. An index on `seen_at`
 * would make every write of an id more expensive.
 */
const forgetOldest = statement<{ gone: number }>(
  "forget_standing_seen",
  `delete from standing_seen where ctid = any(array(
     select ctid from standing_seen where program_id = $1::uuid and generation = $2::int4 and seen_at < $3::timestamptz
     order by seen_at limit $4::int4)) returning 1 as gone`,
);

/**
 * Deletes known row ids of a schedule that polls: ids that no poll has found since `beforeMs`. The schedule must be locked. Deletes at most
 * `limit` row ids. Returns the number of deleted row ids.
 */
export async function forgetKnownIds(
  tx: Executor,
  { programId, generation, beforeMs, limit }: KnownIdSet & { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const before = isoTime(beforeMs);
  return (await forgetOldest(tx, [uuidOfId(programId), generation, before, limit])).length;
}

/**
 * Deletes row ids that a schedule's poll remembered with a generation below $2. The generation grows when the poll must forget all rows.
 */
const removeStale = statement<{ gone: number }>(
  "remove_stale_standing_seen",
  `delete from standing_seen where ctid = any(array(
     select ctid from standing_seen where program_id = $1::uuid and generation < $2::int4 limit $3::int4)) returning 1 as gone`,
);

/**
 * Removes row ids that a schedule's poll remembered in an earlier generation. The generation is a number that grows when all known rows
 * must be forgotten. The caller has locked the schedule. Returns the number of removed ids.
 */
export async function removeStaleIds(
  tx: Executor,
  { programId, generation }: KnownIdSet,
  limit: number,
): Promise<number> {
  return (await removeStale(tx, [uuidOfId(programId), generation, limit])).length;
}

/**
 * Deletes the remembered row ids of deleted standing programs (schedules). Finds the programs by the index standing_programs_deleted, and
 * their row ids by the primary key of standing_seen.
 */
const deleteOrphaned = statement<{ gone: number }>(
  "sweep_standing_seen",
  `delete from standing_seen where ctid = any(array(
     select s.ctid from (select id from standing_programs where deleted_at is not null offset 0) p
     cross join lateral (select ctid from standing_seen where program_id = p.id limit $1::int4 offset 0) s limit $1::int4))
   returning 1 as gone`,
);

/** Deletes up to `limit` row ids that polls of deleted schedules had remembered. Returns the number of deleted ids. */
export async function sweepKnownIds(db: Executor, limit: number): Promise<number> {
  return (await deleteOrphaned(db, [limit])).length;
}
