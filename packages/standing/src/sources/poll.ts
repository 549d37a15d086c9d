import type { JsonObject, StandingProgramId } from "@svc/core";
import type { Occurrence } from "../decide/occurrence.ts";
import type { DecisionBatch, DueCandidate, Filtered, PreparedPoll } from "../prepare/due.ts";
import type { FoundRow } from "../poll/scanned-rows.ts";
import type { Polled } from "../poll/store.ts";

/** Asks `when` about rows; an outcome for each, in their order. */
type AskWhen = (polled: Polled, rows: readonly JsonObject[]) => Promise<readonly Filtered[]>;

/** Finds out which runs polls make: rows that `when` turns away are in none. */
export async function preparePolls(
  { polls }: Pick<DecisionBatch, "polls">,
  ask: AskWhen,
): Promise<Map<StandingProgramId, PreparedPoll>> {
  const prepared = new Map<StandingProgramId, PreparedPoll>();
  for (const polled of polls) prepared.set(polled.programId, await preparePoll(polled, ask));
  return prepared;
}

async function preparePoll(polled: Polled, ask: AskWhen): Promise<PreparedPoll> {
  const { found, per, loaded } = polled;
  const due: FoundRow[] = [];
  let faulty: { readonly filtered: Filtered; rows: number } | undefined;
  const rowsFound = found.map(({ row }) => row);
  const outcomes = loaded.definition.when === undefined ? [] : await ask(polled, rowsFound);
  for (const [index, row] of found.entries()) {
    const filtered = outcomes[index] ?? { isDue: true };
    if ("error" in filtered) faulty = { filtered, rows: (faulty?.rows ?? 0) + 1 };
    else if (filtered.isDue) due.push(row);
  }
  const groups = per === "row" ? due.map((row) => [row]) : due.length > 0 ? [due] : [];
  const candidates: DueCandidate[] = groups.map((rows) => {
    const name = per === "row" ? (rows[0]?.digest ?? "") : "";
    return { occurrence: occurrenceOf(polled, name, rows, per), version: loaded, filtered: { isDue: true } };
  });
  if (faulty !== undefined) {
    // One run for all of them: they fail alike, and each would count towards a pause.
    const occurrence = { ...occurrenceOf(polled, "when", [], per), rowCount: faulty.rows };
    candidates.push({ occurrence, version: loaded, filtered: faulty.filtered });
  }
  return { polled, candidates, seen: found.length, filtered: found.length - due.length - (faulty?.rows ?? 0) };
}

/** Rows as something that is due. A poll that is made again, since it was not written, has the same name. */
function occurrenceOf(
  { record, atMs }: Polled,
  name: string,
  rows: readonly FoundRow[],
  per: "poll" | "row",
): Occurrence {
  return {
    kind: "poll",
    sourceKey: `p:${record.polls}${name === "" ? "" : `/${name}`}`,
    fireAt: atMs,
    missed: 0,
    previousAt: null,
    callerKeyId: null,
    input: undefined,
    rowCount: rows.length,
    given: givenOfRows(
      rows.map(({ row }) => row),
      per,
    ),
  };
}

/** A row as runs are given it. */
function givenOfRows(rows: readonly JsonObject[], per: "poll" | "row"): JsonObject {
  const [row] = rows;
  return per === "row" && row !== undefined ? { row, rows } : { rows };
}
