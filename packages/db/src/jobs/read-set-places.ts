import { uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";
import type { JobSetPart, JobSetRow } from "./read-set-rows.ts";

/** Places in a set, one behind the other: ordinals, and of each the number and the state of the row that stands there. */
export type JobSetPlaces = {
  readonly ordinals: readonly number[];
  readonly rowNumbers: readonly number[];
  readonly states: readonly JobSetRow["state"][];
};

type RawPlaces = {
  readonly ordinals: string | null;
  readonly row_numbers: string | null;
  readonly states: string | null;
};

/** One row of lists: to send and to read a row a place costs several times as much. They have the order of the subquery. */
const placesOf = (found: string) => `select array_to_string(array_agg(s.ordinal), ',') as ordinals,
    array_to_string(array_agg(s.row_number), ',') as row_numbers, array_to_string(array_agg(s.state), ',') as states
  from (select ordinal, row_number, state from job_set_rows
    where job_id = $1::uuid and set_id = $2::text and ordinal >= $3::int4 ${found} order by ordinal limit $4::int4) s`;

/** By primary key: the time of a page does not grow with the set. */
const selectPlaces = statement<RawPlaces>("read_job_set_places", placesOf(""));

/** By primary key; what is in another state is read and left out, so that the time of a page grows with how much that is. */
const selectPlacesIn = statement<RawPlaces>("read_job_set_places_in", placesOf("and state = any($5::text[])"));

/** Places of a set by ordinal, from `fromOrdinal` on; with states, only those of rows in them. */
export async function readJobSetPlaces(
  db: Executor,
  { jobId, setId, states }: Omit<JobSetPart, "state">,
  { fromOrdinal, limit }: { fromOrdinal: number; limit: number },
): Promise<JobSetPlaces> {
  const place = [uuidOfId(jobId), setId, fromOrdinal, limit];
  const [found] = await (states === undefined
    ? selectPlaces(db, place)
    : selectPlacesIn(db, [...place, arrayLiteral(states)]));
  return {
    ordinals: listOf(found?.ordinals).map(Number),
    rowNumbers: listOf(found?.row_numbers).map(Number),
    states: listOf(found?.states) as JobSetRow["state"][],
  };
}

function listOf(text: string | null | undefined): string[] {
  return text === null || text === undefined ? [] : text.split(",");
}
