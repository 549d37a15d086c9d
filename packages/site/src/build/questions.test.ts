import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSearch, type Search, writeIndex } from "../search/search.ts";
import { readPages } from "./pages.ts";
import { sectionsOf } from "./sections.ts";

// Questions of readers, each with the page that must be among the first three results. An entry gives the start of the page's address.
const search: Search = openSearch(
  writeIndex(sectionsOf(readPages(fileURLToPath(new URL("../../../..", import.meta.url))))),
);

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
  ["run in docker", "guides/operations/run-without-systemd"],
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
  ["kubernetes helm chart", "guides/operations/run-without-systemd"],
  ["my endpoint got the same webhook twice", "guides/webhooks/write-a-receiver"],
  ["temporal workflow alternative", "concepts/coming-from-other-products"],
  ["pgbouncer", "guides/operations/your-own-postgresql"],
  ["exactly once delivery", "guides/webhooks/write-a-receiver"],
  ["at least once", "guides/webhooks/write-a-receiver"],
  ["only once", "guides/tools/make-repeated-calls-safe"],
  ["how to install without internet", "guides/operations/install"],
  ["langchain", "guides/tools/use-an-agent-framework"],
  ["shcedule a program", "guides/schedules/start-at-times"],
])("%s leads to %s within three results", (question, start) => {
  const first = search(question).slice(0, 3);
  expect(first.map(({ path }) => path).filter((path) => path.startsWith(start))).not.toEqual([]);
});

test("a misspelt word and the beginning of one are found, too", () => {
  for (const question of ["quarantned post", "quarnatined post", "quarant"])
    expect(search(question)[0]?.path).toContain("quarantine");
});

test("words that say nothing find nothing", () => {
  expect(search("how do I")).toEqual([]);
  expect(search("")).toEqual([]);
});
