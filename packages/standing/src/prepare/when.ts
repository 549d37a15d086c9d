import type { JsonObject, Work } from "@svc/core";
import type { StandingContext } from "../context.ts";
import { givenOf } from "../decide/given.ts";
import type { Occurrence, WhenResult } from "../decide/occurrence.ts";
import type { LoadedVersion } from "../versions.ts";

type WhenContext = Pick<StandingContext, "evaluator">;
type WhenVersion = Pick<LoadedVersion, "definition" | "program">;

/** Result of the condition `when` for a due time or event that svc repeatedly failed to process. */
export const couldNotBeDecided: WhenResult = {
  error: "due occurrences could not be decided",
  reason: "start_failed",
};

/**
 * Returns the result of a schedule's condition `when` for one occurrence (for example an event). `work`: counts the cost of the evaluation,
 * as for every other expression.
 */
export async function testWhen(
  { evaluator }: WhenContext,
  { definition: { when, timeZone }, program: { params } }: WhenVersion,
  occurrence: Occurrence,
  work: Work,
): Promise<WhenResult> {
  if (when === undefined) return { isDue: true };
  const { fire, event } = givenOf({ ...occurrence, previousAt: occurrence.previousAt ?? null }, timeZone);
  const bindings = { fire, event, params } as Parameters<typeof evaluator.test>[1];
  return resultOf(await evaluator.test(when, bindings, work));
}

/**
 * Evaluates the condition `when` of a standing program (which starts jobs on a schedule or event) for the rows of a poll. Returns one
 * result per row, or an empty list if the program has no condition.
 */
export async function testWhenOfRows(
  { evaluator }: WhenContext,
  { definition: { when, timeZone }, program: { params } }: WhenVersion,
  { atMs, rows }: { readonly atMs: number; readonly rows: readonly JsonObject[] },
  work: Work,
): Promise<readonly WhenResult[]> {
  if (when === undefined) return [];
  const { fire } = givenOf({ kind: "poll", fireAt: atMs, missed: 0, previousAt: null }, timeZone);
  const bindings = { fire, params } as Parameters<typeof evaluator.test>[1];
  const results: WhenResult[] = [];
  while (results.length < rows.length) {
    // The evaluator stops at a row for which the condition fails with an error. The evaluation then continues with the next row.
    const left = rows.slice(results.length);
    for (const outcome of await evaluator.testRows(when, left, bindings, { work, isDue: () => false }))
      results.push(resultOf(outcome));
  }
  return results;
}

function resultOf(outcome: { readonly value: boolean } | { readonly error: string }): WhenResult {
  return "error" in outcome ? { error: `when ${outcome.error}`, reason: "filter_error" } : { isDue: outcome.value };
}
