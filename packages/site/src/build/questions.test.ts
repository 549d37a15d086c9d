import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSearch, type Search, writeIndex } from "../search/search.ts";
import { readExampleQuestions } from "./example-questions.ts";
import { readPages } from "./pages.ts";
import { sectionsOf } from "./sections.ts";

// Questions of readers, each with the page that must be among the first three results. An entry gives the start of the page's address.
const sections = sectionsOf(readPages(fileURLToPath(new URL("../../../..", import.meta.url))));
const search: Search = openSearch(writeIndex(sections));

test.each([
  // Questions that were written by a reader who had seen no page of the documentation.
  ["how to see why a webhook was not delivered and send it again", "guides/webhooks/fix-a-failing-endpoint"],
  ["change webhook signing secret without downtime", "guides/operations/rotate-webhook-secrets"],
  ["job is stuck, how do I cancel or resume it", "guides/jobs/pause-or-cancel-a-job"],
  ["how do I stop an agent from deleting things without approval", "guides/tools/require-a-person-to-confirm"],
  ["run more than one server for high availability", "guides/operations/several-nodes"],
  ["how long are events and logs kept and how to delete them sooner", "reference/retention"],
  ["restore from backup on a new machine without running jobs twice", "guides/operations/back-up-and-restore"],
  ["lost the encryption key, can I still recover stored account credentials", "guides/operations/rotate-the-vault-key"],
  ["which metrics should I monitor and alert on in prometheus", "guides/operations/monitor"],
  ["connect claude or another mcp client to my own server with an api key", "guides/tools/connect-a-chat-client"],
  ["why is this delivery waiting", "guides/webhooks/fix-a-failing-endpoint"],
  ["endpoint is failing, deliveries stuck", "guides/webhooks/fix-a-failing-endpoint"],
  ["a post is quarantined", "guides/webhooks/release-quarantined-posts"],
  ["how do I rotate the vault key", "guides/operations/rotate-the-vault-key"],
  ["rotate a webhook secret", "guides/operations/rotate-webhook-secrets"],
  ["back up and restore", "guides/operations/back-up-and-restore"],
  ["upgrade to a new version", "guides/operations/upgrade"],
  ["run several nodes", "guides/operations/several-nodes"],
  ["use my own PostgreSQL", "guides/operations/your-own-postgresql"],
  ["set up TLS behind a proxy", "guides/operations/tls-and-proxies"],
  ["delete all data of a person", "guides/operations/export-or-erase-a-person"],
  ["replay missed events", "guides/webhooks/replay-events"],
  ["verify the signature of a delivery", "guides/webhooks/verify-signatures"],
  ["connect an account with oauth", "guides/connections/connect-with-oauth"],
  ["limit the calls of a tool", "guides/tools/limit-calls"],
  ["confirm destructive calls", "guides/tools/require-a-person-to-confirm"],
  ["which metrics should I alert on", "reference/metrics#alerts"],
  ["approve a plan", "guides/questions/require-an-approval"],
  ["cancel a job", "guides/jobs/pause-or-cancel-a-job"],
  ["job is parked as poisoned", "guides/jobs/release-a-parked-job"],
  ["how do I retry a failed job", "guides/jobs/retry-or-rerun-a-job"],
  ["pause a schedule", "guides/schedules/pause-or-update-a-schedule"],
  ["backfill missed runs", "guides/schedules/backfill-missed-runs"],
  ["QUOTA_CALLS", "reference/errors/quotas#quota_calls"],
  ["ENDPOINT_URL_NOT_HTTPS", "reference/errors/webhooks#endpoint_url_not_https"],
  ["SVC_PUBLIC_URL", "reference/configuration#svc_public_url"],
  ["svc_delivery_backlog", "reference/metrics#svc_delivery_backlog"],
  ["CreateSubscription", "reference/api/triggers/create-subscription"],
  ["how long are events kept", "reference/configuration#svc_event_retention"],
  ["exit status of commands", "reference/calls-and-commands#conventions"],
  // Questions that were written by operators and developers before they saw the search.
  ["add my own tool", "start/build-a-toolkit"],
  ["test webhook locally", "guides/webhooks/test-an-endpoint"],
  ["increase body size", "reference/configuration"],
  ["agent cannot see a tool", "guides/operations/troubleshoot#why-does-an-agent-not-see-a-tool"],
  ["move server to another machine", "guides/operations/back-up-and-restore"],
  ["disk is full", "guides/operations/plan-capacity"],
  ["lost the vault key", "guides/operations/rotate-the-vault-key"],
  ["stop a running job", "guides/jobs/pause-or-cancel-a-job"],
  ["run every day at 9 in my time zone", "guides/schedules/start-at-times"],
  ["resend failed webhooks", "guides/webhooks/replay-events"],
  ["duplicate deliveries of the same event", "guides/webhooks/write-a-receiver"],
  ["429 too many requests", "guides/operations/set-quotas"],
  ["put svc behind nginx with https", "guides/operations/tls-and-proxies"],
  ["webhook signature invalid", "guides/webhooks/verify-signatures"],
  ["manager must approve before email is sent", "guides/questions/require-an-approval"],
  ["how long is data kept", "reference/retention"],
  ["delete user data gdpr", "guides/operations/export-or-erase-a-person"],
  ["access token expired reconnect account", "guides/connections/connect-with-oauth"],
  ["use with claude desktop", "guides/tools/connect-a-chat-client"],
  ["prometheus alerts", "guides/operations/monitor"],
  ["run in docker", "guides/operations/run-in-a-container"],
  ["loop over items of a list", "reference/program/map"],
  ["job failed in the middle, how to continue", "guides/jobs/retry-or-rerun-a-job"],
  ["lost admin key", "guides/operations/keys-and-projects"],
  ["call my internal api from a program", "guides/jobs/call-your-own-function"],
  ["limit an agent to one customer", "guides/tools/issue-a-key-for-an-agent"],
  ["prevent sending the same email twice", "guides/tools/make-repeated-calls-safe"],
  ["webhook timeout", "guides/webhooks/write-a-receiver"],
  ["how much ram do I need", "guides/operations/plan-capacity"],
  ["export audit trail", "guides/operations/check-the-audit-log"],
  ["rollback if a step fails", "guides/jobs/undo-on-failure"],
  ["pagination of a list api in a toolkit", "reference/toolkits/paging"],
  ["cron expression timezone daylight saving", "reference/schedules/times"],
  ["mock external api for tests", "reference/sandbox"],
  // Written by an operator and a backend engineer who had read only the README.
  ["which retries happen when my endpoint is down", "reference/deliveries#retries"],
  ["dead letter queue", "guides/webhooks/fix-a-failing-endpoint"],
  ["are events delivered in order", "guides/webhooks/write-a-receiver"],
  ["send my own event from the backend", "guides/webhooks/publish-your-own-events"],
  ["filter event types per endpoint", "guides/webhooks/filter-what-a-subscription-receives"],
  ["dedupe by idempotency key", "guides/tools/make-repeated-calls-safe"],
  ["IP allowlist outgoing requests", "guides/operations/tls-and-proxies#which-ip-addresses"],
  ["limit which tools an agent can use", "guides/tools/issue-a-key-for-an-agent#limit"],
  ["rate limit 429", "guides/operations/set-quotas"],
  ["human in the loop", "guides/questions/ask-a-person"],
  ["resume workflow after crash", "concepts/durable-execution"],
  ["job sleep for 3 days", "reference/program/control-flow#wait"],
  // Written by a reader who had read only the start of the README: typos, symptoms and terms of other products.
  ["401 on webhook", "guides/operations/troubleshoot"],
  ["container restarts in a loop", "guides/operations/run-without-systemd"],
  ["consumer group offset", "guides/webhooks/poll-events"],
  ["idempotancy key", "guides/tools/make-repeated-calls-safe"],
  ["kubernetes helm chart", "guides/operations/run-in-kubernetes"],
  ["my endpoint got the same webhook twice", "guides/webhooks/write-a-receiver"],
  ["temporal workflow alternative", "concepts/coming-from-other-products"],
  ["pgbouncer", "guides/operations/your-own-postgresql"],
  ["exactly once delivery", "guides/webhooks/write-a-receiver"],
  ["at least once", "guides/webhooks/write-a-receiver"],
  ["only once", "guides/tools/make-repeated-calls-safe"],
  ["how to install without internet", "guides/operations/install"],
  ["langchain", "guides/tools/use-an-agent-framework"],
  ["shcedule a program", "guides/schedules/start-at-times"],
  // Questions that blind rounds missed: words of other products, symptoms, and whole sentences.
  ["agent gets forbidden when calling tool", "guides/tools/issue-a-key-for-an-agent#limit"],
  ["poison message", "guides/jobs/release-a-parked-job"],
  ["upload new toolkit from openapi spec", "guides/toolkits/import-an-openapi-document"],
  ["send approval request to slack", "guides/questions/ask-a-person"],
  ["job retry policy with exponential backoff", "reference/program/call#retries"],
  ["run a job every night at 2am cron", "guides/schedules/start-at-times"],
  ["log in with SSO okta", "guides/operations/console#can-people-sign-in"],
  ["401 unauthorized from the API", "guides/operations/troubleshoot"],
  ["run untrusted code in a sandbox", "guides/jobs/call-your-own-function"],
  ["why is my job stuck in pending", "guides/operations/troubleshoot#why-does-a-job-not-continue"],
  ["disable an api key that leaked", "guides/operations/keys-and-projects"],
  ["how do I see what the agent did yesterday", "guides/operations/check-the-audit-log"],
  ["run only one instance of a job at the same time", "guides/schedules/limit-overlapping-runs"],
  ["pass the result of one step into the next step", "reference/program/values"],
  ["if else in a workflow", "reference/program/control-flow"],
  ["process 100k rows in batches", "reference/program/map"],
  ["test my workflow without calling the real apps", "guides/jobs/check-and-simulate"],
  ["two different credentials for the same app", "guides/connections/connect-an-account"],
  ["nats jetstream style pull consumer instead of push", "guides/webhooks/poll-events"],
  ["high memory usage", "guides/operations/plan-capacity"],
  ["CORS error in the browser", "guides/operations/tls-and-proxies#why-are-requests-answered-origin_refused"],
  ["what happens if the database goes down", "concepts/guarantees"],
  ["how do I uninstall and remove all data", "guides/operations/install#how-do-i-uninstall-it"],
  ["throttle webhooks to my server to 10 per second", "guides/webhooks/fix-a-failing-endpoint#throttle"],
  ["does it work with aws rds", "guides/operations/your-own-postgresql"],
  ["connect vscode copilot", "guides/tools/connect-an-editor"],
  ["what is the maximum number of steps in a program", "reference/program/limits"],
  // Written by a reader who knew only other products, and had seen neither the search nor its example questions.
  ["it is 3 in the morning and nothing is being delivered", "guides/operations/troubleshoot"],
  ["which ports must be open", "guides/operations/tls-and-proxies#which-ports"],
  ["blue green deployment", "guides/operations/upgrade"],
  ["is the api stable, what can change between versions", "guides/operations/upgrade#what-can-change"],
  ["svix application equivalent", "concepts/coming-from-other-products#terms-of-webhook-services"],
  ["purge pending messages", "guides/webhooks/fix-a-failing-endpoint#change-the-address"],
  ["employee left, cut off access", "guides/operations/keys-and-projects"],
  ["RDS sslmode verify-full root cert", "guides/operations/your-own-postgresql#how-do-i-encrypt-the-connection"],
  ["add my own tool from openapi spec", "guides/toolkits/import-an-openapi-document"],
  ["prompt injection protection for agents", "guides/tools/"],
  ["can support staff read customer payloads", "concepts/accounts-and-the-vault#what-is-encrypted"],
  ["agent deleted the wrong thing, how do I find out what happened", "guides/operations/check-the-audit-log"],
])("%s leads to %s within three results", (question, start) => {
  const first = search(question).slice(0, 3);
  expect(first.map(({ path }) => path).filter((path) => path.startsWith(start))).not.toEqual([]);
});

test("each section with example questions exists, and its page is among the first three results of the first question", () => {
  const paths = new Set(sections.map(({ path }) => path));
  const pageOf = (path: string) => path.replace(/#.*/, "");
  const missed = [...readExampleQuestions()].filter(([address, [question = ""]]) => {
    const first = search(question).slice(0, 3);
    return !paths.has(address) || !first.some(({ path }) => pageOf(path) === pageOf(address));
  });
  expect(missed).toEqual([]);
});

test("a misspelt word and the beginning of one are found, too", () => {
  for (const question of ["quarantned post", "quarnatined post", "quarant"])
    expect(search(question)[0]?.path).toContain("quarantine");
});

test("words that say nothing find nothing", () => {
  expect(search("how do I")).toEqual([]);
  expect(search("")).toEqual([]);
});
