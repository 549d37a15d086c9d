import { stemmer } from "stemmer";

/** Words that carry no meaning in a question, such as "the", and the parts of words such as "don't" and "user's". */
const stopWords = new Set(
  `a about after all also am an and any are as at be because been before being but by can cannot certain could did do does doing done
  for from get got had happen happened happens has have having he her here his how i if in into is it its just let like may me might
  more most much must my need no not of on only or our out own please shall she should so some such than that the their them then
  there these they this those to too up us use used uses using very want was way we were what when where which while who whom whose why
  will with would you your svc
  aren couldn d didn different doesn don getting gets go goes going hadn hasn haven instead isn ll m one per re s same shouldn style t
  ve via wasn weren won work worked working works wouldn`.split(/\s+/),
);

/** Words with the same meaning whose stems differ. The index stores the stem of a group's first word for all of the group. */
const forms: ReadonlyMap<string, string> = new Map(
  [
    "keep kept, lose lost loss losing, send sent sends, break broken broke, run ran, store storage",
    "encrypt encryption, deliver delivery, fail failure, recover recovery, revoke revocation",
    "expire expiry expiration, subscribe subscription, verify verification, respond response, grow growth grew",
    "hide hidden, write wrote written, forget forgot forgotten, steal stolen, choose chosen chose, know known",
    "identify identity, retain retention, remove removal, erase erasure, retry retries, decrypt decryption",
    "compress compression, transform transformation, notify notification",
    "administrator admin administration administrative, authenticate authentication auth, authorize authorization",
    "database db, postgresql postgres, kubernetes k8s, environment env, configure configuration config",
    "repository repo, document documentation docs, temporary temporarily, parallel parallelism",
  ].flatMap((groups) =>
    groups.split(", ").flatMap((group) => {
      const [first = "", ...others] = group.split(" ").map((word) => stemmer(word));
      return others.map((other) => [other, first] as const);
    }),
  ),
);

