CREATE TABLE "connected_accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"toolkit_slug" text NOT NULL,
	"is_private" boolean NOT NULL,
	"is_sandbox" boolean DEFAULT false NOT NULL,
	"entity_id" text NOT NULL,
	"scheme" text NOT NULL,
	"state" text NOT NULL,
	"variables" jsonb NOT NULL,
	"credential" "bytea",
	"origin_digest" "bytea",
	"granted_scopes" text[] DEFAULT '{}' NOT NULL,
	"references" text[] DEFAULT '{}' NOT NULL,
	"last_error" text DEFAULT '' NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"refresh_at" timestamp (3) with time zone,
	"refresh_lease_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "contacts" (
	"project_id" uuid NOT NULL,
	"principal_id" text NOT NULL,
	"name" text NOT NULL,
	"is_approver" boolean NOT NULL,
	"reach" jsonb,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "contacts_key" PRIMARY KEY("project_id","principal_id")
);
--> statement-breakpoint
CREATE TABLE "job_asks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"step_id" text NOT NULL,
	"point_id" text NOT NULL,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"question" text NOT NULL,
	"continuations" text[] NOT NULL,
	"answer_schema" text NOT NULL,
	"escalation" jsonb NOT NULL,
	"default_continuation" text NOT NULL,
	"counts" jsonb,
	"hop_index" integer NOT NULL,
	"principal_id" text NOT NULL,
	"delivered_principals" text[] NOT NULL,
	"deadline_at" timestamp (3) with time zone,
	"exhausted" boolean DEFAULT false NOT NULL,
	"approval_id" text DEFAULT '' NOT NULL,
	"key_id" uuid NOT NULL,
	"tool_slug" text DEFAULT '' NOT NULL,
	"entity_id" text DEFAULT '' NOT NULL,
	"tool_call_id" text DEFAULT '' NOT NULL,
	"delivered_at" timestamp (3) with time zone,
	"standing_program_id" text DEFAULT '' NOT NULL,
	"event_ids" text[] DEFAULT '{}' NOT NULL,
	"refused_answers" integer DEFAULT 0 NOT NULL,
	"asked_at" timestamp (3) with time zone NOT NULL,
	"decision" jsonb
);
--> statement-breakpoint
CREATE TABLE "job_events" (
	"job_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"type" text NOT NULL,
	"step_id" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"payload" text NOT NULL,
	"principal_chain" text[] NOT NULL,
	CONSTRAINT "job_events_key" PRIMARY KEY("job_id","seq")
);
--> statement-breakpoint
CREATE TABLE "job_programs" (
	"project_id" uuid NOT NULL,
	"digest" "bytea" NOT NULL,
	"program" text NOT NULL,
	"program_hash" text NOT NULL,
	"pins" text NOT NULL,
	CONSTRAINT "job_programs_key" PRIMARY KEY("project_id","digest")
);
--> statement-breakpoint
CREATE TABLE "job_rows" (
	"job_id" uuid NOT NULL,
	"row_number" integer NOT NULL,
	"data" "bytea" NOT NULL,
	CONSTRAINT "job_rows_key" PRIMARY KEY("job_id","row_number")
);
--> statement-breakpoint
CREATE TABLE "job_set_rows" (
	"job_id" uuid NOT NULL,
	"set_id" text NOT NULL,
	"ordinal" integer NOT NULL,
	"row_number" integer NOT NULL,
	"state" text NOT NULL,
	"done_calls" integer DEFAULT 0 NOT NULL,
	"outputs" "bytea",
	"error_code" text DEFAULT '' NOT NULL,
	CONSTRAINT "job_set_rows_key" PRIMARY KEY("job_id","set_id","ordinal")
);
--> statement-breakpoint
CREATE TABLE "job_steps" (
	"job_id" uuid NOT NULL,
	"step_id" text NOT NULL,
	"ordinal" integer NOT NULL,
	"receipt" jsonb NOT NULL,
	"output" "bytea",
	CONSTRAINT "job_steps_key" PRIMARY KEY("job_id","step_id")
);
--> statement-breakpoint
CREATE TABLE "job_tasks" (
	"job_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"project_id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"lease_owner" uuid,
	"lease_token" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp (3) with time zone,
	CONSTRAINT "job_tasks_key" PRIMARY KEY("job_id","kind","subject")
);
--> statement-breakpoint
CREATE TABLE "job_undo_entries" (
	"job_id" uuid NOT NULL,
	"entry" integer NOT NULL,
	"step_id" text NOT NULL,
	"ordinal" integer NOT NULL,
	"tool_slug" text NOT NULL,
	"entity_id" text NOT NULL,
	"args" "bytea" NOT NULL,
	"state" text NOT NULL,
	CONSTRAINT "job_undo_entries_key" PRIMARY KEY("job_id","entry")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"status" text NOT NULL,
	"mode" text NOT NULL,
	"simulated_from" uuid,
	"skill_slug" text DEFAULT '' NOT NULL,
	"standing_program_id" text DEFAULT '' NOT NULL,
	"program_digest" "bytea" NOT NULL,
	"input" "bytea",
	"params" jsonb NOT NULL,
	"step_args" jsonb NOT NULL,
	"generation" integer DEFAULT 1 NOT NULL,
	"position" integer DEFAULT 0 NOT NULL,
	"progress" "bytea",
	"key_id" uuid NOT NULL,
	"principal_chain" text[] NOT NULL,
	"idempotency_key" text,
	"content_digest" "bytea" NOT NULL,
	"plan_approval_id" text DEFAULT '' NOT NULL,
	"estimate" jsonb NOT NULL,
	"park" jsonb,
	"used" jsonb NOT NULL,
	"saga" jsonb NOT NULL,
	"deadline_at" timestamp (3) with time zone,
	"deadline_left_ms" bigint,
	"cancel_requested_at" timestamp (3) with time zone,
	"cancel_chain" text[],
	"last_error" text DEFAULT '' NOT NULL,
	"receipt" jsonb,
	"last_seq" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	"is_swept" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "skills" (
	"project_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"description" text NOT NULL,
	"job_id" uuid NOT NULL,
	"program_digest" "bytea" NOT NULL,
	"access_class" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "skills_key" PRIMARY KEY("project_id","slug")
);
--> statement-breakpoint
CREATE TABLE "tool_calls" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"tool_slug" text NOT NULL,
	"access_class" text NOT NULL,
	"entity_id" text NOT NULL,
	"account_id" uuid,
	"key_id" uuid,
	"job_id" uuid,
	"step_id" text NOT NULL,
	"outcome" text NOT NULL,
	"message" text NOT NULL,
	"provider_status" integer NOT NULL,
	"arguments_digest" "bytea" NOT NULL,
	"arguments" "bytea" NOT NULL,
	"result" "bytea",
	"is_truncated" boolean NOT NULL,
	"is_sandbox" boolean NOT NULL,
	"idempotency_key" text,
	"replay" "bytea",
	"created_at" timestamp (3) with time zone NOT NULL,
	"duration_ms" integer NOT NULL,
	"provider_ms" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "kind" text DEFAULT 'events' NOT NULL;--> statement-breakpoint
ALTER TABLE "connected_accounts" ADD CONSTRAINT "connected_accounts_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_asks" ADD CONSTRAINT "job_asks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_programs" ADD CONSTRAINT "job_programs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_tasks" ADD CONSTRAINT "job_tasks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "skills" ADD CONSTRAINT "skills_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "connected_accounts_active" ON "connected_accounts" USING btree ("project_id","toolkit_slug","is_private","is_sandbox","entity_id","scheme") WHERE state = 'active';--> statement-breakpoint
CREATE INDEX "connected_accounts_project" ON "connected_accounts" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "connected_accounts_entity" ON "connected_accounts" USING btree ("project_id","entity_id","id");--> statement-breakpoint
CREATE INDEX "connected_accounts_refresh" ON "connected_accounts" USING btree ("is_sandbox","refresh_at") WHERE state = 'active' and refresh_at is not null;--> statement-breakpoint
CREATE INDEX "job_asks_project" ON "job_asks" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "job_asks_job" ON "job_asks" USING btree ("job_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "job_asks_pending" ON "job_asks" USING btree ("job_id") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "job_set_rows_state" ON "job_set_rows" USING btree ("job_id","set_id","state","ordinal") WHERE state in ('failed', 'unknown');--> statement-breakpoint
CREATE INDEX "job_tasks_due" ON "job_tasks" USING btree ("due_at","project_id");--> statement-breakpoint
CREATE INDEX "jobs_project" ON "jobs" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "jobs_status" ON "jobs" USING btree ("project_id","status","id");--> statement-breakpoint
CREATE INDEX "jobs_simulated_from" ON "jobs" USING btree ("simulated_from") WHERE simulated_from is not null;--> statement-breakpoint
CREATE INDEX "jobs_unswept" ON "jobs" USING btree ("finished_at") WHERE finished_at is not null and not is_swept;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_idempotency_key" ON "jobs" USING btree ("project_id","idempotency_key") WHERE idempotency_key is not null;--> statement-breakpoint
CREATE INDEX "tool_calls_project" ON "tool_calls" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "tool_calls_tool" ON "tool_calls" USING btree ("project_id","tool_slug","id");--> statement-breakpoint
CREATE INDEX "tool_calls_entity" ON "tool_calls" USING btree ("project_id","entity_id","id");--> statement-breakpoint
CREATE INDEX "tool_calls_running" ON "tool_calls" USING btree ("created_at") WHERE outcome = 'running';--> statement-breakpoint
CREATE UNIQUE INDEX "tool_calls_idempotency_key" ON "tool_calls" USING btree ("project_id","idempotency_key") WHERE idempotency_key is not null;--> statement-breakpoint
-- Every project starts with a contact that may approve.
INSERT INTO "contacts" ("project_id", "principal_id", "name", "is_approver", "created_at") SELECT "id", 'owner', 'Owner', true, "created_at" FROM "projects";
