import { stemmer } from "stemmer";

/** Words that carry no meaning in a question, such as "the". */
const stopWords = new Set(
  `a about after all also am an and any are as at be because been before being but by can cannot could did do does doing done
  for from get got had has have having he her here his how i if in into is it its just let like may me might more most much must my
  need no not of on once only or our out own please shall she should so some such than that the their them then there these they
  this those to too up us use used uses using very want was way we were what when where which while who whom whose why will with
  would you your svc`.split(/\s+/),
);

/** Readers' words, each with the words that pages use for the same thing. */
const sameWords: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    stuck: ["wait", "pending"],
    slow: ["wait", "limit"],
    delay: ["wait"],
    late: ["wait"],
    crash: ["restart", "kill"],
    restart: ["start"],
    automation: ["schedule", "standing"],
    cron: ["schedule", "calendar"],
    schedule: ["standing"],
    approval: ["ask", "approve"],
    approve: ["confirm", "approval"],
    question: ["ask"],
    webhook: ["delivery", "ingest", "event"],
    deliver: ["delivery"],
    send: ["replay", "delivery"],
    upgrade: ["update", "version"],
    update: ["upgrade"],
    delete: ["remove", "erase"],
    remove: ["delete"],
    forget: ["erase"],
    gdpr: ["erase"],
    restore: ["backup"],
    recover: ["restore"],
    lost: ["lose", "without"],
    rotate: ["change"],
    downtime: ["overlap", "rotate"],
    resend: ["replay", "redeliver"],
    repeat: ["replay", "retry"],
    duplicate: ["twice"],
    fail: ["error"],
    password: ["secret", "credential"],
    token: ["key"],
    encryption: ["vault", "seal"],
    config: ["configuration", "variable"],
    set: ["configuration"],
    monitor: ["metric", "health"],
    prometheus: ["metric"],
    alert: ["metric"],
    https: ["tls"],
    certificate: ["tls"],
    ssl: ["tls"],
    oauth: ["connect"],
    throttle: ["limit"],
    quota: ["limit"],
    rate: ["limit"],
    user: ["principal", "entity"],
    customer: ["entity", "project"],
    tenant: ["project"],
    database: ["postgresql"],
    postgres: ["postgresql"],
    cluster: ["node"],
    server: ["node", "service"],
    machine: ["node"],
    availability: ["node", "failover"],
    keep: ["retention", "kept"],
    kept: ["retention", "keep"],
    long: ["retention"],
    sooner: ["retention"],
    agent: ["mcp", "confirm"],
    stop: ["confirm", "pause"],
  }).map(([word, others]) => [stemmer(word), others.map((other) => stemmer(other))]),
);

/** Returns the words of a text. A name such as `SVC_VAULT_KEY` or `CreateApiKey` is a word, and so is each of its parts. */
export function wordsOf(text: string): string[] {
  return wholeWordsOf(text).flatMap((word) => {
    const parts = word.split(/_+|(?<=[a-z\d])(?=[A-Z])/).filter(Boolean);
    return parts.length > 1 ? [word, ...parts] : [word];
  });
}

/** Returns the words of a text. A name such as `SVC_VAULT_KEY` is one word, not split into parts. */
export function wholeWordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** Returns the form in which a word is stored and searched (its stem); undefined for a word without meaning, such as "the". */
export function termOf(word: string): string | undefined {
  const lower = word.toLowerCase();
  return stopWords.has(lower) ? undefined : stemmer(lower);
}

/** Returns the stored forms of all words that mean the same as a term, without the term itself. */
export function sameTermsOf(term: string): readonly string[] {
  return sameWords.get(term) ?? [];
}
