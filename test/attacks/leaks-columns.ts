/**
 * Kinds of content in columns, by table. `sealed`: encrypted under the vault key. `digest`: values that cannot be reversed. `name`: ids and
 * names by callers, which are shown everywhere. `definition`: declared by a project. `event`: posted by an app. `told`: records of what
 * happened, with sensitive values masked. `quoted`: such records that may quote an app. `before`: empty since version 0.2.
 */
export type ColumnKind = "sealed" | "digest" | "name" | "definition" | "event" | "told" | "quoted" | "before";

/** Every column of text, bytes or documents, by its kind of content. A new column must be added here. */
const columnKinds: Readonly<Record<string, Partial<Record<ColumnKind, string>>>> = {
  account_references: {
    name: "entity_id reference toolkit_slug",
  },
  activity_hours: {
    name: "outcome series subject",
  },
  activity_minutes: {
    name: "outcome series subject",
  },
  api_keys: {
    digest: "digest",
    told: "confirm",
    name: "access_classes agent_tools entity_id hint name toolkit_slugs",
  },
  audit_chains: {
    sealed: "key",
    digest: "hash mac",
  },
  audit_events: {
    name: "action subject",
    told: "actor outcome",
    digest: "about_digest hash mac",
  },
  call_hooks: {
    sealed: "signing_secret",
    name: "access_classes endpoint_url toolkit_slugs",
  },
  call_limits: {
    name: "name toolkit_slug",
    definition: "key_expression",
  },
  call_paces: {
    name: "key limit_name made_from revision",
    told: "pace",
  },
  connected_accounts: {
    sealed: "credential",
    name: "entity_id references scheme toolkit_slug variables",
    told: "extra_scopes granted_scopes",
    quoted: "last_error",
    digest: "origin_digest",
  },
  console_links: {
    digest: "digest",
    told: "target",
  },
  console_sessions: {
    digest: "admin_digest cookie_digest half_digest",
    name: "provider_session user_agent",
  },
  contacts: {
    name: "name principal_id",
    definition: "reach",
  },
  data_keys: {
    sealed: "wrapped",
  },
  deliveries: {
    told: "attempt_log last_error",
  },
  device_codes: {
    digest: "digest user_digest",
    name: "client_name",
  },
  erasure_programs: { digest: "digest" },
  erasures: {
    name: "at_key at_table entity_id",
    told: "counts",
  },
  event_settings: {
    definition: "logo settings",
  },
  event_type_versions: {
    definition: "schema",
    name: "name",
  },
  event_types: {
    definition: "description sample schema",
    name: "name",
  },
  events: {
    event: "account dedupe_key payload",
    name: "entity_id toolkit_slug traceparent trigger_slug",
  },
  export_positions: { name: "stream" },
  failure_groups: {
    sealed: "title",
    digest: "fingerprint",
    told: "remedies",
  },
  job_attempts: {
    digest: "content_digest",
    name: "idempotency_key",
    quoted: "last_error",
    told: "receipt",
  },
  hook_answers: {
    sealed: "edit",
    name: "entity_id",
    digest: "call_key",
  },
  grant_clients: {
    name: "id name redirect_uris",
  },
  grant_codes: {
    digest: "challenge digest",
    name: "access_classes agent_tools client_id client_name entity_id redirect_uri resource toolkit_slugs",
  },
  grant_tokens: {
    digest: "digest",
  },
  invitations: {
    digest: "digest",
    name: "mail",
  },
  people: {
    sealed: "refresh",
    name: "issuer mail name subject",
  },
  used_assertions: { digest: "digest" },
  grants: {
    name: "asserted_classes client_id client_name client_origin resource",
  },
  job_asks: {
    definition: "answer_schema escalation",
    name: "approval_id delivered_principals entity_id event_ids point_id principal_id standing_program_id step_id tool_call_id tool_slug",
    told: "continuations counts decision question",
    sealed: "overrides",
  },
  job_events: {
    told: "following payload type",
    name: "principal_chain step_id",
  },
  job_programs: {
    digest: "digest program_hash",
    definition: "pins",
    before: "program",
    sealed: "sealed_program",
  },
  job_rows: {
    sealed: "data",
  },
  job_set_rows: {
    told: "error_code",
    sealed: "outputs",
    name: "set_id",
  },
  job_steps: {
    sealed: "output",
    quoted: "receipt",
    name: "step_id",
  },
  job_tasks: {
    name: "subject",
  },
  job_undo_entries: {
    sealed: "args",
    name: "entity_id step_id tool_slug",
  },
  jobs: {
    name: "binding cancel_chain child_key idempotency_key pause_chain plan_approval_id principal_chain skill_slug standing_program_id traceparent",
    digest: "call_seed content_digest program_digest",
    told: "child estimate park receipt saga used",
    sealed: "input overrides progress",
    quoted: "last_error",
    before: "params step_args",
  },
  deployment_secrets: {
    sealed: "value",
    name: "name",
  },
  old_subkeys: {
    sealed: "secret",
    name: "key_id purpose",
  },
  private_toolkits: {
    definition: "definition phrases",
    digest: "origin_digest",
    name: "slug",
  },
  project_policies: {
    definition: "confirm http_hosts quotas redirect_urls",
  },
  projects: {
    name: "moved_to name",
  },
  quarantined_posts: {
    sealed: "body envelope",
    told: "detail",
    before: "headers query",
    name: "toolkit_slug",
  },
  replays: {
    name: "toolkit_slug trigger_slug",
  },
  restores: {
    name: "key",
  },
  secrets: {
    sealed: "value",
    name: "name",
  },
  skills: {
    definition: "description input_schema",
    digest: "program_digest",
    name: "slug",
  },
  due_tasks: {
    name: "subject",
  },
  standing_arrivals: {
    name: "trigger_slug",
  },
  standing_dedupe: {
    name: "key",
  },
  standing_listeners: {
    name: "trigger_slug",
  },
  standing_polls: {
    digest: "identity",
    sealed: "state",
    told: "code",
    quoted: "detail",
  },
  standing_programs: {
    definition: "title",
    name: "binding slug time_zone",
    told: "pause_detail",
  },
  standing_rates: {
    name: "key",
  },
  standing_runs: {
    name: "lane rate_key source_key",
    sealed: "input",
    told: "detail",
  },
  standing_seen: {
    digest: "content digest",
  },
  standing_state: {
    name: "tz_version",
  },
  standing_usage: {
    name: "day",
  },
  standing_versions: {
    sealed: "definition",
    digest: "definition_hash plan_hash program_digest program_hash",
    name: "approval_id",
    told: "estimate note",
  },
  subscriptions: {
    definition: "endpoint_url settings",
    sealed: "credentials former_secret signing_secret",
    digest: "cursor mcp_id",
    name: "entity_id event_types toolkit_slug trigger_slug trigger_slugs",
  },
  tool_calls: {
    sealed: "arguments replay result sealed_message",
    digest: "arguments_digest",
    name: "entity_id idempotency_key step_id tool_slug",
    told: "message",
  },
  toolkit_clients: {
    sealed: "client_secret",
    name: "client_id issuer slug token_url",
  },
  toolkit_sources: {
    definition: "changes next_definition options",
    digest: "changes_digest digest",
    name: "origin slug",
    quoted: "last_error",
  },
  tool_vectors: {
    digest: "digest",
    definition: "vector",
  },
  vault_check: {
    sealed: "sealed",
  },
  webhook_secrets: {
    sealed: "value",
    name: "toolkit_slug",
  },
  vault_nodes: {
    name: "key_ids",
  },
  vault_rotations: {
    name: "at_key at_table from_key_ids to_key_id",
    told: "problem",
  },
};

/** The kind of content of each column, by `table.column`. */
export const kindOfColumn: ReadonlyMap<string, ColumnKind> = new Map(
  Object.entries(columnKinds).flatMap(([table, kinds]) =>
    Object.entries(kinds).flatMap(([kind, names]) =>
      names.split(" ").map((name) => [`${table}.${name}`, kind as ColumnKind] as const),
    ),
  ),
);
