import { call, text } from "@svc/core";
import { type Path, pathOf } from "../json.ts";
import { callsOf, type Step } from "../steps/index.ts";
import type { AccountQuestion, Check, CheckContext } from "./context.ts";

/** What a program asks of the project's accounts, each question once. */
export function accountQuestionsOf(
  steps: readonly Step[],
  check: Pick<Check, "view" | "actions">,
): readonly AccountQuestion[] {
  return [...new Map(neededBy(steps, check).map(({ question }) => [keyOf(question), question])).values()];
}

/** Asks which of the accounts that calls need are there, each once and all together. Records every one that is not. */
export async function askAccounts(
  steps: readonly Step[],
  { faults, view, actions }: Check,
  context: CheckContext,
): Promise<void> {
  const needed = neededBy(steps, { view, actions });
  if (needed.length === 0) return;
  const questions = new Map(needed.map(({ question }) => [keyOf(question), question]));
  const answers = await context.hasAccounts([...questions.values()]);
  const held = new Set([...questions.keys()].filter((_key, index) => answers[index] === true));
  for (const { path, question } of needed) {
    if (held.has(keyOf(question))) continue;
    const message = `entity ${question.entity} has no active account of ${question.toolkit.slug}`;
    faults.add(
      "PROGRAM_ACCOUNT_MISSING",
      path,
      message,
      text`connect one with ${call("InitiateConnection")}, or name another entity`,
    );
  }
}

function keyOf({ toolkit, entity }: AccountQuestion): string {
  return JSON.stringify([toolkit.slug, entity]);
}

type Need = { readonly path: Path; readonly question: AccountQuestion };

/** An undo on the account of its call needs nothing more. An entity that could not be read is "" and has its fault already. */
function neededBy(steps: readonly Step[], { view, actions }: Pick<Check, "view" | "actions">): Need[] {
  const toolkitOf = (tool: string) => view.toolkits.get(actions.get(tool)?.toolkitSlug ?? "");
  return callsOf(steps).flatMap((call) => {
    const { undo } = call;
    const isOwn = undo?.entity === call.entity && toolkitOf(undo.tool) === toolkitOf(call.tool);
    return [call, ...(undo === undefined || isOwn ? [] : [undo])].flatMap(({ tool, entity, pointer }) => {
      const toolkit = toolkitOf(tool);
      if (toolkit === undefined || entity === "") return [];
      return [{ path: [...pathOf(pointer), "entity"], question: { toolkit, entity } }];
    });
  });
}
