import { unknownWord, type Word } from "./word.ts";

/** The outcomes of a call (the values of `CallToolResponse.outcome`). `running` occurs only in the list of calls. */
export const callOutcomes = [
  "ok",
  "held",
  "running",
  "invalid_arguments",
  "no_account",
  "account_unusable",
  "missing_scope",
  "not_callable",
  "not_bound",
  "rate_limited",
  "provider_error",
  "timeout",
  "unreachable",
  "outcome_unknown",
] as const;

/** One of the outcomes of a call. */
export type CallOutcomeName = (typeof callOutcomes)[number];

const outcomes: Record<CallOutcomeName, Omit<Word, "word">> = {
  ok: { tone: "ok", icon: "check", says: "The app did it." },
  held: { tone: "warn", icon: "pause", says: "It is destructive and was not confirmed. Nothing was sent." },
  running: { tone: "info", icon: "clock", says: "It is under way." },
  invalid_arguments: { tone: "bad", icon: "cross", says: "Its arguments miss the schema. Nothing was sent." },
  no_account: { tone: "bad", icon: "plug", says: "The entity has no account of the toolkit. Nothing was sent." },
  account_unusable: { tone: "bad", icon: "plug", says: "The account must be connected again." },
  missing_scope: {
    tone: "bad",
    icon: "lock",
    says: "The account was not granted what it needs. Nothing was executed.",
  },
  not_callable: { tone: "bad", icon: "ban", says: "It cannot be called. Nothing was sent." },
  not_bound: { tone: "bad", icon: "ban", says: "The deployment does not say where the app is. Nothing was sent." },
  rate_limited: { tone: "warn", icon: "clock", says: "The app answered 429 and did not do it." },
  provider_error: { tone: "bad", icon: "alert", says: "The app answered with an error." },
  timeout: { tone: "bad", icon: "clock", says: "The app did not answer in time." },
  unreachable: { tone: "bad", icon: "alert", says: "The app could not be reached. It was not done." },
  outcome_unknown: {
    tone: "bad",
    icon: "ask",
    says: "It was sent and the answer never came: it may have been done. Look in the app before you send it again.",
  },
};

/** Returns the word, colour and icon for the outcome of a call. */
export function outcomeWord(outcome: string): Word {
  const known = (outcomes as Record<string, Omit<Word, "word">>)[outcome];
  return known === undefined ? unknownWord(outcome) : { word: outcome, ...known };
}

/** The classes of a tool by the effect of its calls (the values of `Tool.accessClass`). */
export const accessClasses = ["read", "write", "destructive"] as const;

/** Class of a tool: `read`, `write` or `destructive`. */
export type ToolAccessClass = (typeof accessClasses)[number];

const classes: Record<ToolAccessClass, Omit<Word, "word">> = {
  read: { tone: "plain", icon: "search", says: "It changes nothing." },
  write: { tone: "info", icon: "send", says: "It changes something that can be changed back." },
  destructive: { tone: "bad", icon: "alert", says: "It destroys something. A call is held until it is confirmed." },
};

/** Returns the word, colour and icon for the class of a tool. */
export function classWord(accessClass: string): Word {
  const known = (classes as Record<string, Omit<Word, "word">>)[accessClass];
  return known === undefined ? unknownWord(accessClass) : { word: accessClass, ...known };
}
