ALTER TABLE "api_keys" ADD COLUMN "entity_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "access_classes" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "toolkit_slugs" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "binding" jsonb;--> statement-breakpoint
ALTER TABLE "standing_programs" ADD COLUMN "binding" jsonb;