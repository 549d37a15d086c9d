CREATE TABLE "replays" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"state" text NOT NULL,
	"reason" text DEFAULT '' NOT NULL,
	"waits_for_id" uuid,
	"toolkit_slug" text NOT NULL,
	"trigger_slug" text NOT NULL,
	"subscription_id" uuid,
	"only_undelivered" boolean NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"until" timestamp (3) with time zone NOT NULL,
	"per_second" integer NOT NULL,
	"total" bigint DEFAULT 0 NOT NULL,
	"uncounted_from_id" uuid,
	"queued" bigint DEFAULT 0 NOT NULL,
	"position_event_id" uuid NOT NULL,
	"position_subscription_id" uuid NOT NULL,
	"paced_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "replays" ADD CONSTRAINT "replays_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "replays_project" ON "replays" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "replays_unfinished" ON "replays" USING btree ("project_id") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "replays_ended" ON "replays" USING btree ("ended_at") WHERE ended_at is not null;