ALTER TABLE "subscriptions" ADD COLUMN "entity_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "key_id" uuid;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "mcp_id" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "cursor" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "former_secret" "bytea";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "former_until" timestamp (3) with time zone;--> statement-breakpoint
CREATE UNIQUE INDEX "subscriptions_mcp" ON "subscriptions" USING btree ("mcp_id") WHERE mcp_id <> '';--> statement-breakpoint
CREATE INDEX "subscriptions_key" ON "subscriptions" USING btree ("key_id","id") WHERE key_id is not null;--> statement-breakpoint
CREATE INDEX "subscriptions_expires" ON "subscriptions" USING btree ("expires_at","id") WHERE expires_at is not null;