import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { secrets } from "../schema/vault.ts";
import { fieldsOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";

/** The address of a stored secret: its project, and its name in the project. */
export type SecretAddress = { readonly projectId: ProjectId; readonly name: string };

const columns = selectList(secrets, ["value"], "s");

/** Reads the sealed values of several secrets. Finds each secret by the primary key. */
const selectSecrets = compose(
  "find_secrets",
  { wanted: rows(fieldsOf(secrets, "projectId", "name")) },
  ({ wanted }) => query<RawRow<{ value: Buffer }> & { project: string; secret: string }>`
    select wanted.project_id as project, wanted.name as secret, ${columns.text} from ${wanted.from("wanted")}
    cross join lateral (
      select * from secrets k where k.project_id = wanted.project_id and k.name = wanted.name offset 0) s`,
);

/** Returns the encrypted values of secrets, in the order of `places`; undefined for a secret that does not exist. */
export async function findSecrets(db: Executor, places: readonly SecretAddress[]): Promise<(Buffer | undefined)[]> {
  const keyOf = (project: string, name: string) => `${project}/${name}`;
  const wanted = new Map(places.map((place) => [keyOf(uuidOfId(place.projectId), place.name), place]));
  const found = new Map<string, Buffer>();
  for (const { project, secret, ...row } of await selectSecrets(db, { wanted: [...wanted.values()] })) {
    found.set(keyOf(project, secret), columns.read(row).value);
  }
  return places.map(({ projectId, name }) => found.get(keyOf(uuidOfId(projectId), name)));
}
