CREATE TABLE "standing_arrivals" (
	"due_at" timestamp (3) with time zone NOT NULL,
	"project_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"trigger_slug" text NOT NULL,
	"routing_version" bigint NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"lease_owner" uuid,
	"lease_token" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamp (3) with time zone,
	CONSTRAINT "standing_arrivals_key" PRIMARY KEY("due_at","project_id","event_id")
);
--> statement-breakpoint
CREATE TABLE "standing_listeners" (
	"program_id" uuid NOT NULL,
	"from_version" bigint NOT NULL,
	"project_id" uuid NOT NULL,
	"trigger_slug" text NOT NULL,
	"version" integer NOT NULL,
	"until_version" bigint,
	"end_reason" text DEFAULT '' NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "standing_listeners_key" PRIMARY KEY("program_id","from_version")
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "call_seed" "bytea";--> statement-breakpoint
ALTER TABLE "standing_programs" ADD COLUMN "seen" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_programs" ADD COLUMN "filtered" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_runs" ADD COLUMN "bytes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_runs" ADD COLUMN "rate_key" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_listeners" ADD CONSTRAINT "standing_listeners_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "standing_listeners_trigger" ON "standing_listeners" USING btree ("project_id","trigger_slug","from_version");--> statement-breakpoint
CREATE INDEX "standing_listeners_ended" ON "standing_listeners" USING btree ("ended_at") WHERE ended_at is not null;