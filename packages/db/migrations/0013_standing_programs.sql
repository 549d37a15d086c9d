CREATE TABLE "due_tasks" (
	"owner_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"project_id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"lease_owner" uuid,
	"lease_token" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp (3) with time zone,
	CONSTRAINT "due_tasks_key" PRIMARY KEY("owner_id","kind","subject")
);
--> statement-breakpoint
CREATE TABLE "standing_programs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"title" text NOT NULL,
	"state" text NOT NULL,
	"pause_reason" text DEFAULT '' NOT NULL,
	"pause_detail" text DEFAULT '' NOT NULL,
	"version" integer NOT NULL,
	"source_kind" text NOT NULL,
	"next_at" timestamp (3) with time zone,
	"previous_at" timestamp (3) with time zone,
	"started" bigint DEFAULT 0 NOT NULL,
	"skipped" bigint DEFAULT 0 NOT NULL,
	"missed" bigint DEFAULT 0 NOT NULL,
	"failures_in_row" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "standing_rates" (
	"program_id" uuid NOT NULL,
	"key" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "standing_rates_key" PRIMARY KEY("program_id","key")
);
--> statement-breakpoint
CREATE TABLE "standing_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"program_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"kind" text NOT NULL,
	"source_key" text NOT NULL,
	"lane" text NOT NULL,
	"state" text NOT NULL,
	"reason" text NOT NULL,
	"detail" text DEFAULT '' NOT NULL,
	"count" integer DEFAULT 1 NOT NULL,
	"fire_at" timestamp (3) with time zone NOT NULL,
	"last_at" timestamp (3) with time zone,
	"missed" integer DEFAULT 0 NOT NULL,
	"previous_at" timestamp (3) with time zone,
	"input" "bytea",
	"caller_key_id" uuid,
	"decided_at" timestamp (3) with time zone NOT NULL,
	"not_before" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"job_id" uuid,
	"job_status" text DEFAULT '' NOT NULL,
	"blocking_job_id" uuid,
	"tool_calls" integer DEFAULT 0 NOT NULL,
	"writes" integer DEFAULT 0 NOT NULL,
	"is_counted" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "standing_usage" (
	"program_id" uuid NOT NULL,
	"day" text NOT NULL,
	"runs" integer NOT NULL,
	"tool_calls" bigint NOT NULL,
	"writes" bigint NOT NULL,
	CONSTRAINT "standing_usage_key" PRIMARY KEY("program_id","day")
);
--> statement-breakpoint
CREATE TABLE "standing_versions" (
	"program_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"definition" "bytea" NOT NULL,
	"definition_hash" text NOT NULL,
	"program_hash" text NOT NULL,
	"program_digest" "bytea" NOT NULL,
	"estimate" jsonb NOT NULL,
	"needs_approval" boolean NOT NULL,
	"key_id" uuid NOT NULL,
	"key_role" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "standing_versions_key" PRIMARY KEY("program_id","version")
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "standing_run_id" uuid;--> statement-breakpoint
ALTER TABLE "due_tasks" ADD CONSTRAINT "due_tasks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "standing_programs" ADD CONSTRAINT "standing_programs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "standing_runs" ADD CONSTRAINT "standing_runs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "due_tasks_due" ON "due_tasks" USING btree ("due_at","project_id");--> statement-breakpoint
CREATE INDEX "standing_programs_project" ON "standing_programs" USING btree ("project_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "standing_programs_slug" ON "standing_programs" USING btree ("project_id","slug") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "standing_programs_armed" ON "standing_programs" USING btree ("next_at") WHERE state = 'active' and next_at is not null;--> statement-breakpoint
CREATE INDEX "standing_programs_deleted" ON "standing_programs" USING btree ("deleted_at") WHERE deleted_at is not null;--> statement-breakpoint
CREATE INDEX "standing_rates_at" ON "standing_rates" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "standing_runs_source" ON "standing_runs" USING btree ("program_id","source_key");--> statement-breakpoint
CREATE INDEX "standing_runs_program" ON "standing_runs" USING btree ("program_id","id");--> statement-breakpoint
CREATE INDEX "standing_runs_open" ON "standing_runs" USING btree ("program_id","lane","id") WHERE state in ('queued', 'started');--> statement-breakpoint
CREATE INDEX "standing_runs_waiting" ON "standing_runs" USING btree ("project_id","id") WHERE state = 'queued' and reason = 'project_runs';--> statement-breakpoint
CREATE INDEX "standing_runs_started" ON "standing_runs" USING btree ("project_id","id") WHERE state = 'started';--> statement-breakpoint
CREATE INDEX "standing_runs_uncounted" ON "standing_runs" USING btree ("program_id","id") WHERE state = 'ended' and not is_counted;--> statement-breakpoint
CREATE INDEX "standing_runs_ended" ON "standing_runs" USING btree ("ended_at") WHERE ended_at is not null;--> statement-breakpoint
CREATE INDEX "job_asks_standing" ON "job_asks" USING btree ("project_id","standing_program_id","id") WHERE standing_program_id <> '';--> statement-breakpoint
CREATE INDEX "jobs_standing" ON "jobs" USING btree ("project_id","standing_program_id","id") WHERE standing_program_id <> '';