import { type Id, type IdPrefix, idOfUuid } from "@svc/core";
import type { Database } from "../../src/connect.ts";
import { nowMs } from "../../src/test-rows.ts";

// Test rows for query plans: 10,000 and more in every table. Most belong to one project, one job or one queue, because an even distribution
// would hide plans that are bad for the largest. All ids are computed, so that a plan can name any row.

/** A number for each kind of id, so that no two tables share an id. */
const kinds: Readonly<Record<Exclude<IdPrefix, "apr" | "aep">, number>> = {
  prj: 1,
  key: 2,
  sub: 3,
  evt: 4,
  dlv: 5,
  acc: 6,
  qrn: 7,
  job: 8,
  ask: 9,
  call: 10,
  node: 11,
  stp: 12,
  srn: 13,
  rpl: 14,
  bkf: 15,
  ses: 16,
  lnk: 17,
  grt: 18,
  aud: 19,
  ers: 20,
  hok: 21,
  wsc: 22,
  per: 23,
};

/** Returns the creation time of row `n` of a table, in epoch milliseconds. Each row is one second newer than the row before it. */
export function seededAt(n: number): number {
  return nowMs - 86_400_000 + n * 1_000;
}

/** Returns the id of row `n` in the table whose ids have this prefix. */
export function seededId<Prefix extends keyof typeof kinds>(prefix: Prefix, n: number): Id<Prefix> {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
  const time = hex(seededAt(n), 12);
  const tail = hex(n, 15);
  const uuid = [time.slice(0, 8), time.slice(8), `7${hex(kinds[prefix], 3)}`, `8${tail.slice(0, 3)}`, tail.slice(3)];
  return idOfUuid(prefix, uuid.join("-"));
}

/** Number of rows in each of the largest tables. Other tables have half of it. */
const rowsMax = 20_000;

/**
 * Returns the SQL that adds generated rows to every table, for tests of query plans. `from`: the part of all rows that exists already.
 * `share`: the part that exists afterwards. Both are numbers from 0 to 1.
 */
