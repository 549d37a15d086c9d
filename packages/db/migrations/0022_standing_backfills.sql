CREATE TABLE "standing_backfills" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"program_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"state" text NOT NULL,
	"reason" text DEFAULT '' NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"until" timestamp (3) with time zone NOT NULL,
	"again" boolean NOT NULL,
	"per_minute" integer NOT NULL,
	"policy" text NOT NULL,
	"total" integer NOT NULL,
	"started" integer DEFAULT 0 NOT NULL,
	"skipped" integer DEFAULT 0 NOT NULL,
	"passed" integer DEFAULT 0 NOT NULL,
	"position_at" timestamp (3) with time zone,
	"position_event_id" uuid,
	"paced_at" timestamp (3) with time zone NOT NULL,
	"caller_key_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "standing_runs" ADD COLUMN "backfill_id" uuid;--> statement-breakpoint
ALTER TABLE "standing_backfills" ADD CONSTRAINT "standing_backfills_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "standing_backfills_running" ON "standing_backfills" USING btree ("program_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "standing_backfills_ended" ON "standing_backfills" USING btree ("ended_at") WHERE ended_at is not null;