import { stemmer } from "stemmer";

/** Words that carry no meaning in a question, such as "the". */
const stopWords = new Set(
  `a about after all also am an and any are as at be because been before being but by can cannot could did do does doing done
  for from get got had has have having he her here his how i if in into is it its just let like may me might more most much must my
  need no not of on once only or our out own please shall she should so some such than that the their them then there these they
  this those to too up us use used uses using very want was way we were what when where which while who whom whose why will with
  would you your svc`.split(/\s+/),
);

/** Words that readers search for, each with the words that pages use for the same thing. */
const sameWords: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    // Words that readers use for time and for states (for example `stuck`), and the words in the documentation with the same meaning.
    stuck: "wait pending",
    slow: "wait limit",
    delay: "wait",
    late: "wait",
    hang: "wait park",
    crash: "restart kill fail",
    restart: "start",
    fail: "error",
    broken: "fail",
    problem: "troubleshoot error",
    debug: "troubleshoot log read",
    lost: "lose without",
    missed: "backfill replay",
    missing: "find absent",
    timezone: "zone",
    daylight: "summer",
    timeout: "second limit wait",
    // Words about webhooks. Each has the words under which the documentation describes the same thing.
    webhook: "delivery ingest event",
    deliver: "delivery",
    send: "replay delivery",
    resend: "replay redeliver",
    repeat: "replay retry",
    again: "retry replay",
    duplicate: "twice repeat idempotency",
    twice: "duplicate repeat idempotency",
    idempotent: "idempotency",
    callback: "endpoint",
    consumer: "endpoint receiver",
    payload: "body",
    locally: "machine listen sample",
    localhost: "loopback machine listen",
    tunnel: "listen forward",
    signature: "verify secret",
    // Synonyms for words about schedules, jobs and people. Left: a reader's word. Right: the words that the pages use.
    automation: "schedule standing",
    cron: "schedule calendar",
    schedule: "standing",
    workflow: "program job",
    pipeline: "program job",
    script: "program",
    task: "job program",
    execution: "job run",
    loop: "map until",
    iterate: "map",
    foreach: "map",
    item: "row",
    record: "row",
    condition: "when",
    rollback: "undo saga",
    revert: "undo",
    compensation: "undo saga",
    approval: "ask approve",
    approve: "confirm approval",
    question: "ask",
    human: "person",
    manager: "approver person",
    review: "approve confirm",
    notification: "notice channel",
    notify: "notice channel",
    email: "mail message",
    stop: "confirm pause cancel",
    abort: "cancel",
    // Synonyms for words about tools and accounts. Left: a reader's word. Right: the words that the pages use.
    agent: "mcp confirm",
    llm: "model agent",
    ai: "model agent",
    claude: "chat client editor mcp",
    chatgpt: "chat client",
    cursor: "editor",
    ide: "editor",
    desktop: "chat client",
    integration: "toolkit app",
    connector: "toolkit app",
    plugin: "toolkit",
    custom: "own private",
    pagination: "paging page",
    semantic: "meaning",
    mock: "sandbox",
    fake: "sandbox",
    internal: "private own",
    password: "secret credential",
    token: "key",
    oauth: "connect",
    login: "sign session",
    auth: "key sign oauth",
    user: "principal entity",
    customer: "entity project",
    tenant: "project",
    permission: "role scope",
    restrict: "limit scope",
    denied: "refuse role",
    forbidden: "refuse role",
    unauthorized: "refuse key",
    // Words that readers use for operations (for example `add`), and the words in the documentation with the same meaning.
    add: "create build",
    create: "make",
    build: "make",
    upgrade: "update version",
    update: "upgrade",
    migrate: "move upgrade",
    deploy: "install",
    setup: "install",
    uninstall: "stop install",
    delete: "remove erase",
    remove: "delete",
    forget: "erase",
    gdpr: "erase personal",
    privacy: "personal erase",
    compliance: "audit personal",
    trail: "log",
    history: "log",
    restore: "backup",
    recover: "restore",
    snapshot: "backup",
    rotate: "change",
    downtime: "overlap rotate",
    encryption: "vault seal",
    config: "configuration variable",
    setting: "configuration",
    env: "variable configuration",
    set: "configuration",
    change: "set",
    increase: "raise larger limit",
    raise: "larger limit",
    size: "byte large",
    disable: "off",
    monitor: "metric health",
    prometheus: "metric",
    alert: "metric",
    performance: "benchmark capacity",
    throughput: "benchmark capacity",
    latency: "benchmark",
    ram: "memory",
    cpu: "processor",
    core: "processor",
    storage: "disk",
    https: "tls",
    certificate: "tls",
    ssl: "tls",
    nginx: "proxy",
    firewall: "address",
    url: "address",
    port: "listen",
    docker: "container",
    kubernetes: "container probe",
    throttle: "limit",
    quota: "limit",
    rate: "limit",
    429: "limit quota",
    503: "overload unavailable",
    database: "postgresql",
    postgres: "postgresql",
    cluster: "node",
    server: "node service",
    machine: "node",
    availability: "node failover",
    multiple: "several",
    many: "several",
    dashboard: "console",
    ui: "console",
    cli: "command",
    javascript: "typescript sdk",
    keep: "retention kept",
    kept: "retention keep",
    long: "retention",
    sooner: "retention",
  }).map(([word, others]) => [stemmer(word), others.split(" ").map((other) => stemmer(other))]),
);

/** Returns the words of a text. A name such as `SVC_VAULT_KEY` or `CreateApiKey` counts as a word, and each of its parts as well. */
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
