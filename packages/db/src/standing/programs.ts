import { type ProjectId, type StandingProgramId, uuidOfId } from "@svc/core";
import { and, desc, eq, inArray, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { dueTasks, standingPrograms, standingVersions } from "../schema/standing.ts";
import { type DueTaskKind, standingStates } from "../schema/words.ts";
import { fieldsOf, type Row, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { listStandingPrograms, type StandingProgramFilter } from "./list-programs.ts";

/** A standing program (it starts jobs on a schedule or event), with the columns of its row. */
export type StandingProgramRecord = Readonly<Row<typeof standingPrograms>>;

/** One version of the definition of a standing program (which starts jobs on a schedule or event). */
export type StandingVersionRecord = Readonly<Row<typeof standingVersions>>;

const columns = selectList(standingPrograms, [
  "id",
  "projectId",
  "slug",
  "title",
  "state",
  "pauseReason",
  "pauseDetail",
  "version",
  "pendingVersion",
  "sourceKind",
  "timeZone",
  "nextAt",
  "previousAt",
  "started",
  "skipped",
  "missed",
  "seen",
  "filtered",
  "failuresInRow",
  "binding",
  "createdAt",
  "updatedAt",
  "deletedAt",
]);

/** Reads standing programs and locks their rows, in the order of their ids. Finds them by their primary key. */
const lockPrograms = statement<RawRow<StandingProgramRecord>>(
  "lock_standing_programs",
  `select ${columns.text} from standing_programs where id = any($1::uuid[]) order by id for no key update`,
);

/**
 * Locks standing programs (programs that start jobs on a schedule or event) until the end of the transaction, and returns them. Until then,
 * no other transaction can decide which of their runs start.
 */
export async function lockStandingPrograms(
  tx: Executor,
  ids: readonly StandingProgramId[],
): Promise<StandingProgramRecord[]> {
  return (await lockPrograms(tx, [arrayLiteral(ids.map(uuidOfId))])).map((row) => columns.read(row));
}

/** Reads standing programs without a lock. Finds them by the primary key of standing_programs. */
const readPrograms = statement<RawRow<StandingProgramRecord>>(
  "read_standing_programs",
  `select ${columns.text} from standing_programs where id = any($1::uuid[])`,
);

/**
 * Returns standing programs (programs that start jobs on a schedule or event) without a lock. To decide which of their runs start, use
 * `lockStandingPrograms`.
 */
export async function readStandingPrograms(
  db: Executor,
  ids: readonly StandingProgramId[],
): Promise<StandingProgramRecord[]> {
  if (ids.length === 0) return [];
  return (await readPrograms(db, [arrayLiteral(ids.map(uuidOfId))])).map((row) => columns.read(row));
}

const changedNames = [
  "state",
  "pauseReason",
  "pauseDetail",
  "nextAt",
  "previousAt",
  "started",
  "skipped",
  "missed",
  "seen",
  "filtered",
  "failuresInRow",
  "updatedAt",
] as const;
const changedFields = fieldsOf(standingPrograms, "id", ...changedNames);

/** Columns of a standing program (a schedule) that change when svc decides about its occurrences (due times and events). */
export type StandingProgramChange = ValuesOf<typeof changedFields>;

/** Stores changed columns of standing programs. Finds the rows by their primary key. The transaction has already locked them. */
const changePrograms = compose(
  "change_standing_programs",
  { changes: rows(changedFields) },
  ({ changes }) =>
    query`update standing_programs p set ${changes.set("i", changedNames)} from ${changes.from("i")} where p.id = i.id`,
);

/**
 * Stores changes to standing programs (schedules), such as a new next due time. The caller's transaction must hold the locks on the
 * programs.
 */
export async function changeStandingPrograms(tx: Executor, changes: readonly StandingProgramChange[]): Promise<void> {
  if (changes.length > 0) await changePrograms(tx, { changes });
}

const versionColumns = selectList(
  standingVersions,
  [
    "programId",
    "version",
    "definition",
    "definitionHash",
    "programHash",
    "programDigest",
    "estimate",
    "needsApproval",
    "keyId",
    "keyRole",
    "approval",
    "approvalId",
    "grantedVersion",
    "rehearsalJobId",
    "planHash",
    "note",
    "createdAt",
  ],
  "v",
);

/** Reads versions of standing programs. Uses the primary key of `standing_versions`, with one index lookup for each requested version. */
const loadVersions = compose(
  "load_standing_versions",
  { wanted: rows(fieldsOf(standingVersions, "programId", "version")) },
  ({ wanted }) => query<RawRow<StandingVersionRecord>>`select ${versionColumns.text} from ${wanted.from("w")}
    cross join lateral (select * from standing_versions where program_id = w.program_id and version = w.version offset 0) v`,
);

/** Returns the `wanted` versions of standing programs (schedules). Each is named by the id of its program and its version number. */
export async function loadStandingVersions(
  db: Executor,
  wanted: readonly Pick<StandingVersionRecord, "programId" | "version">[],
): Promise<StandingVersionRecord[]> {
  if (wanted.length === 0) return [];
  return (await loadVersions(db, { wanted })).map((row) => versionColumns.read(row));
}

/** Functions that read and write the standing programs (schedules) of one project. Deleted programs are treated as missing. */
export type StandingProgramRepository = {
  find(id: StandingProgramId): Promise<StandingProgramRecord | undefined>;
  findBySlug(slug: string): Promise<StandingProgramRecord | undefined>;
  /**
   * Returns a page of the project's standing programs that match `filter`, newest first. `after`: id of the last program of the previous
   * page.
   */
  list(
    filter: StandingProgramFilter,
    page: { after: StandingProgramId | undefined; limit: number },
  ): Promise<StandingProgramRecord[]>;
  /** Returns how many standing programs the project has. Deleted programs are not counted. */
  count(): Promise<number>;
  /** Adds a standing program. If the project has another one with the same slug, throws a unique violation of `standing_programs_slug`. */
  add(program: Omit<typeof standingPrograms.$inferInsert, "projectId">): Promise<void>;
  /** Stores changed columns of a program. The caller has locked the program's row. */
  change(id: StandingProgramId, change: Partial<typeof standingPrograms.$inferInsert>): Promise<void>;
  /** Returns the newest versions of a program, newest first. */
  listVersions(id: StandingProgramId, limit: number): Promise<StandingVersionRecord[]>;
};

/**
 * Counts a project's programs by the index standing_programs_state, with one lookup for each state. With a condition on the project alone,
 * PostgreSQL would read the programs of all projects in this index.
 */
const countPrograms = statement<{ count: number }>(
  "count_standing_programs",
  `select count(*)::int4 as count from unnest($2::text[]) as s(state) cross join lateral (
     select from standing_programs where state = s.state and project_id = $1::uuid and deleted_at is null offset 0) p`,
);

/** Returns the repository of one project's standing programs (which start jobs on a schedule or event). */
export function standingProgramsForProject(db: Executor, projectId: ProjectId): StandingProgramRepository {
  const own = and(eq(standingPrograms.projectId, projectId), isNull(standingPrograms.deletedAt));
  const one = async (condition: ReturnType<typeof and>) => {
    const [row] = await db.orm.select().from(standingPrograms).where(and(own, condition));
    return row;
  };
  return {
    find: (id) => one(eq(standingPrograms.id, id)),
    findBySlug: (slug) => one(eq(standingPrograms.slug, slug)),
    list: (filter, page) => listStandingPrograms(db, projectId, filter, page),
    async count() {
      const [row] = await countPrograms(db, [uuidOfId(projectId), arrayLiteral(standingStates)]);
      return row?.count ?? 0;
    },
    async add(program) {
      await db.orm.insert(standingPrograms).values({ ...program, projectId });
    },
    async change(id, change) {
      await db.orm
        .update(standingPrograms)
        .set(change)
        .where(and(own, eq(standingPrograms.id, id)));
    },
    listVersions: (id, limit) =>
      db.orm
        .select()
        .from(standingVersions)
        .where(eq(standingVersions.programId, id))
        .orderBy(desc(standingVersions.version))
        .limit(limit),
  };
}

/** The columns of a schedule's version that change when people approve or reject this version. */
export type StandingVersionDecision = Partial<
  Pick<StandingVersionRecord, "approval" | "approvalId" | "grantedVersion">
>;

/** Stores that people approved or rejected a version of a standing program (a schedule). The caller has locked the program. */
export async function decideStandingVersion(
  tx: Executor,
  { programId, version }: Pick<StandingVersionRecord, "programId" | "version">,
  decision: StandingVersionDecision,
): Promise<void> {
  await tx.orm
    .update(standingVersions)
    .set(decision)
    .where(and(eq(standingVersions.programId, programId), eq(standingVersions.version, version)));
}

/** Adds a version of a program. */
export async function addStandingVersion(db: Executor, version: typeof standingVersions.$inferInsert): Promise<void> {
  await db.orm.insert(standingVersions).values(version);
}

/**
 * Deletes the tasks of a locked program that have one of these kinds. A node that holds such a task loses its lease (its time-limited right
 * to the task).
 */
export async function clearDueTasks(tx: Executor, id: StandingProgramId, kinds: readonly DueTaskKind[]): Promise<void> {
  await tx.orm.delete(dueTasks).where(and(eq(dueTasks.ownerId, id), inArray(dueTasks.kind, [...kinds])));
}
