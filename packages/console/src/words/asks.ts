import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Ask, type AskDecision, AskState } from "@svc/gen/jobs";
import { askPlace, continuationWords, isConfirmation } from "./continuations.ts";
import { durationWords } from "./time.ts";
import { unknownWord, type Word } from "./word.ts";

const states: Record<AskState, Word> = {
  [AskState.UNSPECIFIED]: unknownWord(""),
  [AskState.PENDING]: {
    word: "pending",
    label: "Waiting",
    tone: "warn",
    icon: "ask",
    says: "The question has no answer yet.",
  },
  [AskState.ANSWERED]: { word: "answered", label: "Answered", tone: "ok", icon: "check", says: "A person answered." },
  [AskState.DEFAULTED]: {
    word: "defaulted",
    label: "Timed out",
    tone: "info",
    icon: "clock",
    says: "Nobody answered in time, so the program's default answer was used.",
  },
  [AskState.WITHDRAWN]: {
    word: "withdrawn",
    label: "Withdrawn",
    tone: "plain",
    icon: "ban",
    says: "The job ended before an answer.",
  },
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

/**
 * One stage of a question's escalation. `principalId`: the contact who is asked. `says`: what happens at this stage. `state`: the stage is
 * over (`past`), is current (`holds`), or is still to come (`coming`).
 */
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
    if (!isPending) return { principalId, state: "holds", says: "was asked last" };
    if (ask.exhausted) return { principalId, state: "holds", says: "can still answer; nobody else is asked" };
    return {
      principalId,
      state: "holds",
      says: left === undefined ? "has no deadline" : `has ${durationWords(left)} to answer`,
    };
  });
}

/** Returns a sentence that says what happens if a question gets no answer before its deadline. */
export function clockWords(
  ask: Pick<
    Ask,
    "approvalId" | "pointId" | "stepId" | "deadlineAt" | "defaultContinuation" | "exhausted" | "hopIndex" | "escalation"
  >,
): string {
  if (isConfirmation(ask)) return "If nobody answers by then, the call is refused and nothing is done.";
  if (ask.approvalId !== "") return "An approval has no deadline. It waits for an answer.";
  if (ask.exhausted) return "Everybody was asked. The question waits for an answer without a deadline.";
  if (ask.deadlineAt === undefined) return "The question has no deadline. It waits for an answer.";
  const next = ask.escalation[ask.hopIndex + 1];
  const last =
    ask.defaultContinuation === ""
      ? "the question waits without a deadline"
      : `svc answers “${continuationWords(ask.defaultContinuation, askPlace(ask)).title}”`;
  if (next !== undefined) return `After that, ${next.principalId} is asked. If nobody answers, ${last}.`;
  return `If nobody answers, ${last}.`;
}

/**
 * Returns who answered a question, and how. For example, `head answered proceed`, if the person with the id `head` chose the answer
 * `proceed`. For an approval: `head approved`. The page shows the time next to this text.
 */
export function decisionWords(
  { principalId, continuation, surface }: Pick<AskDecision, "principalId" | "continuation" | "surface">,
  isApproval: boolean,
): string {
  if (surface === "timeout") return `Nobody answered in time. The program's default was used: ${continuation}`;
  if (isApproval) return `${principalId} ${continuation === "proceed" ? "approved" : "rejected"}`;
  return `${principalId} answered ${continuation}`;
}
