import {
  createId,
  digestSecret,
  generateToken,
  hasRole,
  type KeyId,
  type PersonId,
  type ProjectId,
  type Role,
  roles,
  uuidOfId,
} from "@svc/core";
import { and, eq } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { type ApiKey, createApiKey, findKeyById, revokeApiKey } from "../keys/repo.ts";
import { apiKeys, people, personSeats } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** The seat of a person in a project: the person's role there, and the key with which the person works. */
export type PersonSeat = typeof personSeats.$inferSelect;

/**
 * A seat (a person's access to a project) with the role of its key. `isLive`: false if the access ended and the person has not signed in
 * since.
 */
export type ListedSeat = PersonSeat & { readonly role: ApiKey["role"]; readonly isLive: boolean };

/**
 * Result of a change of a person's seats (accesses to projects). `keys`: the keys of the person's seats after the change. `ended`: the keys
 * that the change ended.
 */
export type SeatChange = { readonly keys: readonly KeyId[]; readonly ended: readonly KeyId[] };

/** Returns the seats (accesses to projects) of a person, also those whose keys have ended. */
export async function listSeats(db: Executor, personId: PersonId): Promise<ListedSeat[]> {
  const rows = await db.orm
    .select({ seat: personSeats, role: apiKeys.role, revokedAt: apiKeys.revokedAt })
    .from(personSeats)
    .innerJoin(apiKeys, eq(apiKeys.id, personSeats.keyId))
    .where(eq(personSeats.personId, personId));
  return rows.map(({ seat, role, revokedAt }) => ({ ...seat, role, isLive: revokedAt === null }));
}

/**
 * Gives a person exactly the seats (accesses to projects) that groups (`ofGroups`) and given roles allow; in a project, the higher of both
 * roles counts. Other seats end. A seat with a higher role than before keeps its key. Sessions of the person get the keys of new seats.
 */
export function setSeats(
  db: Executor,
  personId: PersonId,
  ofGroups: ReadonlyMap<ProjectId, Role>,
  nowMs: number,
): Promise<SeatChange> {
  return withTransaction(db, async (tx) => {
    // Changes of one person's seats run one after the other.
    await tx.orm.select({ id: people.id }).from(people).where(eq(people.id, personId)).for("update");
    const seats = await listSeats(tx, personId);
    const given = new Map(
      seats.flatMap(({ projectId, givenRole }) => (givenRole === null ? [] : [[projectId, givenRole] as const])),
    );
    const [keys, ended]: [KeyId[], KeyId[]] = [[], []];
    for (const seat of seats) {
      const role = higherRole(ofGroups.get(seat.projectId), given.get(seat.projectId));
      // Keys that the person made may have the former role. So a seat with a lower role gets a new key, and they end.
      const isKept = role !== undefined && seat.isLive && hasRole(role, seat.role);
      if (!isKept) ended.push(...(await endSeat(tx, seat, nowMs)));
      if (role === undefined) continue;
      keys.push(isKept ? await keepSeat(tx, seat, role) : await openSeat(tx, { ...seat, role }, nowMs));
    }
    for (const [projectId, role] of ofGroups) {
      if (seats.some((seat) => seat.projectId === projectId)) continue;
      keys.push(await openSeat(tx, { personId, projectId, role, givenRole: null }, nowMs));
    }
    await seatSessions(tx, [uuidOfId(personId)]);
    return { keys, ended };
  });
}

/** Adds the keys of a person's live seats to the person's sessions. */
const seatSessions = statement<{ id: string }>(
  "seat_person_sessions",
  `insert into console_seats (session_id, key_id, created_at)
   select s.id, p.key_id, now() from console_sessions s join person_seats p on p.person_id = s.person_id
     join api_keys k on k.id = p.key_id and k.revoked_at is null
   where s.person_id = $1::uuid on conflict do nothing returning session_id::text as id`,
);

async function keepSeat(tx: Executor, { keyId, role: before }: ListedSeat, role: Role): Promise<KeyId> {
  if (role !== before) await tx.orm.update(apiKeys).set({ role }).where(eq(apiKeys.id, keyId));
  return keyId;
}

async function openSeat(
  tx: Executor,
  seat: Pick<PersonSeat, "personId" | "projectId" | "givenRole"> & { readonly role: Role },
  nowMs: number,
): Promise<KeyId> {
  const { personId, projectId, givenRole, role } = seat;
  const keyId = createId("key", nowMs);
  await createApiKey(tx, {
    ...{ id: keyId, projectId, role, name: personId, purpose: "person", hint: "", createdAt: nowMs },
    // The text is not kept, so that only sessions of the person use the key.
    digest: digestSecret(generateToken()),
  });
  await tx.orm
    .insert(personSeats)
    .values({ personId, projectId, keyId, givenRole })
    .onConflictDoUpdate({ target: [personSeats.personId, personSeats.projectId], set: { keyId } });
  return keyId;
}

