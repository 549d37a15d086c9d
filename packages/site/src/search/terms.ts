/** Words that say nothing of what is searched for. */
const stopWords = new Set(
  `a about after all also am an and any are as at be because been before being but by can cannot could did do does doing done
  for from get got had has have having he her here his how i if in into is it its just let like may me might more most much must my
  need no not of on once only or our out own please shall she should so some such than that the their them then there these they
  this those to too up us use used uses using very want was way we were what when where which while who whom whose why will with
  would you your svc`.split(/\s+/),
);

/** Words of readers and the words of the pages for the same thing, both stemmed. */
const sameWords: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ["stuck", "wait", "pend"],
    ["slow", "wait", "limit"],
    ["delay", "wait"],
    ["late", "wait"],
    ["crash", "restart", "kill"],
    ["restart", "start"],
    ["automation", "schedul", "stand"],
    ["cron", "schedul", "calendar"],
    ["schedul", "stand"],
    ["approval", "ask", "approv"],
    ["question", "ask"],
    ["webhook", "deliveri", "ingest", "event"],
    ["deliver", "deliveri"],
    ["send", "replay", "deliveri"],
    ["upgrad", "updat", "version"],
    ["updat", "upgrad"],
    ["delet", "remov", "eras"],
    ["remov", "delet"],
    ["forget", "eras"],
    ["gdpr", "eras"],
    ["restor", "backup"],
    ["rotat", "chang"],
    ["resend", "replay", "redeliver"],
    ["repeat", "replay", "retri"],
    ["duplicat", "twic"],
    ["fail", "error"],
    ["password", "secret", "credential"],
    ["token", "key"],
    ["config", "configuration", "variabl"],
    ["set", "configuration"],
    ["monitor", "metric", "health"],
    ["prometheu", "metric"],
    ["alert", "metric"],
    ["https", "tls"],
    ["certificat", "tls"],
    ["ssl", "tls"],
    ["oauth", "connect"],
    ["throttl", "limit"],
    ["quota", "limit"],
    ["rate", "limit"],
    ["user", "principal", "entiti"],
    ["customer", "entiti", "project"],
    ["tenant", "project"],
    ["database", "postgresql"],
    ["postgre", "postgresql"],
    ["cluster", "node"],
    ["server", "node", "servic"],
    ["availabiliti", "node", "failov"],
    ["kept", "retention", "keep"],
    ["keep", "retention", "kept"],
    ["long", "retention"],
    ["sooner", "retention"],
    ["encryption", "vault"],
    ["encrypt", "vault", "seal"],
    ["lost", "los", "without"],
    ["recov", "restor"],
    ["agent", "mcp", "confirm"],
    ["approv", "confirm", "approval"],
    ["stop", "confirm", "pause"],
    ["downtim", "overlap", "rotat"],
    ["machin", "node"],
  ].map(([word = "", ...others]) => [word, others]),
);

/** The words of a text. A name such as `SVC_VAULT_KEY` or `CreateApiKey` is a word, and so is each of its parts. */
export function wordsOf(text: string): string[] {
  return wholeWordsOf(text).flatMap((word) => {
    const parts = word.split(/_+|(?<=[a-z\d])(?=[A-Z])/).filter(Boolean);
    return parts.length > 1 ? [word, ...parts] : [word];
  });
}

/** The words of a text, names whole. */
export function wholeWordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** The form under which a word is kept and searched for; undefined for one that says nothing. */
export function termOf(word: string): string | undefined {
  const lower = word.toLowerCase();
  return stopWords.has(lower) ? undefined : stemOf(lower);
}

/** The forms of a query's words that have the same meaning as a term, without the term itself. */
export function sameTermsOf(term: string): readonly string[] {
  return sameWords.get(term) ?? [];
}

/** The stem of an English word, roughly: `deliveries` and `delivery`, `rotate`, `rotating` and `rotation` have the same. */
function stemOf(word: string): string {
  if (word.length < 4 || /[\d_]/.test(word)) return word;
  const single = word
    .replace(/ies$/, "y")
    .replace(/(?<=sh|ch|x|ss|z)es$/, "")
    .replace(/(?<![su])s$/, "");
  const stem = single
    .replace(/(?<=[a-z]{3})(?:ing|ed)$/, "")
    .replace(/(?<=[a-z]{2}at)ion$/, "")
    .replace(/([bdgmnprt])\1$/, "$1");
  return stem.replace(/(?<=[a-z]{2})e$/, "").replace(/y$/, "i");
}
