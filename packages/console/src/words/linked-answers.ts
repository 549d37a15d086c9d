/** What an answer is called for whoever answers by a link, and what it does. Such a reader knows neither the program nor its words. */
export type AnswerWords = { words: string; says: string };

const answers: Readonly<Record<string, AnswerWords>> = {
  proceed: { words: "Proceed", says: "Go on as it stands." },
  "retry-with": { words: "Retry with changes", says: "Change what is asked for below, then do it again." },
  skip: { words: "Skip", says: "Leave out what this is about, and go on with the rest." },
  abort: { words: "Abort", says: "Stop here. What can be undone is undone." },
};

/** The words of an answer; one of a newer service is shown as it is. */
export function linkedAnswerWords(continuation: string): AnswerWords {
  return answers[continuation] ?? { words: continuation, says: "" };
}

/** What the clock does with a question that nobody answers; `hasDeadline` where it goes on by itself at a time. */
export function clockSentence(defaultContinuation: string, hasDeadline: boolean): string {
  if (!hasDeadline) return "It has no deadline: it waits until somebody answers.";
  if (defaultContinuation === "")
    return "It is put to the next person then, if there is one. You may still answer afterwards.";
  return `It is put to the next person then, if there is one; if nobody answers, “${linkedAnswerWords(defaultContinuation).words}” is applied by itself.`;
}

/** How a question was settled, for `principalId` who reads it: a sentence without the time. */
export function settledSentence(
  state: string,
  decision: { continuation: string; principalId: string } | undefined,
  principalId: string,
): string {
  if (decision === undefined) return "The question was withdrawn: what it was about has ended in the meantime.";
  const { words } = linkedAnswerWords(decision.continuation);
  if (state === "defaulted" || decision.principalId === "")
    return `Nobody answered in time, so “${words}” was applied.`;
  return decision.principalId === principalId
    ? `You answered “${words}”.`
    : `${decision.principalId} answered “${words}”.`;
}
