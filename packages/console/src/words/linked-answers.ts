import { prettyJson } from "./pretty-json.ts";

/**
 * The name of an answer (`words`) and its effect (`says`). The texts are for people who opened a link and know neither the program nor its
 * terms.
 */
type AnswerWords = { words: string; says: string };

const answers: Readonly<Record<string, AnswerWords>> = {
  proceed: { words: "Continue", says: "Continue without changes." },
  "retry-with": { words: "Retry with changes", says: "Enter the changes below. Then the work is done again." },
  skip: { words: "Skip", says: "Leave this part out, and continue with the rest." },
  abort: { words: "Stop", says: "Stop here. Changes that can be undone are undone." },
};

const confirming: Readonly<Record<string, AnswerWords>> = {
  proceed: { words: "Allow it", says: "Exactly this is done, once." },
  abort: { words: "Refuse", says: "Nothing is done. The caller sees that you refused." },
};

/**
 * Returns the name and the effect of an answer for display. `confirms`: true if the answer decides about a confirmation. If this page does
 * not know the answer, because the service is newer, returns the answer's own name and no effect.
 */
export function linkedAnswerWords(continuation: string, confirms = false): AnswerWords {
  return (confirms ? confirming[continuation] : answers[continuation]) ?? { words: continuation, says: "" };
}

/** Returns a sentence that says what happens if the question gets no answer. `hasDeadline`: true if the question has a deadline. */
export function clockSentence(defaultContinuation: string, hasDeadline: boolean, confirms = false): string {
  if (confirms) return "If nobody answers by then, it is refused and nothing is done.";
  if (!hasDeadline) return "The question has no deadline. It waits for an answer.";
  if (defaultContinuation === "") return "After that, the next person is asked. You can still answer.";
  return `After that, the next person is asked. If nobody answers, “${linkedAnswerWords(defaultContinuation).words}” is used.`;
}

/**
 * Returns a sentence that says how a question was settled, without the time. `principalId`: id of the contact who reads the sentence; if
 * this contact answered, the sentence says "You".
 */
export function settledSentence(
  state: string,
  decision: { continuation: string; principalId: string } | undefined,
  principalId: string,
  confirms = false,
): string {
  if (decision === undefined) return "The question was withdrawn, because the work that it is about has ended.";
  const { words } = linkedAnswerWords(decision.continuation, confirms);
  if (state === "defaulted" || decision.principalId === "") return `Nobody answered in time, so “${words}” was used.`;
  return decision.principalId === principalId
    ? `You answered “${words}”.`
    : `${decision.principalId} answered “${words}”.`;
}

/**
 * A question that asks a person to confirm a tool call. `asks`: the text of the question. `asker`: the caller. `args`: the arguments as
 * JSON over several lines.
 */
type Confirmation = { asks: string; asker: string; args: string };

const form = /^(Carry out .*?\?) (?:(Asked for by .*?\.) )?Arguments: (.*)$/s;

/** Parses a question that asks to confirm a call. Returns undefined for any other question; the page shows that question unchanged. */
export function readConfirmation(question: string): Confirmation | undefined {
  const [, asks, asker = "", args] = form.exec(question) ?? [];
  return asks === undefined || args === undefined ? undefined : { asks, asker, args: prettyJson(args) };
}
