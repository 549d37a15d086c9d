import { isObject } from "@svc/core";
import { type JsonObject, type JsonValue, type MapCall, type Paging, pagingOf } from "@svc/program";
import type { Edit } from "../state/change.ts";
import { toolOf } from "./invoke.ts";
import { argumentsOfPage, hasMorePages, type PageProgress, type TurnedPage, turnPage } from "./page.ts";
import type { CallAt } from "./step-kind.ts";

/** A step whose call was made with these arguments. */
export type CalledAt = CallAt & { readonly args: JsonObject };

type PageAt = { readonly paging: Paging; readonly page: PageProgress | undefined };

/** The arguments of a page. Of a request it is the query that asks for it. */
export function argumentsOfStep(step: MapCall, args: JsonObject, { paging, page }: PageAt): JsonObject {
  if (step.http === undefined) return argumentsOfPage(paging, args, page);
  return { ...args, query: argumentsOfPage(paging, askingOf(step, args), page) };
}

/** The arguments among which there is what asks for a page. */
function askingOf({ http }: MapCall, args: JsonObject): JsonObject {
  if (http === undefined) return args;
  return isObject(args["query"]) ? args["query"] : {};
}

/**
 * How the step's pages are asked for; undefined where it has one. Throws an Error when neither the program nor the pin says it, which the
 * checker rules out: one page would pass for the whole list.
 */
export function pagingOfStep({ state, step }: Pick<CallAt, "state" | "step">): Paging | undefined {
  if (step.rows?.page === undefined) return undefined;
  const paging = pagingOf(step.rows.page, toolOf(state, step).action);
  if (paging === undefined) throw new Error(`the pins of a job do not say how ${step.tool} is paged`);
  return paging;
}

/** A list that has pages, and of which the program wants none but the first: what is left is told. */
export function leftPages(at: CalledAt, answer: JsonValue, list: readonly JsonValue[]): Edit[] {
  const { state, step, args } = at;
  // A request of the program's own has no tool that could say how it is paged.
  const action = state.loaded.tools.get(step.tool)?.action;
  if (step.rows?.page !== undefined || action?.class !== "read") return [];
  const asking = askingOf(step, args);
  const paging = pagingOf({ paging: undefined }, action);
  if (paging === undefined) return [];
  if (!hasMorePages({ paging, action, args: asking, page: undefined, answer, list })) return [];
  const message = `the rows are those of one page, and there are more: read them by "page": {"max": 20}`;
  return [
    { kind: "error", stepId: step.id, code: "PAGES_LEFT", ordinal: 0, message },
    {
      kind: "note",
      note: { type: "pages-left", stepId: step.id, payload: { toolSlug: step.tool, rows: list.length } },
    },
  ];
}

/** What follows the page at hand; undefined where it is the last. */
export async function turnPageOfStep(
  at: CalledAt,
  answer: JsonValue,
  list: readonly JsonValue[],
): Promise<TurnedPage | undefined> {
  const { state, step, progress, args } = at;
  const { action } = toolOf(state, step);
  const paging = pagingOfStep(at);
  // A simulated write has a sample for its answer, which has no other page.
  if (step.rows?.page === undefined || paging === undefined || (state.isSimulated && action.class !== "read")) return;
  const asking = askingOf(step, args);
  return turnPage({ paging, action, args: asking, page: progress?.page, answer, list }, step.rows.page.max);
}
