/**
 * The content of the page that an answer link opens, as `/console/answer` returns it: an open question, or a settled one with its decision.
 * Times are RFC 3339. An empty text means that the field is not set.
 */
export type LinkedAsk = LinkQuestion | SettledAsk;

/** A question that waits for an answer. */
export type LinkQuestion = {
  state: "pending";
  principalId: string;
  contactName: string;
  question: string;
  /** True if the question asks for permission to make a call or to run a program. */
  confirms: boolean;
  continuations: readonly string[];
  answerSchemaJson: string;
  defaultContinuation: string;
  deadlineAt: string;
  expiresAt: string;
};

/**
 * A question that no longer waits for an answer, because it was answered, it expired, or it was withdrawn. A withdrawn question has no
 * decision.
 */
export type SettledAsk = {
  state: "answered" | "defaulted" | "withdrawn";
  principalId: string;
  contactName: string;
  confirms: boolean;
  decision?: { continuation: string; principalId: string; at: string };
};
