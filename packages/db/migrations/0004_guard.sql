CREATE TABLE "call_limits" (
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"toolkit_slug" text NOT NULL,
	"key_expression" text NOT NULL,
	"concurrency" integer NOT NULL,
	"rate_max" integer NOT NULL,
	"rate_per_ms" bigint NOT NULL,
	"is_paused" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "call_limits_key" PRIMARY KEY("project_id","name")
);
--> statement-breakpoint
CREATE TABLE "call_paces" (
	"project_id" uuid NOT NULL,
	"limit_name" text NOT NULL,
	"key" text NOT NULL,
	"pace" jsonb NOT NULL,
	"revision" text NOT NULL,
	"made_from" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "call_paces_key" PRIMARY KEY("project_id","limit_name","key")
);
--> statement-breakpoint
ALTER TABLE "job_programs" ALTER COLUMN "program" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "job_asks" ADD COLUMN "overrides" "bytea";--> statement-breakpoint
ALTER TABLE "job_programs" ADD COLUMN "sealed_program" "bytea";--> statement-breakpoint
ALTER TABLE "job_tasks" ADD COLUMN "losses" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "overrides" "bytea";--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "loop_holds" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "project_policies" ADD COLUMN "quotas" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "quarantined_posts" ADD COLUMN "envelope" "bytea";--> statement-breakpoint
ALTER TABLE "skills" ADD COLUMN "input_schema" text;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "sealed_message" "bytea";--> statement-breakpoint
ALTER TABLE "call_limits" ADD CONSTRAINT "call_limits_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "call_paces" ADD CONSTRAINT "call_paces_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "call_paces_expires" ON "call_paces" USING btree ("expires_at");