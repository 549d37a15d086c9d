ALTER TABLE "subscriptions" ADD COLUMN "credentials" "bytea";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "settings" jsonb;