/** What the link's ask is, as `/console/answer` answers it. Times are RFC 3339; empty texts stand for none. */
export type LinkedAsk = LinkQuestion | SettledAsk;

/** A question that waits for an answer. */
export type LinkQuestion = {
  state: "pending";
  principalId: string;
  contactName: string;
  question: string;
  /** Whether it asks if something may be done at all: a call, or a program. */
  confirms: boolean;
  continuations: readonly string[];
  answerSchemaJson: string;
  defaultContinuation: string;
  deadlineAt: string;
  expiresAt: string;
};

/** One that is settled; a withdrawn one has no decision. */
export type SettledAsk = {
  state: "answered" | "defaulted" | "withdrawn";
  principalId: string;
  contactName: string;
  confirms: boolean;
  decision?: { continuation: string; principalId: string; at: string };
};
