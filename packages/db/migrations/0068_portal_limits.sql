ALTER TABLE "replays" ADD COLUMN "origin" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "paused_by" text DEFAULT '' NOT NULL;