ALTER TABLE "toolkit_sources" ADD COLUMN "next_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "toolkit_sources" ADD COLUMN "lease_until" timestamp (3) with time zone;--> statement-breakpoint
-- MCP servers that were imported before are read again too: without a time for the next read, no node would read them.
UPDATE "toolkit_sources" SET "next_at" = "refreshed_at" + interval '6 hours' WHERE "kind" = 'mcp';--> statement-breakpoint
CREATE INDEX "toolkit_sources_next" ON "toolkit_sources" USING btree ("next_at") WHERE next_at is not null;--> statement-breakpoint
CREATE INDEX "toolkit_sources_waiting" ON "toolkit_sources" USING btree ("changes_count") WHERE changes_count > 0;