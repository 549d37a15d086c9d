import { unknownWord, type Word } from "./word.ts";

const reasons: Readonly<Record<string, Word>> = {
  no_trigger: {
    ...{ word: "no_trigger", label: "No trigger", tone: "warn", icon: "ask" },
    says: "No trigger of the app matches the post. Add a trigger or an ignore rule, then release it.",
  },
  invalid_payload: {
    ...{ word: "invalid_payload", label: "Invalid payload", tone: "bad", icon: "alert" },
    says: "The payload does not fit the trigger's schema. Fix the app's definition, then release it.",
  },
  no_project: {
    ...{ word: "no_project", label: "No account", tone: "warn", icon: "project" },
    says: "No connected account matches the post. Connect the account that the post names, then release it.",
  },
  unreadable_body: {
    ...{ word: "unreadable_body", label: "Unreadable body", tone: "bad", icon: "alert" },
    says: "The body does not have the format that the app's definition declares; see the detail. Fix the definition, then release it.",
  },
};

/** Reasons why svc keeps a webhook post for inspection (quarantine), as the API names them. */
export const quarantineReasons: readonly string[] = Object.keys(reasons);

/**
 * Returns the word, colour and icon for the reason why a webhook post is in quarantine (kept, because svc could not turn it into an event).
 */
export function quarantineReasonWord(reason: string): Word {
  return reasons[reason] ?? unknownWord(reason);
}

type OutcomeWords = { did: string; would: string; one?: Partial<Omit<OutcomeWords, "one">> };

const outcomes: Readonly<Record<string, OutcomeWords>> = {
  released: {
    ...{ did: "became events", would: "would become events" },
    one: { did: "became an event", would: "would become an event" },
  },
  ignored: {
    ...{ did: "are ignored by the definition now", would: "would be ignored by the definition" },
    one: { did: "is ignored by the definition now" },
  },
  quarantined: {
    ...{ did: "failed again and stay", would: "would fail again and stay" },
    one: { did: "failed again and stays" },
  },
  already_released: {
    ...{ did: "had been released before", would: "were released before" },
    one: { would: "was released before" },
  },
  missing: {
    ...{ did: "are no longer there", would: "are no longer there" },
    one: { did: "is no longer there", would: "is no longer there" },
  },
};

/**
 * Returns in words what happened to a number of quarantined webhook posts in a release (second attempt to process them), or would happen
 * (dry run). For example `3 became events`, or the reason why posts stay in quarantine.
 */
export function outcomeWords(outcome: string, count: number, isDryRun: boolean): string {
  const words = outcomes[outcome];
  const tense = isDryRun ? "would" : "did";
  const says = (count === 1 ? words?.one?.[tense] : undefined) ?? words?.[tense] ?? outcome;
  return `${count.toLocaleString("en")} ${says}`;
}
