ALTER TABLE "toolkit_sources" ADD COLUMN "next_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "toolkit_sources" ADD COLUMN "lease_until" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "toolkit_sources_next" ON "toolkit_sources" USING btree ("next_at") WHERE next_at is not null;--> statement-breakpoint
CREATE INDEX "toolkit_sources_waiting" ON "toolkit_sources" USING btree ("changes_count") WHERE changes_count > 0;