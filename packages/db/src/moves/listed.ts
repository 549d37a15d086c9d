import { type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";

const pageRows = 5_000;
const zeroUuid = "00000000-0000-0000-0000-000000000000";

/** Yields the ids of the projects that work in this deployment, not in another cell. */
export async function* projectsHere(db: Executor): AsyncGenerator<ProjectId> {
  for (let after = zeroUuid; ; ) {
    const rows = await db.orm.execute<{ id: string }>(sql`select id from projects
      where id > ${after}::uuid and hold in ('', 'moving') order by id limit ${pageRows}::int4`);
    for (const { id } of rows) yield idOfUuid("prj", id);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    after = last.id;
  }
}

/**
 * Yields the SHA-256 of the usable keys of projects that work in this deployment, in hexadecimal form. Leaves out the keys whose text begins
 * with `prefix`.
 */
export async function* keysWithoutPrefix(db: Executor, prefix: string): AsyncGenerator<string> {
  for (let after: Id<"key"> | undefined; ; ) {
    const rows = await db.orm.execute<{ id: string; digest: string }>(sql`select k.id, encode(k.digest, 'hex') as digest
      from api_keys k join projects p on p.id = k.project_id and p.hold in ('', 'moving')
      where k.id > ${after === undefined ? zeroUuid : uuidOfId(after)}::uuid and k.purpose = '' and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > now()) and not starts_with(k.hint, ${prefix}::text)
      order by k.id limit ${pageRows}::int4`);
    for (const { digest } of rows) yield digest;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    after = idOfUuid("key", last.id);
  }
}
