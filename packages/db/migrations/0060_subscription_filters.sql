ALTER TABLE "subscriptions" ADD COLUMN "trigger_slugs" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "filter_faults" bigint DEFAULT 0 NOT NULL;