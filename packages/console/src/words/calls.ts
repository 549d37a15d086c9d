import { labelOf, unknownWord, type Word } from "./word.ts";

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
  ok: { label: "OK", tone: "ok", icon: "check", says: "The app did what was asked." },
  held: {
    label: "Not sent, needs confirmation",
    tone: "warn",
    icon: "pause",
    says: "The tool deletes or changes data for good, and nobody has confirmed the call. Nothing was sent.",
  },
  running: { label: "Running", tone: "info", icon: "clock", says: "The call has no answer yet." },
  invalid_arguments: {
    label: "Invalid input",
    tone: "bad",
    icon: "cross",
    says: "The arguments do not fit the tool. Nothing was sent.",
  },
  no_account: {
    label: "No account",
    tone: "bad",
    icon: "plug",
    says: "The user has not connected an account of the app. Nothing was sent.",
  },
  account_unusable: {
    label: "Account can't be used",
    tone: "bad",
    icon: "plug",
    says: "The account must be connected again.",
  },
  missing_scope: {
    label: "Permission missing",
    tone: "bad",
    icon: "lock",
    says: "The account does not have the permission that the tool needs. Nothing was done.",
  },
  not_callable: {
    label: "Can't be called",
    tone: "bad",
    icon: "ban",
    says: "The tool cannot be called at present. Nothing was sent.",
  },
  not_bound: {
    label: "App not set up",
    tone: "bad",
    icon: "ban",
    says: "The deployment does not say where the app is. Nothing was sent.",
  },
  rate_limited: {
    label: "Rate limited",
    tone: "warn",
    icon: "clock",
    says: "The app asked to slow down (429) and did not do it.",
  },
  provider_error: { label: "App error", tone: "bad", icon: "alert", says: "The app answered with an error." },
  timeout: { label: "Timed out", tone: "bad", icon: "clock", says: "The app did not answer in time." },
  unreachable: {
    label: "Not reachable",
    tone: "bad",
    icon: "alert",
    says: "svc could not connect to the app. Nothing was done.",
  },
  outcome_unknown: {
    label: "Outcome unknown",
    tone: "bad",
    icon: "ask",
    says: "svc sent the request and got no answer, so the app may have done it. Look in the app before you send it again.",
  },
};

/** Returns the word, colour and icon for the outcome of a call. */
export function outcomeWord(outcome: string): Word {
  const known = (outcomes as Record<string, Omit<Word, "word">>)[outcome];
  return known === undefined ? unknownWord(outcome) : { word: outcome, ...known };
}

/**
 * Returns a failure code in readable words: the name of a call's outcome, such as `App error`, or a code of svc without capitals and
 * underscores, such as `Limit reached`.
 */
export function failureCodeWords(code: string): string {
  const outcome = (outcomes as Record<string, Omit<Word, "word">>)[code];
  return outcome?.label ?? `${code.slice(0, 1)}${code.slice(1).toLowerCase().replaceAll("_", " ")}`;
}

/** The classes of a tool by the effect of its calls (the values of `Tool.accessClass`). */
export const accessClasses = ["read", "write", "destructive"] as const;

/** The access class of a tool by the effect of its calls on the app: `read`, `write` or `destructive`. */
export type ToolAccessClass = (typeof accessClasses)[number];

const classes: Record<ToolAccessClass, Omit<Word, "word">> = {
  read: { label: "Reads", tone: "plain", icon: "search", says: "The tool changes nothing." },
  write: {
    label: "Writes",
    tone: "info",
    icon: "send",
    says: "The tool changes data in a way that can be changed back.",
  },
  destructive: {
    label: "Deletes",
    tone: "bad",
    icon: "alert",
    says: "The tool deletes data, or changes it for good. A call is not sent until it is confirmed.",
  },
};

/** Returns the word, colour and icon for the class of a tool. */
export function classWord(accessClass: string): Word {
  const known = (classes as Record<string, Omit<Word, "word">>)[accessClass];
  return known === undefined ? unknownWord(accessClass) : { word: accessClass, ...known };
}

/** Returns the word, colour and icon for a number of tools of a class, such as `3 reads`. */
export function classCountWord(accessClass: string, count: number): Word {
  const word = classWord(accessClass);
  return { ...word, label: `${count} ${labelOf(word).toLowerCase()}` };
}