function seedingOf(from: number, share: number): string[] {
  const id = (prefix: keyof typeof kinds, n: string) => `seeded_id(${kinds[prefix]}, ${n})`;
  const series = (rows: number) => `generate_series(${Math.ceil(rows * from) + 1}, ${Math.ceil(rows * share)}) as n`;
  const half = rowsMax / 2;
  // Returns the SQL for the project of row `n`. Project 1 has two of five rows; the rest is spread over 49 other projects.
  const owner = (n = "n") => id("prj", `case when ${n} % 5 < 2 then 1 else 2 + ${n} % 49 end`);
  const one = id("prj", "1");
  const digest = (n = "n") => `decode(lpad(to_hex(${n}), 64, '0'), 'hex')`;
  // SQL for the queue of row `n`. The first queue has 8,000 tasks and an endpoint that never answers, about fifty queues have forty tasks
  // each, and the others a few.
  const lane = "case when n <= 8000 then 1 when n <= 10000 then 2 + n % 50 else 52 + n % 400 end";
  const ofProjectOne = "5 * (n % 4000) + 1";
  return [
    `insert into projects (id, name, created_at) select ${id("prj", "n")}, 'p' || n, seeded_at(n) from ${series(half)}`,
    `insert into project_policies (project_id, plan_approval) select ${id("prj", "n")}, 'always' from ${series(half)} where n % 2 = 0`,
    `insert into api_keys (id, project_id, role, name, digest, hint, created_at)
     select ${id("key", "n")}, ${owner()}, 'member', '', ${digest()}, '', seeded_at(n) from ${series(half)}`,
    `insert into contacts (project_id, principal_id, name, is_approver, created_at)
     select ${owner()}, 'p' || n, '', n % 500 = 0, seeded_at(n) from ${series(half)}`,
    `insert into subscriptions (id, project_id, kind, endpoint_url, toolkit_slug, trigger_slug, active, signing_secret, created_at, failing_since, backoff_until, backoff_set_at, key_id, mcp_id, expires_at)
     select ${id("sub", "n")}, case when n <= 451 then ${one} else ${owner()} end, case when n > 451 and n % 50 = 0 then 'asks' else 'events' end,
       'https://example.com/', '', '', n <= 451 or n % 97 > 0, '', seeded_at(n), case when n = 1 then seeded_at(1) end,
       case when n = 1 then seeded_at(200000) end, case when n = 1 then seeded_at(1) end, case when n > 451 and n % 50 = 1 then ${id("key", "n")} end,
       case when n > 451 and n % 50 = 1 then 'mcp_' || n else '' end, case when n > 451 and n % 50 = 1 then seeded_at(n) end from ${series(half)}`,
    `insert into subscriptions (id, project_id, endpoint_url, toolkit_slug, trigger_slug, entity_id, signing_secret, created_at)
     select ${id("sub", "30000 + n")}, case when n % 2 = 0 then ${one} else ${owner()} end, 'https://example.com/', '', '', 'entity-' || n / 4, '', seeded_at(n)
     from ${series(2_000)}`,
    `insert into subscription_paces (subscription_id, at) select ${id("sub", "n")}, 0 from ${series(half)}`,
    `update subscriptions set settings = '{"pace":{"max":10,"perMs":1000,"concurrency":2}}' where id = any(array(
       select ${id("sub", "200 + n")} from ${series(50)}))`,
    `insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
     select ${owner()}, ${id("evt", "n")}, 'event', 'code_host', 'code_host.issue_' || n % 7, '', '{"n":1}', seeded_at(n), seeded_at(n),
       case when n % 2 = 0 then 'key-' || n else '' end from ${series(rowsMax)}`,
    `insert into deliveries (project_id, id, event_id, subscription_id, state, attempts, last_attempt_at)
     select ${owner()}, ${id("dlv", "n")}, ${id("evt", "n")}, ${id("sub", "case when n % 5 < 2 then 2 + n % 450 else 452 + n % 9000 end")},
       case when n % 100 = 0 then 'dead_letter' else 'delivered' end, 1, seeded_at(n) from ${series(rowsMax)}`,
    `insert into deliveries (project_id, id, event_id, subscription_id, state, next_attempt_at)
     select ${one}, ${id("dlv", "100000 + n")}, ${id("evt", ofProjectOne)}, ${id("sub", lane)}, 'pending', seeded_at(n) from ${series(12_000)}`,
    `insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at)
     select ${id("dlv", "100000 + n")}, ${one}, ${id("sub", lane)}, ${id("evt", ofProjectOne)}, seeded_at(n) from ${series(12_000)}`,
    // Nearly all of these tasks are due only in the future.
    `insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at, epoch)
     select ${id("dlv", "200000 + n")}, ${one}, ${id("sub", "452 + n % 5000")}, ${id("evt", ofProjectOne)},
       seeded_at(n) + case when n % 200 = 0 then interval '0' else interval '2 days' end, 0 from ${series(half)}`,
    `insert into account_references (toolkit_slug, reference, project_id, account_id, entity_id)
     select 'watcher', 'r' || n, ${owner()}, ${id("acc", "n")}, 'entity-' || n from ${series(half)}`,
    `insert into quarantined_posts (id, toolkit_slug, reason, detail, headers, query, body, body_bytes, received_at, released_at, project_id)
     select ${id("qrn", "n")}, 't' || n % 20, 'no_trigger', '', '{}', '{}', '', 0, seeded_at(n), case when n % 2 = 0 then seeded_at(n) end,
       case when n % 3 = 0 then ${owner()} end
     from ${series(half)}`,
    `insert into webhook_secrets (id, project_id, toolkit_slug, value, created_at, ends_at)
     select ${id("wsc", "n")}, ${owner()}, 'desk_' || n, '', seeded_at(n), null from ${series(half)}`,
    `insert into connected_accounts (id, project_id, toolkit_slug, is_private, entity_id, scheme, state, variables, credential, created_at, updated_at, refresh_at)
     select ${id("acc", "n")}, ${owner()}, 'tracker', false, 'entity-' || n, 'oauth2',
       case when n % 10 = 0 then 'active' when n % 10 = 1 then 'pending' else 'superseded' end, '{}', '', seeded_at(n), seeded_at(n), seeded_at(n)
     from ${series(half)}`,
    `insert into private_toolkits (project_id, slug, definition, tool_count, origin_digest, updated_at)
     select ${owner()}, 'desk_' || n, '{}', 1, '', seeded_at(n) from ${series(half)}`,
    `insert into toolkit_sources (project_id, slug, kind, origin, options, digest, version, changes_count, refreshed_at, last_error)
     select project_id, slug, 'openapi', '', '{}', '', 1, 0, updated_at, '' from private_toolkits on conflict do nothing`,
    `insert into toolkit_clients (project_id, slug, issuer, token_url, client_id, client_secret, registration, updated_at)
     select project_id, slug, '', '', '', '', 'manual', updated_at from private_toolkits on conflict do nothing`,
    `insert into event_types (project_id, name, version, schema, description, sample, archived_at, offered, created_at, updated_at)
     select ${owner()}, 'type-' || n, 1, '', '', '{}', null, false, seeded_at(n), seeded_at(n) from ${series(half)}`,
    `insert into event_type_versions (project_id, name, version, schema, created_at)
     select ${owner()}, 'type-' || n / 20, n % 20 + 1, '', seeded_at(n) from ${series(half)}
     on conflict do nothing`,
    `insert into event_settings (project_id, settings)
     select id, '{"unknownTypes": "refuse"}' from projects on conflict do nothing`,
    `insert into tool_calls (id, project_id, tool_slug, access_class, entity_id, step_id, outcome, message, provider_status, arguments_digest, arguments, is_truncated, is_sandbox, idempotency_key, created_at, duration_ms, provider_ms)
     select ${id("call", "n")}, ${owner()}, 'desk.tool_' || n % 7, 'write', 'entity-' || n % 50, '', case when n % 100 = 0 then 'running' else 'ok' end,
       '', 200, '', '', false, false, 'k' || n, seeded_at(n), 1, 1 from ${series(rowsMax)}`,
    `insert into secrets (project_id, name, value, created_at, updated_at)
     select ${owner()}, 's-' || n, ${digest()}, seeded_at(n), seeded_at(n) from ${series(half)}`,
    `insert into call_hooks (id, project_id, phase, endpoint_url, signing_secret, toolkit_slugs, access_classes, position, is_active, created_at)
     select ${id("hok", "n")}, ${owner()}, 'before', '', '', '{}', '{}', 0, true, seeded_at(n) from ${series(half)}`,
    `insert into tool_vectors (digest, project_id, vector, claimed_until, used_at)
     select 'd' || n, case when n % 10 = 0 then ${owner()} end, ${digest()}, seeded_at(n), seeded_at(n) from ${series(half)}`,
    `insert into hook_answers (project_id, call_id, hook_id, entity_id, call_key, decision, edit, duration_ms, asked_at)
     select ${owner()}, ${id("call", "n")}, ${id("hok", "n")}, 'entity-' || n % 50, 'k' || n, 'allow', null, 1, seeded_at(n) from ${series(half)}`,
    `insert into call_limits (project_id, name, toolkit_slug, key_expression, concurrency, rate_max, rate_per_ms, is_paused, created_at, updated_at)
     select ${owner()}, 'limit-' || n, '', '', 1, 0, 0, false, seeded_at(n), seeded_at(n) from ${series(half)} where n % 5 >= 2`,
    `insert into call_paces (project_id, limit_name, key, pace, revision, made_from, expires_at)
     select ${owner()}, 'limit-' || n % 9, 'key-' || n, '{"shares":{}}', n, '', seeded_at(n) from ${series(rowsMax)}`,
    `insert into job_programs (project_id, digest, program, program_hash, pins)
     select ${owner()}, ${digest()}, '{"inputSchema":{}}', '', '{}' from ${series(half)}`,
    `insert into jobs (id, project_id, status, mode, simulated_from, program_digest, params, step_args, key_id, principal_chain, idempotency_key, content_digest, estimate, used, saga, receipt, last_seq, created_at, updated_at, finished_at, is_swept, parent_job_id, child_key)
     select ${id("job", "n")}, ${owner()}, case when n <= 200 then 'running' else 'succeeded' end, case when n % 20 = 0 then 'simulate' else 'live' end,
       case when n % 20 = 0 then ${id("job", "n - 1")} end, ${digest()}, '{}', '{}', ${id("key", "n")}, '{}',
       case when n % 3 = 0 then 'k' || n end, '', '{}', '{}', '{}', case when n > 200 then '{}'::jsonb end, ${rowsMax}, seeded_at(n), seeded_at(n),
       case when n > 200 then seeded_at(n) end, n between 201 and 9500,
       case when n % 40 = 9 then ${id("job", "1 + n % 7")} end, case when n % 40 = 9 then 's/' || n end from ${series(half)}`,
    `insert into job_attempts (job_id, attempt, status, last_error, receipt, finished_at, retried_at, retry_key_id, idempotency_key, content_digest)
     select ${id("job", "case when n <= 50 then 1 else 2 + n % 9000 end")}, n, 'failed', '', '{}', seeded_at(n), seeded_at(n), ${id("key", "n")},
       case when n % 2 = 0 then 'k' || n end, '' from ${series(half)}`,
    `insert into job_steps (job_id, step_id, ordinal, receipt) select ${id("job", "1 + n / 2")}, 's' || n, n, '{}' from ${series(rowsMax)}`,
    `insert into job_events (job_id, seq, type, step_id, at, payload, principal_chain)
     select ${id("job", "case when n <= 5000 then 1 else 2 + n % 9000 end")}, n, case when n % 10 = 0 then 'answer-refused' else 'step-progress' end,
       '', seeded_at(n), '{}', '{}' from ${series(rowsMax)}`,
    `insert into job_rows (job_id, row_number, data) select ${id("job", "case when n <= 12000 then 1 else 2 + n % 900 end")}, n, '' from ${series(rowsMax)}`,
    `insert into job_set_rows (job_id, set_id, ordinal, row_number, state)
     select ${id("job", "case when n <= 12000 then 1 else 2 + n % 900 end")}, case when n <= 10000 then 's' else 't' end, n, n,
       case when n % 100 = 0 then 'failed' else 'ok' end from ${series(rowsMax)}`,
    `insert into job_undo_entries (job_id, entry, step_id, ordinal, tool_slug, entity_id, args, state)
     select ${id("job", "case when n <= 5000 then 1 else 2 + n % 5000 end")}, n, '', n, '', '', '', case when n % 3 = 0 then 'done' else 'armed' end
     from ${series(half)}`,
    `insert into job_tasks (job_id, kind, subject, project_id, due_at, lease_owner, lease_token)
     select ${id("job", "n")}, 'run', '', ${owner()}, seeded_at(case when n <= 500 then n else 100000 + n end), ${id("node", "1")}, 1 from ${series(half)}
     where n % 40 <> 7`,
    `insert into job_tasks (job_id, kind, subject, project_id, due_at)
     select ${id("job", "n")}, 'hop', 'ask/' || n, ${owner()}, seeded_at(100000 + n) from ${series(1_000)}`,
    `insert into job_asks (id, project_id, job_id, step_id, point_id, kind, state, question, continuations, answer_schema, escalation, default_continuation, hop_index, principal_id, delivered_principals, key_id, asked_at)
     select ${id("ask", "n")}, ${owner()}, ${id("job", "n")}, '', '', 'judge', case when n % 20 = 1 then 'pending' else 'answered' end, '', '{}', '', '[]', '',
       0, 'p' || n % 100, '{}', ${id("key", "n")}, seeded_at(n) from ${series(half)}`,
    `insert into skills (project_id, slug, description, job_id, program_digest, access_class, created_at)
     select ${owner()}, 'skill_' || n, '', ${id("job", "n")}, ${digest()}, 'read', seeded_at(n) from ${series(half)}`,
    `insert into standing_programs (id, project_id, slug, title, state, version, source_kind, next_at, created_at, updated_at, deleted_at)
     select ${id("stp", "n")}, ${owner()}, 'p' || n, '', case when n % 3 = 0 then 'paused' else 'active' end, 1, 'schedule', seeded_at(100000 + n),
       seeded_at(n), seeded_at(n), case when n % 50 = 0 then seeded_at(n) end from ${series(half)}`,
    `insert into standing_versions (program_id, version, definition, definition_hash, program_hash, program_digest, estimate, needs_approval, key_id, key_role, created_at)
     select ${id("stp", "n")}, 1, '', '', '', ${digest()}, '{}', false, ${id("key", "n")}, 'member', seeded_at(n) from ${series(half)}`,
    `insert into due_tasks (owner_id, kind, subject, project_id, due_at)
     select ${id("stp", "n")}, 'fire', '', ${owner()}, seeded_at(case when n <= 500 then n else 100000 + n end) from ${series(half)} where n % 40 <> 7`,
    `insert into standing_runs (id, project_id, program_id, version, kind, source_key, lane, state, reason, fire_at, decided_at, job_id, ended_at, is_counted)
     select ${id("srn", "n")}, ${owner("case when n <= 10000 then 1 else n end")}, ${id("stp", "case when n <= 10000 then 1 else 2 + n % 9000 end")}, 1, 'schedule', 's:' || n, '',
       case when n % 100 = 1 then 'queued' when n % 100 = 2 then 'started' when n % 100 = 3 then 'skipped' else 'ended' end,
       case when n % 100 = 1 then 'project_runs' else '' end, seeded_at(n), seeded_at(n), ${id("job", "n")},
       case when n % 100 > 2 or n % 100 = 0 then seeded_at(n) end, n % 100 <> 4 from ${series(rowsMax)}`,
    `insert into standing_runs (id, project_id, program_id, version, kind, source_key, lane, state, reason, fire_at, decided_at, not_before)
     select ${id("srn", "100000 + n")}, ${one}, ${id("stp", "2")}, 1, 'event', 'e:' || ${id("srn", "100000 + n")}, '', 'queued', 'overlap', seeded_at(n), seeded_at(n),
       case when n % 10 = 0 then seeded_at(100000 + n) end from ${series(1_500)}`,
    `insert into standing_listeners (program_id, from_version, project_id, trigger_slug, version, until_version, ended_at)
     select ${id("stp", "n")}, n, ${owner()}, 'desk.changed', 1, case when n % 3 = 0 then n + 1 end, case when n % 3 = 0 then seeded_at(n) end from ${series(half)}`,
    `insert into standing_arrivals (due_at, project_id, event_id, trigger_slug, routing_version)
     select seeded_at(case when n <= 5000 then n else 100000 + n end), ${owner()}, ${id("evt", "1000000 + n")}, 'desk.changed', n from ${series(half)}`,
    `insert into standing_run_events (event_id, program_id, run_id) select ${id("evt", "n")}, ${id("stp", "1 + n % 100")}, ${id("srn", "1 + n / 10")} from ${series(half)}`,
    `insert into standing_dedupe (program_id, key, until) select ${id("stp", "1 + n % 100")}, 'k' || n, seeded_at(n) from ${series(half)}`,
    // Nearly all of these replays have ended.
    `insert into replays (id, project_id, state, toolkit_slug, trigger_slug, only_undelivered, since, until, per_second, position_event_id, position_subscription_id, paced_at, created_at, updated_at, ended_at)
     select ${id("rpl", "n")}, ${owner()}, case when n % 500 = 1 then 'running' when n % 500 = 2 then 'paused' else 'done' end, '', '', false,
       seeded_at(1), seeded_at(20000), 50, ${id("evt", "n + 15000")}, ${id("sub", "1")}, seeded_at(n), seeded_at(n), seeded_at(n),
       case when n % 500 not in (1, 2) then seeded_at(n) end from ${series(half)}`,
    `insert into standing_backfills (id, project_id, program_id, version, state, since, until, again, per_minute, policy, total, position_event_id, paced_at, caller_key_id, created_at, updated_at, ended_at)
     select ${id("bkf", "n")}, ${owner()}, ${id("stp", "n")}, 1, case when n % 500 = 1 then 'running' else 'done' end, seeded_at(1), seeded_at(20000), false, 60,
       'queueAll', 1, case when n % 2 = 1 then ${id("evt", "n + 15000")} end, seeded_at(n), ${id("key", "n")}, seeded_at(n), seeded_at(n), case when n % 500 <> 1 then seeded_at(n) end from ${series(half)}`,
    ...["activity_minutes", "activity_hours"].map(
      (table) => `insert into ${table} (project_id, series, subject, at, outcome, count)
     select ${owner()}, (array['calls', 'jobs', 'events'])[1 + n % 3], '', seeded_at(n), 'ok', 1 from ${series(half)}`,
    ),
    `insert into failure_groups (project_id, day, fingerprint, kind, count, hours, first_at, last_at, newest_id, remedies, title)
     select ${owner()}, seeded_at(1 + n % 8), 'f' || n, 'call', 1, array_fill(0, array[24]), seeded_at(n), seeded_at(n), ${id("call", "n")}, array['retry_call'], 'x' from ${series(half)}`,
    `insert into standing_rates (program_id, key, at) select ${id("stp", "1 + n % 100")}, 'k' || n, seeded_at(n) from ${series(half)}`,
    `insert into standing_usage (program_id, day, runs, tool_calls, writes)
     select ${id("stp", "1 + n % 100")}, 'd' || n, 1, 1, 0 from ${series(half)}`,
    `insert into standing_polls (program_id, project_id, generation, identity, state, is_primed, seen, has_stale, polled_at, outcome, code, detail, pages, rows, found, failures_in_row)
     select ${id("stp", "n")}, ${owner()}, 1, '', '', true, 1, false, seeded_at(n), 'ok', '', '', 1, 1, 0, 0 from ${series(half)}`,
    `insert into standing_seen (program_id, generation, digest, content, seen_at)
     select ${id("stp", "1 + n % 100")}, 1 + (n / 100) % 2, decode(md5(n::text), 'hex'), '', seeded_at(n) from ${series(half)}`,
    `insert into console_sessions (id, cookie_digest, half_digest, user_agent, created_at, used_at)
     select ${id("ses", "n")}, ${digest()}, ${digest()}, '', seeded_at(n), seeded_at(n) from ${series(half)}`,
    `insert into people (id, issuer, subject, mail, name, is_administrator, refresh, created_at, signed_in_at, checked_at, confirmed_at)
     select ${id("per", "n")}, 'https://login.example.com', 's' || n, '', '', false, case when n % 2 = 0 then ''::bytea end, seeded_at(n), seeded_at(n), seeded_at(n), seeded_at(n) from ${series(half)}`,
    `insert into person_seats (person_id, project_id, key_id)
     select ${id("per", "n")}, ${owner()}, ${id("key", "n")} from ${series(half)}`,
    `insert into invitations (digest, project_id, role, mail, created_at, expires_at)
     select ${digest()}, ${owner()}, 'member', '', seeded_at(n), seeded_at(n + 600) from ${series(half)}`,
    `insert into device_codes (digest, user_digest, client_name, expires_at)
     select ${digest()}, ${digest()}, '', seeded_at(n) from ${series(half)}`,
    `insert into used_assertions (digest, expires_at) select ${digest()}, seeded_at(n) from ${series(half)}`,
    `insert into console_seats (session_id, key_id, created_at)
     select ${id("ses", "n")}, ${id("key", "case when n <= 400 then 1 else n end")}, seeded_at(n) from ${series(half)}`,
    `insert into console_links (id, digest, purpose, target, project_id, key_id, created_at, expires_at)
     select ${id("lnk", "n")}, ${digest()}, 'sign_in', '{}', ${owner()}, ${id("key", "n")}, seeded_at(n), seeded_at(n + 600) from ${series(half)}`,
    `insert into audit_events (id, project_id, at, actor, actor_id, action, subject, outcome, position, mac, hash)
     select ${id("aud", "n")}, ${owner()}, seeded_at(n), case when n % 3 = 0 then 'admin' else 'key' end,
       case when n % 3 > 0 then ${id("key", "1 + n % 50")} end, 'Test.Do' || n % 7, '', 'ok', case when n % 200 > 0 then n end, '', '' from ${series(rowsMax)}`,
    `insert into audit_chains (project_id, key, length, hash, mac) select ${id("prj", "n")}, '', 1, '', '' from ${series(half)}`,
    `insert into grant_clients (id, name, redirect_uris, created_at, used_at)
     select 'client_' || n, '', '{}', seeded_at(n), case when n % 2 = 0 then seeded_at(n) end from ${series(half)}`,
    `insert into grants (id, project_id, key_id, voucher_key_id, client_id, client_name, client_origin, resource, created_at)
     select ${id("grt", "n")}, ${owner()}, ${id("key", "n")}, ${id("key", "n")}, 'client_' || n, '', '', '', seeded_at(n) from ${series(half)}`,
    `insert into grant_codes (digest, project_id, voucher_key_id, client_id, client_name, redirect_uri, challenge, resource, entity_id, access_classes, toolkit_slugs, expires_at, spent_at, grant_id)
     select ${digest()}, ${owner()}, ${id("key", "n")}, '', '', '', '', '', '', '{}', '{}', seeded_at(n), seeded_at(n), ${id("grt", "n")} from ${series(half)}`,
    `insert into grant_tokens (digest, grant_id, kind, expires_at)
     select ${digest()}, ${id("grt", "n")}, case when n % 2 = 0 then 'access' else 'refresh' end, seeded_at(n) from ${series(half)}`,
    `insert into data_keys (project_id, use, rotation, wrapped, created_at)
     select case when n > 2 then ${id("prj", "1 + (n - 1) / 2")} end, case when n % 2 = 1 then 'seal' else 'digest' end, 0, '', seeded_at(n) from ${series(rowsMax)}`,
    `insert into deployment_secrets (name, value, created_at, updated_at)
     select 's-' || n, ${digest()}, seeded_at(n), seeded_at(n) from ${series(half)}`,
    `insert into old_subkeys (key_id, purpose, secret, created_at) select 'k' || n, 'p', '', seeded_at(n) from ${series(half)}`,
    `insert into tool_calls (id, project_id, tool_slug, access_class, entity_id, step_id, outcome, failure, message, provider_status, arguments_digest, arguments, is_truncated, is_sandbox, idempotency_key, created_at, duration_ms, provider_ms)
     select ${id("call", "100000 + n")}, ${owner()}, 'desk.tool_' || n % 7, 'write', 'entity-' || n % 50, '', 'failed', 'failure_' || n % 6,
       '', 400, '', '', false, false, 'f' || n, seeded_at(n), 1, 1 from ${series(half)}`,
  ];
}