/** Words that readers search for, separated by spaces, with the words that pages use for the same thing. */
const sameWords: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    // Words that readers use for time and for states (for example `stuck`), and the words in the documentation with the same meaning.
    stuck: "wait pending continue",
    slow: "wait limit capacity monitor",
    "delay late": "wait",
    hang: "wait park",
    crash: "restart kill fail die loss",
    resume: "continue",
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
    send: "replay delivery publish",
    "emit produce": "publish",
    resend: "replay redeliver",
    repeat: "replay retry",
    again: "retry replay",
    redeliver: "replay",
    duplicate: "twice repeat idempotency",
    "dedupe deduplicate twice": "duplicate repeat idempotency",
    exactly: "least once",
    breaker: "backoff fail",
    idempotent: "idempotency",
    dlq: "dead letter",
    poison: "park harmful",
    callback: "endpoint",
    consumer: "endpoint receiver",
    payload: "body",
    locally: "machine listen sample",
    localhost: "loopback machine listen",
    tunnel: "listen forward",
    signature: "verify secret",
    // Words of message queues and names of other products. Each has the words under which the documentation describes the same thing.
    offset: "cursor position",
    group: "cursor",
    "kafka nats jetstream": "poll cursor",
    pull: "poll",
    push: "delivery",
    "rabbitmq sqs pubsub": "publish subscription delivery",
    topic: "trigger type filter",
    bus: "publish subscription",
    svix: "delivery signature webhook",
    hookdeck: "delivery replay webhook",
    zapier: "n8n",
    "airflow inngest camunda": "temporal workflow",
    composio: "toolkit agent account",
    "langchain langgraph llamaindex crewai vercel": "framework sdk agent",
    openai: "framework sdk agent model",
    // Synonyms for words about schedules, jobs and people. Left: a reader's word. Right: the words that the pages use.
    automation: "schedule standing",
    cron: "schedule calendar time",
    schedule: "standing",
    "night nightly daily hourly weekly monthly recurring periodic": "schedule time calendar",
    "workflow pipeline": "program job",
    sleep: "wait",
    script: "program",
    task: "job program",
    execution: "job run",
    loop: "map until",
    else: "branch condition when",
    branch: "condition when",
    "batch bulk": "map row",
    "concurrent simultaneous": "overlap parallel",
    singleton: "overlap",
    lock: "overlap lease",
    "pass variable": "value",
    result: "answer value",
    test: "simulate try",
    dry: "simulate rehearse check",
    "iterate foreach": "map",
    "item record": "row",
    condition: "when",
    "rollback compensation": "undo saga",
    revert: "undo",
    approval: "ask approve",
    approve: "confirm approval",
    question: "ask",
    human: "person",
    manager: "approver person",
    review: "approve confirm",
    "notification notify": "notice channel",
    email: "mail message",
    "slack teams discord": "chat channel contact",
    sms: "message channel contact",
    stop: "confirm pause cancel",
    abort: "cancel",
    // Synonyms for words about tools and accounts. Left: a reader's word. Right: the words that the pages use.
    agent: "mcp confirm",
    "llm ai": "model agent",
    claude: "chat client editor mcp",
    "chatgpt desktop": "chat client",
    "cursor ide vscode copilot windsurf zed jetbrains": "editor",
    gemini: "chat client model",
    "integration connector": "toolkit app",
    plugin: "toolkit",
    openapi: "toolkit build describe",
    swagger: "toolkit openapi build describe",
    spec: "definition describe",
    "upload import": "publish build",
    code: "function program",
    untrusted: "own sandbox",
    "python java golang ruby php": "program curl",
    custom: "own private",
    pagination: "paging page",
    semantic: "meaning",
    "mock fake": "sandbox",
    internal: "private own",
    password: "secret credential",
    token: "key",
    oauth: "connect",
    "login logout": "sign session",
    auth: "key sign oauth",
    user: "principal entity",
    customer: "entity project",
    "tenant staging": "project",
    ci: "key project",
    permission: "role scope",
    readonly: "role scope class",
    restrict: "limit scope",
    allow: "scope",
    denied: "refuse role",
    forbidden: "refuse scope limit 403",
    403: "forbidden refuse scope",
    unauthorized: "refuse key 401 invalid",
    401: "unauthorized",
    sso: "sign console",
    "saml oidc okta ldap": "sso sign console",
    // Words that readers use for operations (for example `add`), and the words in the documentation with the same meaning.
    add: "create build",
    "create build": "make",
    upgrade: "update version",
    update: "upgrade",
    migrate: "move upgrade",
    deploy: "install upgrade",
    "internet offline airgapped": "network",
    scale: "several capacity",
    context: "shorten token",
    setup: "install",
    uninstall: "stop install",
    delete: "remove erase",
    remove: "delete",
    forget: "erase",
    gdpr: "erase personal",
    privacy: "personal erase",
    compliance: "audit personal",
    "trail history": "log",
    "activity yesterday": "audit log call",
    "restore snapshot": "backup",
    recover: "restore",
    rotate: "change",
    downtime: "overlap rotate",
    encryption: "vault seal",
    config: "configuration variable",
    "setting set": "configuration",
    env: "variable configuration",
    change: "set",
    increase: "raise larger limit max",
    raise: "larger limit",
    size: "byte large largest",
    maximum: "max largest limit bound",
    disable: "off revoke pause",
    "leak compromise": "revoke",
    monitor: "metric health",
    "prometheus alert": "metric",
    "performance throughput": "benchmark capacity",
    latency: "benchmark",
    "ram oom": "memory",
    memory: "capacity",
    "cpu core": "processor",
    storage: "disk",
    "https certificate ssl": "tls",
    nginx: "proxy",
    "firewall ip url": "address",
    "allowlist whitelist": "address allow range",
    "outgoing outbound egress": "send connect",
    port: "listen",
    docker: "container",
    kubernetes: "container probe",
    k8s: "kubernetes container probe",
    helm: "kubernetes container",
    pooler: "pgbouncer",
    throttle: "limit pace",
    "quota rate": "limit",
    429: "limit quota",
    503: "overload unavailable",
    "outage down": "unavailable fail",
    cors: "origin",
    signal: "ask answer",
    "database aws rds aurora azure postgres": "postgresql",
    "supabase neon": "postgresql pooler",
    managed: "own",
    "cluster machine": "node",
    server: "node service",
    availability: "node failover",
    "multiple two many": "several",
    "dashboard ui": "console",
    cli: "command",
    javascript: "typescript sdk",
    keep: "retention kept",
    kept: "retention keep",
    "long sooner": "retention",
  }).flatMap(([words, others]) => words.split(" ").map((word) => [formOf(word), others.split(" ").map(formOf)])),
);

function formOf(word: string): string {
  const stem = stemmer(word);
  return forms.get(stem) ?? stem;
}

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
  return stopWords.has(lower) ? undefined : formOf(lower);
}

/** Returns the stored forms of all words that mean the same as a term, without the term itself. */
export function sameTermsOf(term: string): readonly string[] {
  return sameWords.get(term) ?? [];
}
