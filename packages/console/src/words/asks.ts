import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Ask, type AskDecision, AskState } from "@svc/gen/jobs";
import { isConfirmation } from "./continuations.ts";
import { durationWords } from "./time.ts";
import { unknownWord, type Word } from "./word.ts";

const states: Record<AskState, Word> = {
  [AskState.UNSPECIFIED]: unknownWord(""),
  [AskState.PENDING]: { word: "pending", tone: "warn", icon: "ask", says: "It waits for an answer." },
  [AskState.ANSWERED]: { word: "answered", tone: "ok", icon: "check", says: "A person answered." },
  [AskState.DEFAULTED]: {
    word: "defaulted",
    tone: "info",
    icon: "clock",
    says: "The clock applied the declared default.",
  },
  [AskState.WITHDRAWN]: { word: "withdrawn", tone: "plain", icon: "ban", says: "The job ended otherwise." },
};

/** Returns the word, colour and icon for the state of an ask. */
export function askStateWord(state: AskState): Word {
  return (states as Record<number, Word>)[state] ?? unknownWord(String(state));
}

/**
 * Splits the question of an approval into the question itself and its details. The page shows only the question in its heading, because the
 * whole text would be too long there.
 */
export function splitQuestion(question: string): [asks: string, more: string] {
  const end = question.indexOf('"? ');
  return end === -1 ? [question, ""] : [question.slice(0, end + 2), question.slice(end + 3)];
}

/** One stage of a question's escalation. `principalId`: the contact who is asked. `says`: what happens at this stage. */
export type Rung = { principalId: string; says: string; state: "past" | "holds" | "coming" };

/**
 * Returns the stages of the escalation of a pending ask: the contacts asked before, the contact asked now with the time left, and the
 * contacts asked next. `now`: in epoch milliseconds.
 */
export function ladderRungs(
  ask: Pick<
    Ask,
    "escalation" | "hopIndex" | "deadlineAt" | "state" | "exhausted" | "approvalId" | "deliveredPrincipals"
  >,
  now: number,
): Rung[] {
  const isPending = ask.state === AskState.PENDING;
  // An approval does not escalate (move on to further contacts). Every contact who received it may answer.
  if (ask.approvalId !== "") {
    const says = isPending ? "may decide" : "was asked";
    return ask.deliveredPrincipals.map((principalId) => ({ principalId, state: "holds", says }));
  }
  return ask.escalation.map(({ principalId, timeoutSeconds }, index) => {
    if (index < ask.hopIndex) return { principalId, state: "past", says: "was asked, and may still answer" };
    const lasts = timeoutSeconds === 0 ? "with no deadline" : `for ${durationWords(timeoutSeconds * 1_000)}`;
    if (index > ask.hopIndex && !isPending) return { principalId, state: "coming", says: "was not asked" };
    if (index > ask.hopIndex) return { principalId, state: "coming", says: `is asked next, ${lasts}` };
    const left = ask.deadlineAt === undefined ? undefined : timestampMs(ask.deadlineAt) - now;
    if (!isPending) return { principalId, state: "holds", says: "held it last" };
    if (ask.exhausted) return { principalId, state: "holds", says: "holds it; the ladder is over" };
    return {
      principalId,
      state: "holds",
      says: left === undefined ? "holds it, with no deadline" : `holds it for ${durationWords(left)} more`,
    };
  });
}

/** Returns what happens if a pending ask has no answer at its deadline. */
export function clockWords(
  ask: Pick<
    Ask,
    "approvalId" | "pointId" | "stepId" | "deadlineAt" | "defaultContinuation" | "exhausted" | "hopIndex" | "escalation"
  >,
): string {
  if (isConfirmation(ask)) return "Without an answer by then it is refused, and nothing is done.";
  if (ask.approvalId !== "") return "No clock decides an approval: it waits until somebody does.";
  if (ask.exhausted) return "The ladder is over. It waits for an answer for ever.";
  if (ask.deadlineAt === undefined) return "It has no deadline: it waits until somebody answers.";
  const next = ask.escalation[ask.hopIndex + 1];
  const last =
    ask.defaultContinuation === ""
      ? "it then waits for an answer for ever"
      : `the clock then answers ${ask.defaultContinuation}`;
  if (next !== undefined) return `When that is over, it passes on to ${next.principalId}; at the ladder's end ${last}.`;
  return `When that is over, the ladder is, too: ${last}.`;
}

/**
 * Returns who answered a question, and how. For example, `head answered proceed`, if the person with the id `head` chose the answer
 * `proceed`. For an approval: `head approved`. The page shows the time next to this text.
 */
export function decisionWords(
  { principalId, continuation, surface }: Pick<AskDecision, "principalId" | "continuation" | "surface">,
  isApproval: boolean,
): string {
  if (surface === "timeout") return `The clock answered ${continuation}, as the program declares`;
  if (isApproval) return `${principalId} ${continuation === "proceed" ? "approved" : "rejected"}`;
  return `${principalId} answered ${continuation}`;
}
