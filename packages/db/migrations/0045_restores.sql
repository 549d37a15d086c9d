CREATE TABLE "restores" (
	"key" text PRIMARY KEY NOT NULL,
	"backup_ends_at" timestamp (3) with time zone NOT NULL,
	"restored_at" timestamp (3) with time zone NOT NULL,
	"resumed_at" timestamp (3) with time zone,
	"is_nothing_since" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "restored_from" timestamp (3) with time zone;