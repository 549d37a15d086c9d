ALTER TABLE "api_keys" ADD COLUMN "purpose" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "event_settings" ADD COLUMN "logo" "bytea";--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "origin" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "api_keys_portal" ON "api_keys" USING btree ("project_id","id") WHERE purpose = 'portal';--> statement-breakpoint
CREATE INDEX "api_keys_portal_entity" ON "api_keys" USING btree ("project_id","entity_id","id") WHERE purpose = 'portal';--> statement-breakpoint
CREATE INDEX "api_keys_portal_expires" ON "api_keys" USING btree ("expires_at") WHERE purpose = 'portal';--> statement-breakpoint
CREATE INDEX "subscriptions_portal" ON "subscriptions" USING btree ("project_id","entity_id","id") WHERE origin = 'portal';