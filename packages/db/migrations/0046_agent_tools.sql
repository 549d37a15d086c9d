ALTER TABLE "api_keys" ADD COLUMN "agent_tools" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "grant_codes" ADD COLUMN "agent_tools" text[] DEFAULT '{}' NOT NULL;