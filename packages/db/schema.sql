-- The schema after all migrations, written by scripts/schema.mjs; nothing reads it but people and a test.

create table account_references (
  toolkit_slug text not null,
  reference text not null,
  project_id uuid not null,
  account_id uuid not null,
  entity_id text not null,
  constraint account_references_key PRIMARY KEY (toolkit_slug, reference),
  constraint account_references_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX account_references_project ON public.account_references USING btree (project_id, account_id);

create table activity_hours (
  project_id uuid not null,
  series text not null,
  subject text not null,
  at timestamp(3) with time zone not null,
  outcome text not null,
  count bigint not null,
  constraint activity_hours_key PRIMARY KEY (project_id, series, subject, at, outcome)
);
CREATE INDEX activity_hours_at ON public.activity_hours USING btree (at);

create table activity_minutes (
  project_id uuid not null,
  series text not null,
  subject text not null,
  at timestamp(3) with time zone not null,
  outcome text not null,
  count bigint not null,
  constraint activity_minutes_key PRIMARY KEY (project_id, series, subject, at, outcome)
);
CREATE INDEX activity_minutes_at ON public.activity_minutes USING btree (at);

create table api_keys (
  id uuid not null,
  project_id uuid not null,
  role text not null,
  name text not null,
  digest bytea not null,
  hint text not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  entity_id text default ''::text not null,
  access_classes text[] default '{}'::text[] not null,
  toolkit_slugs text[] default '{}'::text[] not null,
  confirm jsonb default '{"person": "never", "contact": ""}'::jsonb not null,
  agent_tools text[] default '{}'::text[] not null,
  maker_key_id uuid,
  purpose text default ''::text not null,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX api_keys_digest ON public.api_keys USING btree (digest);
CREATE UNIQUE INDEX api_keys_maker ON public.api_keys USING btree (maker_key_id, id) WHERE (maker_key_id IS NOT NULL);
CREATE INDEX api_keys_portal ON public.api_keys USING btree (project_id, id) WHERE (purpose = 'portal'::text);
CREATE INDEX api_keys_portal_entity ON public.api_keys USING btree (project_id, entity_id, id) WHERE (purpose = 'portal'::text);
CREATE INDEX api_keys_portal_expires ON public.api_keys USING btree (expires_at) WHERE (purpose = 'portal'::text);
CREATE UNIQUE INDEX api_keys_project ON public.api_keys USING btree (project_id, id);

create table audit_chains (
  project_id uuid not null,
  key bytea not null,
  length integer not null,
  hash bytea not null,
  mac bytea not null,
  constraint audit_chains_pkey PRIMARY KEY (project_id)
);

create table audit_events (
  id uuid not null,
  project_id uuid not null,
  at timestamp(3) with time zone not null,
  actor text not null,
  actor_id uuid,
  action text not null,
  subject text not null,
  about_digest bytea,
  outcome text,
  "position" integer,
  mac bytea,
  hash bytea,
  constraint audit_events_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_events_action ON public.audit_events USING btree (action, id);
CREATE INDEX audit_events_actor ON public.audit_events USING btree (((actor || COALESCE((actor_id)::text, ''::text))), project_id, action, id);
CREATE UNIQUE INDEX audit_events_position ON public.audit_events USING btree (project_id, "position") WHERE ("position" IS NOT NULL);
CREATE INDEX audit_events_project ON public.audit_events USING btree (project_id, action, id);
CREATE INDEX audit_events_waiting ON public.audit_events USING btree (id) WHERE ("position" IS NULL);

create table call_hooks (
  id uuid not null,
  project_id uuid not null,
  phase text not null,
  endpoint_url text not null,
  signing_secret bytea not null,
  toolkit_slugs text[] not null,
  access_classes text[] not null,
  "position" integer not null,
  is_active boolean not null,
  created_at timestamp(3) with time zone not null,
  constraint call_hooks_pkey PRIMARY KEY (id),
  constraint call_hooks_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX call_hooks_project ON public.call_hooks USING btree (project_id, id);

create table call_limits (
  project_id uuid not null,
  name text not null,
  toolkit_slug text not null,
  key_expression text not null,
  concurrency integer not null,
  rate_max integer not null,
  rate_per_ms bigint not null,
  is_paused boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint call_limits_key PRIMARY KEY (project_id, name),
  constraint call_limits_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table call_paces (
  project_id uuid not null,
  limit_name text not null,
  key text not null,
  pace jsonb not null,
  revision text not null,
  made_from text not null,
  expires_at timestamp(3) with time zone not null,
  constraint call_paces_key PRIMARY KEY (project_id, limit_name, key),
  constraint call_paces_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX call_paces_expires ON public.call_paces USING btree (expires_at);

create table connected_accounts (
  id uuid not null,
  project_id uuid not null,
  toolkit_slug text not null,
  is_private boolean not null,
  is_sandbox boolean default false not null,
  entity_id text not null,
  scheme text not null,
  state text not null,
  variables jsonb not null,
  credential bytea,
  origin_digest bytea,
  granted_scopes text[] default '{}'::text[] not null,
  "references" text[] default '{}'::text[] not null,
  last_error text default ''::text not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone,
  refresh_at timestamp(3) with time zone,
  refresh_lease_until timestamp(3) with time zone,
  credential_tried_at timestamp(3) with time zone,
  is_credential_taken boolean,
  extra_scopes text[] default '{}'::text[] not null,
  constraint connected_accounts_pkey PRIMARY KEY (id),
  constraint connected_accounts_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX connected_accounts_active ON public.connected_accounts USING btree (project_id, toolkit_slug, is_private, is_sandbox, entity_id, scheme) WHERE (state = 'active'::text);
CREATE INDEX connected_accounts_entity ON public.connected_accounts USING btree (project_id, entity_id, id);
CREATE INDEX connected_accounts_project ON public.connected_accounts USING btree (project_id, id);
CREATE INDEX connected_accounts_refresh ON public.connected_accounts USING btree (is_sandbox, refresh_at) WHERE ((state = 'active'::text) AND (refresh_at IS NOT NULL));
CREATE INDEX connected_accounts_run_out ON public.connected_accounts USING btree (project_id, expires_at) WHERE ((state = 'active'::text) AND (expires_at IS NOT NULL));
CREATE INDEX connected_accounts_state ON public.connected_accounts USING btree (((state || ' '::text)), project_id, id);
CREATE INDEX connected_accounts_toolkit ON public.connected_accounts USING btree (((toolkit_slug || ' '::text)), project_id, id);
CREATE INDEX connected_accounts_toolkit_state ON public.connected_accounts USING btree ((((state || ' '::text) || toolkit_slug)), project_id, id);

create table console_links (
  id uuid not null,
  digest bytea not null,
  purpose text not null,
  target jsonb not null,
  project_id uuid not null,
  key_id uuid not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  spent_at timestamp(3) with time zone,
  constraint console_links_pkey PRIMARY KEY (id),
  constraint console_links_key_id_api_keys_id_fk FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint console_links_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX console_links_digest ON public.console_links USING btree (digest);
CREATE INDEX console_links_expires ON public.console_links USING btree (expires_at);

create table console_seats (
  session_id uuid not null,
  key_id uuid not null,
  created_at timestamp(3) with time zone not null,
  constraint console_seats_key PRIMARY KEY (session_id, key_id),
  constraint console_seats_key_id_api_keys_id_fk FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint console_seats_session_id_console_sessions_id_fk FOREIGN KEY (session_id) REFERENCES console_sessions(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX console_seats_of_key ON public.console_seats USING btree (key_id, session_id);

create table console_sessions (
  id uuid not null,
  cookie_digest bytea not null,
  half_digest bytea not null,
  admin_digest bytea,
  user_agent text not null,
  created_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone not null,
  person_id uuid,
  provider_session text,
  constraint console_sessions_pkey PRIMARY KEY (id),
  constraint console_sessions_person_id_people_id_fk FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX console_sessions_cookie ON public.console_sessions USING btree (cookie_digest);
CREATE INDEX console_sessions_person ON public.console_sessions USING btree (person_id) WHERE (person_id IS NOT NULL);
CREATE INDEX console_sessions_used ON public.console_sessions USING btree (used_at);

create table contacts (
  project_id uuid not null,
  principal_id text not null,
  name text not null,
  is_approver boolean not null,
  reach jsonb,
  created_at timestamp(3) with time zone not null,
  key_id uuid,
  constraint contacts_key PRIMARY KEY (project_id, principal_id),
  constraint contacts_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table data_keys (
  number integer not null,
  project_id uuid,
  use text not null,
  rotation integer not null,
  wrapped bytea not null,
  created_at timestamp(3) with time zone not null,
  constraint data_keys_pkey PRIMARY KEY (number),
  constraint data_keys_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX data_keys_deployment ON public.data_keys USING btree (use, rotation) WHERE (project_id IS NULL);
CREATE UNIQUE INDEX data_keys_project ON public.data_keys USING btree (project_id, use, rotation) WHERE (project_id IS NOT NULL);

create table deliveries (
  project_id uuid not null,
  id uuid not null,
  event_id uuid not null,
  subscription_id uuid not null,
  state text not null,
  attempts integer default 0 not null,
  last_error text default ''::text not null,
  last_attempt_at timestamp(3) with time zone,
  next_attempt_at timestamp(3) with time zone,
  attempt_log jsonb default '[]'::jsonb not null,
  replayed boolean default false not null,
  constraint deliveries_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=50000, fillfactor=30);
CREATE INDEX deliveries_event ON public.deliveries USING btree (project_id, event_id, id);
CREATE INDEX deliveries_subscription ON public.deliveries USING btree (project_id, subscription_id, id);

create table delivery_epoch (
  id smallint not null,
  epoch integer not null,
  constraint delivery_epoch_pkey PRIMARY KEY (id)
);

create table delivery_tasks (
  delivery_id uuid not null,
  project_id uuid not null,
  subscription_id uuid not null,
  event_id uuid not null,
  attempts integer default 0 not null,
  due_at timestamp(3) with time zone not null,
  lease_owner uuid,
  lease_until timestamp(3) with time zone,
  epoch integer default 1 not null,
  constraint delivery_tasks_lane PRIMARY KEY (epoch, subscription_id, due_at, delivery_id)
) with (autovacuum_analyze_scale_factor=0.0, autovacuum_analyze_threshold=50000, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.0, autovacuum_vacuum_threshold=20000, fillfactor=70);
CREATE INDEX delivery_tasks_waiting ON public.delivery_tasks USING btree (due_at) WHERE (epoch = 0);

create table deployment_secrets (
  name text not null,
  value bytea not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint deployment_secrets_pkey PRIMARY KEY (name)
);

create table device_codes (
  digest bytea not null,
  user_digest bytea not null,
  client_name text not null,
  expires_at timestamp(3) with time zone not null,
  voucher_key_id uuid,
  spent_at timestamp(3) with time zone,
  constraint device_codes_pkey PRIMARY KEY (digest)
);
CREATE INDEX device_codes_expires ON public.device_codes USING btree (expires_at);
CREATE UNIQUE INDEX device_codes_user ON public.device_codes USING btree (user_digest);

create table due_tasks (
  owner_id uuid not null,
  kind text not null,
  subject text not null,
  project_id uuid not null,
  due_at timestamp(3) with time zone not null,
  attempt integer default 0 not null,
  lease_owner uuid,
  lease_token bigint default 0 not null,
  lease_until timestamp(3) with time zone,
  constraint due_tasks_key PRIMARY KEY (owner_id, kind, subject),
  constraint due_tasks_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX due_tasks_due ON public.due_tasks USING btree (due_at, project_id);
CREATE INDEX due_tasks_project ON public.due_tasks USING btree (project_id, due_at);

create table erasure_programs (
  erasure_id uuid not null,
  digest bytea not null,
  constraint erasure_programs_key PRIMARY KEY (erasure_id, digest)
);

create table erasures (
  id uuid not null,
  project_id uuid not null,
  kind text not null,
  entity_id text not null,
  state text not null,
  pass integer default 1 not null,
  at_table text default ''::text not null,
  at_key text default ''::text not null,
  counts jsonb not null,
  deleted_in_pass bigint default 0 not null,
  jobs_left integer default 0 not null,
  not_before timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  constraint erasures_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX erasures_unfinished ON public.erasures USING btree (project_id, entity_id) WHERE (finished_at IS NULL);

create table event_settings (
  project_id uuid not null,
  settings jsonb not null,
  logo bytea,
  constraint event_settings_pkey PRIMARY KEY (project_id),
  constraint event_settings_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table event_type_versions (
  project_id uuid not null,
  name text not null,
  version integer not null,
  schema text not null,
  created_at timestamp(3) with time zone not null,
  constraint event_type_versions_key PRIMARY KEY (project_id, name, version),
  constraint event_type_versions_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table event_types (
  project_id uuid not null,
  name text not null,
  version integer not null,
  schema text not null,
  description text not null,
  sample text not null,
  archived_at timestamp(3) with time zone,
  offered boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint event_types_key PRIMARY KEY (project_id, name),
  constraint event_types_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX event_types_lower ON public.event_types USING btree (project_id, lower(name));

create table events (
  project_id uuid not null,
  id uuid not null,
  kind text not null,
  toolkit_slug text not null,
  trigger_slug text not null,
  entity_id text not null,
  payload text not null,
  occurred_at timestamp(3) with time zone not null,
  received_at timestamp(3) with time zone not null,
  dedupe_key text not null,
  account text,
  traceparent text,
  constraint events_key PRIMARY KEY (project_id, id)
) with (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=50000);
CREATE UNIQUE INDEX events_dedupe ON public.events USING btree (((encode(substr(sha256((replace((((((project_id)::text || '/'::text) || trigger_slug) || '/'::text) || dedupe_key), '\'::text, '\\'::text))::bytea), 1, 16), 'hex'::text))::uuid)) WHERE (dedupe_key <> ''::text);
CREATE INDEX events_trigger ON public.events USING btree (trigger_slug, project_id, id);

create table export_positions (
  stream text not null,
  project_id uuid not null,
  "position" bigint not null,
  constraint export_positions_key PRIMARY KEY (stream, project_id)
);

create table failure_groups (
  project_id uuid not null,
  day timestamp(3) with time zone not null,
  fingerprint text not null,
  kind text not null,
  count bigint not null,
  hours integer[] not null,
  first_at timestamp(3) with time zone not null,
  last_at timestamp(3) with time zone not null,
  newest_id uuid not null,
  remedies text[] not null,
  title bytea not null,
  constraint failure_groups_key PRIMARY KEY (project_id, day, fingerprint)
);
CREATE INDEX failure_groups_day ON public.failure_groups USING btree (day);

create table grant_clients (
  id text not null,
  name text not null,
  redirect_uris text[] not null,
  created_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  constraint grant_clients_pkey PRIMARY KEY (id)
);
CREATE INDEX grant_clients_used ON public.grant_clients USING btree (used_at, created_at);

create table grant_codes (
  digest bytea not null,
  project_id uuid not null,
  voucher_key_id uuid not null,
  client_id text not null,
  client_name text not null,
  redirect_uri text not null,
  challenge text not null,
  resource text not null,
  entity_id text not null,
  access_classes text[] not null,
  toolkit_slugs text[] not null,
  expires_at timestamp(3) with time zone not null,
  spent_at timestamp(3) with time zone,
  grant_id uuid,
  agent_tools text[] default '{}'::text[] not null,
  constraint grant_codes_pkey PRIMARY KEY (digest),
  constraint grant_codes_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint grant_codes_voucher_key_id_api_keys_id_fk FOREIGN KEY (voucher_key_id) REFERENCES api_keys(id)
);
CREATE INDEX grant_codes_expires ON public.grant_codes USING btree (expires_at);

create table grant_tokens (
  digest bytea not null,
  grant_id uuid not null,
  kind text not null,
  expires_at timestamp(3) with time zone not null,
  spent_at timestamp(3) with time zone,
  constraint grant_tokens_pkey PRIMARY KEY (digest),
  constraint grant_tokens_grant_id_grants_id_fk FOREIGN KEY (grant_id) REFERENCES grants(id) ON DELETE CASCADE
);
CREATE INDEX grant_tokens_expires ON public.grant_tokens USING btree (expires_at);
CREATE INDEX grant_tokens_grant ON public.grant_tokens USING btree (grant_id);

create table grants (
  id uuid not null,
  project_id uuid not null,
  key_id uuid not null,
  voucher_key_id uuid not null,
  client_id text not null,
  client_name text not null,
  client_origin text not null,
  resource text not null,
  created_at timestamp(3) with time zone not null,
  asserted_classes text[],
  constraint grants_pkey PRIMARY KEY (id),
  constraint grants_key_id_api_keys_id_fk FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint grants_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint grants_voucher_key_id_api_keys_id_fk FOREIGN KEY (voucher_key_id) REFERENCES api_keys(id)
);
CREATE UNIQUE INDEX grants_key ON public.grants USING btree (key_id);
CREATE UNIQUE INDEX grants_project ON public.grants USING btree (project_id, id);

create table hook_answers (
  project_id uuid not null,
  call_id uuid not null,
  hook_id uuid not null,
  entity_id text not null,
  call_key text,
  decision text not null,
  edit bytea,
  duration_ms integer not null,
  asked_at timestamp(3) with time zone not null,
  constraint hook_answers_call PRIMARY KEY (project_id, call_id, hook_id),
  constraint hook_answers_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX hook_answers_asked ON public.hook_answers USING btree (asked_at);
CREATE UNIQUE INDEX hook_answers_key ON public.hook_answers USING btree (project_id, call_key, hook_id) WHERE (call_key IS NOT NULL);

create table invitations (
  digest bytea not null,
  project_id uuid not null,
  role text not null,
  mail text not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  spent_at timestamp(3) with time zone,
  constraint invitations_pkey PRIMARY KEY (digest),
  constraint invitations_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX invitations_expires ON public.invitations USING btree (expires_at);
CREATE INDEX invitations_project ON public.invitations USING btree (project_id);

create table job_asks (
  id uuid not null,
  project_id uuid not null,
  job_id uuid not null,
  step_id text not null,
  point_id text not null,
  kind text not null,
  state text not null,
  question text not null,
  continuations text[] not null,
  answer_schema text not null,
  escalation jsonb not null,
  default_continuation text not null,
  counts jsonb,
  hop_index integer not null,
  principal_id text not null,
  delivered_principals text[] not null,
  deadline_at timestamp(3) with time zone,
  exhausted boolean default false not null,
  approval_id text default ''::text not null,
  key_id uuid not null,
  tool_slug text default ''::text not null,
  entity_id text default ''::text not null,
  tool_call_id text default ''::text not null,
  delivered_at timestamp(3) with time zone,
  standing_program_id text default ''::text not null,
  event_ids text[] default '{}'::text[] not null,
  refused_answers integer default 0 not null,
  asked_at timestamp(3) with time zone not null,
  decision jsonb,
  overrides bytea,
  constraint job_asks_pkey PRIMARY KEY (id),
  constraint job_asks_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX job_asks_job ON public.job_asks USING btree (job_id, id);
CREATE UNIQUE INDEX job_asks_pending ON public.job_asks USING btree (job_id) WHERE (state = 'pending'::text);
CREATE INDEX job_asks_principal ON public.job_asks USING btree (((principal_id || ' '::text)), project_id, id);
CREATE INDEX job_asks_principal_state ON public.job_asks USING btree ((((state || ' '::text) || principal_id)), project_id, id);
CREATE INDEX job_asks_project ON public.job_asks USING btree (project_id, id);
CREATE INDEX job_asks_standing ON public.job_asks USING btree (project_id, standing_program_id, id) WHERE (standing_program_id <> ''::text);
CREATE INDEX job_asks_state ON public.job_asks USING btree (((state || ' '::text)), project_id, id);

create table job_attempts (
  job_id uuid not null,
  attempt integer not null,
  status text not null,
  last_error text not null,
  receipt jsonb not null,
  finished_at timestamp(3) with time zone not null,
  retried_at timestamp(3) with time zone not null,
  retry_key_id uuid not null,
  idempotency_key text,
  content_digest bytea not null,
  constraint job_attempts_key PRIMARY KEY (job_id, attempt)
);

create table job_events (
  job_id uuid not null,
  seq integer not null,
  type text not null,
  step_id text not null,
  at timestamp(3) with time zone not null,
  payload text not null,
  principal_chain text[],
  following jsonb,
  constraint job_events_key PRIMARY KEY (job_id, seq)
) with (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=50000);

create table job_programs (
  project_id uuid not null,
  digest bytea not null,
  program text,
  program_hash text not null,
  pins text not null,
  sealed_program bytea,
  constraint job_programs_key PRIMARY KEY (project_id, digest),
  constraint job_programs_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table job_rows (
  job_id uuid not null,
  row_number integer not null,
  data bytea not null,
  constraint job_rows_key PRIMARY KEY (job_id, row_number)
);

create table job_set_rows (
  job_id uuid not null,
  set_id text not null,
  ordinal integer not null,
  row_number integer not null,
  state text not null,
  done_calls integer default 0 not null,
  outputs bytea,
  error_code text default ''::text not null,
  constraint job_set_rows_key PRIMARY KEY (job_id, set_id, ordinal)
);
CREATE INDEX job_set_rows_state ON public.job_set_rows USING btree (job_id, set_id, state, ordinal) WHERE (state = ANY (ARRAY['failed'::text, 'unknown'::text]));

create table job_steps (
  job_id uuid not null,
  step_id text not null,
  ordinal integer not null,
  receipt jsonb not null,
  output bytea,
  constraint job_steps_key PRIMARY KEY (job_id, step_id)
) with (fillfactor=40);

create table job_tasks (
  job_id uuid not null,
  kind text not null,
  subject text not null,
  project_id uuid not null,
  due_at timestamp(3) with time zone not null,
  attempt integer default 0 not null,
  lease_owner uuid,
  lease_token bigint default 0 not null,
  lease_until timestamp(3) with time zone,
  losses integer default 0 not null,
  constraint job_tasks_key PRIMARY KEY (job_id, kind, subject),
  constraint job_tasks_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX job_tasks_due ON public.job_tasks USING btree (due_at, project_id);

create table job_undo_entries (
  job_id uuid not null,
  entry integer not null,
  step_id text not null,
  ordinal integer not null,
  tool_slug text not null,
  entity_id text not null,
  args bytea not null,
  state text not null,
  constraint job_undo_entries_key PRIMARY KEY (job_id, entry)
);

create table jobs (
  id uuid not null,
  project_id uuid not null,
  status text not null,
  mode text not null,
  simulated_from uuid,
  skill_slug text default ''::text not null,
  standing_program_id text default ''::text not null,
  program_digest bytea not null,
  input bytea,
  params jsonb not null,
  step_args jsonb not null,
  generation integer default 1 not null,
  "position" integer default 0 not null,
  progress bytea,
  key_id uuid not null,
  principal_chain text[] not null,
  idempotency_key text,
  content_digest bytea not null,
  plan_approval_id text default ''::text not null,
  estimate jsonb not null,
  park jsonb,
  used jsonb not null,
  saga jsonb not null,
  deadline_at timestamp(3) with time zone,
  deadline_left_ms bigint,
  cancel_requested_at timestamp(3) with time zone,
  cancel_chain text[],
  last_error text default ''::text not null,
  receipt jsonb,
  last_seq integer default 0 not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  is_swept boolean default false not null,
  overrides bytea,
  loop_holds integer default 0 not null,
  attempt integer default 1 not null,
  attempt_key_id uuid,
  paused_at timestamp(3) with time zone,
  pause_chain text[],
  refused_answers integer default 0 not null,
  has_lost_rows boolean default false not null,
  parent_job_id uuid,
  child_key text,
  child jsonb,
  standing_run_id uuid,
  call_seed bytea,
  binding jsonb,
  restored_from timestamp(3) with time zone,
  traceparent text,
  constraint jobs_pkey PRIMARY KEY (id),
  constraint jobs_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX jobs_child_key ON public.jobs USING btree (parent_job_id, child_key) WHERE (parent_job_id IS NOT NULL);
CREATE INDEX jobs_children ON public.jobs USING btree (status, project_id, parent_job_id, id) WHERE (parent_job_id IS NOT NULL);
CREATE UNIQUE INDEX jobs_idempotency_key ON public.jobs USING btree (project_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX jobs_other_status ON public.jobs USING btree (project_id, status, id) WHERE ((mode <> 'live'::text) OR (parent_job_id IS NOT NULL));
CREATE INDEX jobs_rehearsals ON public.jobs USING btree (project_id, status, id) WHERE (mode = 'rehearse'::text);
CREATE INDEX jobs_simulated_from ON public.jobs USING btree (simulated_from) WHERE (simulated_from IS NOT NULL);
CREATE INDEX jobs_simulations ON public.jobs USING btree (project_id, status, id) WHERE ((mode = 'simulate'::text) AND (parent_job_id IS NULL) AND (simulated_from IS NULL));
CREATE INDEX jobs_skill ON public.jobs USING btree (project_id, skill_slug, mode, status, id) WHERE (skill_slug <> ''::text);
CREATE INDEX jobs_standing ON public.jobs USING btree (project_id, standing_program_id, mode, status, id) WHERE (standing_program_id <> ''::text);
CREATE INDEX jobs_status ON public.jobs USING btree (project_id, status, id) WHERE ((mode = 'live'::text) AND (parent_job_id IS NULL));
CREATE INDEX jobs_twins ON public.jobs USING btree (project_id, status, id) WHERE (simulated_from IS NOT NULL);
CREATE INDEX jobs_unswept ON public.jobs USING btree (finished_at) WHERE ((finished_at IS NOT NULL) AND (NOT is_swept));

create table ledger_state (
  id smallint not null,
  settled_before uuid not null,
  constraint ledger_state_pkey PRIMARY KEY (id)
);

create table old_subkeys (
  key_id text not null,
  purpose text not null,
  secret bytea not null,
  created_at timestamp(3) with time zone not null,
  constraint old_subkeys_key PRIMARY KEY (key_id, purpose)
);

create table people (
  id uuid not null,
  issuer text not null,
  subject text not null,
  mail text not null,
  name text not null,
  is_administrator boolean not null,
  refresh bytea,
  created_at timestamp(3) with time zone not null,
  signed_in_at timestamp(3) with time zone not null,
  checked_at timestamp(3) with time zone not null,
  confirmed_at timestamp(3) with time zone not null,
  constraint people_pkey PRIMARY KEY (id)
);
CREATE INDEX people_checked ON public.people USING btree (checked_at) WHERE (refresh IS NOT NULL);
CREATE UNIQUE INDEX people_subject ON public.people USING btree (issuer, subject);

create table person_seats (
  person_id uuid not null,
  project_id uuid not null,
  key_id uuid not null,
  given_role text,
  constraint person_seats_key PRIMARY KEY (person_id, project_id),
  constraint person_seats_key_id_api_keys_id_fk FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint person_seats_person_id_people_id_fk FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE,
  constraint person_seats_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX person_seats_of_key ON public.person_seats USING btree (key_id);
CREATE INDEX person_seats_project ON public.person_seats USING btree (project_id, person_id);

create table private_toolkits (
  project_id uuid not null,
  slug text not null,
  definition text not null,
  tool_count integer not null,
  origin_digest bytea not null,
  updated_at timestamp(3) with time zone not null,
  phrases text default ''::text not null,
  constraint private_toolkits_key PRIMARY KEY (project_id, slug),
  constraint private_toolkits_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table project_policies (
  project_id uuid not null,
  plan_approval text default 'never'::text not null,
  redirect_urls text[] default '{}'::text[] not null,
  quotas jsonb default '{}'::jsonb not null,
  http_hosts text[] default '{}'::text[] not null,
  confirm jsonb default '{"person": "never", "contact": ""}'::jsonb not null,
  constraint project_policies_pkey PRIMARY KEY (project_id),
  constraint project_policies_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table projects (
  id uuid not null,
  name text not null,
  created_at timestamp(3) with time zone not null,
  routing_version bigint default 1 not null,
  catalog_version bigint default 0 not null,
  first_agent_call_at timestamp(3) with time zone,
  hold text default ''::text not null,
  moved_to text default ''::text not null,
  constraint projects_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX projects_name ON public.projects USING btree (name);

create table quarantined_posts (
  id uuid not null,
  toolkit_slug text not null,
  reason text not null,
  detail text not null,
  headers jsonb not null,
  query jsonb not null,
  body bytea not null,
  body_bytes integer not null,
  received_at timestamp(3) with time zone not null,
  released_at timestamp(3) with time zone,
  envelope bytea,
  project_id uuid,
  constraint quarantined_posts_pkey PRIMARY KEY (id)
);
CREATE INDEX quarantined_posts_held ON public.quarantined_posts USING btree (reason, id) WHERE ((released_at IS NULL) AND (project_id IS NULL));
CREATE INDEX quarantined_posts_held_toolkit ON public.quarantined_posts USING btree (toolkit_slug, reason, id) WHERE ((released_at IS NULL) AND (project_id IS NULL));
CREATE INDEX quarantined_posts_project_held ON public.quarantined_posts USING btree (project_id, reason, id) WHERE ((released_at IS NULL) AND (project_id IS NOT NULL));
CREATE INDEX quarantined_posts_project_held_toolkit ON public.quarantined_posts USING btree (toolkit_slug, project_id, reason, id) WHERE ((released_at IS NULL) AND (project_id IS NOT NULL));
CREATE INDEX quarantined_posts_project_released ON public.quarantined_posts USING btree (project_id, reason, id) WHERE ((released_at IS NOT NULL) AND (project_id IS NOT NULL));
CREATE INDEX quarantined_posts_project_released_toolkit ON public.quarantined_posts USING btree (toolkit_slug, project_id, reason, id) WHERE ((released_at IS NOT NULL) AND (project_id IS NOT NULL));
CREATE INDEX quarantined_posts_released ON public.quarantined_posts USING btree (reason, id) WHERE ((released_at IS NOT NULL) AND (project_id IS NULL));
CREATE INDEX quarantined_posts_released_toolkit ON public.quarantined_posts USING btree (toolkit_slug, reason, id) WHERE ((released_at IS NOT NULL) AND (project_id IS NULL));

create table replays (
  id uuid not null,
  project_id uuid not null,
  state text not null,
  reason text default ''::text not null,
  waits_for_id uuid,
  toolkit_slug text not null,
  trigger_slug text not null,
  subscription_id uuid,
  only_undelivered boolean not null,
  since timestamp(3) with time zone not null,
  until timestamp(3) with time zone,
  per_second integer not null,
  total bigint default 0 not null,
  uncounted_from_id uuid,
  queued bigint default 0 not null,
  position_event_id uuid not null,
  position_subscription_id uuid not null,
  paced_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone,
  of_pause boolean default false not null,
  origin text default ''::text not null,
  only_failed boolean default false not null,
  constraint replays_pkey PRIMARY KEY (id),
  constraint replays_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX replays_ended ON public.replays USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX replays_project ON public.replays USING btree (project_id, id);
CREATE INDEX replays_unfinished ON public.replays USING btree (project_id, subscription_id) WHERE (ended_at IS NULL);

create table restores (
  key text not null,
  backup_ends_at timestamp(3) with time zone not null,
  restored_at timestamp(3) with time zone not null,
  resumed_at timestamp(3) with time zone,
  is_nothing_since boolean default false not null,
  constraint restores_pkey PRIMARY KEY (key)
);

create table routing_shards (
  project_id uuid not null,
  shard smallint not null,
  version bigint not null,
  subscriptions integer not null,
  constraint routing_shards_key PRIMARY KEY (project_id, shard),
  constraint routing_shards_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
) with (fillfactor=50);

create table routing_state (
  id smallint not null,
  version bigint not null,
  audience text,
  constraint routing_state_pkey PRIMARY KEY (id)
);

create table secrets (
  project_id uuid not null,
  name text not null,
  value bytea not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint secrets_key PRIMARY KEY (project_id, name),
  constraint secrets_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table skills (
  project_id uuid not null,
  slug text not null,
  description text not null,
  job_id uuid not null,
  program_digest bytea not null,
  access_class text not null,
  created_at timestamp(3) with time zone not null,
  input_schema text,
  version integer default 1 not null,
  deleted_at timestamp(3) with time zone,
  constraint skills_key PRIMARY KEY (project_id, slug, version),
  constraint skills_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table standing_arrivals (
  due_at timestamp(3) with time zone not null,
  project_id uuid not null,
  event_id uuid not null,
  trigger_slug text not null,
  routing_version bigint not null,
  attempt integer default 0 not null,
  lease_owner uuid,
  lease_token bigint default 0 not null,
  lease_until timestamp(3) with time zone,
  constraint standing_arrivals_key PRIMARY KEY (project_id, due_at, event_id)
);

create table standing_backfills (
  id uuid not null,
  project_id uuid not null,
  program_id uuid not null,
  version integer not null,
  state text not null,
  reason text default ''::text not null,
  since timestamp(3) with time zone not null,
  until timestamp(3) with time zone not null,
  again boolean not null,
  per_minute integer not null,
  policy text not null,
  total integer not null,
  started integer default 0 not null,
  skipped integer default 0 not null,
  passed integer default 0 not null,
  position_at timestamp(3) with time zone,
  position_event_id uuid,
  paced_at timestamp(3) with time zone not null,
  caller_key_id uuid not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone,
  constraint standing_backfills_pkey PRIMARY KEY (id),
  constraint standing_backfills_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX standing_backfills_ended ON public.standing_backfills USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE UNIQUE INDEX standing_backfills_running ON public.standing_backfills USING btree (program_id) WHERE (ended_at IS NULL);
CREATE INDEX standing_backfills_unreached ON public.standing_backfills USING btree (project_id, position_event_id) WHERE ((ended_at IS NULL) AND (position_event_id IS NOT NULL));

create table standing_dedupe (
  program_id uuid not null,
  key text not null,
  until timestamp(3) with time zone not null,
  constraint standing_dedupe_key PRIMARY KEY (program_id, key)
);
CREATE INDEX standing_dedupe_until ON public.standing_dedupe USING btree (until);

create table standing_listeners (
  program_id uuid not null,
  from_version bigint not null,
  project_id uuid not null,
  trigger_slug text not null,
  version integer not null,
  until_version bigint,
  end_reason text default ''::text not null,
  ended_at timestamp(3) with time zone,
  constraint standing_listeners_key PRIMARY KEY (program_id, from_version),
  constraint standing_listeners_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX standing_listeners_ended ON public.standing_listeners USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX standing_listeners_trigger ON public.standing_listeners USING btree (project_id, trigger_slug, from_version);

create table standing_polls (
  program_id uuid not null,
  project_id uuid not null,
  generation integer not null,
  identity bytea not null,
  state bytea not null,
  is_primed boolean not null,
  polls bigint default 0 not null,
  seen integer not null,
  has_stale boolean not null,
  polled_at timestamp(3) with time zone not null,
  outcome text not null,
  code text not null,
  detail text not null,
  pages integer not null,
  rows integer not null,
  found integer not null,
  failures_in_row integer not null,
  constraint standing_polls_pkey PRIMARY KEY (program_id),
  constraint standing_polls_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table standing_programs (
  id uuid not null,
  project_id uuid not null,
  slug text not null,
  title text not null,
  state text not null,
  pause_reason text default ''::text not null,
  pause_detail text default ''::text not null,
  version integer not null,
  source_kind text not null,
  next_at timestamp(3) with time zone,
  previous_at timestamp(3) with time zone,
  started bigint default 0 not null,
  skipped bigint default 0 not null,
  missed bigint default 0 not null,
  failures_in_row integer default 0 not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  deleted_at timestamp(3) with time zone,
  seen bigint default 0 not null,
  filtered bigint default 0 not null,
  pending_version integer default 0 not null,
  time_zone text default ''::text not null,
  binding jsonb,
  constraint standing_programs_pkey PRIMARY KEY (id),
  constraint standing_programs_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX standing_programs_armed ON public.standing_programs USING btree (next_at) WHERE ((state = 'active'::text) AND (next_at IS NOT NULL));
CREATE INDEX standing_programs_deleted ON public.standing_programs USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX standing_programs_project ON public.standing_programs USING btree (project_id, id);
CREATE UNIQUE INDEX standing_programs_slug ON public.standing_programs USING btree (project_id, slug) WHERE (deleted_at IS NULL);
CREATE INDEX standing_programs_state ON public.standing_programs USING btree (state, project_id, source_kind, id) WHERE (deleted_at IS NULL);

create table standing_rates (
  program_id uuid not null,
  key text not null,
  at timestamp(3) with time zone not null,
  constraint standing_rates_key PRIMARY KEY (program_id, key)
);
CREATE INDEX standing_rates_at ON public.standing_rates USING btree (at);

create table standing_run_events (
  event_id uuid not null,
  program_id uuid not null,
  run_id uuid not null,
  constraint standing_run_events_key PRIMARY KEY (event_id, program_id)
);
CREATE INDEX standing_run_events_run ON public.standing_run_events USING btree (run_id, event_id);

create table standing_runs (
  id uuid not null,
  project_id uuid not null,
  program_id uuid not null,
  version integer not null,
  kind text not null,
  source_key text not null,
  lane text not null,
  state text not null,
  reason text not null,
  detail text default ''::text not null,
  count integer default 1 not null,
  fire_at timestamp(3) with time zone not null,
  last_at timestamp(3) with time zone,
  missed integer default 0 not null,
  previous_at timestamp(3) with time zone,
  input bytea,
  caller_key_id uuid,
  decided_at timestamp(3) with time zone not null,
  not_before timestamp(3) with time zone,
  started_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  job_id uuid,
  job_status text default ''::text not null,
  blocking_job_id uuid,
  tool_calls integer default 0 not null,
  writes integer default 0 not null,
  is_counted boolean default false not null,
  bytes integer default 0 not null,
  rate_key text default ''::text not null,
  row_count integer default 0 not null,
  backfill_id uuid,
  start_failures integer default 0 not null,
  constraint standing_runs_pkey PRIMARY KEY (id),
  constraint standing_runs_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX standing_runs_closing ON public.standing_runs USING btree (program_id, not_before) WHERE (state = ANY (ARRAY['collecting'::text, 'closing'::text]));
CREATE INDEX standing_runs_ended ON public.standing_runs USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX standing_runs_oldest ON public.standing_runs USING btree (program_id, decided_at) WHERE (state = 'queued'::text);
CREATE INDEX standing_runs_over ON public.standing_runs USING btree (((state || ' '::text)), program_id, id) WHERE (state = 'ended'::text);
CREATE INDEX standing_runs_program ON public.standing_runs USING btree (program_id, id);
CREATE INDEX standing_runs_queued ON public.standing_runs USING btree (program_id, lane, id) WHERE (state = 'queued'::text);
CREATE INDEX standing_runs_ready ON public.standing_runs USING btree (program_id, not_before) WHERE ((state = 'queued'::text) AND (not_before IS NOT NULL));
CREATE INDEX standing_runs_running ON public.standing_runs USING btree (program_id, lane, id) WHERE (state = 'started'::text);
CREATE UNIQUE INDEX standing_runs_source ON public.standing_runs USING btree (program_id, source_key);
CREATE INDEX standing_runs_started ON public.standing_runs USING btree (project_id, id) WHERE (state = 'started'::text);
CREATE INDEX standing_runs_uncounted ON public.standing_runs USING btree (program_id, id) WHERE ((state = 'ended'::text) AND (NOT is_counted));
CREATE INDEX standing_runs_unstarted ON public.standing_runs USING btree ((((state || ' '::text) || reason)), program_id, id) WHERE ((state <> 'started'::text) AND (state <> 'ended'::text));
CREATE INDEX standing_runs_waiting ON public.standing_runs USING btree (project_id, id) WHERE ((state = 'queued'::text) AND (reason = 'project_runs'::text));
CREATE UNIQUE INDEX standing_runs_window ON public.standing_runs USING btree (program_id, lane) WHERE (state = 'collecting'::text);
CREATE INDEX standing_runs_windows ON public.standing_runs USING btree (((bytes > 0)), program_id, decided_at, id) WHERE (bytes > 0);

create table standing_seen (
  program_id uuid not null,
  generation integer not null,
  digest bytea not null,
  content bytea not null,
  seen_at timestamp(3) with time zone not null,
  constraint standing_seen_key PRIMARY KEY (program_id, generation, digest)
);

create table standing_state (
  id integer not null,
  tz_version text not null,
  constraint standing_state_pkey PRIMARY KEY (id)
);

create table standing_usage (
  program_id uuid not null,
  day text not null,
  runs integer not null,
  tool_calls bigint not null,
  writes bigint not null,
  constraint standing_usage_key PRIMARY KEY (program_id, day)
);

create table standing_versions (
  program_id uuid not null,
  version integer not null,
  definition bytea not null,
  definition_hash text not null,
  program_hash text not null,
  program_digest bytea not null,
  estimate jsonb not null,
  needs_approval boolean not null,
  key_id uuid not null,
  key_role text not null,
  created_at timestamp(3) with time zone not null,
  approval text default ''::text not null,
  approval_id text default ''::text not null,
  granted_version integer default 0 not null,
  rehearsal_job_id uuid,
  plan_hash text default ''::text not null,
  note text default ''::text not null,
  constraint standing_versions_key PRIMARY KEY (program_id, version)
);

create table subscription_paces (
  subscription_id uuid not null,
  at bigint default 0 not null,
  constraint subscription_paces_pkey PRIMARY KEY (subscription_id)
) with (fillfactor=50);

create table subscriptions (
  id uuid not null,
  project_id uuid not null,
  endpoint_url text not null,
  toolkit_slug text not null,
  trigger_slug text not null,
  active boolean default true not null,
  inactive_reason text default ''::text not null,
  signing_secret bytea not null,
  created_at timestamp(3) with time zone not null,
  failing_since timestamp(3) with time zone,
  backoff_until timestamp(3) with time zone,
  backoff_set_at timestamp(3) with time zone,
  backoff_ms integer default 0 not null,
  gone_since timestamp(3) with time zone,
  gone_count integer default 0 not null,
  kind text default 'events'::text not null,
  event_types text[] default '{}'::text[] not null,
  entity_id text default ''::text not null,
  key_id uuid,
  mcp_id text default ''::text not null,
  cursor text default ''::text not null,
  expires_at timestamp(3) with time zone,
  former_secret bytea,
  former_until timestamp(3) with time zone,
  paused_at timestamp(3) with time zone,
  paused_replay_id uuid,
  credentials bytea,
  settings jsonb,
  trigger_slugs text[] default '{}'::text[] not null,
  filter_faults bigint default 0 not null,
  origin text default ''::text not null,
  paused_by text default ''::text not null,
  constraint subscriptions_shard_delete TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint subscriptions_shard_insert TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint subscriptions_shard_update TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint subscriptions_pkey PRIMARY KEY (id),
  constraint subscriptions_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX subscriptions_asks ON public.subscriptions USING btree (project_id, id) WHERE (kind = 'asks'::text);
CREATE INDEX subscriptions_entity ON public.subscriptions USING btree (project_id, entity_id, id) WHERE (entity_id <> ''::text);
CREATE INDEX subscriptions_expires ON public.subscriptions USING btree (expires_at, id) WHERE (expires_at IS NOT NULL);
CREATE INDEX subscriptions_general ON public.subscriptions USING btree (project_id, id) WHERE (entity_id = ''::text);
CREATE INDEX subscriptions_key ON public.subscriptions USING btree (key_id, id) WHERE (key_id IS NOT NULL);
CREATE UNIQUE INDEX subscriptions_mcp ON public.subscriptions USING btree (mcp_id) WHERE (mcp_id <> ''::text);
CREATE INDEX subscriptions_operational ON public.subscriptions USING btree (project_id, entity_id, id) WHERE ((toolkit_slug = 'svc'::text) OR (event_types <> '{}'::text[]));
CREATE INDEX subscriptions_portal ON public.subscriptions USING btree (project_id, entity_id, id) WHERE (origin = 'portal'::text);
CREATE INDEX subscriptions_project ON public.subscriptions USING btree (project_id, id);
CREATE INDEX subscriptions_unhealthy ON public.subscriptions USING btree (project_id, active) WHERE 
CASE
    WHEN active THEN (failing_since IS NOT NULL)
    ELSE (inactive_reason = ANY (ARRAY['failing'::text, 'gone'::text]))
END;

create table sweep_turns (
  sweep text not null,
  next_at timestamp(3) with time zone not null,
  constraint sweep_turns_pkey PRIMARY KEY (sweep)
);

create table tool_calls (
  id uuid not null,
  project_id uuid not null,
  tool_slug text not null,
  access_class text not null,
  entity_id text not null,
  account_id uuid,
  key_id uuid,
  job_id uuid,
  step_id text not null,
  outcome text not null,
  message text not null,
  provider_status integer not null,
  arguments_digest bytea not null,
  arguments bytea not null,
  result bytea,
  is_truncated boolean not null,
  is_sandbox boolean not null,
  idempotency_key text,
  replay bytea,
  created_at timestamp(3) with time zone not null,
  duration_ms integer not null,
  provider_ms integer not null,
  sealed_message bytea,
  failure text,
  constraint tool_calls_pkey PRIMARY KEY (id),
  constraint tool_calls_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
) with (autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=50000, fillfactor=50);
CREATE INDEX tool_calls_entity ON public.tool_calls USING btree (entity_id, project_id, tool_slug, id) WHERE (failure IS NULL);
CREATE INDEX tool_calls_entity_failure ON public.tool_calls USING btree (entity_id, project_id, tool_slug, failure, id) WHERE (failure IS NOT NULL);
CREATE INDEX tool_calls_failure ON public.tool_calls USING btree (failure, project_id, id) WHERE (failure IS NOT NULL);
CREATE UNIQUE INDEX tool_calls_idempotency_key ON public.tool_calls USING btree (project_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX tool_calls_project ON public.tool_calls USING btree (project_id, id) WHERE (failure IS NULL);
CREATE INDEX tool_calls_tool ON public.tool_calls USING btree (tool_slug, project_id, id) WHERE (failure IS NULL);
CREATE INDEX tool_calls_tool_failure ON public.tool_calls USING btree (tool_slug, project_id, failure, id) WHERE (failure IS NOT NULL);

create table tool_vectors (
  digest text not null,
  project_id uuid,
  vector bytea,
  claimed_until timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone not null,
  constraint tool_vectors_pkey PRIMARY KEY (digest),
  constraint tool_vectors_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX tool_vectors_project ON public.tool_vectors USING btree (project_id, digest);
CREATE INDEX tool_vectors_used ON public.tool_vectors USING btree (used_at);

create table toolkit_clients (
  project_id uuid not null,
  slug text not null,
  issuer text not null,
  token_url text not null,
  client_id text not null,
  client_secret bytea,
  secret_place text,
  registration text not null,
  expires_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone not null,
  constraint toolkit_clients_key PRIMARY KEY (project_id, slug),
  constraint toolkit_clients_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table toolkit_sources (
  project_id uuid not null,
  slug text not null,
  kind text not null,
  origin text not null,
  options text not null,
  digest bytea not null,
  version integer not null,
  changes text,
  changes_digest bytea,
  changes_count integer not null,
  next_definition text,
  refreshed_at timestamp(3) with time zone not null,
  last_error text not null,
  next_at timestamp(3) with time zone,
  lease_until timestamp(3) with time zone,
  listing_account_id uuid,
  constraint toolkit_sources_key PRIMARY KEY (project_id, slug),
  constraint toolkit_sources_listing_account_id_connected_accounts_id_fk FOREIGN KEY (listing_account_id) REFERENCES connected_accounts(id) ON DELETE SET NULL,
  constraint toolkit_sources_toolkit FOREIGN KEY (project_id, slug) REFERENCES private_toolkits(project_id, slug) ON DELETE CASCADE
);
CREATE INDEX toolkit_sources_listing ON public.toolkit_sources USING btree (listing_account_id) WHERE (listing_account_id IS NOT NULL);
CREATE INDEX toolkit_sources_next ON public.toolkit_sources USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX toolkit_sources_waiting ON public.toolkit_sources USING btree (changes_count) WHERE (changes_count > 0);

create table used_assertions (
  digest bytea not null,
  expires_at timestamp(3) with time zone not null,
  constraint used_assertions_pkey PRIMARY KEY (digest)
);
CREATE INDEX used_assertions_expires ON public.used_assertions USING btree (expires_at);

create table vault_check (
  id smallint not null,
  sealed bytea not null,
  constraint vault_check_pkey PRIMARY KEY (id)
);

create table vault_nodes (
  node_id uuid not null,
  key_ids text[] not null,
  rotation integer not null,
  seen_at timestamp(3) with time zone not null,
  constraint vault_nodes_pkey PRIMARY KEY (node_id)
);

create table vault_rotations (
  number integer not null,
  state text not null,
  to_key_id text not null,
  from_key_ids text[] not null,
  last_old_number integer not null,
  pass integer default 1 not null,
  at_table text default ''::text not null,
  at_key text default ''::text not null,
  resealed bigint default 0 not null,
  resealed_in_pass bigint default 0 not null,
  seen bigint default 0 not null,
  total bigint default 0 not null,
  problem text default ''::text not null,
  not_before timestamp(3) with time zone,
  lease_owner uuid,
  lease_until timestamp(3) with time zone,
  started_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  constraint vault_rotations_pkey PRIMARY KEY (number)
);

create table webhook_secrets (
  id uuid not null,
  project_id uuid not null,
  toolkit_slug text not null,
  value bytea not null,
  created_at timestamp(3) with time zone not null,
  ends_at timestamp(3) with time zone,
  constraint webhook_secrets_pkey PRIMARY KEY (id),
  constraint webhook_secrets_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX webhook_secrets_toolkit ON public.webhook_secrets USING btree (project_id, toolkit_slug, id);

create sequence data_keys_number_seq as integer start 1 increment 1;

create sequence vault_rotations_number_seq as integer start 1 increment 1;

CREATE OR REPLACE FUNCTION public.audit_sent_call()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	INSERT INTO audit_events (id, project_id, at, actor, actor_id, action, subject, outcome)
	VALUES (NEW.id, NEW.project_id, NEW.created_at,
		CASE WHEN NEW.job_id IS NOT NULL THEN 'job' WHEN NEW.key_id IS NOT NULL THEN 'key' ELSE 'service' END,
		coalesce(NEW.job_id, NEW.key_id), 'ToolCall.Send', NEW.tool_slug, 'sent')
	ON CONFLICT (id) DO NOTHING;
	RETURN NULL;
END
$function$
;

CREATE OR REPLACE FUNCTION public.move_routing_shard()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE routing_shards SET version = version + 1, subscriptions = subscriptions - 1
    WHERE project_id = OLD.project_id AND shard = routing_shard(OLD.entity_id);
  ELSIF TG_OP = 'INSERT' OR current_setting('svc.reseals', true) IS DISTINCT FROM 'on' THEN
    IF NOT EXISTS (SELECT FROM routing_shards WHERE project_id = NEW.project_id) THEN
      UPDATE projects SET routing_version = routing_version + 1 WHERE id = NEW.project_id;
    END IF;
    INSERT INTO routing_shards AS r (project_id, shard, version, subscriptions)
    VALUES (NEW.project_id, routing_shard(NEW.entity_id), 1, (TG_OP = 'INSERT')::int4)
    ON CONFLICT (project_id, shard)
    DO UPDATE SET version = r.version + 1, subscriptions = r.subscriptions + excluded.subscriptions;
  END IF;
  RETURN NULL;
END $function$
;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	RAISE EXCEPTION 'a row of the audit log that stands in its chain is not changed';
END
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_audit_truncate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
	RAISE EXCEPTION 'the audit log is not emptied';
END
$function$
;

CREATE OR REPLACE FUNCTION public.routing_shard(entity text)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$ SELECT (get_byte(sha256(replace(entity, '\', '\\')::bytea), 0) % 16)::int2 $function$
;

CREATE TRIGGER audit_chains_keep_all BEFORE TRUNCATE ON public.audit_chains FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_truncate();

CREATE TRIGGER audit_events_keep BEFORE DELETE OR UPDATE ON public.audit_events FOR EACH ROW WHEN ((old."position" IS NOT NULL)) EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_events_keep_all BEFORE TRUNCATE ON public.audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_truncate();

CREATE CONSTRAINT TRIGGER subscriptions_shard_delete AFTER DELETE ON public.subscriptions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((old.entity_id <> ''::text)) EXECUTE FUNCTION move_routing_shard();

CREATE CONSTRAINT TRIGGER subscriptions_shard_insert AFTER INSERT ON public.subscriptions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.entity_id <> ''::text)) EXECUTE FUNCTION move_routing_shard();

CREATE CONSTRAINT TRIGGER subscriptions_shard_update AFTER UPDATE ON public.subscriptions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.entity_id <> ''::text) AND (((((((((((((old.active IS DISTINCT FROM new.active) OR (old.endpoint_url IS DISTINCT FROM new.endpoint_url)) OR (old.toolkit_slug IS DISTINCT FROM new.toolkit_slug)) OR (old.trigger_slug IS DISTINCT FROM new.trigger_slug)) OR (old.trigger_slugs IS DISTINCT FROM new.trigger_slugs)) OR (old.signing_secret IS DISTINCT FROM new.signing_secret)) OR (old.mcp_id IS DISTINCT FROM new.mcp_id)) OR (old.cursor IS DISTINCT FROM new.cursor)) OR (old.expires_at IS DISTINCT FROM new.expires_at)) OR (old.former_secret IS DISTINCT FROM new.former_secret)) OR (old.former_until IS DISTINCT FROM new.former_until)) OR (old.settings IS DISTINCT FROM new.settings)) OR (old.credentials IS DISTINCT FROM new.credentials)))) EXECUTE FUNCTION move_routing_shard();

CREATE TRIGGER tool_calls_audit AFTER INSERT ON public.tool_calls FOR EACH ROW WHEN (((new.access_class = 'destructive'::text) AND (new.outcome <> ALL (ARRAY['held'::text, 'invalid_arguments'::text, 'no_account'::text, 'missing_scope'::text, 'not_callable'::text, 'not_bound'::text])))) EXECUTE FUNCTION audit_sent_call();