/**
 * Ends a person's seat (access to a project): revokes its key and the keys made with it. If an administrator or an invitation gave the role,
 * the seat stays, without a valid key. Returns the ended keys.
 */
export async function endSeat(tx: Executor, seat: PersonSeat, nowMs: number): Promise<readonly KeyId[]> {
  const { personId, projectId, keyId, givenRole } = seat;
  const revoked = await revokeApiKey(tx, keyId, nowMs);
  if (givenRole === null)
    await tx.orm
      .delete(personSeats)
      .where(and(eq(personSeats.personId, personId), eq(personSeats.projectId, projectId)));
  return revoked?.endedIds ?? [];
}

/**
 * Gives a person a role in a project, in addition to roles from groups; the higher one counts from the next check with the provider. With a
 * lower role, the seat gets a new key, because keys that the person made may still have the old role. Returns the seat's key and the ended
 * keys.
 */
export function giveRole(
  db: Executor,
  { personId, projectId, role }: { personId: PersonId; projectId: ProjectId; role: Role },
  nowMs: number,
): Promise<{ readonly keyId: KeyId; readonly ended: readonly KeyId[] }> {
  return withTransaction(db, async (tx) => {
    await tx.orm.select({ id: people.id }).from(people).where(eq(people.id, personId)).for("update");
    const isOf = and(eq(personSeats.personId, personId), eq(personSeats.projectId, projectId));
    const [seat] = await tx.orm.select().from(personSeats).where(isOf);
    const key = seat && (await findKeyById(tx, seat.keyId));
    const isKept = key !== undefined && key.revokedAt === null && hasRole(role, key.role);
    await tx.orm.update(personSeats).set({ givenRole: role }).where(isOf);
    if (isKept) await tx.orm.update(apiKeys).set({ role }).where(eq(apiKeys.id, key.id));
    const ended = seat === undefined || isKept ? [] : await endSeat(tx, { ...seat, givenRole: role }, nowMs);
    const keyId = isKept ? key.id : await openSeat(tx, { personId, projectId, role, givenRole: role }, nowMs);
    await seatSessions(tx, [uuidOfId(personId)]);
    return { keyId, ended };
  });
}

/**
 * Raises the role that a person was given in a project, in addition to the roles that groups give. A higher given role stays. Call
 * `setSeats` afterwards, which sets the role of the seat's key.
 */
export function raiseGivenRole(
  db: Executor,
  { personId, projectId, role }: { personId: PersonId; projectId: ProjectId; role: Role },
  nowMs: number,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    await tx.orm.select({ id: people.id }).from(people).where(eq(people.id, personId)).for("update");
    const isOf = and(eq(personSeats.personId, personId), eq(personSeats.projectId, projectId));
    const [seat] = await tx.orm.select().from(personSeats).where(isOf);
    if (seat === undefined) await openSeat(tx, { personId, projectId, role, givenRole: role }, nowMs);
    else {
      const givenRole = higherRole(seat.givenRole ?? undefined, role);
      await tx.orm.update(personSeats).set({ givenRole }).where(isOf);
    }
  });
}

/**
 * Takes away the role that an invitation or an administrator gave to a person in a project, and ends the seat (access). If groups also give
 * a role, the seat comes back at the next check with the provider. Returns the ended keys.
 */
export function takeRole(
  db: Executor,
  { personId, projectId }: { personId: PersonId; projectId: ProjectId },
  nowMs: number,
): Promise<readonly KeyId[]> {
  return withTransaction(db, async (tx) => {
    await tx.orm.select({ id: people.id }).from(people).where(eq(people.id, personId)).for("update");
    const isOf = and(eq(personSeats.personId, personId), eq(personSeats.projectId, projectId));
    const [seat] = await tx.orm.select().from(personSeats).where(isOf);
    return seat === undefined ? [] : endSeat(tx, { ...seat, givenRole: null }, nowMs);
  });
}

/** Returns the role of the two that allows more. Undefined is lower than every role. */
export function higherRole<Other extends Role | undefined>(one: Role | undefined, other: Other): Role | Other {
  if (one === undefined) return other;
  return other === undefined || roles.indexOf(one) > roles.indexOf(other) ? one : other;
}