const functions = [
  `create function seeded_at(n int8) returns timestamptz language sql immutable
   return to_timestamp((${seededAt(0)} + n * 1000)::float8 / 1000)`,
  `create function seeded_id(kind int8, n int8) returns uuid language sql immutable
   return (lpad(to_hex(${seededAt(0)} + n * 1000), 12, '0') || '7' || lpad(to_hex(kind), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid`,
];

/**
 * State of the table statistics with which PostgreSQL plans. `fresh`: collected from the present rows. `stale`: collected when the tables
 * had a hundredth of these rows. `absent`: never collected, as in a new database.
 */
export type Statistics = "fresh" | "stale" | "absent";

/** The filled database on which query plans are made: `createTestDatabase({ filled: seeded })`. */
export const seeded = { name: "seeded", fill: seed };

/**
 * Fills a test database. Its statistics are then stale, because they were collected when it had a hundredth of the rows. A test can make
 * them fresh or delete them.
 */
async function seed(db: Database): Promise<void> {
  const tables = await db.sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`;
  await db.sql.begin(async (tx) => {
    for (const { name } of tables) await tx.unsafe(`alter table ${name} set (autovacuum_enabled = false)`);
    for (const text of functions) await tx.unsafe(text);
    for (const text of seedingOf(0, 0.01)) await tx.unsafe(text);
  });
  await db.sql.unsafe("analyze");
  await db.sql.begin(async (tx) => {
    // On a busy machine this takes longer than the time limit of statements.
    await tx.unsafe("set local statement_timeout = 0");
    for (const text of seedingOf(0.01, 1)) await tx.unsafe(text);
  });
}

/** Deletes the statistics of a database, so that it plans like a new database. Needs a superuser; the tests run as one. */
export async function forgetStatistics(db: Database): Promise<void> {
  const ours = "select oid from pg_class where relnamespace = 'public'::regnamespace";
  await db.sql.unsafe(`delete from pg_statistic where starelid in (${ours})`);
  await db.sql.unsafe(`update pg_class set reltuples = -1, relpages = 0 where oid in (${ours})`);
}
